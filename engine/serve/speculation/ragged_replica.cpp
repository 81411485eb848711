// The part of replica.h about the steps of a replica that speculates.
//
//   plan    rows are chosen (ragged_plan.cpp); the speculator says how many drafts all that sample
//           bring to the next plan; the step is priced with the contexts that will be true
//   commit  what is accepted of each row is resolved, and hidden in the row: each request shows one
//           token more, which is certain. A request that reaches its limit with what is certain is
//           not planned again
//   land    the accepted drafts show. A row of a request that ended in the step before is discarded

#include <algorithm>
#include <string>

#include "base/error.h"
#include "serve/replica.h"

namespace rooflua {

void Replica::speculate_by(SpeculatorPolicy* speculator, AcceptanceModel* acceptance) {
  ROOFLUA_ASSERT((speculator == nullptr) == (acceptance == nullptr));
  speculator_ = speculator;
  acceptance_ = acceptance;
}

// --- planning

bool Replica::must_ask_ragged() const {
  const RaggedPool::Demand demand = ragged_->demand();
  const std::int32_t budget = view().max_num_batched_tokens;
  if (demand.blocks > kv_.free_blocks() || (budget > 0 && demand.tokens > budget)) return true;
  // Tokens that decodes leave may go to prompts.
  if (demand.tokens != asked_tokens_ && view().waiting + view().prefilling > 0) return true;
  return view().waiting > 0 && demand.fills;
}

void Replica::sum_rows() {
  std::vector<Row>& rows = plan_.rows();
  if (!plan_.singles().empty()) {
    std::sort(rows.begin(), rows.end(), [this](const Row& a, const Row& b) {
      return board_.progress(a.slot).seat < board_.progress(b.slot).seat;
    });
  }
  std::int64_t contexts = 0, pairs = 0;
  for (const Row& row : rows) {
    const std::int64_t context = board_.ragged(row.slot).true_context, tokens = row.tokens();
    batch_.decode_tokens += row.tokens();
    contexts += context;
    pairs += tokens * context + tokens * (tokens + 1) / 2;
  }
  batch_.decode_context_tokens = static_cast<double>(contexts);
  batch_.decode_pairs = static_cast<double>(pairs);
  const BoundedContexts& bounded = pool_.bounded();
  if (!bounded.used()) return;
  bounded.sum_of(planned_decode_contexts(), batch_);
}

std::int32_t Replica::checked_drafts(int found, int most, const char* where) const {
  if (found >= 0 && found <= most) return found;
  throw Error("speculator", std::string(where) + ": found " + std::to_string(found) +
                                " drafts; a whole number from 0 to " + std::to_string(most) +
                                " is right");
}

void Replica::ask_for_drafts() {
  if (!is_ragged()) return;
  prompt_drafts_.assign(plan_.prefills().size(), 0);
  if (speculator_ == nullptr || batch_.sampled == 0) return;
  board_.view.requests = board_.requests->data();
  board_.view.slots = board_.requests->slots();
  Batch seen = batch_;
  seen.origin = nullptr;
  seen.bounds = nullptr;
  seen.decode_context_tokens = seen.decode_pairs = 0;
  contexts_.clear();
  for (const Row& row : plan_.rows()) {
    const double context = request(row.slot).context_tokens, tokens = row.tokens();
    contexts_.push_back(request(row.slot).context_tokens);
    seen.decode_context_tokens += context;
    seen.decode_pairs += tokens * context + tokens * (tokens + 1) / 2;
  }
  seen.contexts = contexts_.data();
  seen.widths = planned_decode_widths();
  const int k = checked_drafts(speculator_->drafts(seen, view()), speculator_->depth(), "drafts");
  const auto give = [&](std::int32_t slot) {
    std::int32_t drafts = k;
    if (speculator_->has_draft())
      drafts = checked_drafts(speculator_->draft(request(slot), k), speculator_->depth(), "draft");
    if (drafts > 0) ++batch_.draft_rows;
    batch_.draft_tokens += drafts;
    batch_.draft_passes = std::max(batch_.draft_passes, drafts);
    return drafts;
  };
  for (Row& row : plan_.rows()) row.next_drafts = give(row.slot);
  for (std::size_t i = 0; i < prompt_drafts_.size(); ++i) {
    const PrefillWork& work = plan_.prefills()[i];
    if (work.completes != 0) prompt_drafts_[i] = give(work.slot);
  }
}

// --- commit

void Replica::advance_rows(Step& step) {
  step.rows.swap(plan_.rows());
  leave_out_decodes(step);
  for (Row& row : step.rows) advance_row(row, step);
}

/// With two steps in flight the drafts of a request exist only while it is in every step.
void Replica::leave_out_decodes(Step& step) {
  if (static_cast<std::int32_t>(step.rows.size()) == view().decodes) return;
  const bool skips = plan_.walked() || !plan_.singles().empty();
  for (std::int32_t slot = view().running_head; slot >= 0; slot = request(slot).next) {
    if (request(slot).phase != Phase::decoding || plan_.holds(slot)) continue;
    if (skips) step.skipped.push_back(request(slot).id);
    if (config_.async_depth > 1) ragged_->set_drafts(slot, 0);
  }
}

void Replica::advance_row(Row& row, Step& step) {
  const Request& request = this->request(row.slot);
  RaggedProgress& ragged = board_.ragged(row.slot);
  const Progress& progress = board_.progress(row.slot);
  row.discarded = ragged.true_emitted >= progress.stop_at;
  if (row.discarded) {
    ++step.discarded;
  } else {
    if (row.drafts > 0) {
      Round round;
      round.drafted = row.drafts;
      round.emitted = ragged.true_emitted;
      round.index = ragged.rounds;
      round.key = ragged.key;
      if (acceptance_->per_step()) {
        const RandomStream stream = random_stream(config_.seed, "acceptance.step",
                                                  static_cast<std::uint64_t>(view().index));
        round.step_u = uniform_at(stream.key, static_cast<std::uint64_t>(step.serial));
      }
      row.accepted = acceptance_->accept(request, round, *ragged.curve);
      ROOFLUA_ASSERT(row.accepted >= 0 && row.accepted <= row.drafts);
    }
    ++ragged.rounds;
    row.landed = std::min(1 + row.accepted, progress.stop_at - ragged.true_emitted);
    ragged.true_emitted += row.landed;
    if (ragged.true_emitted == progress.stop_at) step.ending.push_back(row.slot);
  }
  ragged.true_context += 1 + row.accepted;
  ++ragged.flight_rows;
  ragged.flight_tokens += row.tokens();
  ragged_->set_drafts(row.slot, row.next_drafts);
  ragged_->advance(row.slot, 1, 1);
  if (request.emitted_tokens >= progress.limit) finish(row.slot);
}

/// Prompts that are complete: their first drafts, and how the request's drafts will be accepted.
void Replica::first_drafts(const Step& step) {
  for (std::size_t i = 0; i < step.prefills.size(); ++i) {
    const PrefillWork& work = step.prefills[i];
    if (work.completes == 0) continue;
    RaggedProgress& ragged = board_.ragged(work.slot);
    ++ragged.true_emitted;
    ragged.true_context = request(work.slot).context_tokens;
    ragged_->set_drafts(work.slot, prompt_drafts_[i]);
    if (acceptance_ == nullptr || ragged.curve != nullptr) continue;
    RandomStream stream = random_stream(config_.seed, curve_stream,
                                        static_cast<std::uint64_t>(request(work.slot).id));
    ragged.curve = acceptance_->curve(request(work.slot), stream);
    ROOFLUA_ASSERT(ragged.curve != nullptr);
  }
}

// --- the end of a step

void Replica::land_rows(const Step& step, Picoseconds now, std::vector<Picoseconds>& gaps) {
  for (const Row& row : step.rows) {
    if (row.discarded) continue;  // its slot may be that of another request
    Progress& progress = board_.progress(row.slot);
    gaps.push_back(now - progress.last_token);
    progress.last_token = now;
    land_row(row);
  }
  land_known_prompts(step);
}

void Replica::land_row(const Row& row) {
  Request& request = board_.request(row.slot);
  RaggedProgress& ragged = board_.ragged(row.slot);
  const Progress& progress = board_.progress(row.slot);
  --ragged.flight_rows;
  ragged.flight_tokens -= row.tokens();
  ragged.landed_tokens += row.landed;
  ++request.rounds;
  request.drafted_tokens += row.drafts;
  request.accepted_tokens += row.accepted;
  const bool ends = ragged.landed_tokens == progress.stop_at;
  const bool is_seated = seated(request.phase);
  // What is accepted behind an end is no context.
  ragged_->advance(row.slot, is_seated && !ends ? row.accepted : 0, row.landed - 1);
  if (request.phase == Phase::waiting) board_.view.waiting_tokens += row.landed - 1;
  if (!is_seated || ends) return;
  if (config_.async_depth > 1 && know_content(row.slot, request.context_tokens)) changed_ = true;
  if (request.phase == Phase::decoding && request.emitted_tokens >= progress.limit)
    finish(row.slot);
}

/// With two steps in flight a token becomes content when it lands.
void Replica::land_known_prompts(const Step& step) {
  for (const PrefillWork& work : step.prefills) {
    if (work.completes == 0) continue;
    ++board_.ragged(work.slot).landed_tokens;
    if (config_.async_depth > 1 && seated(request(work.slot).phase) &&
        know_content(work.slot, request(work.slot).context_tokens))
      changed_ = true;
  }
}

/// Of the answer only what was scheduled when the last row was planned is content; with two steps
/// in flight all of it but its last token.
void Replica::end_ragged(std::int32_t slot) {
  Request& request = board_.request(slot);
  RaggedProgress& ragged = board_.ragged(slot);
  const std::int32_t stop_at = board_.progress(slot).stop_at;
  request.emitted_tokens = stop_at;
  request.context_tokens -= ragged.flight_rows;
  if (config_.async_depth > 1) {
    request.context_tokens = request.prompt_tokens + stop_at - 1;
    ragged.content_tokens = request.context_tokens;
  }
}

void Replica::tell_landed(const Step& step, Picoseconds now) {
  std::int32_t depth = speculator_ != nullptr ? speculator_->depth() : 0;
  // Rows in flight may have been drafted by a speculator that was replaced, with a larger depth.
  for (const Row& row : step.rows) depth = std::max(depth, row.drafts);
  accepted_at_.assign(static_cast<std::size_t>(depth), 0);
  drafted_ = accepted_ = overshoot_ = 0;
  std::int32_t rows = 0;
  for (const Row& row : step.rows) {
    if (row.discarded) continue;
    ++rows;
    drafted_ += row.drafts;
    accepted_ += row.accepted;
    overshoot_ += 1 + row.accepted - row.landed;
    if (row.accepted > 0) ++accepted_at_[static_cast<std::size_t>(row.accepted - 1)];
  }
  // Whoever accepted draft j accepted those before it.
  for (std::size_t j = accepted_at_.size(); j-- > 1;) accepted_at_[j - 1] += accepted_at_[j];
  if (speculator_ == nullptr || rows == 0) return;
  SpecSeen seen;
  seen.now_s = seconds(now);
  seen.rows = rows;
  seen.drafted = drafted_;
  seen.accepted = accepted_;
  seen.accepted_at = accepted_at_;
  seen.decodes = view().decodes;
  speculator_->landed(seen);
}

}  // namespace rooflua
