// The part of replica.h about planned steps of a replica that speculates. What is accepted of each
// row is resolved now, and hidden in the row: each request shows one token more, which is certain.
// A request that reaches its limit with what is certain is not planned again.

#include <algorithm>
#include <span>
#include <vector>

#include "base/error.h"
#include "serve/replica.h"

namespace rooflua {

void Replica::advance_rows(Step& step) {
  if (!plan_.implies_rows()) {
    step.rows.swap(plan_.rows());
    leave_out_decodes(step);
    advance_rows(step, [](Row&, std::size_t) {});
    return;
  }
  const std::span<const std::int32_t> members = ragged_->members();
  const RaggedProgress* const all = &board_.ragged(0);
  const std::int32_t next_drafts = next_drafts_;
  step.rows.resize(members.size());
  advance_rows(step, [=](Row& row, std::size_t i) {
    row.slot = members[i];
    row.drafts = all[row.slot].drafts;
    row.next_drafts = next_drafts;
  });
}

/// @param begin  completes a row before it is resolved
template <class Begin>
void Replica::advance_rows(Step& step, const Begin& begin) {
  if (step.rows.empty()) return;
  board_.view.lane_steps += plan_.decodes_everyone() || plan_.walked();
  const double step_u = step_draw(step);
  Request* const requests = &board_.request(0);
  RaggedProgress* const all_ragged = &board_.ragged(0);
  const std::int32_t most_fated =
      acceptance_ != nullptr && acceptance_->draws_only() ? fated_drafts_ : 0;
  std::int32_t more_tokens = 0;  // that decoding requests bring to the next plan
  std::int32_t accepted_tokens = 0;
  bool any_at_limit = false;
  for (std::size_t i = 0; i < step.rows.size(); ++i) {
    Row& row = step.rows[i];
    begin(row, i);
    Request& request = requests[row.slot];
    RaggedProgress& ragged = all_ragged[row.slot];
    row.id = request.id;
    const std::int32_t left = ragged.stop_at - ragged.true_emitted;
    std::int32_t accepted = 0;
    if (left <= 0) {
      row.discarded = true;
      row.accepted = row.landed = 0;
      row.ends = false;
      ++step.discarded;
    } else {
      if (row.drafts > 0) {
        if (row.drafts > most_fated || !ragged.has_fates) {
          accepted = resolve(row, ragged, request, step_u);
        } else {
          if (!ragged.fates.has(ragged.true_emitted)) find_fates(ragged);
          accepted = std::min(ragged.fates.of(ragged.true_emitted), row.drafts);
        }
      }
      ++ragged.rounds;
      row.discarded = false;
      row.accepted = accepted;
      row.landed = std::min(1 + accepted, left);
      row.ends = row.landed == left;
      ragged.true_emitted += row.landed;
      if (row.ends) step.ending.push_back(row.slot);
    }
    accepted_tokens += accepted;
    ragged.true_context += 1 + accepted;
    ragged.ahead += row.tokens();
    ragged.content_tokens = std::max(ragged.content_tokens, ragged.known_tokens);
    more_tokens += row.next_drafts - ragged.drafts;
    ragged.drafts = static_cast<std::uint16_t>(row.next_drafts);
    request.draft_tokens = row.next_drafts;
    ++request.context_tokens;
    any_at_limit |= ++request.emitted_tokens >= ragged.limit;
  }
  const auto rows = static_cast<std::int32_t>(step.rows.size());
  board_.view.decode_tokens += more_tokens;
  board_.view.decode_context_tokens += rows;
  ragged_->advance(rows + accepted_tokens);
  if (!any_at_limit) return;
  for (const Row& row : step.rows) {
    if (request(row.slot).emitted_tokens >= board_.ragged(row.slot).limit) finish(row.slot);
  }
}

void Replica::find_fates(RaggedProgress& ragged) const {
  const std::vector<double>& shares = ragged.curve->accepted;
  const auto used = std::min(shares.size(), static_cast<std::size_t>(fated_drafts_));
  rooflua::find_fates(ragged.key, ragged.true_emitted, std::span(shares).first(used), ragged.fates,
                      ragged.behind);
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

/// The draw of a step, where one decides all rows.
double Replica::step_draw(const Step& step) const {
  if (acceptance_ == nullptr || !acceptance_->per_step()) return 0;
  const RandomStream stream =
      random_stream(config_.seed, "acceptance.step", static_cast<std::uint64_t>(view().index));
  return uniform_at(stream.key, static_cast<std::uint64_t>(step.serial));
}

std::int32_t Replica::resolve(const Row& row, const RaggedProgress& ragged, const Request& request,
                              double step_u) const {
  Round round;
  round.drafted = row.drafts;
  round.emitted = ragged.true_emitted;
  round.index = ragged.rounds;
  round.key = ragged.key;
  round.step_u = step_u;
  const std::int32_t accepted = acceptance_->accept(request, round, *ragged.curve);
  ROOFLUA_ASSERT(accepted >= 0 && accepted <= row.drafts);
  return accepted;
}

/// Prompts that are complete: their first drafts, and how the request's drafts will be accepted.
void Replica::first_drafts(const Step& step) {
  for (std::size_t i = 0; i < step.prefills.size(); ++i) {
    const PrefillWork& work = step.prefills[i];
    if (work.completes == 0) continue;
    RaggedProgress& ragged = board_.ragged(work.slot);
    ++ragged.true_emitted;
    ragged_->set_drafts(work.slot, prompt_drafts_[i]);
    if (acceptance_ == nullptr || ragged.curve != nullptr) continue;
    RandomStream stream = random_stream(config_.seed, curve_stream,
                                        static_cast<std::uint64_t>(request(work.slot).id));
    ragged.curve = acceptance_->curve(request(work.slot), stream);
    ROOFLUA_ASSERT(ragged.curve != nullptr);
    ragged.has_fates = ragged.curve->rounds.empty();
  }
}

}  // namespace rooflua
