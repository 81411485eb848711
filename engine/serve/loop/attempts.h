#pragma once
// What a simulation keeps of clients that do not wait for ever (contract/client.h).

#include <cstdint>
#include <optional>
#include <vector>

#include "serve/contract/client.h"
#include "serve/contract/observer.h"
#include "serve/events/event_heap.h"

namespace rooflua {

/// The end of a client's patience; `lost`: of a connection to a replica that has failed. One whose
/// request ended before is skipped.
struct PatienceEnds {
  enum class Kind : std::int32_t { cancel, total, first_token, lost };
  Picoseconds time = 0;
  std::int32_t id = -1, slot = -1;
  Kind kind = Kind::total;
  bool later_than(const PatienceEnds& other) const {
    if (time != other.time) return time > other.time;
    return id != other.id ? id > other.id : kind > other.kind;
  }
};

struct Attempts {
  /// Of the request in a slot.
  struct Attempt {
    std::int64_t client = -1;         // which origin it is, in order of sending
    std::int32_t carried_tokens = 0;  // at the end of its prompt, which earlier attempts gave
    RowSent row;                      // of a play
  };
  /// Of a request that ends now: what its client sends next.
  struct Next {
    RequestSpec spec;
    std::vector<Segment> segments;
    Picoseconds arrival = 0;
    Attempt attempt;
  };

  EventHeap<PatienceEnds> ends;
  std::vector<Attempt> of_slot;
  std::int64_t clients = 0;
  std::optional<Next> next;

  Attempt& of(std::int32_t slot) {
    const auto place = static_cast<std::size_t>(slot);
    if (place >= of_slot.size()) of_slot.resize(place + 1);
    return of_slot[place];
  }
  std::int32_t carried_tokens(std::int32_t slot) const {
    const auto place = static_cast<std::size_t>(slot);
    return place < of_slot.size() ? of_slot[place].carried_tokens : 0;
  }
};

}  // namespace rooflua
