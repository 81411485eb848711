#pragma once
// Why one play took as long as it did: the requests of its critical path, and what the time of each
// was spent on. All sums are exact.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "measure/record/play_rows.h"
#include "measure/record/why.h"

namespace rooflua {

/// Time by heading: before a row was sent (its delay after what it waited for), and from then on.
struct PathTime {
  Picoseconds tool = 0;
  std::array<Picoseconds, latency_heading_count> time{};  // by LatencyHeading
  Picoseconds sum() const;
  void add(const PathTime& other);
};

struct WhyPlay {
  struct Row {
    PlayStep step;
    PathTime where;  // sum() = step.times.sum()
  };

  explicit WhyPlay(const PlayDone& done) : play(done), times(done.times) {}

  PlayEnded play;
  PlayTimes times;                  // as the metrics of the run count them
  PathTime where;                   // the same time by heading; both sum to play.end - play.start
  std::vector<Row> path;            // from the first row to the last
  std::vector<PlayRequest> beside;  // those that were sent and are not on the path, by row
};

/// Where the time of a request went until an event of it that lies at `until`.
/// @param why  of a request that has ended
PathTime time_until(const Why& why, RowEvent event, Picoseconds until);

/// Follows one play through a run. Its requests are followed while they run, and no others.
class WhyPlayObserver : public Observer {
 public:
  /// @param play  from 0, in the order in which plays begin
  explicit WhyPlayObserver(std::int64_t play) : play_(play) {}

  void on_row(const RowSent& row) override;
  void on_arrival(const Request& request, Picoseconds now) override;
  void on_queued(const Request& request, Picoseconds now) override;
  void on_preempt(const Request& request, Picoseconds now) override;
  void on_priced(const StepPriced& step) override;
  void on_step(const StepDone& step) override;
  void on_transfer(const TransferSeen& transfer) override;
  void on_computed(const Request& request, Picoseconds now) override;
  void on_kv(const Request& request, Picoseconds now) override;
  void on_load(const Request& request, Picoseconds now) override;
  void on_loaded(const Request& request, Picoseconds now) override;
  void on_done(const RequestDone& done) override;
  void on_play(const PlayDone& play) override;

  /// Nothing until the play is over.
  const std::optional<WhyPlay>& why() const { return answer_; }
  /// How many plays have begun.
  std::int64_t begun() const { return begun_; }

 private:
  WhyObserver* find(std::int32_t id);

  std::int64_t play_, begun_ = 0;
  PlayRows rows_;
  std::map<std::int32_t, WhyObserver> live_;  // by id
  std::map<std::int32_t, Why> ended_;         // by id
  std::optional<WhyPlay> answer_;
};

/// The account of a play that is over.
/// @param path      PlayDone::path
/// @param requests  all that were sent of it, by row
/// @param why_of    (id) -> the Why of one of them
template <class WhyOf>
WhyPlay why_play(const PlayDone& play, std::span<const PlayStep> path,
                 const std::vector<PlayRequest>& requests, WhyOf why_of) {
  WhyPlay out(play);
  std::vector<bool> on_path;
  for (const PlayStep& step : path) {
    WhyPlay::Row row{step, time_until(why_of(step.id), step.event, step.until)};
    row.where.tool = step.times.tool;
    out.where.add(row.where);
    out.path.push_back(row);
    const auto index = static_cast<std::size_t>(step.row);
    if (index >= on_path.size()) on_path.resize(index + 1);
    on_path[index] = true;
  }
  for (const PlayRequest& each : requests) {
    const auto index = static_cast<std::size_t>(each.row);
    if (index >= on_path.size() || !on_path[index]) out.beside.push_back(each);
  }
  return out;
}

/// The path with a line per row, those that took longest where there are many; the headings with
/// time and share; what was beside the path.
std::string report(const WhyPlay& why);
Json to_json(const WhyPlay& why);
/// [{play, name, start_s, end_s, play_s, cut, completed, failed, cancelled, left_out}]
Json to_json(const std::vector<PlayEnded>& plays);

}  // namespace rooflua
