#include "measure/record/journal.h"

namespace rooflua {

void Journal::on_priced(const StepPriced& step) {
  const Batch& batch = step.batch;
  StepWork work;
  work.time_s = step.price.time_s;
  work.own_s = step.price.own_s;
  work.group = GroupWork::of(batch);
  work.prefills.assign(batch.prefills, batch.prefills + batch.prefill_count);
  work.decode_ids = decode_ids(batch);
  if (const std::int32_t* contexts = decode_contexts(batch)) {
    work.decode_contexts.assign(contexts, contexts + batch.decodes);
  }
  work.drafts = DraftWork::of(batch);
  planned_[batch.replica].push_back(std::move(work));
}

void Journal::on_arrival(const Request& request, Picoseconds now) {
  live_.emplace(request.id, WhyObserver(request.id)).first->second.on_arrival(request, now);
}

void Journal::on_queued(const Request& request, Picoseconds now) {
  if (const auto found = live_.find(request.id); found != live_.end())
    found->second.on_queued(request, now);
}

void Journal::on_preempt(const Request& request, Picoseconds now) {
  if (const auto found = live_.find(request.id); found != live_.end())
    found->second.on_preempt(request, now);
}

void Journal::on_step(const StepDone& step) {
  EndedStep sample;
  sample.start = step.start;
  sample.end = step.end;
  sample.replica = step.replica;
  sample.waiting = step.waiting;
  sample.running = step.running;
  sample.decodes = step.batch->decodes;
  sample.prefills = static_cast<std::int32_t>(step.prefills.size());
  sample.prefill_tokens = step.batch->tokens - step.batch->decode_tokens;
  sample.speculates = !step.rows.empty() || step.batch->draft_passes > 0;
  sample.decode_tokens = step.batch->decode_tokens;
  sample.drafted = step.drafted;
  sample.accepted = step.accepted;
  sample.used_blocks = step.used_blocks;
  sample.total_blocks = step.total_blocks;
  steps_.push_back(sample);
  for (auto& [id, request] : live_) request.on_step(step);
  std::deque<StepWork>& planned = planned_[step.replica];
  if (planned.empty()) return;  // the step was planned before the journal began
  planned.front().sample = sample;
  last_[step.replica] = std::move(planned.front());
  planned.pop_front();
}

void Journal::on_transfer(const TransferStarted& transfer) {
  if (const auto found = live_.find(transfer.id); found != live_.end())
    found->second.on_transfer(transfer);
}

void Journal::on_done(const RequestDone& done) {
  const auto found = live_.find(done.id);
  if (found == live_.end()) return;
  found->second.on_done(done);
  if (found->second.why()) ended_.push_back(*found->second.why());
  live_.erase(found);
}

const Why* Journal::find(std::int32_t id) const {
  for (const Why& each : ended_) {
    if (each.done.id == id) return &each;
  }
  return nullptr;
}

const StepWork* Journal::last_step(std::int32_t replica) const {
  const auto found = last_.find(replica);
  return found == last_.end() ? nullptr : &found->second;
}

}  // namespace rooflua
