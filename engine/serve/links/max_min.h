#pragma once
// Max-min fair shares of wires: all rates rise together; a flow that reaches its own limit or a
// full wire stops there, and the others go on.
// @source D. Bertsekas, R. Gallager, "Data Networks" (1992), 6.5.2

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rooflua {

/// What one sender asks for, and gets. `path`: wires, each once.
struct Share {
  std::span<const std::int32_t> path;
  double most = std::numeric_limits<double>::infinity();  // bytes/s
  double rate = 0;                                        // found
};

/// Finds the rates. The order of wires changes no bit of them.
class MaxMin {
 public:
  explicit MaxMin(std::size_t wires) : left_(wires), open_(wires, 0) {}
  /// @param capacity  bytes/s by wire
  /// @pre each share has a limit of its own or a path
  void find(std::span<Share> shares, std::span<const double> capacity);

 private:
  double next_level(std::span<const Share> shares, bool& of_wire) const;
  bool stops_at(const Share& share, double level, bool of_wire) const;

  std::vector<double> left_;         // by wire: what those that have stopped leave
  std::vector<std::int32_t> open_;   // by wire: how many have not
  std::vector<std::int32_t> wires_;  // on the paths at hand
  std::vector<std::int32_t> rising_, still_rising_, stopping_;
};

}  // namespace rooflua
