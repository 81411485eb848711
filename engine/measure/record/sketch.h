#pragma once
// What a report draws of a run: how latencies are distributed, how full the engine was over time,
// and a sample of its steps. Memory stays flat however long the run is.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "measure/record/draft_work.h"
#include "measure/record/play_sketch.h"
#include "measure/record/pool_sketch.h"
#include "measure/record/quantile.h"
#include "measure/record/time_bins.h"
#include "serve/contract/observer.h"
#include "serve/core/group.h"

namespace rooflua {

/// What a step amounts to, or several: numbers that its work hangs together with.
struct Amounts {
  double steps = 0;
  double tokens = 0, rows = 0;  // rows: what the LM head sees
  double prompt_tokens = 0;     // of `tokens`
  double group_tokens = 0;      // of all ranks that step together
  double contexts = 0;          // cached tokens of decodes
  double pairs = 0;             // of a prompt's new tokens with tokens before them
  double time_s = 0;            // StepPrice

  static Amounts of(const Batch& batch, const StepPrice& price);
  void add(const Amounts& other);
};

/// One step, kept as it was priced.
struct SampledStep {
  std::int32_t replica = 0;
  Amounts amounts;
  std::int64_t weight = 0;       // moments of the grid that fell into it; 0: see StepSurvey
  double time_s = 0, own_s = 0;  // StepPrice
  std::vector<PrefillWork> prefills;
  std::vector<std::int32_t> decode_contexts;
  DraftWork drafts;
  GroupWork group;  // over the ranks that step together
};

/// A sample of steps without randomness: those that were running at evenly spaced moments of the
/// engine's busy time, at most `most` of them. Each moment stands for the same part of that time.
/// All replicas of a run share one sample. Up to `most_prompts` steps with prompts are kept
/// besides, evenly spaced among those; they have no weight. What a prompt costs can then be told
/// also where steps with prompts are too short for the moments.
class StepSurvey {
 public:
  static constexpr std::int64_t most = 64, most_prompts = 16;
  /// An empty step of a rank is left out.
  void add(const Batch& batch, const StepPrice& price);
  std::vector<SampledStep> steps() const;
  /// Of all steps, by replica.
  const std::vector<Amounts>& totals() const { return totals_; }

 private:
  struct Kept {
    std::int64_t first, last;  // moments
    std::int64_t number;       // of the step, in its run
    SampledStep step;
  };
  void thin();
  void keep_prompt(const Batch& batch, const StepPrice& price, const Amounts& amounts);

  double spacing_s_ = 1e-3 / 1024, busy_s_ = 0;  // at first; short runs are sampled whole
  std::int64_t moment_ = 0;  // the next moment is at moment_ * spacing_s_ of busy time
  std::vector<Kept> kept_;
  std::int64_t steps_ = 0, prompts_ = 0, prompt_stride_ = 1;
  std::vector<Kept> kept_prompts_;
  std::vector<Amounts> totals_;
};

class Sketch : public Observer {
 public:
  /// @param play  a play that is drawn besides those of the median and the longest time, from 0
  /// @param pools  pools of engines that come and go
  explicit Sketch(std::optional<std::int64_t> play = {}, const std::vector<PoolOptions>& pools = {})
      : plays_(play), pools_(pools) {}

  void on_arrival(const Request& request, Picoseconds now) override;
  void on_priced(const StepPriced& step) override { sample_.add(step.batch, step.price); }
  void on_step(const StepDone& step) override;
  void on_done(const RequestDone& done) override;
  void on_row(const RowSent& row) override { plays_.on_row(row); }
  void on_play(const PlayDone& play) override { plays_.on_play(play); }
  void on_replica(const ReplicaChanged& change) override { pools_.on_replica(change, origin_); }

  const StepSurvey& sample() const { return sample_; }

  /// {quantiles: {ttft_s: [[q, value], ...], tpot_s, itl_s, e2e_s},
  ///  timeline: {bin_s, waiting: [...], running, kv_used_frac, step_tokens, output_tokens_per_s,
  ///    and where there are pools ready, starting},
  ///  plays: of play_sketch.h, where there are some}
  /// Times of the timeline count from the first arrival. Quantiles are within
  /// LogHistogram::relative_error of the summary's.
  Json json() const;

 private:
  struct Blocks {
    Picoseconds until = 0;  // end of the replica's last step
    TimeBins used;
    std::int32_t total = 0;
  };

  Picoseconds origin_ = never, last_ = 0;
  LogHistogram ttft_, tpot_, itl_, e2e_;
  TimeBins waiting_, running_, tokens_, busy_, output_;
  std::vector<Blocks> blocks_;  // per replica
  StepSurvey sample_;
  PlaySketch plays_;
  PoolSketch pools_;
};

}  // namespace rooflua
