#pragma once
// Servers with one queue: whoever comes first is served first, by the server that is free first.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "serve/contract/clock.h"

namespace rooflua {

class Station {
 public:
  explicit Station(std::int32_t servers = 1) : free_(static_cast<std::size_t>(servers), 0) {}

  /// When one that comes at `now` and takes `service` has been served. Calls come in the order in
  /// which they are served.
  Picoseconds serve(Picoseconds now, Picoseconds service) { return serve(now, service, next()); }
  /// The same by one of them.
  Picoseconds serve(Picoseconds now, Picoseconds service, std::size_t server) {
    free_[server] = std::max(free_[server], now) + service;
    busy_ += service;
    return free_[server];
  }
  /// The server that is free first.
  std::size_t next() const {
    return static_cast<std::size_t>(std::min_element(free_.begin(), free_.end()) - free_.begin());
  }
  std::int32_t servers() const { return static_cast<std::int32_t>(free_.size()); }
  /// Time of servers that was asked for so far, also where it is still to come.
  Picoseconds busy() const { return busy_; }

 private:
  std::vector<Picoseconds> free_;  // by server: when it has served all that came
  Picoseconds busy_ = 0;
};

}  // namespace rooflua
