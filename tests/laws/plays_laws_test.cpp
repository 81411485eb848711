// Laws of plays on random clusters: rows follow their parents, every row ends once, a play ends
// with its last row, its path explains all of its time, and tokens are conserved. Nothing is asked
// of the engine's own account that is not computed here again.

#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/laws/plays_account.h"
#include "tests/laws/plays_world.h"

using namespace rooflua;
using namespace rooflua::test;

TEST_CASE("rows follow their parents, plays end with their last row, and the path explains it") {
  std::map<Kind, std::int64_t> preempted, rows;
  std::int64_t loaded = 0, moved = 0, aborted = 0, cancelled = 0, held = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    for (const Kind kind : kinds) {
      CAPTURE(seed, kind);
      World world(seed, kind);
      if (seed % 3 == 0) world.abort_some(seed);
      Run run(world);
      run.finish(world);
      REQUIRE(run.watch.plays.size() == world.plays.size());
      CHECK(run.watch.in_order);
      std::int64_t tokens = 0;
      for (const auto& [key, seen] : run.watch.rows) tokens += seen.done.output_tokens;
      CHECK(run.simulation->totals().output_tokens == tokens);
      for (const auto& [number, told] : run.watch.plays) {
        const Account account{world, number, run.watch, told};
        account.check();
        cancelled += told.done.cancelled;
      }
      held += check_barriers(world, run.watch);
      preempted[kind] += run.watch.preempted;
      rows[kind] += static_cast<std::int64_t>(run.watch.rows.size());
      loaded += run.watch.loaded;
      moved += kind == Kind::pools ? run.watch.moved : 0;
      aborted += run.aborted;
    }
  }
  for (const Kind kind : kinds) CHECK(rows[kind] > 2000);
  CHECK(preempted[Kind::tight] > 100);
  CHECK(loaded > 100);
  CHECK(moved > 1000);
  CHECK(aborted > 100);
  CHECK(cancelled > 100);
  CHECK(held > 100);
}

TEST_CASE("a copy that is made at any instant goes on as the play does") {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    for (const Kind kind : kinds) {
      World world(seed + 5000, kind);
      world.abort_some(seed);
      Run run(world);
      Dice dice(seed);
      std::vector<std::unique_ptr<Run>> copies;
      do {
        if (dice.upto(0, 9) == 0) copies.push_back(std::make_unique<Run>(world, run));
      } while (run.advance(world));
      for (std::size_t i = 0; i < copies.size(); ++i) {
        CAPTURE(seed, kind, i);
        copies[i]->finish(world);
        check_same(world, run.watch, copies[i]->watch);
      }
    }
  }
}

TEST_CASE("as many lanes as there are plays are as good as more") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const Kind kind : kinds) {
      CAPTURE(seed, kind);
      World world(seed + 7000, kind);
      world.options.lanes = static_cast<std::int32_t>(world.plays.size());
      Run run(world);
      run.finish(world);
      world.options.lanes += 1 + static_cast<std::int32_t>(seed % 5);
      Run more(world);
      more.finish(world);
      check_same(world, run.watch, more.watch);
    }
  }
}

TEST_CASE("the order in which the rows of a play are declared changes nothing") {
  std::int64_t compared = 0, moved_rows = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    for (const Kind kind : kinds) {
      CAPTURE(seed, kind);
      const Shape shape{seed % 2 == 0, false, true};
      World world(seed + 9000, kind, shape);
      Run run(world);
      run.finish(world);
      Dice dice(seed);
      std::vector<std::vector<std::int32_t>> place_of;  // where each row went, by play
      for (Play& play : world.plays) {
        const auto count = static_cast<std::int32_t>(play.rows.size());
        std::vector<std::int32_t> places(static_cast<std::size_t>(count));
        std::iota(places.begin(), places.end(), 0);
        for (std::int32_t i = count - 1; i > 0; --i)
          std::swap(places[static_cast<std::size_t>(i)],
                    places[static_cast<std::size_t>(dice.upto(0, i))]);
        std::vector<PlayRow> rows(play.rows.size());
        for (std::int32_t i = 0; i < count; ++i) {
          PlayRow own = play.rows[static_cast<std::size_t>(i)];
          for (RowTrigger& parent : own.parents)
            parent.row = places[static_cast<std::size_t>(parent.row)];
          if (own.cancel.row >= 0)
            own.cancel.row = places[static_cast<std::size_t>(own.cancel.row)];
          moved_rows += places[static_cast<std::size_t>(i)] != i;
          rows[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])] = own;
        }
        play.rows = rows;
        place_of.push_back(places);
      }
      Run other(world);
      other.finish(world);
      for (std::size_t number = 0; number < place_of.size(); ++number) {
        const auto key = static_cast<std::int64_t>(number);
        CHECK(same(run.watch.plays[key].done, other.watch.plays[key].done));
        for (std::size_t i = 0; i < place_of[number].size(); ++i) {
          CAPTURE(number, i);
          CHECK(
              same(run.watch, other.watch, key, static_cast<std::int32_t>(i), place_of[number][i]));
          ++compared;
        }
      }
    }
  }
  CHECK(compared > 8000);
  CHECK(moved_rows > 4000);
}
