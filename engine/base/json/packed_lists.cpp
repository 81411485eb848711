#include "base/json/packed_lists.h"

#include <algorithm>
#include <cstring>

namespace rooflua {

namespace {

/// Characters that two texts have in common at the front, of the first `most`.
std::size_t same(const char* a, const char* b, std::size_t most) {
  constexpr std::size_t part = 256;  // memcmp is fast, and does not say where texts differ
  std::size_t count = 0;
  while (most - count >= part && std::memcmp(a + count, b + count, part) == 0) count += part;
  while (count < most && a[count] == b[count]) ++count;
  return count;
}

}  // namespace

/// How many numbers of an earlier list need not be read again. The last number in common is read
/// again, so that the reader sees what follows a number: after the comma it would take a ']'.
std::size_t PackedLists::common(const List& other) const {
  if (other.ends.size() < 2) return 0;
  const auto left = static_cast<std::size_t>(cursor_->end - cursor_->at);
  const std::size_t length = same(cursor_->at, other.text, std::min(left, other.ends.back()));
  const auto whole = std::upper_bound(other.ends.begin(), other.ends.end(), length);
  const auto numbers = static_cast<std::size_t>(whole - other.ends.begin());
  return numbers > 0 ? numbers - 1 : 0;
}

std::size_t PackedLists::oldest() const {
  const auto older = [](const List& a, const List& b) { return a.used < b.used; };
  return static_cast<std::size_t>(std::min_element(lists_.begin(), lists_.end(), older) -
                                  lists_.begin());
}

void PackedLists::open() {
  std::size_t most = 0, from = 0;
  if (cursor_ != nullptr) {
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      const std::size_t numbers = common(lists_[i]);
      if (numbers > most) most = numbers, from = i;
    }
  }
  List& known = lists_[from];
  // A list that goes on with most of another one takes its place: what comes next is like the new
  // one. One that soon leaves it takes the place of a list that was long not seen.
  open_ = most > 0 && 2 * most >= known.ends.size() ? from : oldest();
  List& own = lists_[open_];
  if (most > 0) known.used = ++opened_;
  own.used = ++opened_;
  const std::size_t skipped = most > 0 ? known.ends[most] - 1 : 0;
  if (&own != &known) {
    const auto count = static_cast<std::ptrdiff_t>(most);
    own.numbers.assign(known.numbers.begin(), known.numbers.begin() + count);
    own.ends.assign(known.ends.begin(), known.ends.begin() + count);
  }
  own.numbers.resize(most);
  own.ends.resize(most);
  if (cursor_ == nullptr) return;
  own.text = cursor_->at;
  if (most > 0) cursor_->at += std::string_view(own.text, skipped).rfind(',') + 1;
}

std::string_view PackedLists::close() const {
  const List& own = lists_[open_];
  return {reinterpret_cast<const char*>(own.numbers.data()),
          own.numbers.size() * sizeof(std::int32_t)};
}

}  // namespace rooflua
