// Figures of requests that depend on each other: plays, without their warm requests.

#include "measure/record/summary.h"

namespace rooflua {

void SummaryObserver::on_row(const RowSent& row) {
  plays_.used = true;
  if (row.warm) {
    warm_.insert(row.id);
    if (arrived_ == 0) warming_ = true;
    return;
  }
  if (warming_) forget_steps();
  warming_ = false;
}

/// The first request that counts is sent: steps before it only warmed caches.
void SummaryObserver::forget_steps() {
  for (ReplicaCount& each : replica_counts_) {
    const ReplicaCount before = each;
    each = {};
    each.until = before.until;
    each.load = before.load;
    each.fill = before.fill;
    each.grouped = before.grouped;
  }
  itl_ = {};
  speculation_ = {};
  adapters_ = {};
  experts_ = {};
  second_ = -1;
  second_tokens_ = peak_tokens_ = 0;
}

void SummaryObserver::on_play(const PlayDone& play) {
  told_.reset();
  plays_.used = true;
  plays_.prompt_tokens += play.prompt_tokens;
  plays_.cached_tokens += play.cached_tokens;
  plays_.ideal_tokens += play.ideal_tokens;
  if (play.cut || play.failed > 0) {
    ++(play.cut ? plays_.counts.cut : plays_.counts.failed);
    return;
  }
  ++plays_.counts.completed;
  constexpr Picoseconds second = 1000000000000;
  plays_.time.add(play.end - play.start);
  plays_.turns.add(play.completed * second);
  plays_.queue.add(play.times.queue);
  plays_.load.add(play.times.load);
  plays_.prefill.add(play.times.prefill);
  plays_.decode.add(play.times.decode);
  plays_.tool.add(play.times.tool);
}

std::optional<PlaySummary> SummaryObserver::play_summary() const {
  if (!plays_.used) return std::nullopt;
  PlaySummary out = plays_.counts;
  const double duration_s = seconds(duration());
  if (duration_s > 0) out.plays_per_hour = 3600 * static_cast<double>(out.completed) / duration_s;
  out.play_s = plays_.time.statistics(1e-12);
  out.play_turns = plays_.turns.statistics(1e-12);
  out.queue_s = plays_.queue.statistics(1e-12);
  out.load_s = plays_.load.statistics(1e-12);
  out.prefill_s = plays_.prefill.statistics(1e-12);
  out.decode_s = plays_.decode.statistics(1e-12);
  out.tool_s = plays_.tool.statistics(1e-12);
  if (plays_.prompt_tokens > 0) {
    const auto prompts = static_cast<double>(plays_.prompt_tokens);
    out.reuse = static_cast<double>(plays_.cached_tokens) / prompts;
    out.reuse_ideal = static_cast<double>(plays_.ideal_tokens) / prompts;
  }
  return out;
}

}  // namespace rooflua
