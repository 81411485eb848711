// The part of replica.h about planned steps of a replica that speculates. What is accepted of each
// row is resolved now, and hidden in the row: each request shows one token more, which is certain.
// A request that reaches its limit with what is certain is not planned again.

#include <algorithm>

#include "base/error.h"
#include "serve/replica.h"

namespace rooflua {

// Beside its caller below, which asks it for every row.
std::int32_t accepted_by_draws(const Round& round, const Curve& curve, Luck& luck) {
  const std::int32_t most =
      std::min(round.drafted, static_cast<std::int32_t>(curve.accepted.size()));
  const double* share = curve.accepted.data();
  const auto first = static_cast<std::uint32_t>(round.emitted);
  for (std::int32_t j = 0; j < most; ++j) {
    const std::uint32_t position = first + static_cast<std::uint32_t>(j);
    const auto group = static_cast<std::int32_t>(position / Luck::count);
    if (group != luck.group) {
      luck.group = group;
      eight_uniforms_at(round.key, static_cast<std::uint64_t>(group), luck.u);
    }
    if (!(luck.u[position % Luck::count] < share[j])) return j;
  }
  return most;
}

void Replica::advance_rows(Step& step) {
  step.rows.swap(plan_.rows());
  leave_out_decodes(step);
  if (step.rows.empty()) return;
  board_.view.lane_steps += plan_.decodes_everyone() || plan_.walked();
  const double step_u = step_draw(step);
  const Curve* last_curve = nullptr;  // most requests have the same one
  bool is_drawn = false;
  Request* const requests = &board_.request(0);
  RaggedProgress* const all_ragged = &board_.ragged(0);
  const Progress* const all_progress = &board_.progress(0);
  std::int32_t more_tokens = 0;  // that decoding requests bring to the next plan
  bool any_at_limit = false;
  for (Row& row : step.rows) {
    Request& request = requests[row.slot];
    RaggedProgress& ragged = all_ragged[row.slot];
    const Progress& progress = all_progress[row.slot];
    const std::int32_t left = progress.stop_at - ragged.true_emitted;
    std::int32_t accepted = 0;
    if (left <= 0) {
      row.discarded = true;
      ++step.discarded;
    } else {
      if (row.drafts > 0) {
        if (ragged.curve.get() != last_curve) {
          last_curve = ragged.curve.get();
          is_drawn = acceptance_->is_drawn(*last_curve);
        }
        if (is_drawn) {
          const Round round{row.drafts, ragged.true_emitted, 0, ragged.key, 0};
          accepted = accepted_by_draws(round, *last_curve, ragged.luck);
        } else {
          accepted = resolve(row, ragged, request, step_u);
        }
        row.accepted = accepted;
      }
      ++ragged.rounds;
      row.landed = std::min(1 + accepted, left);
      ragged.true_emitted += row.landed;
      if (row.landed == left) step.ending.push_back(row.slot);
    }
    ragged.true_context += 1 + accepted;
    ++ragged.flight_rows;
    ragged.flight_tokens += row.tokens();
    more_tokens += row.next_drafts - request.draft_tokens;
    request.draft_tokens = row.next_drafts;
    ++request.context_tokens;
    any_at_limit |= ++request.emitted_tokens >= progress.limit;
  }
  board_.view.decode_tokens += more_tokens;
  board_.view.decode_context_tokens += static_cast<double>(step.rows.size());
  if (!any_at_limit) return;
  for (const Row& row : step.rows) {
    if (request(row.slot).emitted_tokens >= board_.progress(row.slot).limit) finish(row.slot);
  }
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
    ragged.true_context = request(work.slot).context_tokens;
    ragged_->set_drafts(work.slot, prompt_drafts_[i]);
    if (acceptance_ == nullptr || ragged.curve != nullptr) continue;
    RandomStream stream = random_stream(config_.seed, curve_stream,
                                        static_cast<std::uint64_t>(request(work.slot).id));
    ragged.curve = acceptance_->curve(request(work.slot), stream);
    ROOFLUA_ASSERT(ragged.curve != nullptr);
  }
}

}  // namespace rooflua
