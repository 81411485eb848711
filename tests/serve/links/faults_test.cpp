// Links that carry less for a while, and transfers that stand still for too long: against a brute
// force, and at any instant of random clusters.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "serve/links/flows.h"
#include "tests/serve/random_cluster.h"
#include "tests/serve/storm.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

struct Change {
  double time = 0;
  std::int32_t wire = 0;
  double factor = 1;
};

struct Sent {
  double start = 0, bytes = 0, alpha = 0, most = forever;
  std::vector<std::int32_t> path;
};

/// What became of a flow.
struct Fate {
  double end = 0, through = 0;
  bool failed = false;
};

struct Question {
  std::vector<double> capacity;
  std::vector<Sent> sent;
  std::vector<Change> changes;
  double timeout = forever;
};

/// Every wire carries again at the end, so that nothing stands for ever. No two kinds of events
/// share a time.
Question draw(std::uint64_t seed) {
  Dice dice(seed);
  Question out;
  const std::int32_t wires = dice.upto(1, 5);
  for (std::int32_t w = 0; w < wires; ++w) out.capacity.push_back(dice.upto(1, 40));
  double time = 0;
  for (std::int32_t left = dice.upto(1, 10); left > 0; --left) {
    time += dice.upto(0, 8) / 8.0;
    Sent each{time, double(dice.upto(0, 40)), dice.upto(0, 4) / 16.0, forever, {}};
    if (dice.upto(0, 2) == 0) each.most = dice.upto(1, 30) / 4.0;
    for (std::int32_t w = 0; w < wires; ++w)
      if (dice.upto(0, 1) == 1) each.path.push_back(w);
    if (each.path.empty()) each.path.push_back(dice.upto(0, wires - 1));
    out.sent.push_back(each);
  }
  double at = 1.0 / 37;
  for (std::int32_t left = dice.upto(0, 12); left > 0; --left) {
    at += dice.upto(1, 9) / 7.0;
    out.changes.push_back(
        {at, dice.upto(0, wires - 1), dice.upto(0, 2) == 0 ? 0.0 : dice.upto(1, 4) / 4.0});
  }
  for (std::int32_t w = 0; w < wires; ++w) out.changes.push_back({at + 3.1 + 0.01 * w, w, 1});
  if (dice.upto(0, 1) == 1) out.timeout = 0.3 + dice.upto(0, 5) * 0.71;
  return out;
}

std::map<std::int32_t, Fate> engine(const Question& question) {
  std::vector<LinkConfig> links;
  for (std::size_t i = 0; i < question.capacity.size(); ++i)
    links.push_back({std::to_string(i), question.capacity[i], 0, LinkScope::cluster, true, 0});
  Flows flows(Wires(links, {0}));
  flows.fail_after(question.timeout);
  std::map<std::int32_t, Fate> out;
  const auto pass = [&](Picoseconds until, bool up_to) {
    while (flows.next() < until || (up_to && flows.next() == until)) {
      std::vector<FlowEnded> over;
      flows.pass(flows.next(), over);
      for (const FlowEnded& each : over)
        out[each.what.slot] = {seconds(each.end), each.through, each.failed};
    }
  };
  const auto ps = [](double time_s) {
    return static_cast<Picoseconds>(std::llround(time_s * 1e12));
  };
  std::size_t s = 0, c = 0;
  while (s < question.sent.size() || c < question.changes.size()) {
    const bool starts =
        c == question.changes.size() ||
        (s < question.sent.size() && question.sent[s].start < question.changes[c].time);
    const Picoseconds now = ps(starts ? question.sent[s].start : question.changes[c].time);
    pass(now, false);
    if (starts) {
      const Sent& each = question.sent[s];
      flows.start({.path = each.path,
                   .bytes = each.bytes,
                   .alpha_s = each.alpha,
                   .bytes_per_s = each.most,
                   .slot = static_cast<std::int32_t>(s)},
                  now);
      ++s;
    } else {
      const Change& each = question.changes[c++];
      flows.set_factor({&each.wire, 1}, each.factor, now);
    }
    pass(now, true);
  }
  pass(never, false);
  CHECK(flows.under_way() == 0);
  return out;
}

/// Between two events rates are constant: all of them are found anew after each.
std::map<std::int32_t, Fate> brute_force(const Question& question) {
  struct State {
    double left = 0, stands_since = -1;
    bool over = false;
  };
  std::map<std::int32_t, Fate> out;
  std::vector<State> states;
  for (const Sent& each : question.sent) states.push_back({each.bytes});
  std::vector<double> capacity = question.capacity;
  double now = 0;
  std::size_t changed = 0;
  while (true) {
    while (changed < question.changes.size() && question.changes[changed].time <= now) {
      const Change& each = question.changes[changed++];
      const auto w = static_cast<std::size_t>(each.wire);
      capacity[w] = question.capacity[w] * each.factor;
    }
    double next = changed < question.changes.size() ? question.changes[changed].time : forever;
    std::vector<Share> shares;
    std::vector<std::size_t> moving;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const Sent& sent = question.sent[i];
      const double begins = sent.start + sent.alpha;
      if (states[i].over) continue;
      if (begins > now + 1e-12) {
        next = std::min(next, begins);
      } else if (states[i].left <= 1e-9) {
        states[i].over = true;
        out[static_cast<std::int32_t>(i)] = {now, 0, false};
      } else if (states[i].stands_since >= 0 &&
                 now >= states[i].stands_since + question.timeout - 1e-9) {
        states[i].over = true;
        out[static_cast<std::int32_t>(i)] = {now, sent.bytes - states[i].left, true};
      } else {
        shares.push_back({.path = sent.path, .most = sent.most});
        moving.push_back(i);
      }
    }
    MaxMin(capacity.size()).find(shares, capacity);
    for (std::size_t i = 0; i < moving.size(); ++i) {
      State& state = states[moving[i]];
      if (shares[i].rate > 0) {
        state.stands_since = -1;
        next = std::min(next, now + state.left / shares[i].rate);
      } else {
        if (state.stands_since < 0) state.stands_since = now;
        next = std::min(next, state.stands_since + question.timeout);
      }
    }
    if (next == forever) return out;
    for (std::size_t i = 0; i < moving.size(); ++i)
      states[moving[i]].left -= shares[i].rate * (next - now);
    now = next;
  }
}

}  // namespace

TEST_CASE("flows over links that change move as a brute force says, and fail with it") {
  int failed = 0, halfway = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    const Question question = draw(seed);
    const std::map<std::int32_t, Fate> expected = brute_force(question), found = engine(question);
    REQUIRE(found.size() == question.sent.size());
    REQUIRE(expected.size() == found.size());
    for (const auto& [slot, fate] : expected) {
      CAPTURE(slot);
      const Fate& own = found.at(slot);
      REQUIRE(own.failed == fate.failed);
      REQUIRE(std::abs(own.end - fate.end) < 1e-7);
      REQUIRE(std::abs(own.through - fate.through) < 1e-6);
      failed += fate.failed;
      halfway += fate.failed && fate.through > 0;
      ++all;
    }
  }
  CHECK(failed > 200);
  CHECK(halfway > 50);
  CHECK(all > 5 * failed);
}

TEST_CASE("a link that stands still adds the time that it stands, to the picosecond") {
  Flows flows(Wires({{"nic", 10, 0, LinkScope::cluster, true, 0}}, {0}));
  constexpr Picoseconds s = 1'000'000'000'000;
  std::vector<FlowEnded> over;
  const std::int32_t wire = 0;
  flows.start({.path = {0}, .bytes = 40}, 0);
  flows.pass(0, over);
  flows.set_factor({&wire, 1}, 0, s);
  CHECK(flows.next() == never);
  flows.set_factor({&wire, 1}, 0.5, 3 * s);
  CHECK(flows.next() == 9 * s);
  flows.set_factor({&wire, 1}, 1, 5 * s);
  CHECK(flows.next() == 7 * s);
  flows.pass(7 * s, over);
  REQUIRE(over.size() == 1);
  CHECK_FALSE(over[0].failed);
  CHECK(over[0].alone_end == 4 * s);
}

TEST_CASE("links that carry all they can change nothing") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Scenario plain(seed), whole(seed);
    if (plain.cluster().links.empty()) continue;
    Storm storm(seed);
    storm.only_links = true;
    storm.whole = true;
    whole.more = [&](Scenario::Run&, Bindings& out) { out.faults = &storm; };
    const auto one = plain.open(), other = whole.open();
    one->simulation->run();
    other->simulation->run();
    CHECK(one->told.lines == other->told.lines);
  }
}

TEST_CASE("whatever links do, each request ends once and all blocks come free") {
  int failed = 0;
  std::int64_t lost = 0, completed = 0;
  for (std::uint64_t seed = 1001; seed <= 2400; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    if (scenario.cluster().links.empty()) continue;
    Storm storm(seed);
    storm.only_links = seed % 3 > 0;
    scenario.more = [&](Scenario::Run&, Bindings& out) {
      out.faults = &storm;
      out.observers.push_back(&storm.seen);
    };
    const auto run = scenario.open();
    Dice dice(seed);
    while (run->simulation->advance() > 0) {
      check_counts(*run->simulation, run->told);
      if (dice.upto(0, 30) == 0) abort_some(*run->simulation, dice);
    }
    check_end(*run, scenario.specs().size());
    failed += storm.seen.failed;
    const Totals& totals = run->simulation->totals();
    lost += totals.ended[static_cast<std::size_t>(Outcome::replica_lost)];
    completed += totals.ended[static_cast<std::size_t>(Outcome::completed)];
  }
  CHECK(failed > 300);
  CHECK(lost > 100);
  CHECK(completed > 1000);
}

TEST_CASE("where KV that fails is computed, links lose no request") {
  int failed = 0;
  for (std::uint64_t seed = 3001; seed <= 3600; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    if (scenario.cluster().links.empty()) continue;
    Storm storm(seed);
    storm.only_links = true;
    storm.ends = false;
    scenario.more = [&](Scenario::Run&, Bindings& out) {
      out.faults = &storm;
      out.observers.push_back(&storm.seen);
    };
    const auto run = scenario.open();
    run->simulation->run();
    check_end(*run, scenario.specs().size());
    CHECK(run->simulation->totals().ended[static_cast<std::size_t>(Outcome::replica_lost)] == 0);
    failed += storm.seen.failed;
  }
  CHECK(failed > 100);
}
