// Requests that leave before their end (Simulation::abort()): their rows in steps under way are
// computed all the same, and nothing of them lands.

#include <algorithm>

#include "serve/replica/replica.h"

namespace rooflua {

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

}  // namespace rooflua
