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
  // Rows in flight may be wider than a speculator asks for that was exchanged meanwhile.
  accepted_counts_.assign(static_cast<std::size_t>(widest_) + 1, 0);
  std::int32_t drafted = 0, accepted = 0, landed = 0, discarded = 0;
  std::int32_t decode_tokens = 0;  // accepted by requests that go on decoding
  Request* const requests = &board_.request(0);
  RaggedProgress* const all_ragged = &board_.ragged(0);
  std::int32_t* const counts = accepted_counts_.data();
  const bool knows_later = config_.async_depth > 1;
  for (const Row& row : step.rows) {
    if (row.discarded) {  // its slot may be that of another request
      ++discarded;
      continue;
    }
    Request& request = requests[row.slot];
    RaggedProgress& ragged = all_ragged[row.slot];
    Picoseconds& last_token =
        ragged.decodes ? ragged.last_token : board_.progress(row.slot).last_token;
    const Picoseconds gap = now - last_token;
    last_token = now;
    if (common.count == 0) common.gap = gap;
    gap == common.gap ? static_cast<void>(++common.count) : gaps.push_back(gap);
    drafted += row.drafts;
    accepted += row.accepted;
    landed += row.landed;
    ++counts[row.accepted];
    ragged.ahead -= row.drafts - row.accepted;
    ragged.known_tokens += row.landed;
    ++request.rounds;
    request.drafted_tokens += row.drafts;
    request.accepted_tokens += row.accepted;
    const std::int32_t emitted = request.emitted_tokens += row.landed - 1;
    if (!ragged.decodes || row.ends) {
      land_apart(row);
      continue;
    }
    const std::int32_t context = request.context_tokens += row.accepted;
    decode_tokens += row.accepted;
    if (knows_later) {
      const std::int32_t known = std::min(context, ragged.known_tokens);
      if (known >= ragged.fills_at) know_landed(row.slot, known);
      ragged.content_tokens = std::max(ragged.content_tokens, known);
    }
    if (emitted >= ragged.limit) finish(row.slot);
  }
  board_.view.decode_context_tokens += decode_tokens;
  landed_rows_ = static_cast<std::int32_t>(step.rows.size()) - discarded;
  drafted_ = drafted;
  accepted_ = accepted;
  overshoot_ = landed_rows_ + accepted - landed;
  land_known_prompts(step);
  return common;
}

/// The row of a request that ends with it, or that decodes no longer.
void Replica::land_apart(const Row& row) {
  Request& request = board_.request(row.slot);
  if (!seated(request.phase)) {
    if (request.phase == Phase::waiting) board_.view.waiting_tokens += row.landed - 1;
    return;
  }
  if (row.ends) return;
  // What is accepted behind an end is no context.
  request.context_tokens += row.accepted;
  if (config_.async_depth > 1) know_landed(row.slot, request.context_tokens);
}

/// More of a sequence has landed.
void Replica::know_landed(std::int32_t slot, std::int32_t tokens) {
  if (know_content(slot, tokens)) changed_ = true;
}

/// With two steps in flight a token becomes content when it lands.
void Replica::land_known_prompts(const Step& step) {
  for (const PrefillWork& work : step.prefills) {
    if (work.completes == 0) continue;
    RaggedProgress& ragged = board_.ragged(work.slot);
    ++ragged.known_tokens;
    ragged.last_token = board_.progress(work.slot).last_token;
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
  const std::int32_t landed = ragged.known_tokens - request.prompt_tokens;
  request.context_tokens -= request.emitted_tokens - landed;  // rows in flight
  request.emitted_tokens = stop_at;
  if (config_.async_depth > 1) {
    request.context_tokens = request.prompt_tokens + stop_at - 1;
    ragged.content_tokens = request.context_tokens;
  }
}

/// Of the step that landed: how many rows accepted draft 1, 2, ..., for each that may be asked for.
std::span<const std::int32_t> Replica::accepted_at() const {
  if (accepted_counts_.empty()) return {};
  auto most = static_cast<std::size_t>(speculator_ != nullptr ? speculator_->depth() : 0);
  for (std::size_t j = most + 1; j < accepted_counts_.size(); ++j) {
    if (accepted_counts_[j] > 0) most = j;
  }
  return std::span(accepted_counts_).subspan(1, most);
}

void Replica::tell_landed(Picoseconds now) {
  // A row that accepted draft j accepted those before it.
  for (std::size_t j = accepted_counts_.size(); j-- > 1;)
    accepted_counts_[j - 1] += accepted_counts_[j];
  if (speculator_ == nullptr || landed_rows_ == 0) return;
  SpecSeen seen;
  seen.now_s = seconds(now);
  seen.rows = landed_rows_;
  seen.drafted = drafted_;
  seen.accepted = accepted_;
  seen.accepted_at = accepted_at().first(static_cast<std::size_t>(speculator_->depth()));
  seen.decodes = view().decodes;
  speculator_->landed(seen);
}

}  // namespace rooflua
