#pragma once
// Low-rank adapters of a cluster: which of them requests have, and what a replica keeps of them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/vocabulary.h"
#include "spec/figures/figure.h"

namespace rooflua {

/// When an adapter is copied into a slot of the GPU.
enum class AdapterLoad : std::int32_t { step, admission };
inline constexpr Word<AdapterLoad> adapter_load_words[] = {
    {AdapterLoad::step, "step", "in the first step that needs it, which takes longer"},
    {AdapterLoad::admission, "admission",
     "while its request waits: that is admitted when the adapter is there"},
};

/// What a replica keeps. Lists are by adapter, that of adapter 1 first. A member with a row in
/// config.cpp has its unit, its bounds and its sentence there.
struct AdapterSlotsConfig {
  std::int32_t slots = 0;      // 0: the replica has no adapters
  std::int32_t cpu_slots = 0;  // >= slots
  AdapterLoad load = AdapterLoad::step;
  std::vector<double> slot_s;   // from the memory of the host into a slot
  std::vector<double> fetch_s;  // from where it is kept into the memory of the host
};

/// Which adapter a request has whose workload does not say. One of a session has that of the
/// session.
struct AdapterChoice {
  std::int32_t count = 0;       // adapters; 0: the cluster has none
  std::vector<double> weights;  // of no adapter, and of each
  std::uint64_t seed = 0;
};

/// @throws Error naming the key: lists of another length, times below 0, too few slots
void validate(const AdapterSlotsConfig& config, std::int32_t count, const std::string& where);

template <>
const FigureTable& figures<AdapterSlotsConfig>();

}  // namespace rooflua
