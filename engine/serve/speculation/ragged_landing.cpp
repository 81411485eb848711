// The part of replica.h about steps that end, of a replica that speculates: the accepted drafts
// show. A row of a request that ended in the step before is discarded.

#include <algorithm>
#include <span>

#include "serve/replica.h"

namespace rooflua {

/// @returns the gap of the first row, and how many rows have it; the others' go to `gaps`
Pipeline::CommonGap Replica::land_rows(const Step& step, Picoseconds now,
                                       std::vector<Picoseconds>& gaps) {
  Pipeline::CommonGap common;
  landed_rows_ = drafted_ = accepted_ = overshoot_ = 0;
  accepted_at_.assign(speculator_ != nullptr ? static_cast<std::size_t>(speculator_->depth()) : 0,
                      0);
  if (step.rows.empty()) {
    land_known_prompts(step);
    return common;
  }
  std::int32_t drafted = 0, accepted = 0, landed = 0, discarded = 0;
  std::int32_t decode_tokens = 0;  // accepted by requests that go on decoding
  Request* const requests = &board_.request(0);
  Progress* const all_progress = &board_.progress(0);
  RaggedProgress* const all_ragged = &board_.ragged(0);
  const bool knows_later = config_.async_depth > 1;
  for (const Row& row : step.rows) {
    if (row.discarded) {  // its slot may be that of another request
      ++discarded;
      continue;
    }
    Progress& progress = all_progress[row.slot];
    const Picoseconds gap = now - progress.last_token;
    progress.last_token = now;
    if (common.count == 0) common.gap = gap;
    gap == common.gap ? static_cast<void>(++common.count) : gaps.push_back(gap);
    drafted += row.drafts;
    accepted += row.accepted;
    landed += row.landed;
    const auto count = static_cast<std::size_t>(row.accepted);
    if (count > 0) {
      // Rows in flight may be wider than a speculator asks for that was exchanged meanwhile.
      if (count > accepted_at_.size()) accepted_at_.resize(count);
      ++accepted_at_[count - 1];
    }
    Request& request = requests[row.slot];
    RaggedProgress& ragged = all_ragged[row.slot];
    --ragged.flight_rows;
    ragged.flight_tokens -= row.tokens();
    const std::int32_t landed_tokens = ragged.landed_tokens += row.landed;
    ++request.rounds;
    request.drafted_tokens += row.drafts;
    request.accepted_tokens += row.accepted;
    const std::int32_t emitted = request.emitted_tokens += row.landed - 1;
    if (!seated(request.phase)) {
      if (request.phase == Phase::waiting) board_.view.waiting_tokens += row.landed - 1;
      continue;
    }
    if (landed_tokens == progress.stop_at) continue;
    // What is accepted behind an end is no context.
    const std::int32_t context = request.context_tokens += row.accepted;
    if (knows_later) {
      const std::int32_t known = std::min(context, request.prompt_tokens + landed_tokens);
      if (known > ragged.content_tokens) know_landed(row.slot, known);
    }
    if (request.phase != Phase::decoding) continue;
    decode_tokens += row.accepted;
    if (emitted >= progress.limit) finish(row.slot);
  }
  board_.view.decode_context_tokens += decode_tokens;
  landed_rows_ = static_cast<std::int32_t>(step.rows.size()) - discarded;
  drafted_ = drafted;
  accepted_ = accepted;
  overshoot_ = landed_rows_ + accepted - landed;
  land_known_prompts(step);
  return common;
}

/// More of a sequence than counted as content has landed.
void Replica::know_landed(std::int32_t slot, std::int32_t tokens) {
  RaggedProgress& ragged = board_.ragged(slot);
  if (!ragged.shares_output) {
    ragged.content_tokens = tokens;
  } else if (know_content(slot, tokens)) {
    changed_ = true;
  }
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

void Replica::tell_landed(Picoseconds now) {
  // A row that accepted draft j accepted those before it.
  for (std::size_t j = accepted_at_.size(); j-- > 1;) accepted_at_[j - 1] += accepted_at_[j];
  if (speculator_ == nullptr || landed_rows_ == 0) return;
  SpecSeen seen;
  seen.now_s = seconds(now);
  seen.rows = landed_rows_;
  seen.drafted = drafted_;
  seen.accepted = accepted_;
  seen.accepted_at = std::span<const std::int32_t>(accepted_at_)
                         .first(static_cast<std::size_t>(speculator_->depth()));
  seen.decodes = view().decodes;
  speculator_->landed(seen);
}

}  // namespace rooflua
