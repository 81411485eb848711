#pragma once
// The end of a client's patience with a request, or of its connection to a replica that has failed.

#include <cstdint>

#include "serve/contract/clock.h"

namespace rooflua {

/// The request is aborted then. One that ended before is skipped.
struct DueEnd {
  enum class Kind : std::int32_t { cancel, total, first_token, lost };
  Picoseconds time = 0;
  std::int32_t id = -1, slot = -1;
  Kind kind = Kind::total;
  bool later_than(const DueEnd& other) const {
    if (time != other.time) return time > other.time;
    return id != other.id ? id > other.id : kind > other.kind;
  }
};

}  // namespace rooflua
