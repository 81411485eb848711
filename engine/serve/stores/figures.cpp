// The figures of stores, one row each.

#include "serve/contract/clock.h"
#include "serve/stores/config.h"
#include "spec/figures/deployment.h"
#include "spec/figures/rows.h"

namespace rooflua {

namespace {

using enum Stated;

constexpr auto store_rows = rows_of<StoreConfig>(
    figure<&StoreConfig::capacity_bytes>("capacity_bytes", "bytes", 0, 1e18, needed,
                                         "of one instance: of a replica, a node or the cluster"),
    word<&StoreConfig::per, link_scope_words>("per", open, "what shares one instance"),
    figure<&StoreConfig::chunk_tokens>("chunk_tokens", "tokens", 1, 1e6, open,
                                       "tokens that are stored, loaded and evicted together"),
    figure<&StoreConfig::alpha_s>("alpha_s", "s", 0, latest_s, open,
                                  "before the first byte of each transfer, besides its links"),
    word<&StoreConfig::eviction, eviction_words>("eviction", open, "which chunk leaves first"));

constexpr auto tiers_rows = rows_of<TiersConfig>(
    figure<&TiersConfig::bytes_per_token>("bytes_per_token", "bytes", 0, 1e12, needed,
                                          "KV of a token, on all GPUs of a replica"),
    word<&TiersConfig::overlap, load_overlap_words>("overlap", open,
                                                    "how a load and its step stand in time"),
    figure<&TiersConfig::layers>("layers", "layers", 1, 1e6, open, "of the model"),
    figure<&TiersConfig::prefetch>("prefetch", open,
                                   "loads begin when a request is queued, not at its admission"));

}  // namespace

template <>
const FigureTable& figures<StoreConfig>() {
  static const auto table =
      table_of<StoreConfig>("StoreConfig", "A store of KV outside the GPUs' memory.", store_rows);
  return table;
}
template <>
const FigureTable& figures<TiersConfig>() {
  static const auto table =
      table_of<TiersConfig>("TiersConfig", "Stores of KV, and how they are used.", tiers_rows);
  return table;
}

}  // namespace rooflua
