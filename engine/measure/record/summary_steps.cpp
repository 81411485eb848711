// What the summary counts at each step.

#include <algorithm>

#include "measure/record/summary.h"

namespace rooflua {

namespace {

constexpr Picoseconds second = 1'000'000'000'000;

}  // namespace

double fill_of_step(const StepDone& step) {
  const auto share = [](double used, double limit) { return limit > 0 ? used / limit : 0; };
  const double fill = std::max({share(step.running, step.max_num_seqs),
                                share(step.batch->tokens, step.max_num_batched_tokens),
                                share(step.used_blocks, step.total_blocks)});
  return std::min(fill, 1.0);
}

/// Most steps are as full as the one before.
void SummaryObserver::note_load(const StepDone& step, const std::array<std::int32_t, 6>& load,
                                ReplicaCount& count) {
  count.load = load;
  count.fill = fill_of_step(step);
  if (step.total_blocks == 0) return;
  count.kv_used_frac_max =
      std::max(count.kv_used_frac_max, static_cast<double>(step.used_blocks) / step.total_blocks);
}

void SummaryObserver::expect_step(std::int32_t replica) const {
  const auto index = static_cast<std::size_t>(replica);
  if (index >= replica_counts_.size()) return;
  __builtin_prefetch(&replica_counts_[index]);
  __builtin_prefetch(reinterpret_cast<const char*>(&replica_counts_[index]) + sizeof(ReplicaCount) -
                     1);
}

void SummaryObserver::on_step(const StepDone& step) {
  told_.reset();
  add(step, count_of(step.replica));
  itl_.add(step.common_gap, step.common_gaps);
  for (const Picoseconds gap : step.other_gaps) itl_.add(gap);
  if (step.speculates) count_rows(step);
}

/// They step alone and do not speculate, so that nobody asks for own_s.
void SummaryObserver::on_steps(const StepsDone& done) {
  told_.reset();
  ReplicaCount& count = count_of(done.first.replica);
  StepDone step = done.first;
  Picoseconds before = step.end - step.common_gap;
  gaps_.clear();
  for (const RepeatedStep& each : done.steps) {
    gaps_.push_back(each.end - before);
    before = each.end;
    step.start = each.start;
    step.end = each.end;
    step.price = each.price;
    step.used_blocks = each.used_blocks;
    add(step, count);
  }
  itl_.add_each(gaps_, step.common_gaps);
}

/// All but the gaps between tokens.
inline void SummaryObserver::add(const StepDone& step, ReplicaCount& count) {
  ++count.steps;
  // With stages, steps overlap: each counts from the end of the one before it.
  const Picoseconds from = std::max(step.start, count.until);
  count.until = step.end;
  count.busy += step.end - from;
  const std::array<std::int32_t, 6> load{step.running,       step.max_num_seqs,
                                         step.batch->tokens, step.max_num_batched_tokens,
                                         step.used_blocks,   step.total_blocks};
  if (load != count.load) note_load(step, load, count);
  count.loaded_ps += count.fill * static_cast<double>(step.end - from);
  if (step.batch->group_ranks > 1) {
    count.grouped = true;
    count.waited_s += step.price->time_s - step.price->own_s;
  }
  last_step_end_ = std::max(last_step_end_, step.end);
  if (step.batch->decodes > 0) {
    ++count.decode_steps;
    count.decodes += step.batch->decodes;
  }
  for (std::size_t i = 0; i < evidence_count; ++i)
    evidence_s_.seconds[i] += step.price->evidence_s[i];

  const std::int64_t bucket = (step.end - first_arrival_) / second;
  if (bucket != second_) second_tokens_ = 0;
  second_ = bucket;
  second_tokens_ += step.tokens_landed();
  peak_tokens_ = std::max(peak_tokens_, second_tokens_);
}

}  // namespace rooflua
