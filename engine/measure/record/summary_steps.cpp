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
  add(step);
  latency_.on_step(step);
  for (PartCounter* each : counters_.of(PartEvent::step)) each->on_step(step);
}

/// All but what parts count.
void SummaryObserver::add(const StepDone& step) {
  told_.reset();
  ReplicaCount& count = count_of(step.replica);
  ++count.steps;
  const std::array<std::int32_t, 6> load{step.running,       step.max_num_seqs,
                                         step.batch->tokens, step.max_num_batched_tokens,
                                         step.used_blocks,   step.total_blocks};
  if (load != count.load) note_load(step, load, count);
  note_time(step.start, step.end, count);
  if (step.batch->group_ranks > 1) {
    count.grouped = true;
    count.waited_s += step.price->time_s - step.price->own_s;
  }
  if (step.batch->decodes > 0) {
    ++count.decode_steps;
    count.decodes += step.batch->decodes;
  }
  for (std::size_t i = 0; i < evidence_count; ++i)
    count.evidence_s.seconds[i] += step.price->evidence_s[i];
  note_tokens(step.end, step.tokens_landed());
  itl_.add(step.common_gap, step.common_gaps);
  for (const Picoseconds gap : step.other_gaps) itl_.add(gap);
  if (step.speculates && options_.gap_per_token) itl_.add(0, step.accepted - step.overshoot);
}

/// With stages, steps overlap: each counts from the end of the one before it.
inline void SummaryObserver::note_time(Picoseconds start, Picoseconds end, ReplicaCount& count) {
  const Picoseconds from = std::max(start, count.until);
  count.until = end;
  count.busy += end - from;
  count.loaded_ps += count.fill * static_cast<double>(end - from);
  span_.last_step_end = std::max(span_.last_step_end, end);
}

void SummaryObserver::begin_second(std::int64_t second) {
  if (part_ && second_tokens_ > 0) part_->tokens[second_] += second_tokens_;
  second_ = second;
  second_tokens_ = 0;
}

inline void SummaryObserver::note_tokens(Picoseconds end, std::int32_t tokens) {
  const std::int64_t bucket = (end - span_.first_arrival) / second;
  if (bucket != second_) begin_second(bucket);
  second_tokens_ += tokens;
  peak_tokens_ = std::max(peak_tokens_, second_tokens_);
}

/// The first one like any other. Those after it differ from it in their times, prices and blocks.
void SummaryObserver::on_steps(const StepsDone& done) {
  add(done.first);
  latency_.on_steps(done);
  for (PartCounter* each : counters_.of(PartEvent::step)) each->on_steps(done);
  ReplicaCount& count = count_of(done.first.replica);
  const auto others = static_cast<std::int64_t>(done.steps.size()) - 1;
  const std::int32_t tokens = done.first.tokens_landed();
  count.steps += others;
  count.decode_steps += others;
  count.decodes += others * done.first.batch->decodes;
  StepDone step = done.first;
  std::array<std::int32_t, 6> load = count.load;
  EvidenceSeconds evidence = count.evidence_s;
  gaps_.clear();
  for (const RepeatedStep& each : done.steps.subspan(1)) {
    gaps_.push_back(each.end - each.start);
    if (each.used_blocks != step.used_blocks) {
      load[4] = step.used_blocks = each.used_blocks;
      note_load(step, load, count);
    }
    note_time(each.start, each.end, count);
    for (std::size_t i = 0; i < evidence_count; ++i)
      evidence.seconds[i] += each.price->evidence_s[i];
    note_tokens(each.end, tokens);
  }
  count.evidence_s = evidence;
  itl_.add_each(gaps_, step.common_gaps);
}

}  // namespace rooflua
