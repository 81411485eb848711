// Requests that depend on each other (serve/plays): plays, without their warm requests.

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

/// What plays amounted to (serve/plays): requests that depend on each other.
struct PlayFigures {
  std::int64_t completed = 0, failed = 0, cut = 0;
  double plays_per_hour = 0, reuse = 0, reuse_ideal = 0;
  Statistics play_s, play_turns, queue_s, load_s, prefill_s, decode_s, tool_s;
};

constexpr PartMetric play_metrics[] = {
    {"completed", "completed", "plays", more,
     "plays of which every request that was sent completed, or the play itself cancelled it",
     in<&PlayFigures::completed>},
    {"failed", "failed", "plays", less, "plays with a request that ended in another way",
     in<&PlayFigures::failed>},
    {"cut", "cut", "plays", neither, "plays under way when the workload's time was over",
     in<&PlayFigures::cut>},
    {"plays_per_hour", "plays/h", "plays/h", more, "completed plays over duration_s",
     in<&PlayFigures::plays_per_hour>},
    {"play_s", "play", "s", less, "start to end of a completed play", in<&PlayFigures::play_s>},
    {"play_turns", "turns", "turns", neither, "completed requests of a completed play",
     in<&PlayFigures::play_turns>},
    {"queue_s", "queue", "s", less,
     "of play_s, requests on the critical path were sent and not scheduled",
     in<&PlayFigures::queue_s>},
    {"load_s", "load", "s", less, "of play_s, their KV came from stores", in<&PlayFigures::load_s>},
    {"prefill_s", "prefill", "s", less, "of play_s, scheduled to first token",
     in<&PlayFigures::prefill_s>},
    {"decode_s", "decode", "s", less, "of play_s, first token to last", in<&PlayFigures::decode_s>},
    {"tool_s", "tools", "s", neither, "of play_s, no request on the critical path ran: delays",
     in<&PlayFigures::tool_s>},
    {"reuse", "reuse", "1", more,
     "prompt tokens whose KV was cached over prompt tokens, of completed requests of ended plays",
     in<&PlayFigures::reuse>},
    {"reuse_ideal", "ideal reuse", "1", neither,
     "the same of a cache without end: whole blocks of what prompts and answers before begin with",
     in<&PlayFigures::reuse_ideal>},
};

std::string play_text(const PlayFigures& plays) {
  std::string out = "plays     " + grouped(plays.completed) + " completed";
  if (plays.failed > 0) out += ", " + grouped(plays.failed) + " failed";
  if (plays.cut > 0) out += ", " + grouped(plays.cut) + " cut";
  return out + ", " + figure(plays.plays_per_hour) + " per hour; " + duration(plays.play_s.mean) +
         " (p99 " + duration(plays.play_s.p99) + "), " + figure(plays.play_turns.mean) +
         " turns\n          critical path: queue " + duration(plays.queue_s.mean) + ", load " +
         duration(plays.load_s.mean) + ", prefill " + duration(plays.prefill_s.mean) + ", decode " +
         duration(plays.decode_s.mean) + ", tools " + duration(plays.tool_s.mean) + "; reuse " +
         percent(plays.reuse) + ", ideal " + percent(plays.reuse_ideal) + "\n";
}

/// A workload of plays reads the ends of requests, so a run with plays is not divided.
class PlayCounter final : public CounterOf<PlayCounter> {
 public:
  bool may_divide() const override { return true; }
  void on_row(const RowSent&) override { used_ = true; }
  void on_play(const PlayDone& play) override {
    used_ = true;
    prompt_tokens_ += play.prompt_tokens;
    cached_tokens_ += play.cached_tokens;
    ideal_tokens_ += play.ideal_tokens;
    if (play.cut || play.failed > 0) {
      ++(play.cut ? counts_.cut : counts_.failed);
      return;
    }
    ++counts_.completed;
    constexpr Picoseconds one = 1'000'000'000'000;
    time_.add(play.end - play.start);
    turns_.add(play.completed * one);
    queue_.add(play.times.queue);
    load_.add(play.times.load);
    prefill_.add(play.times.prefill);
    decode_.add(play.times.decode);
    tool_.add(play.times.tool);
  }

  std::vector<std::any> figures(const Summary&, const RunSpan& span) const override {
    if (!used_) return {};
    PlayFigures out = counts_;
    const double duration_s = seconds(span.duration());
    if (duration_s > 0) out.plays_per_hour = 3600 * static_cast<double>(out.completed) / duration_s;
    out.play_s = time_.statistics(1e-12);
    out.play_turns = turns_.statistics(1e-12);
    out.queue_s = queue_.statistics(1e-12);
    out.load_s = load_.statistics(1e-12);
    out.prefill_s = prefill_.statistics(1e-12);
    out.decode_s = decode_.statistics(1e-12);
    out.tool_s = tool_.statistics(1e-12);
    out.reuse = quotient(cached_tokens_, prompt_tokens_);
    out.reuse_ideal = quotient(ideal_tokens_, prompt_tokens_);
    return {out};
  }

 private:
  bool used_ = false;
  PlayFigures counts_;
  std::int64_t prompt_tokens_ = 0, cached_tokens_ = 0, ideal_tokens_ = 0;
  LogHistogram time_, turns_, queue_, load_, prefill_, decode_, tool_;
};

}  // namespace

extern const PartRow plays_part = {
    .name = "plays",
    .help = "Requests that depend on each other; of a workload with plays.",
    .metrics = play_metrics,
    .empty = empty<PlayFigures>,
    .text = says<play_text>,
    .in_report = {.rank = 10},
    .on_page = {.rank = 3},
    .counter = everywhere<PlayCounter>};

}  // namespace rooflua
