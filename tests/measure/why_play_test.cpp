// The account of a play: every picosecond of it under one heading, on random plays; what follows
// one play and what remembers all of them agree; and which plays a report draws.

#include "measure/record/why_play.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "measure/record/journal.h"
#include "measure/record/play_sketch.h"
#include "serve/plays/plays.h"
#include "tests/catch.h"
#include "tests/serve/listed_plays.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// The requests of a random case as rows that wait for random events of rows before them.
std::vector<Play> random_plays(const Case& made, Dice& dice) {
  std::vector<Play> plays;
  for (RequestSpec spec : made.specs) {
    if (plays.empty() || dice.upto(0, 7) == 0) plays.emplace_back();
    Play& play = plays.back();
    const auto count = static_cast<std::int32_t>(play.rows.size());
    PlayRow row;
    const std::span<const Segment> segments = spec.segments;
    spec.segments = {};
    row.spec = spec;
    for (std::int32_t k = dice.upto(0, std::min(count, 2)); k > 0; --k) {
      RowTrigger parent{dice.upto(0, count - 1), static_cast<RowEvent>(dice.upto(0, 4)), 0};
      if (parent.event == RowEvent::failed && dice.upto(0, 3) > 0) parent.event = RowEvent::ended;
      if (dice.upto(0, 1) == 0) parent.delay_s = 0.25 * dice.upto(1, 12);
      row.parents.push_back(parent);
    }
    if (dice.upto(0, 5) == 0) row.not_before_s = 0.5 * dice.upto(1, 20);
    if (count > 0 && dice.upto(0, 7) == 0)
      row.cancel = {dice.upto(0, count - 1), RowEvent::ended, 0.25 * dice.upto(0, 20)};
    play.set_segments(row, segments, -1);
    play.rows.push_back(std::move(row));
  }
  return plays;
}

/// What was sent of each play, and every request on its own.
class Followed : public Observer {
 public:
  std::map<std::int64_t, std::set<std::int32_t>> rows;
  std::map<std::int64_t, PlayDone> plays;
  std::map<std::int32_t, std::unique_ptr<WhyObserver>> requests;
  void on_row(const RowSent& row) override { rows[row.play].insert(row.row); }
  void on_play(const PlayDone& play) override { plays[play.play] = play; }
};

void check_path(const WhyPlay& why) {
  Picoseconds from = why.play.start;
  for (const WhyPlay::Row& row : why.path) {
    CHECK(row.step.sent == from + row.step.times.tool);
    CHECK(row.where.tool == row.step.times.tool);
    CHECK(row.where.sum() == row.step.until - from);
    CHECK(row.step.times.sum() == row.step.until - from);
    CHECK(std::ranges::all_of(row.where.time, [](Picoseconds time) { return time >= 0; }));
    from = row.step.until;
  }
  CHECK(from == why.play.end);
  CHECK(why.where.sum() == why.play.end - why.play.start);
  CHECK(why.times.sum() == why.play.end - why.play.start);
}

struct Counts {
  std::int64_t plays = 0, rows = 0, first_tokens = 0, beside = 0, failed = 0, alike = 0;
};

/// Runs random plays, each of them and each of their requests followed on its own.
void compare(Case& made, std::uint64_t seed, Counts& counts) {
  Dice dice(seed + 1000);
  const std::vector<Play> plays = random_plays(made, dice);
  if (dice.upto(0, 1) == 0) made.cluster.frontend.per_output_token_s = 0.125;
  if (dice.upto(0, 1) == 0) made.cluster.frontend.base_s = 0.5;
  PlaysOptions options;
  options.lanes = dice.upto(1, 4);
  options.shares_content = true;
  if (dice.upto(0, 3) == 0) options.until_s = 30.0 * dice.upto(1, 4);
  Plays workload(std::make_unique<ListedPlays>(plays), options);
  Followed followed;
  Journal journal;
  LinearSteps model(0.7, 0.013, 1e-4);
  std::vector<std::unique_ptr<WhyPlayObserver>> each;
  std::vector<std::unique_ptr<WhyObserver>> requests;
  Bindings bindings{{&made.scheduler}, {&model}, nullptr, &workload, {&journal, &followed}};
  for (std::size_t i = 0; i <= plays.size(); ++i) {
    each.push_back(std::make_unique<WhyPlayObserver>(static_cast<std::int64_t>(i)));
    bindings.observers.push_back(each.back().get());
  }
  for (std::size_t id = 0; id < made.specs.size(); ++id) {
    requests.push_back(std::make_unique<WhyObserver>(static_cast<std::int32_t>(id)));
    bindings.observers.push_back(requests.back().get());
  }
  Simulation simulation(made.cluster, bindings);
  simulation.run();
  CHECK_FALSE(each.back()->why());  // there is no such play
  CHECK(each.back()->begun() == static_cast<std::int64_t>(followed.plays.size()));
  for (const auto& [number, done] : followed.plays) {
    CAPTURE(number);
    REQUIRE(each[static_cast<std::size_t>(number)]->why());
    const WhyPlay& why = *each[static_cast<std::size_t>(number)]->why();
    check_path(why);
    CHECK(why.play.end == done.end);
    std::set<std::int32_t> rows;
    for (const WhyPlay::Row& row : why.path) {
      rows.insert(row.step.row);
      ++counts.rows;
      counts.first_tokens += row.step.event == RowEvent::first_token;
      if (row.step.event == RowEvent::first_token || row.step.event == RowEvent::sent) continue;
      PathTime alone;
      const auto id = static_cast<std::size_t>(row.step.id);
      alone.time = requests[id]->why()->time;
      const Picoseconds rest = row.step.until - row.step.sent - alone.sum();
      alone.time[0] += rest;  // frontend
      CHECK(rest >= 0);
      CHECK(alone.time == row.where.time);
    }
    for (const PlayRequest& beside : why.beside) {
      CHECK(rows.insert(beside.row).second);
      ++counts.beside;
    }
    CHECK(rows == followed.rows[number]);
    const auto remembered = journal.why_play(number);
    REQUIRE(remembered);
    check_path(*remembered);
    // A step that was planned before its request lost its seat is told apart by prices alone.
    const auto lost_a_seat = [](const WhyPlay& play) {
      return play.where.time[static_cast<std::size_t>(LatencyHeading::preempted)] > 0 ||
             play.where.time[static_cast<std::size_t>(LatencyHeading::recompute)] > 0;
    };
    if (!lost_a_seat(*remembered) && !lost_a_seat(why)) {
      ++counts.alike;
      CHECK(dump_json(to_json(*remembered)) == dump_json(to_json(why)));
      CHECK(report(*remembered) == report(why));
    }
    ++counts.plays;
    counts.failed += why.play.failed > 0;
  }
}

}  // namespace

TEST_CASE("the time of a random play adds up, by kind, by heading, and row by row") {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Case made = random_case(seed, seed % 2 == 0);
    compare(made, seed, counts);
  }
  CHECK(counts.plays > 500);
  CHECK(counts.rows > 1500);
  CHECK(counts.first_tokens > 50);
  CHECK(counts.beside > 500);
  CHECK(counts.failed > 10);
  CHECK(counts.alike > 200);
}

TEST_CASE("a long path lists its longest rows, and counts the others") {
  Case made = random_case(1, false);
  made.cluster.replicas.front() = {};
  made.cluster.replicas.front().kv_blocks = 1000;
  made.cluster.replicas.front().max_num_batched_tokens = 64;
  Play play;
  for (std::int32_t i = 0; i < 90; ++i) {
    PlayRow row;
    row.spec = spec(0, 16, i + 1);
    if (i > 0) row.parents.push_back({i - 1, RowEvent::done, 0});
    play.rows.push_back(row);
  }
  Plays workload(std::make_unique<ListedPlays>(std::vector{play}), {1, false, {}, {}, {}});
  LinearSteps model(0.7, 0.013, 1e-4);
  WhyPlayObserver why(0);
  PlaySketch sketch;
  struct Drawn : Observer {
    explicit Drawn(PlaySketch& given) : sketch(given) {}
    void on_row(const RowSent& row) override { sketch.on_row(row); }
    void on_done(const RequestDone& done) override { sketch.on_done(done); }
    void on_play(const PlayDone& done) override { sketch.on_play(done); }
    PlaySketch& sketch;
  } drawn(sketch);
  Bindings bindings{{&made.scheduler}, {&model}, nullptr, &workload, {&why, &drawn}};
  Simulation simulation(made.cluster, bindings);
  simulation.run();
  REQUIRE(why.why());
  const std::string text = report(*why.why());
  CHECK(text.find("40 shorter ones") != std::string::npos);
  CHECK(text.find("\n  90 ") != std::string::npos);
  CHECK(text.find("\n  40 ") == std::string::npos);
  CHECK(to_json(*why.why()).find("path")->items().size() == 90);
  const Json plays = sketch.json();
  REQUIRE(plays.items().size() == 1);
  const Json& only = plays.items().front();
  CHECK(dump_json(*only.find("what")) == "[\"median\",\"slowest\"]");
  CHECK(only.find("rows")->items().size() == DrawnPlay::most_rows);
  CHECK(only.find("path_left")->integer() == 50);
  double sum_s = only.find("path_left_s")->number();
  for (const Json& row : only.find("rows")->items())
    sum_s += row.find("end_s")->number() - row.find("from_s")->number();
  CHECK(sum_s == Approx(only.find("play_s")->number()));
}

namespace {

/// A play of one request that lasts so long.
void tell(PlaySketch& sketch, std::int64_t number, Picoseconds lasts, bool cut = false) {
  const auto id = static_cast<std::int32_t>(number);
  sketch.on_row({id, number, 0, false});
  RequestDone done;
  done.id = id;
  done.arrival = 100;
  done.scheduled = 100;
  done.first_token = 100 + lasts / 2;
  done.now = done.last_token = 100 + lasts;
  sketch.on_done(done);
  PlayDone play;
  play.play = number;
  play.start = 100;
  play.end = 100 + lasts;
  play.cut = cut;
  play.completed = 1;
  PlayStep step;
  step.id = id;
  step.sent = 100;
  step.until = play.end;
  const std::vector<PlayStep> path{step};
  play.path = path;
  sketch.on_play(play);
}

}  // namespace

TEST_CASE("the plays that are drawn: asked for, near the median, the slowest that was completed") {
  for (const std::int64_t count : {1, 2, 7, 64, 65, 1000}) {
    CAPTURE(count);
    PlaySketch sketch(0);
    for (std::int64_t i = 0; i < count; ++i)
      tell(sketch, i, 1'000'000'000'000 * (1 + (i * 617) % count));  // each length once
    tell(sketch, count, 9'000'000'000'000'000, true);
    const Json plays = sketch.json();
    double median_s = -1, slowest_s = -1;
    for (const Json& each : plays.items()) {
      const std::string what = dump_json(*each.find("what"));
      if (what.find("median") != what.npos) median_s = each.find("play_s")->number();
      if (what.find("slowest") != what.npos) slowest_s = each.find("play_s")->number();
      const bool near = each.find("median_s") != nullptr;
      CHECK(near == (count > 64 && what.find("median") != what.npos));
    }
    CHECK(dump_json(*plays.items().front().find("what")).find("asked") == 2);
    CHECK(plays.items().front().find("play")->integer() == 1);
    CHECK(slowest_s == static_cast<double>(count));
    const auto middle = static_cast<double>((count + 1) / 2);
    CHECK(median_s == (count > 64 ? Approx(middle).epsilon(0.1) : Approx(middle)));
  }
  CHECK(PlaySketch().json().is_null());
}
