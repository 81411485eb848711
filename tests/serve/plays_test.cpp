// Plays: every row is sent when its parents' events say so, checked against the definition on
// random graphs, with what was recorded of the run.

#include "serve/plays/plays.h"

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "tests/catch.h"
#include "tests/serve/listed_plays.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

struct RowSeen {
  std::int32_t id = -1;
  Picoseconds sent = never;
  std::optional<RequestDone> done;
  bool operator==(const RowSeen& other) const {
    return id == other.id && sent == other.sent && done.has_value() == other.done.has_value() &&
           (!done || (done->now == other.done->now && done->outcome == other.done->outcome));
  }
};

struct Ended {
  PlayDone done;
  std::vector<PlayStep> path;
};

/// What a run told of its plays.
class Watch : public Observer {
 public:
  std::map<std::pair<std::int64_t, std::int32_t>, RowSeen> rows;
  std::map<std::int64_t, Ended> plays;
  void on_row(const RowSent& row) override {
    row_of_[row.id] = {row.play, row.row};
    rows[{row.play, row.row}].id = row.id;
  }
  void on_arrival(const Request& request, Picoseconds now) override {
    rows.at(row_of_.at(request.id)).sent = now;
  }
  void on_done(const RequestDone& done) override { rows.at(row_of_.at(done.id)).done = done; }
  void on_play(const PlayDone& play) override {
    plays[play.play] = {play, {play.path.begin(), play.path.end()}};
  }

 private:
  std::map<std::int32_t, std::pair<std::int64_t, std::int32_t>> row_of_;
};

PlayRow row(std::int32_t prompt, std::int32_t output, std::vector<RowTrigger> parents = {}) {
  PlayRow out;
  out.spec.prompt_tokens = prompt;
  out.spec.output_tokens = output;
  out.parents = std::move(parents);
  return out;
}

PlaysOptions in_lanes(std::int32_t lanes, std::optional<double> idle_cap_s = {},
                      std::optional<double> until_s = {}) {
  return {lanes, false, idle_cap_s, until_s, {}};
}

Play random_play(Dice& dice, bool cancels) {
  Play play;
  const std::int32_t count = dice.upto(1, 9);
  for (std::int32_t i = 0; i < count; ++i) {
    PlayRow one = row(dice.upto(1, 60), dice.upto(1, 6));
    if (dice.upto(0, 9) == 0) one.spec.prompt_tokens = 400;  // above max_model_len: it fails
    for (std::int32_t k = dice.upto(0, std::min(i, 3)); k > 0; --k) {
      RowTrigger parent{dice.upto(0, i - 1), static_cast<RowEvent>(dice.upto(0, 2)), 0};
      if (dice.upto(0, 12) == 0) parent.event = RowEvent::failed;
      if (dice.upto(0, 1) == 0) parent.delay_s = 0.25 * dice.upto(1, 12);
      one.parents.push_back(parent);
    }
    if (dice.upto(0, 4) == 0) one.not_before_s = 0.5 * dice.upto(1, 20);
    play.rows.push_back(one);
  }
  if (cancels) {
    for (std::int32_t i = 0; i < count; ++i) {
      const std::int32_t by = dice.upto(0, count - 1);
      if (by == i || dice.upto(0, 3) > 0) continue;
      play.rows[static_cast<std::size_t>(i)].cancel = {by, static_cast<RowEvent>(dice.upto(0, 3)),
                                                       0.25 * dice.upto(0, 8)};
    }
  }
  return play;
}

/// When an event of a row happened, as recorded; nothing: it did not.
std::optional<Picoseconds> time_of(const RowSeen& seen, RowEvent event) {
  if (seen.sent == never) return std::nullopt;
  if (event == RowEvent::sent) return seen.sent;
  if (!seen.done) return std::nullopt;
  if (event == RowEvent::first_token)
    return seen.done->first_token == never ? std::nullopt : std::optional(seen.done->first_token);
  const bool completed = seen.done->outcome == Outcome::completed;
  if (completed != (event == RowEvent::done)) return std::nullopt;
  return seen.done->now;
}

/// The definition, row by row.
void check_rows(const Play& play, std::int64_t number, Picoseconds start, Watch& watch,
                bool cancels) {
  for (std::size_t i = 0; i < play.rows.size(); ++i) {
    const PlayRow& said = play.rows[i];
    const RowSeen seen = watch.rows[{number, static_cast<std::int32_t>(i)}];
    CAPTURE(number, i);
    std::optional<Picoseconds> due = start + picoseconds(said.not_before_s, "test");
    for (const RowTrigger& parent : said.parents) {
      const auto event = time_of(watch.rows[{number, parent.row}], parent.event);
      if (!event) due.reset();
      if (due) due = std::max(*due, *event + picoseconds(parent.delay_s, "test"));
    }
    std::optional<Picoseconds> cancelled;
    if (cancels && said.cancel.row >= 0) {
      cancelled = time_of(watch.rows[{number, said.cancel.row}], said.cancel.event);
      if (cancelled) *cancelled += picoseconds(said.cancel.delay_s, "test");
    }
    if (!due || (cancelled && *cancelled < *due)) {
      CHECK(seen.sent == never);
      continue;
    }
    if (seen.sent == never) {  // both at one instant: the order of the two decides
      CHECK(cancelled == due);
      continue;
    }
    CHECK(seen.sent == *due);
    REQUIRE(seen.done);
    const bool went = seen.done->outcome == Outcome::cancelled;
    if (went) CHECK(seen.done->now == cancelled);
    if (cancelled && !went) CHECK(seen.done->now <= *cancelled);
  }
}

struct Scene {
  std::vector<Play> plays;
  PlaysOptions options;
  Bench bench{100, 64};
  explicit Scene(std::uint64_t seed) {
    Dice dice(seed);
    const std::int32_t count = dice.upto(1, 12);
    options.lanes = dice.upto(0, 4);
    double arrival_s = 0;
    for (std::int32_t i = 0; i < count; ++i) {
      plays.push_back(random_play(dice, seed % 2 == 0));
      plays.back().arrival_s = arrival_s += 0.25 * dice.upto(0, 9);
    }
    bench.replica().max_model_len = 300;
    bench.replica().max_num_seqs = dice.upto(1, 6);
    bench.replica().async_depth = dice.upto(1, 2);
    if (dice.upto(0, 1) == 0) bench.cluster.frontend.per_output_token_s = 0.125;
    if (dice.upto(0, 1) == 0) bench.cluster.frontend.base_s = 0.5;
  }
};

Bindings bindings(Bench& bench, Workload& workload, Watch& watch) {
  Bindings out = bench.bindings(workload);
  out.observers = {&watch};
  return out;
}

}  // namespace

TEST_CASE("random graphs: every row is sent when the definition says so, or not at all") {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Scene scene(seed);
    Plays workload(std::make_unique<ListedPlays>(scene.plays), scene.options);
    Watch watch;
    Simulation simulation(scene.bench.cluster, bindings(scene.bench, workload, watch));
    simulation.run();
    REQUIRE(watch.plays.size() == scene.plays.size());
    CHECK(workload.plays_under_way() == 0);
    std::vector<std::pair<Picoseconds, int>> changes;
    for (const auto& [number, ended] : watch.plays) {
      const Play& play = scene.plays[static_cast<std::size_t>(number)];
      const PlayDone& done = ended.done;
      if (scene.options.lanes == 0) CHECK(done.start == picoseconds(play.arrival_s, "test"));
      check_rows(play, number, done.start, watch, seed % 2 == 0);
      CHECK(done.times.sum() <= done.end - done.start);
      CHECK(done.completed + done.failed + done.cancelled + done.left_out ==
            static_cast<std::int32_t>(play.rows.size()));
      Picoseconds last = done.start;
      for (std::int32_t i = 0; i < static_cast<std::int32_t>(play.rows.size()); ++i) {
        const RowSeen& seen = watch.rows[{number, i}];
        if (seen.done) last = std::max(last, seen.done->now);
      }
      CHECK(done.times.sum() == last - done.start);
      CHECK(done.end == last);
      if (scene.options.lanes == 0) continue;
      changes.push_back({done.start, 1});
      if (done.end > done.start) changes.push_back({done.end, -1});
      if (done.end == done.start) changes.back().second = 0;
    }
    std::sort(changes.begin(), changes.end());
    int under_way = 0;
    for (const auto& [time, change] : changes) {
      under_way += change;
      CHECK(under_way <= std::max(scene.options.lanes, 1));
    }
  }
}

TEST_CASE("a copy that is made at any instant has the same future") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Scene scene(seed);
    Plays workload(std::make_unique<ListedPlays>(scene.plays), scene.options);
    Watch watch;
    Simulation simulation(scene.bench.cluster, bindings(scene.bench, workload, watch));
    std::vector<std::unique_ptr<Workload>> workloads;
    std::vector<std::unique_ptr<Watch>> watches;
    std::vector<std::unique_ptr<Simulation>> copies;
    for (int i = 0; i < 40; ++i) {
      workloads.push_back(workload.fork());
      watches.push_back(std::make_unique<Watch>(watch));
      copies.push_back(simulation.fork(bindings(scene.bench, *workloads.back(), *watches.back())));
      simulation.advance();
    }
    simulation.run();
    for (std::size_t i = 0; i < copies.size(); ++i) {
      CAPTURE(seed, i);
      copies[i]->run();
      CHECK(watches[i]->rows == watch.rows);
      CHECK(watches[i]->plays.size() == watch.plays.size());
    }
  }
}

TEST_CASE("four children at the first token of their parent are sent then, and all end") {
  Play play;
  play.rows.push_back(row(16, 8));
  for (int i = 0; i < 4; ++i) play.rows.push_back(row(16, 2, {{0, RowEvent::first_token, 0}}));
  Bench bench(100, 64);
  Plays workload(std::make_unique<ListedPlays>(std::vector{play}), in_lanes(1));
  Watch watch;
  Simulation simulation(bench.cluster, bindings(bench, workload, watch));
  simulation.run();
  for (std::int32_t i = 1; i <= 4; ++i) {
    const RowSeen& seen = watch.rows[{0, i}];
    CHECK(seen.sent == watch.rows[{0, 0}].done->first_token);
    CHECK(seen.done->outcome == Outcome::completed);
  }
}

TEST_CASE("idle time is capped, and what is after moves forward by the same") {
  Play play;
  play.rows.push_back(row(16, 1));
  play.rows.push_back(row(16, 1, {{0, RowEvent::done, 100}}));
  play.rows.push_back(row(16, 1, {{0, RowEvent::done, 105}}));
  Bench bench(100, 64);
  Plays workload(std::make_unique<ListedPlays>(std::vector{play}), in_lanes(1, 10));
  Watch watch;
  Simulation simulation(bench.cluster, bindings(bench, workload, watch));
  simulation.run();
  CHECK(watch.rows[{0, 1}].sent == 11 * s);  // the first ends at 1
  CHECK(watch.rows[{0, 2}].sent == 16 * s);
}

TEST_CASE("from until_s on nothing is sent, and plays under way are cut") {
  Play play;
  play.rows.push_back(row(16, 3));
  play.rows.push_back(row(16, 3, {{0, RowEvent::done, 1}}));
  Bench bench(100, 64);
  Plays workload(std::make_unique<ListedPlays>(std::vector{play, play, play}), in_lanes(1, {}, 12));
  Watch watch;
  Simulation simulation(bench.cluster, bindings(bench, workload, watch));
  simulation.run();
  REQUIRE(watch.plays.size() == 2);  // 0..7, then from 7: its second row would be sent at 11
  CHECK_FALSE(watch.plays[0].done.cut);
  CHECK(watch.plays[1].done.cut);
  CHECK(watch.rows[{1, 1}].sent == 11 * s);
  CHECK(watch.rows[{1, 1}].done->outcome == Outcome::completed);
}

TEST_CASE("rows after a barrier wait for the warm rows of all plays") {
  Play play;
  play.rows.push_back(row(16, 4));
  play.rows.back().warm = true;
  play.rows.push_back(row(16, 1));
  play.rows.back().barrier = 1;
  Play longer = play;
  longer.rows[0].spec.output_tokens = 9;
  Bench bench(100, 64);
  Plays workload(std::make_unique<ListedPlays>(std::vector{play, longer}), in_lanes(2));
  Watch watch;
  Simulation simulation(bench.cluster, bindings(bench, workload, watch));
  simulation.run();
  CHECK(watch.rows[{0, 1}].sent == 9 * s);
  CHECK(watch.rows[{1, 1}].sent == 9 * s);
  CHECK(watch.plays[0].done.start == 9 * s);
  CHECK(watch.plays[0].done.completed == 1);
}

namespace {

using TokenList = std::vector<std::pair<std::uint64_t, std::int32_t>>;

void append(TokenList& tokens, std::uint64_t content, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) tokens.push_back({content, i});
}

}  // namespace

TEST_CASE("the ideal hit is the longest prefix that any sequence before has, token by token") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    SeenPrompts seen;
    std::vector<TokenList> all;
    Play play;
    std::map<std::int32_t, SeenPrompts::Mark> marks;
    std::vector<std::vector<Segment>> prompts;
    for (int i = 0; i < 40; ++i) {
      std::vector<Segment> prompt;
      std::int32_t base = -1;
      if (i > 0 && dice.upto(0, 3) > 0) {
        base = dice.upto(0, i - 1);
        prompt = prompts[static_cast<std::size_t>(base)];
        prompt.resize(
            static_cast<std::size_t>(dice.upto(0, static_cast<std::int32_t>(prompt.size()))));
      }
      for (std::int32_t k = dice.upto(1, 4); k > 0; --k)
        prompt.push_back({static_cast<std::uint64_t>(dice.upto(1, 6)), dice.upto(1, 4)});
      prompts.push_back(prompt);
      PlayRow one;
      play.set_segments(one, prompt, base);
      play.rows.push_back(one);
      TokenList tokens;
      for (const Segment& each : prompt) append(tokens, each.content, each.tokens);
      std::size_t most = 0;
      for (const TokenList& other : all) {
        std::size_t same = 0;
        while (same < std::min(tokens.size(), other.size()) && tokens[same] == other[same]) ++same;
        most = std::max(most, same);
      }
      const auto output = static_cast<std::uint64_t>(dice.upto(0, 6));
      const std::int32_t answer = dice.upto(1, 5);
      CAPTURE(seed, i);
      const auto segments = play.segments(play.rows.back());
      REQUIRE(segments.size() == prompt.size());
      CHECK(seen.see(segments, marks[one.list], output, answer) == static_cast<std::int64_t>(most));
      if (output != 0) append(tokens, output, answer);
      all.push_back(tokens);
    }
  }
}

TEST_CASE("mistakes of a play name row and field") {
  const auto message = [](const Play& play) -> std::string {
    try {
      const RowListeners listeners(play, "play 3");
    } catch (const Error& wrong) {
      return wrong.what();
    }
    return "";
  };
  Play play;
  CHECK(message(play) == "play 3: rows: expected at least one row");
  play.rows = {row(1, 1, {{1, RowEvent::done, 0}}), row(1, 1, {{0, RowEvent::sent, 0}})};
  CHECK(message(play) ==
        "play 3: row 1: parents: the row waits for itself, or for rows that wait for themselves");
  play.rows = {row(1, 1), row(1, 1, {{6, RowEvent::sent, 0}})};
  CHECK(message(play) == "play 3: row 2: parents[1].row: there is no row 7; the play has 2");
  play.rows = {row(1, 1), row(1, 1, {{0, RowEvent::sent, -1}})};
  CHECK(message(play).starts_with("play 3: row 2: parents[1].delay_s: expected seconds >= 0"));
}
