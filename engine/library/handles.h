#pragma once
// What a thread has open. A handle is a number that is never given again. It is looked up among
// those of the thread that calls, so that a closed one and one of another thread are found.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "library/answers.h"

namespace rooflua::library {

/// Larger than every one before, in whichever thread.
std::uintptr_t next_handle();

template <class Thing>
class Handles {
 public:
  /// @param name  of a thing, for messages: "pricer"
  explicit Handles(std::string name) : name_(std::move(name)) {}

  /// The handle of what `make` returns; 0, with a message, where it fails.
  template <class Make>
  std::uintptr_t open(const Make& make, char* error, std::size_t bytes) noexcept {
    std::uintptr_t made = 0;
    answered(
        [&] {
          std::unique_ptr<Thing> thing = make();
          made = next_handle();
          open_.push_back({made, std::move(thing)});
          return int{ROOFLUA_OK};
        },
        error, bytes);
    return made;
  }
  /// @throws Closed
  Thing& at(const void* given) const {
    if (given == nullptr) throw Closed(name_, "is NULL");
    const auto handle = reinterpret_cast<std::uintptr_t>(given);
    for (const Open& each : open_)
      if (each.handle == handle) return *each.thing;
    throw Closed(name_, "is closed, or another thread opened it; each thread opens its own");
  }
  /// Nothing happens where it is not open here.
  void close(const void* given) noexcept {
    const auto handle = reinterpret_cast<std::uintptr_t>(given);
    std::erase_if(open_, [&](const Open& each) { return each.handle == handle; });
  }

 private:
  struct Open {
    std::uintptr_t handle;
    std::unique_ptr<Thing> thing;
  };
  std::string name_;
  std::vector<Open> open_;
};

}  // namespace rooflua::library
