// Steps and requests leave: rows of speculation land, requests end early, steps of stages land.

#include <algorithm>
#include <span>

#include "serve/replica/replica.h"

namespace rooflua {

// --- Steps of a replica that speculates land: the accepted drafts show. A row of a request that ended
// in the step before is discarded.

/// @returns the gap of the first row, and how many rows have it; the others' go to `gaps`
Pipeline::CommonGap Replica::land_rows(const Step& step, Picoseconds now,
                                       std::vector<Picoseconds>& gaps) {
  const auto landed = std::find_if(step.rows.begin(), step.rows.end(),
                                   [](const Row& row) { return !row.discarded; });
  if (landed == step.rows.end()) {
    land_known_prompts(step);
    return {};
  }
  const Picoseconds common_gap = now - last_token(landed->slot);
  const std::size_t gaps_before = gaps.size();
  Request* const requests = &board_.request(0);
  RaggedProgress* const all_ragged = &board_.ragged(0);
  std::int32_t decode_tokens = 0;  // accepted by requests that go on decoding
  for (const Row& row : step.rows) {
    RaggedProgress& ragged = all_ragged[row.slot];
    Picoseconds gap;
    if (row.goes_on() && ragged.decodes) {
      Request& request = requests[row.slot];
      gap = now - ragged.last_token;
      ragged.last_token = now;
      ragged.ahead -= row.drafts - row.accepted;
      ragged.content_tokens = ragged.known_tokens;
      ragged.known_tokens += row.landed;
      ++request.rounds;
      request.drafted_tokens += row.drafts;
      request.accepted_tokens += row.accepted;
      request.emitted_tokens += row.accepted;
      request.context_tokens += row.accepted;
      decode_tokens += row.accepted;
      if (ragged.known_tokens >= ragged.fills_at) know_landed(row.slot);
      if (request.emitted_tokens >= ragged.limit) finish(row.slot);
    } else {
      if (row.discarded) continue;  // its slot may be that of another request
      gap = land_apart(row, now);
    }
    if (gap != common_gap) gaps.push_back(gap);
  }
  board_.view.decode_context_tokens += decode_tokens;
  land_known_prompts(step);
  const std::size_t others = gaps.size() - gaps_before;
  return {common_gap, landed_rows(step) - static_cast<std::int32_t>(others)};
}

Picoseconds Replica::last_token(std::int32_t slot) const {
  const RaggedProgress& ragged = board_.ragged(slot);
  return ragged.decodes ? ragged.last_token : board_.progress(slot).last_token;
}

std::int32_t Replica::landed_rows(const Step& step) {
  return static_cast<std::int32_t>(step.rows.size()) - step.discarded;
}

/// The row of a request that ends with it, or that decodes no longer. @returns the gap
Picoseconds Replica::land_apart(const Row& row, Picoseconds now) {
  Request& request = board_.request(row.slot);
  RaggedProgress& ragged = board_.ragged(row.slot);
  const Picoseconds gap = now - last_token(row.slot);
  (ragged.decodes ? ragged.last_token : board_.progress(row.slot).last_token) = now;
  ragged.ahead -= row.drafts - row.accepted;
  ragged.content_tokens = std::max(ragged.content_tokens, ragged.known_tokens);
  ragged.known_tokens += row.landed;
  ++request.rounds;
  request.drafted_tokens += row.drafts;
  request.accepted_tokens += row.accepted;
  request.emitted_tokens += row.landed - 1;
  if (!seated(request.phase)) {
    if (request.phase == Phase::waiting) board_.view.waiting_tokens += row.landed - 1;
  } else if (!row.ends) {  // what is accepted after an end is no context
    request.context_tokens += row.accepted;
    know_landed(row.slot);
  }
  return gap;
}

/// More of a sequence has landed. With one step in flight it is content when the next plan has it.
void Replica::know_landed(std::int32_t slot) {
  if (config_.async_depth > 1) pipeline_.at(0).fills.push_back(slot);
}

/// Blocks that were filled while their last token was in flight carry content now, if their
/// requests were admitted before this seat. @returns the other slots
std::span<const std::int32_t> Replica::land_fills(std::span<const std::int32_t> fills,
                                                  std::int64_t seat) {
  for (; !fills.empty() && board_.progress(fills.front()).seat < seat; fills = fills.subspan(1)) {
    const std::int32_t slot = fills.front();
    if (!seated(request(slot).phase)) continue;  // it lost its seat
    if (is_ragged()) {
      changed_ = know_content(slot, request(slot).context_tokens) || changed_;
      continue;
    }
    kv_.remember(slot, request(slot), board_.progress(slot),
                 context_tokens(view(), request(slot)) / config_.block_size);
    changed_ = true;
  }
  return fills;
}

/// With two steps in flight a token becomes content when it lands.
void Replica::land_known_prompts(const Step& step) {
  for (const PrefillWork& work : step.prefills) {
    if (work.completes == 0) continue;
    RaggedProgress& ragged = board_.ragged(work.slot);
    ++ragged.known_tokens;
    ragged.last_token = board_.progress(work.slot).last_token;
    if (seated(request(work.slot).phase)) know_landed(work.slot);
  }
}

/// Of the answer only what was scheduled when the last row was planned is content; with two steps
/// in flight all of it but its last token.
void Replica::end_ragged(std::int32_t slot) {
  Request& request = board_.request(slot);
  RaggedProgress& ragged = board_.ragged(slot);
  const std::int32_t stop_at = board_.progress(slot).stop_at;
  const std::int32_t landed = ragged.known_tokens - request.prompt_tokens;
  request.context_tokens -= request.emitted_tokens - landed;  // rows in flight
  request.emitted_tokens = stop_at;
  if (config_.async_depth > 1) {
    request.context_tokens = request.prompt_tokens + stop_at - 1;
    ragged.content_tokens = request.context_tokens;
  }
}

/// How many rows accepted draft 1, 2, ..., for each that may be asked for.
std::span<const std::int32_t> Replica::accepted_at(const Step& step) const {
  const std::vector<std::int32_t>& counts = step.accepted_counts;
  if (counts.empty()) return {};
  auto most = static_cast<std::size_t>(speculator_ != nullptr ? speculator_->depth() : 0);
  for (std::size_t j = most + 1; j < counts.size(); ++j) {
    if (counts[j] > 0) most = j;
  }
  return std::span(counts).subspan(1, most);
}

void Replica::tell_landed(Step& step, Picoseconds now) {
  // A row that accepted draft j accepted those before it.
  std::vector<std::int32_t>& counts = step.accepted_counts;
  for (std::size_t j = counts.size(); j-- > 1;) counts[j - 1] += counts[j];
  if (speculator_ == nullptr) return;
  const auto depth = static_cast<std::size_t>(speculator_->depth());
  if (counts.size() <= depth) counts.resize(depth + 1);  // the speculator was exchanged meanwhile
  if (landed_rows(step) == 0) return;
  SpecSeen seen;
  seen.now_s = seconds(now);
  seen.rows = landed_rows(step);
  seen.drafted = step.drafted;
  seen.accepted = step.accepted;
  seen.accepted_at = accepted_at(step).first(depth);
  seen.decodes = view().decodes;
  speculator_->landed(seen);
}

// --- Requests that leave before their end (Simulation::abort()): their rows in steps under way are
// computed all the same, and nothing of them lands.

namespace {

bool holds(const std::vector<std::int32_t>& slots, std::int32_t slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

/// Whether the step decodes the request, where the replica does not speculate. Of a step at the
/// common pace only indices tell it.
bool decodes(const Step& step, std::int32_t slot, const Progress& progress) {
  if (holds(step.own_gaps, slot) || holds(step.stamps, slot)) return true;
  return step.decode_index >= progress.token_from && step.decode_index < progress.finish_at;
}

/// The row is one of those that do not land.
void drop_row(Row& row, Step& step) {
  row.discarded = true;
  ++step.discarded;
  step.drafted -= row.drafts;
  step.accepted -= row.accepted;
  step.overshoot -= 1 + row.accepted - row.landed;
  --step.accepted_counts[static_cast<std::size_t>(row.accepted)];
}

/// The lists of a step that name slots, without this one.
void erase_names(Step& step, std::int32_t slot) {
  for (std::vector<std::int32_t>* each : {&step.own_gaps, &step.stamps, &step.ending, &step.fills})
    std::erase(*each, slot);
}

}  // namespace

/// Calls `see` with every step that is planned and not over, the oldest first.
template <class See>
void Replica::each_step(See see) {
  for (std::int32_t place = 0; place < pipeline_.planned(); ++place) see(pipeline_.at(place));
  if (!flight_) return;
  for (Step& step : flight_->behind) see(step);
}

Replica::InFlight Replica::in_flight(std::int32_t slot) {
  InFlight out;
  const std::int32_t id = request(slot).id;
  const auto count = [&](bool is_token) {
    out.any = true;
    out.tokens += is_token;
  };
  each_step([&](const Step& step) {
    for (const PrefillWork& work : step.prefills) {
      if (work.id == id) return count(work.completes != 0);
    }
    const bool decodes_it = is_ragged() ? std::any_of(step.rows.begin(), step.rows.end(),
                                                      [id](const Row& row) { return row.id == id; })
                                        : decodes(step, slot, board_.progress(slot));
    if (decodes_it) count(true);
  });
  return out;
}

void Replica::discard(std::int32_t slot) {
  const std::int32_t id = request(slot).id;
  each_step([&](Step& step) {
    for (PrefillWork& work : step.prefills) {
      if (work.id != id || work.completes == 0) continue;
      work.completes = 0;
      --step.batch.sampled;
    }
    if (is_ragged()) {
      for (Row& row : step.rows) {
        if (row.id != id || row.discarded) continue;
        drop_row(row, step);
        RaggedProgress& ragged = board_.ragged(slot);  // what the row was planned with is content
        ragged.content_tokens = std::max(ragged.content_tokens, ragged.known_tokens);
      }
    } else if (decodes(step, slot, board_.progress(slot))) {
      ++step.discarded;
    }
    erase_names(step, slot);
    step.plain = false;
  });
  std::erase_if(failing_, [slot](const Failing& each) { return each.slot == slot; });
  changed_ = true;
}

void Replica::lose_steps() {
  pipeline_.clear();
  if (flight_) {
    flight_->behind.clear();
    flight_->clock = StageClock(config_.stages);
  }
  repeatable_ = false;
  wake_ = never;
  changed_ = true;
}

void Replica::leave(std::int32_t slot, std::int32_t unknown_tokens, bool keeps_blocks) {
  keeps_blocks ? leave_with_blocks(slot, unknown_tokens) : evict(slot, unknown_tokens);
  each_step([slot](Step& step) { erase_names(step, slot); });
}

// --- Steps of a replica with stages: requests leave for the stages and come back with their step.

bool Replica::has_room() const {
  return planned_steps() < flight_->most;
}

std::int32_t Replica::planned_steps() const {
  return pipeline_.planned() + (flight_ ? static_cast<std::int32_t>(flight_->behind.size()) : 0);
}

Picoseconds Replica::next_start(Picoseconds now) const {
  if (flight_) return flight_->clock.next_start(now);
  return pipeline_.executing() ? std::max(now, pipeline_.front().end) : now;
}

void Replica::hold_stages(Picoseconds now, double wait_s) {
  flight_->clock.hold(now, wait_s);
}

/// The step is under way at once; when each stage has it is known.
void Replica::send_off(const StepPrice& price, Picoseconds now) {
  const bool front = pipeline_.planned() == 0;
  Step& step = front ? pipeline_.append() : flight_->behind.emplace_back();
  describe(step, price, now);
  const auto [start, end] = flight_->clock.pass(now, price.own_s, step.batch.tokens);
  step.start = start;
  step.end = end;
  if (front) pipeline_.start(start, end);
  depart_decodes(step);
  depart_prefills(step);
  by_admission(step.ending);
  changed_ = true;
}

bool Replica::bring_forward() {
  if (flight_->behind.empty()) return false;
  Step& front = pipeline_.append();
  front = std::move(flight_->behind.front());
  flight_->behind.pop_front();
  pipeline_.start(front.start, front.end);
  return true;
}

void Replica::depart_decodes(Step& step) {
  pool_.forget_newcomers();
  if (step.batch.decodes == 0) return;
  board_.view.lane_steps += plan_.decodes_everyone() || plan_.walked();
  for (std::int32_t slot = view().running_head; slot >= 0; slot = request(slot).next) {
    const bool decodes = request(slot).phase == Phase::decoding;
    // A request of another lane decodes again before this step lands.
    if (request(slot).phase == Phase::in_flight || (decodes && !plan_.holds(slot)))
      step.skipped.push_back(request(slot).id);
    if (!decodes || !plan_.holds(slot)) continue;
    pool_.leave(slot);
    Request& leaving = board_.request(slot);
    leaving.context_tokens += DecodePool::tokens_per_step;
    Progress& progress = board_.progress(slot);
    progress.held_blocks =
        std::max(progress.held_blocks, blocks_for(leaving.context_tokens, config_.block_size));
    step.own_gaps.push_back(slot);
    step.stamps.push_back(slot);
    depart(slot, step);
  }
}

void Replica::depart_prefills(Step& step) {
  for (const PrefillWork& work : step.prefills) {
    board_.request(work.slot).context_tokens += work.new_tokens;
    if (work.completes != 0) depart(work.slot, step);
  }
  if (config_.content_from != ContentFrom::plan) land_chunks(step.prefills, false);
}

/// A token of the request is in flight. By its limit it is the last one; an end token is known when
/// it lands.
void Replica::depart(std::int32_t slot, Step& step) {
  Request& request = board_.request(slot);
  const Progress& progress = board_.progress(slot);
  ++request.emitted_tokens;
  if (request.emitted_tokens == progress.stop_at) step.ending.push_back(slot);
  if (request.emitted_tokens == progress.limit) {
    leave_adapter(slot);
    return seats_.finish(slot);
  }
  if (request.phase == Phase::prefilling) seats_.end_prefill(slot);
  request.phase = Phase::in_flight;
  ++board_.view.in_flight;
  flight_->context_tokens += request.context_tokens;
}

/// The tokens of this step have landed. A request that lost its seat meanwhile stays in the queue.
void Replica::come_back(const Step& step) {
  const auto rejoin = [this](std::int32_t slot) {
    if (request(slot).phase != Phase::in_flight) return;
    not_in_flight(slot);
    pool_.join(slot, shares_output(slot));
  };
  for (const std::int32_t slot : step.stamps) rejoin(slot);
  for (const PrefillWork& work : step.prefills) {
    if (work.completes != 0) rejoin(work.slot);
  }
  changed_ = true;
}

}  // namespace rooflua
