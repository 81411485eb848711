#pragma once
// A pool: engines of one kind, of which as many serve as are wanted, and how each of them comes and
// goes (lifecycle.h).

#include <cstdint>
#include <string>
#include <vector>

#include "base/vocabulary.h"
#include "spec/figures/figure.h"

namespace rooflua {

/// What becomes of the requests of an engine that drains.
enum class Drain : std::int32_t { finish, requeue, abort };
inline constexpr Word<Drain> drain_words[] = {
    {Drain::finish, "finish", "they end there"},
    {Drain::requeue, "requeue",
     "those that have not begun go back to the router; the others end there"},
    {Drain::abort, "abort", "they end at once as replica_lost"},
};

/// How an engine starts. A member with a row in figures.cpp has its unit, its bounds and its
/// sentence there.
struct StartConfig {
  double provision_s = 0, image_bytes = 0, weight_bytes = 0, init_s = 0;
  std::vector<std::string> link = {};  // by name, of those that bytes go over
};

/// Replicas [first, first + replicas), of which as many engines as are wanted serve.
struct PoolConfig {
  std::string name = {};
  std::int32_t first = 0, replicas = 0;
  std::int32_t count = 0;         // engines that are ready at time 0
  std::int32_t min = 0, max = 0;  // engines that may be wanted
  StartConfig start = {};
  Drain drain = Drain::finish;
  double grace_s = 0;  // after so long of draining all that is left ends as replica_lost; 0: never
};

template <>
const FigureTable& figures<StartConfig>();
template <>
const FigureTable& figures<PoolConfig>();

}  // namespace rooflua
