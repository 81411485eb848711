// Steps of a replica that speculates land: the accepted drafts show. A row of a request that ended
// in the step before is discarded.

#include <algorithm>
#include <span>

#include "serve/replica/replica.h"

namespace rooflua {

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

}  // namespace rooflua
