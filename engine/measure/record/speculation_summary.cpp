// Figures of speculation: rows of several tokens.

#include "measure/record/summary.h"

namespace rooflua {

namespace {

/// 0 where there is nothing to divide by.
double ratio(double count, double duration_s) {
  return duration_s > 0 ? count / duration_s : 0;
}

}  // namespace

void SummaryObserver::count_rows(const StepDone& step) {
  SpeculationSummary& counts = speculation_.counts;
  speculation_.used = true;
  speculation_.step_s += step.price->time_s;
  speculation_.draft_s += step.price->draft_s;
  speculation_.row_tokens += step.batch->decode_tokens;
  counts.rounds += static_cast<std::int64_t>(step.rows.size()) - step.discarded;
  if (step.discarded > 0) {
    for (const Row& row : step.rows) counts.discarded_tokens += row.discarded ? row.tokens() : 0;
  }
  counts.drafted_tokens += step.drafted;
  counts.accepted_tokens += step.accepted;
  counts.overshoot_tokens += step.overshoot;
  std::vector<double>& positions = counts.accepted_by_position;
  if (positions.size() < step.accepted_at.size()) positions.resize(step.accepted_at.size());
  for (std::size_t j = 0; j < step.accepted_at.size(); ++j) positions[j] += step.accepted_at[j];
  if (options_.gap_per_token) itl_.add(0, step.accepted - step.overshoot);
}

std::optional<SpeculationSummary> SummaryObserver::speculation_summary() const {
  if (!speculation_.used) return std::nullopt;
  SpeculationSummary out = speculation_.counts;
  const auto accepted = static_cast<double>(out.accepted_tokens);
  const auto rounds = static_cast<double>(out.rounds);
  out.acceptance_rate = ratio(accepted, static_cast<double>(out.drafted_tokens));
  out.tokens_per_round = ratio(rounds + accepted, rounds);
  const std::int64_t wasted =
      out.drafted_tokens - out.accepted_tokens + out.overshoot_tokens + out.discarded_tokens;
  out.wasted_share =
      ratio(static_cast<double>(wasted), static_cast<double>(speculation_.row_tokens));
  out.draft_time_share = ratio(speculation_.draft_s, speculation_.step_s);
  for (double& share : out.accepted_by_position) share = ratio(share, rounds);
  return out;
}

}  // namespace rooflua
