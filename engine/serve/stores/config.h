#pragma once
// The stores of a cluster outside the memory of its GPUs, as they are configured.

#include <cstdint>
#include <string>
#include <vector>

#include "base/vocabulary.h"
#include "serve/links/wires.h"
#include "serve/stores/eviction.h"
#include "spec/figures/figure.h"

namespace rooflua {

/// A member with a row in stores/figures.cpp has its unit, its bounds and its sentence there.
struct StoreConfig {
  std::string name;
  double capacity_bytes = 0;
  LinkScope per = LinkScope::replica;
  std::int32_t chunk_tokens = 16;
  double alpha_s = 0;
  Eviction eviction = Eviction::lru;
  /// Names of links: from the store to the GPU, from the GPU to the store, and from another
  /// instance of the store to this one (none: other instances are not read).
  std::vector<std::string> read = {}, write = {}, peers = {};
};

/// How a load and the step that needs it stand in time.
enum class LoadOverlap : std::int32_t { none, layers };
inline constexpr Word<LoadOverlap> load_overlap_words[] = {
    {LoadOverlap::none, "none", "the request waits until all of its KV has come"},
    {LoadOverlap::layers, "layers", "its step begins at once, and each layer waits for its own KV"},
};

struct TiersConfig {
  std::vector<StoreConfig> stores = {};  // in the order of lookup; none: there are no tiers
  double bytes_per_token = 0;            // of a replica
  LoadOverlap overlap = LoadOverlap::none;
  std::int32_t layers = 1;
  bool prefetch = false;
};

template <>
const FigureTable& figures<StoreConfig>();
template <>
const FigureTable& figures<TiersConfig>();

}  // namespace rooflua
