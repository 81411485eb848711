// Prefill and decode on separate replicas: prompts and their KV.

#include <algorithm>

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

/// What replicas that are split for prefill and decode amounted to, over completed requests unless
/// it says otherwise.
struct SplitFigures {
  double split_frac = 0, kv_bytes = 0, stretch_mean = 0, stretch_max = 0, kept_block_s = 0;
  std::int64_t recomputed = 0;
  Statistics room_wait_s, kv_wait_s;
};

constexpr PartMetric split_metrics[] = {
    {"split_frac", "split", "1", neither,
     "part of the completed requests whose prompt a prefill replica computed",
     in<&SplitFigures::split_frac>},
    {"kv_bytes", "KV sent", "bytes", neither, "KV that was sent between replicas",
     in<&SplitFigures::kv_bytes>},
    {"recomputed", "recomputed", "requests", less,
     "completed requests whose computed prompt was kept no longer (lease_s), and computed again",
     in<&SplitFigures::recomputed>},
    {"room_wait_s", "wait for room", "s", less,
     "from the computed prompt to blocks for it at the decode replica; 0: they were taken before",
     in<&SplitFigures::room_wait_s>},
    {"kv_wait_s", "wait for KV", "s", less,
     "from the computed prompt to all of its KV at the decode replica",
     in<&SplitFigures::kv_wait_s>},
    {"stretch_mean", "stretch", "times", less,
     "time of a transfer over what it takes where no other shares its links, on average",
     in<&SplitFigures::stretch_mean>},
    {"stretch_max", "stretch max", "times", less, "the largest of them",
     in<&SplitFigures::stretch_max>},
    {"kept_block_s", "kept", "block-seconds", less,
     "blocks of computed prompts at prefill replicas, times how long they are kept",
     in<&SplitFigures::kept_block_s>},
};

std::string split_text(const SplitFigures& split) {
  std::string out = "split     " + percent(split.split_frac) + " of requests, " +
                    figure(split.kv_bytes / 1e9) + " GB of KV sent, stretch " +
                    figure(split.stretch_mean) + " (max " + figure(split.stretch_max) + ")";
  if (split.recomputed > 0) out += ", " + grouped(split.recomputed) + " computed again";
  return out + "\n          wait for room " + duration(split.room_wait_s.mean) + " (p99 " +
         duration(split.room_wait_s.p99) + "), for KV " + duration(split.kv_wait_s.mean) +
         " (p99 " + duration(split.kv_wait_s.p99) + "); kept after prefill " +
         figure(split.kept_block_s) + " block-seconds\n";
}

class SplitCounter final : public CounterOf<SplitCounter> {
 public:
  void on_transfer(const TransferSeen& transfer) override {
    if (transfer.store >= 0 || transfer.to < 0) return;
    const bool is_shared = transfer.alone_end != never && transfer.alone_end > transfer.start;
    const double stretch = is_shared ? static_cast<double>(transfer.end - transfer.start) /
                                           static_cast<double>(transfer.alone_end - transfer.start)
                                     : 1;
    ++transfers_;
    counts_.kv_bytes += transfer.bytes;
    counts_.stretch_mean += stretch;
    counts_.stretch_max = std::max(counts_.stretch_max, stretch);
  }

  void on_end(const RequestDone& done, bool) override {
    if (done.computed != never && done.arrived != never)
      counts_.kept_block_s += done.kept_blocks * seconds(done.arrived - done.computed);
    if (done.outcome != Outcome::completed) return;
    ++completed_;
    if (done.computed == never) return;
    ++computed_;
    if (done.room == never) {
      ++counts_.recomputed;
      return;
    }
    room_wait_.add(std::max(Picoseconds{0}, done.room - done.computed));
    kv_wait_.add(std::max(Picoseconds{0}, done.arrived - done.computed));
  }

  std::vector<std::any> figures(const Summary&, const RunSpan&) const override {
    SplitFigures out = counts_;
    out.split_frac = quotient(computed_, completed_);
    if (transfers_ > 0) out.stretch_mean /= static_cast<double>(transfers_);
    out.room_wait_s = room_wait_.statistics(1e-12);
    out.kv_wait_s = kv_wait_.statistics(1e-12);
    return {out};
  }

 private:
  SplitFigures counts_;  // means are not set: the sum of stretches
  std::int64_t completed_ = 0, computed_ = 0, transfers_ = 0;
  LogHistogram room_wait_, kv_wait_;
};

}  // namespace

extern const PartRow split_part = {
    .name = "disaggregation",
    .help = "Prompts and their KV where prefill and decode are split; with the key of that name.",
    .metrics = split_metrics,
    .empty = empty<SplitFigures>,
    .text = says<split_text>,
    .in_report = {.rank = 3},
    .on_page = {PartPosition::nowhere},
    .counter = where_asked<SplitCounter>};

}  // namespace rooflua
