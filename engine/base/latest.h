#pragma once
// What was made last, by a key. A value that is needed again is not made again; the oldest ones are
// dropped where all together are too large.

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <utility>

namespace rooflua {

/// Not for several threads at once: every thread has its own.
/// @tparam Key    compared by ==; holds everything that the value is made from
template <class Key, class Value>
class Latest {
 public:
  /// @param most_bytes  that all values together may have; a larger one is kept alone
  explicit Latest(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The value of this key, made by `make()` if it is not here. What make() throws is not kept.
  /// @param bytes  about what the value takes
  template <class Make>
  std::shared_ptr<const Value> of(const Key& key, std::size_t bytes, Make make) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& each) { return each.key == key; });
    if (found != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, found);
      return found->value;
    }
    std::shared_ptr<const Value> value = make();
    entries_.push_front({key, bytes, value});
    bytes_ += bytes;
    while (bytes_ > most_bytes_ && entries_.size() > 1) {
      bytes_ -= entries_.back().bytes;
      entries_.pop_back();
    }
    return value;
  }

 private:
  struct Entry {
    Key key;
    std::size_t bytes;
    std::shared_ptr<const Value> value;
  };

  std::size_t most_bytes_, bytes_ = 0;
  std::list<Entry> entries_;  // the latest first
};

}  // namespace rooflua
