// Experts that move between ranks (serve/contract/experts.h): bytes, stalls and the load of steps.

#include <algorithm>

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

/// What experts that move did (serve/contract/experts.h).
struct ExpertFigures {
  std::int64_t rebalancings = 0;
  double moved_bytes = 0, stall_s = 0, load_mean = 1, load_max = 1;
};

constexpr PartMetric expert_metrics[] = {
    {"rebalancings", "rebalancings", "rebalancings", neither, "times that experts were placed anew",
     in<&ExpertFigures::rebalancings>},
    {"moved_bytes", "moved", "bytes", less, "weights of experts that ranks received",
     in<&ExpertFigures::moved_bytes>},
    {"stall_s", "stalled", "s", less, "what engines waited for experts that moved",
     in<&ExpertFigures::stall_s>},
    {"load_mean", "expert load", "1", less,
     "tokens of the fullest rank over those of a balanced one, mean of layers and steps",
     in<&ExpertFigures::load_mean>},
    {"load_max", "most expert load", "1", less, "the same in the step where it was largest",
     in<&ExpertFigures::load_max>},
};

std::string expert_text(const ExpertFigures& experts) {
  return "experts  " + grouped(experts.rebalancings) + " rebalancings moved " +
         figure(experts.moved_bytes / 1e9) + " GB" + ", engines waited " +
         duration(experts.stall_s) + "; load of the fullest rank " + figure(experts.load_mean) +
         " (at most " + figure(experts.load_max) + ")\n";
}

class ExpertCounter final : public CounterOf<ExpertCounter> {
 public:
  void on_step(const StepDone& step) override { note(*step.batch, 1); }
  void on_steps(const StepsDone& done) override {
    note(*done.first.batch, static_cast<std::int64_t>(done.steps.size()));
  }
  void forget_steps() override { *this = {}; }

  std::vector<std::any> figures(const Summary&, const RunSpan&) const override {
    ExpertFigures out = counts_;
    if (steps_ > 0)
      out.load_mean =
          (load_ + static_cast<double>(in_a_row_) * same_) / static_cast<double>(steps_);
    return {out};
  }

 private:
  /// So many steps like this one, of which the first may move experts. Bytes and the stall of an
  /// engine are those of its first rank.
  void note(const Batch& batch, std::int64_t steps) {
    steps_ += steps;
    counts_.rebalancings += batch.expert_rebalanced;
    counts_.moved_bytes += batch.expert_moved_bytes;
    if (batch.expert_moved_bytes > 0) counts_.stall_s += batch.expert_stall_s;
    // Equal loads in a row are multiplied once, so that it does not matter how many steps are told
    // together.
    if (batch.expert_load != same_) {
      load_ += static_cast<double>(in_a_row_) * same_;
      same_ = batch.expert_load;
      in_a_row_ = 0;
    }
    in_a_row_ += steps;
    counts_.load_max = std::max(counts_.load_max, batch.expert_load);
  }

  ExpertFigures counts_;  // the mean is not set
  std::int64_t steps_ = 0, in_a_row_ = 0;
  double load_ = 0, same_ = 0;
};

}  // namespace

extern const PartRow experts_part = {
    .name = "experts",
    .help = "Experts that move between ranks; with the key experts.",
    .metrics = expert_metrics,
    .empty = empty<ExpertFigures>,
    .text = says<expert_text>,
    .in_report = {.rank = 7},
    .on_page = {.rank = 6},
    .counter = where_asked<ExpertCounter>};

}  // namespace rooflua
