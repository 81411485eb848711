// Stores of KV outside the GPUs: hits, loads, stores, and how full they were.

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"
#include "serve/loop/simulation.h"
#include "serve/parts/tiers/trips.h"

namespace rooflua {

extern const PartRow tiers_part;

namespace {

using enum Better;

/// What a store of KV outside the GPUs amounted to, over its instances.
struct TierFigures {
  std::string name;
  std::int64_t hit_tokens = 0, peer_hit_tokens = 0, loads = 0, stores = 0, skipped_stores = 0,
               evictions = 0;
  double hit_frac = 0, loaded_bytes = 0, stored_bytes = 0, capacity_bytes = 0, used_bytes_max = 0;
  Statistics load_s;
};

constexpr PartMetric tier_metrics[] = {
    {"name", "tier", "", neither, "its name", in<&TierFigures::name>},
    {"hit_tokens", "hit tokens", "tokens", more, "tokens that were loaded from it",
     in<&TierFigures::hit_tokens>},
    {"peer_hit_tokens", "from peers", "tokens", neither,
     "tokens that were loaded from another instance of it", in<&TierFigures::peer_hit_tokens>},
    {"hit_frac", "hits", "1", more,
     "tokens that were loaded over the prompt tokens of completed requests",
     in<&TierFigures::hit_frac>},
    {"loads", "loads", "transfers", neither, "transfers to a GPU", in<&TierFigures::loads>},
    {"loaded_bytes", "loaded", "bytes", neither, "that they carried",
     in<&TierFigures::loaded_bytes>},
    {"load_s", "load", "s", less, "a transfer to a GPU", in<&TierFigures::load_s>},
    {"stores", "stores", "transfers", neither, "transfers from a GPU", in<&TierFigures::stores>},
    {"stored_bytes", "stored", "bytes", neither, "that they carried",
     in<&TierFigures::stored_bytes>},
    {"skipped_stores", "skipped", "transfers", less, "for which there was no room",
     in<&TierFigures::skipped_stores>},
    {"evictions", "evicted", "chunks", neither, "chunks that left for others",
     in<&TierFigures::evictions>},
    {"capacity_bytes", "capacity", "bytes", neither, "of one instance",
     in<&TierFigures::capacity_bytes>},
    {"used_bytes_max", "most used", "bytes", neither, "by one instance at any time",
     in<&TierFigures::used_bytes_max>},
};

constexpr std::string_view tier_labels[] = {
    "tier",      "hits %",  "from peers %", "loaded GB",    "load p50 ms", "load p99 ms",
    "stored GB", "skipped", "evicted",      "most used GB", "of GB"};

std::vector<std::string> tier_cells(const TierFigures& tier) {
  const auto hits = static_cast<double>(tier.hit_tokens + tier.peer_hit_tokens);
  const double of_peers =
      hits > 0 ? tier.hit_frac * static_cast<double>(tier.peer_hit_tokens) / hits : 0;
  const auto ms = [&](double time_s) {
    return tier.loads > 0 ? figure(time_s * 1000) : std::string("-");
  };
  return {tier.name,
          figure(100 * tier.hit_frac),
          figure(100 * of_peers),
          figure(tier.loaded_bytes / 1e9),
          ms(tier.load_s.p50),
          ms(tier.load_s.p99),
          figure(tier.stored_bytes / 1e9),
          grouped(tier.skipped_stores),
          grouped(tier.evictions),
          figure(tier.used_bytes_max / 1e9),
          figure(tier.capacity_bytes / 1e9)};
}

/// Times of loads. What stores hold is known to the simulation.
class TierCounter final : public CounterOf<TierCounter> {
 public:
  void on_transfer(const TransferSeen& transfer) override {
    if (!transfer.is_load || transfer.wires.empty()) return;
    const auto store = static_cast<std::size_t>(transfer.store);
    if (store >= load_times_.size()) load_times_.resize(store + 1);
    load_times_[store].add(transfer.end - transfer.start);
  }

  std::vector<std::any> figures(const Summary&, const RunSpan&) const override { return {}; }

  void complete(Summary& of, const Simulation* run) const override {
    const Tiers* tiers = run != nullptr ? tiers_of(&run->parts()) : nullptr;
    if (tiers == nullptr) return;
    for (std::size_t i = 0; i < tiers->config().stores.size(); ++i)
      of.add(tiers_part, figures_of(*tiers, i, of));
  }

 private:
  TierFigures figures_of(const Tiers& tiers, std::size_t i, const Summary& of) const {
    const StoreTotals& totals = tiers.totals()[i];
    const auto store = static_cast<std::int32_t>(i);
    const std::int64_t hits = totals.hit_tokens + totals.peer_hit_tokens;
    const bool has_times = totals.loads > 0 && i < load_times_.size();
    return {.name = tiers.config().stores[i].name,
            .hit_tokens = totals.hit_tokens,
            .peer_hit_tokens = totals.peer_hit_tokens,
            .loads = totals.loads,
            .stores = totals.stores,
            .skipped_stores = totals.skipped_stores,
            .evictions = tiers.evictions(store),
            .hit_frac = quotient(hits, of.prompt_tokens),
            .loaded_bytes = totals.loaded_bytes,
            .stored_bytes = totals.stored_bytes,
            .capacity_bytes = tiers.config().stores[i].capacity_bytes,
            .used_bytes_max = tiers.most_used_bytes(store),
            .load_s = (has_times ? load_times_[i] : LogHistogram()).statistics(1e-12)};
  }

  std::vector<LogHistogram> load_times_;  // by store
};

}  // namespace

extern const PartRow tiers_part = {
    .name = "tiers",
    .help = "What a store of KV beside the GPUs amounted to, over its instances.",
    .metrics = tier_metrics,
    .many = true,
    .empty = empty<TierFigures>,
    .labels = tier_labels,
    .cells = says<tier_cells>,
    .heading = "KV tiers",
    .note =
        "hits: tokens that were loaded, of the prompt tokens of completed requests. skipped: "
        "stores without room. evicted: chunks that left for others.",
    .in_report = {.rank = 2},
    .on_page = {.rank = 10},
    .counter = where_asked<TierCounter>};

}  // namespace rooflua
