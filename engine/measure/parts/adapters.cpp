// Low-rank adapters: their slots, and what steps had of them.

#include <algorithm>

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

/// What low-rank adapters did (serve/adapters).
struct AdapterFigures {
  std::int64_t loads = 0, held = 0, adapters_max = 0;
  double load_s = 0, adapters_mean = 0, token_share = 0;
};

constexpr PartMetric adapter_metrics[] = {
    {"loads", "loads", "loads", less, "copies of adapters into slots of GPUs",
     in<&AdapterFigures::loads>},
    {"load_s", "loading", "s", less, "what these took, in their steps or before admissions",
     in<&AdapterFigures::load_s>},
    {"held", "held", "requests", less,
     "requests that were not admitted at once because their adapter had no slot",
     in<&AdapterFigures::held>},
    {"adapters_mean", "adapters", "adapters", neither, "different ones in a step, on average",
     in<&AdapterFigures::adapters_mean>},
    {"adapters_max", "most adapters", "adapters", neither, "different ones in a step, at most",
     in<&AdapterFigures::adapters_max>},
    {"token_share", "with adapter", "1", neither,
     "tokens of requests with an adapter over the tokens of all steps",
     in<&AdapterFigures::token_share>},
};

std::string adapter_text(const AdapterFigures& adapters) {
  return "adapters  " + figure(adapters.adapters_mean) + " in a step (at most " +
         grouped(adapters.adapters_max) + "), " + grouped(adapters.loads) + " loads (" +
         duration(adapters.load_s) + "), " + grouped(adapters.held) +
         " requests waited for a slot\n";
}

class AdapterCounter final : public CounterOf<AdapterCounter> {
 public:
  void on_step(const StepDone& step) override { note(*step.batch, 1); }
  void on_steps(const StepsDone& done) override {
    note(*done.first.batch, static_cast<std::int64_t>(done.steps.size()));
  }
  void forget_steps() override { *this = {}; }

  std::vector<std::any> figures(const Summary&, const RunSpan&) const override {
    AdapterFigures out = counts_;
    out.adapters_mean = quotient(adapters_, steps_);
    out.token_share = quotient(tokens_, of_all_);
    return {out};
  }

 private:
  /// So many steps like this one. Those after the first begin no load and hold no request.
  void note(const Batch& batch, std::int64_t steps) {
    steps_ += steps;
    counts_.loads += batch.adapter_loads;
    counts_.load_s += batch.adapter_load_s;
    counts_.held += batch.adapter_held;
    counts_.adapters_max = std::max<std::int64_t>(counts_.adapters_max, batch.adapters);
    adapters_ += steps * batch.adapters;
    tokens_ += steps * batch.adapter_tokens;
    of_all_ += steps * batch.tokens;
  }

  AdapterFigures counts_;  // the mean and the share are not set
  std::int64_t steps_ = 0, adapters_ = 0, tokens_ = 0, of_all_ = 0;
};

}  // namespace

extern const PartRow adapters_part = {.name = "adapters",
                                      .help = "Low-rank adapters; with the key adapters.",
                                      .metrics = adapter_metrics,
                                      .empty = empty<AdapterFigures>,
                                      .text = says<adapter_text>,
                                      .in_report = {.rank = 6},
                                      .on_page = {.rank = 5},
                                      .counter = where_asked<AdapterCounter>};

}  // namespace rooflua
