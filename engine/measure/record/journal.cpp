#include "measure/record/journal.h"

#include <utility>

#include "base/error.h"
#include "serve/replica/replica.h"

namespace rooflua {

namespace {

/// Whether the step decodes the requests of the step that was planned before it, and no others:
/// only a prompt that is computed adds a request to those that decode. With stages the step planned
/// before it is that of another lane.
bool repeats(const StepPriced& step, const StepWork& before) {
  const Batch& batch = step.batch;
  return !step.replica.is_ragged() && !step.replica.has_stages() && batch.prefill_count == 0 &&
         before.prefills.empty() && batch.decodes > 0 &&
         batch.decodes == step.replica.view().decodes &&
         static_cast<std::size_t>(batch.decodes) == before.decode_ids().size();
}

}  // namespace

std::vector<std::int32_t> StepWork::decode_contexts() const {
  std::vector<std::int32_t> out = decodes->contexts;
  for (std::int32_t& context : out) context += more_tokens;
  return out;
}

void Journal::on_priced(const StepPriced& step) {
  const Batch& batch = step.batch;
  std::deque<StepWork>& planned = planned_[batch.replica];
  const StepWork* before = planned.empty() ? last_step(batch.replica) : &planned.back();
  StepWork work;
  work.time_s = step.price.time_s;
  work.own_s = step.price.own_s;
  work.group = GroupWork::of(batch);
  work.all_decode = batch.decodes == step.replica.view().decodes;
  work.prefills.assign(batch.prefills, batch.prefills + batch.prefill_count);
  if (before != nullptr && before->all_decode && repeats(step, *before)) {
    work.decodes = before->decodes;
    work.more_tokens = before->more_tokens + 1;
  } else {
    StepWork::Decodes decodes{decode_ids(batch), {}};
    if (const std::int32_t* contexts = decode_contexts(batch))
      decodes.contexts.assign(contexts, contexts + batch.decodes);
    work.decodes = std::make_shared<const StepWork::Decodes>(std::move(decodes));
  }
  work.drafts = DraftWork::of(batch);
  planned.push_back(std::move(work));
}

// --- live requests

Journal::Live* Journal::find_live(std::int32_t id) {
  const auto found = live_.find(id);
  return found == live_.end() ? nullptr : &found->second;
}

void Journal::catch_up(Live& live) {
  if (live.replica < 0) return;
  const std::vector<PassedStep>& passed = passed_[live.replica];
  live.why.on_passed(std::span(passed).subspan(live.seen));
  live.seen = passed.size();
}

void Journal::move_to(Live& live, std::int32_t replica) {
  live.replica = replica;
  live.seen = passed_[replica].size();
}

void Journal::on_arrival(const Request& request, Picoseconds now) {
  Live live{WhyObserver(request.id)};
  live_.emplace(request.id, std::move(live)).first->second.why.on_arrival(request, now);
}

void Journal::on_held(const Request& request, Picoseconds now) {
  if (Live* live = find_live(request.id)) live->why.on_held(request, now);
}

void Journal::on_passed(const Request& request, Picoseconds now) {
  if (Live* live = find_live(request.id)) live->why.on_passed(request, now);
}

void Journal::on_queued(const Request& request, Picoseconds now) {
  Live* live = find_live(request.id);
  if (live == nullptr) return;
  catch_up(*live);
  live->why.on_queued(request, now);
  move_to(*live, request.replica);
}

void Journal::on_preempt(const Request& request, Picoseconds now) {
  Live* live = find_live(request.id);
  if (live == nullptr) return;
  catch_up(*live);
  live->why.on_preempt(request, now);
}

/// The step that ends now has a chunk of this request, or skipped it.
void Journal::tell_alone(const StepDone& step, std::int32_t id) {
  Live* live = find_live(id);
  if (live == nullptr || live->replica != step.replica) return;
  catch_up(*live);
  live->why.on_step(step);
  ++live->seen;  // it is noted next
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
  sample.speculates = step.speculates;
  sample.decode_tokens = step.batch->decode_tokens;
  sample.drafted = step.drafted;
  sample.accepted = step.accepted;
  sample.used_blocks = step.used_blocks;
  sample.total_blocks = step.total_blocks;
  steps_.push_back(sample);
  for (const PrefillWork& prefill : step.prefills) tell_alone(step, prefill.id);
  for (const std::int32_t id : step.skipped) tell_alone(step, id);
  std::vector<PassedStep>& passed = passed_[step.replica];
  passed.emplace_back(step, passed.empty() ? nullptr : &passed.back());
  if (passed.size() == most_missed) {
    for (auto& [id, live] : live_) {
      if (live.replica != step.replica) continue;
      catch_up(live);
      live.seen = 0;
    }
    passed.clear();
  }
  std::deque<StepWork>& planned = planned_[step.replica];
  if (planned.empty()) return;  // the step was planned before the journal began
  planned.front().sample = sample;
  last_[step.replica] = std::move(planned.front());
  planned.pop_front();
}

void Journal::on_load(const Request& request, Picoseconds now) {
  Live* live = find_live(request.id);
  if (live == nullptr) return;
  catch_up(*live);
  live->why.on_load(request, now);
}

void Journal::on_loaded(const Request& request, Picoseconds now) {
  Live* live = find_live(request.id);
  if (live == nullptr) return;
  catch_up(*live);
  live->why.on_loaded(request, now);
}

void Journal::on_transfer(const TransferSeen& transfer) {
  Live* live = transfer.store < 0 ? find_live(transfer.id) : nullptr;
  if (live == nullptr) return;
  catch_up(*live);
  live->why.on_transfer(transfer);
  if (!transfer.is_pushed) move_to(*live, transfer.to);
}

void Journal::on_computed(const Request& request, Picoseconds now) {
  Live* live = find_live(request.id);
  if (live == nullptr) return;
  catch_up(*live);
  live->why.on_computed(request, now);
}

void Journal::on_kv(const Request& request, Picoseconds now) {
  Live* live = find_live(request.id);
  if (live == nullptr) return;
  catch_up(*live);
  live->why.on_kv(request, now);
  move_to(*live, request.replica);
}

void Journal::on_done(const RequestDone& done) {
  rows_.on_done(done);
  Live* live = find_live(done.id);
  if (live == nullptr) return;
  catch_up(*live);
  live->why.on_done(done);
  if (live->why.why()) ended_.push_back(*live->why.why());
  live_.erase(done.id);
}

// --- plays

void Journal::on_play(const PlayDone& play) {
  plays_.on_play(play);
  KeptPlay kept{play, {play.path.begin(), play.path.end()}, rows_.take(play.play)};
  kept.done.name = nullptr;
  kept.done.path = {};
  kept_plays_.push_back(std::move(kept));
}

std::optional<WhyPlay> Journal::why_play(std::int64_t play) const {
  for (std::size_t i = 0; i < kept_plays_.size(); ++i) {
    const KeptPlay& kept = kept_plays_[i];
    if (kept.done.play != play) continue;
    std::map<std::int32_t, const Why*> by_id;
    for (const PlayStep& step : kept.path) by_id[step.id] = nullptr;
    for (const Why& each : ended_)
      if (const auto found = by_id.find(each.done.id); found != by_id.end()) found->second = &each;
    const auto why_of = [&](std::int32_t id) -> const Why& {
      ROOFLUA_ASSERT(by_id.at(id) != nullptr);
      return *by_id.at(id);
    };
    WhyPlay out = rooflua::why_play(kept.done, kept.path, kept.requests, why_of);
    out.play = plays_.ended()[i];
    return out;
  }
  return std::nullopt;
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
