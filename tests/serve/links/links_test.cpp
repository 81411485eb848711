// Links that transfers share: max-min fair rates, and what a flow takes alone and beside others.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "serve/links/flows.h"
#include "tests/catch.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

/// Wires of so many bytes per second, one each.
Wires wires_of(const std::vector<double>& capacity, std::int32_t streams = 0) {
  std::vector<LinkConfig> links;
  for (std::size_t i = 0; i < capacity.size(); ++i)
    links.push_back({std::to_string(i), capacity[i], 0, LinkScope::cluster, true, streams});
  return {links, {0}};
}

/// Runs flows that start at given times to their ends; by slot.
class Run {
 public:
  explicit Run(const Wires& wires) : flows_(wires) {}
  std::map<std::int32_t, FlowEnded> ends;

  void start(double time_s, FlowRequest what) {
    const auto time = static_cast<Picoseconds>(std::llround(time_s * 1e12));
    pass(time);
    flows_.start(std::move(what), time);
    pass_now(time);
  }
  void finish() { pass(never - 1); }
  Flows& flows() { return flows_; }
  double end_s(std::int32_t slot) const { return seconds(ends.at(slot).end); }

 private:
  void pass(Picoseconds until) {
    while (flows_.next() < until) pass_now(flows_.next());
  }
  void pass_now(Picoseconds now) {
    std::vector<FlowEnded> over;
    if (flows_.next() <= now) flows_.pass(now, over);
    for (FlowEnded& each : over) ends[each.what.slot] = std::move(each);
  }
  Flows flows_;
};

FlowRequest flow(std::int32_t slot, std::vector<std::int32_t> path, double bytes,
                 double alpha_s = 0) {
  return {.path = std::move(path), .bytes = bytes, .alpha_s = alpha_s, .slot = slot};
}

/// No rate can rise without one that is as low or lower falling; no wire carries too much.
void check_max_min(std::span<const Share> shares, std::span<const double> capacity) {
  std::vector<double> used(capacity.size(), 0);
  for (const Share& share : shares) {
    CHECK(share.rate > 0);
    CHECK(share.rate <= share.most);
    for (const std::int32_t wire : share.path) used[static_cast<std::size_t>(wire)] += share.rate;
  }
  for (std::size_t w = 0; w < capacity.size(); ++w) CHECK(used[w] <= capacity[w] * (1 + 1e-12));
  for (const Share& share : shares) {
    if (share.rate == share.most) continue;
    const bool held = std::any_of(share.path.begin(), share.path.end(), [&](std::int32_t wire) {
      if (used[static_cast<std::size_t>(wire)] <
          capacity[static_cast<std::size_t>(wire)] * (1 - 1e-12))
        return false;
      return std::all_of(shares.begin(), shares.end(), [&](const Share& other) {
        const bool shares_it =
            std::find(other.path.begin(), other.path.end(), wire) != other.path.end();
        return !shares_it || other.rate <= share.rate * (1 + 1e-12);
      });
    });
    CHECK(held);
  }
}

struct Drawn {
  std::vector<double> capacity;
  std::vector<std::vector<std::int32_t>> paths;
  std::vector<double> most;
};

Drawn draw(std::uint64_t seed, std::int32_t most_flows) {
  Dice dice(seed);
  Drawn out;
  const std::int32_t wires = dice.upto(1, 8);
  for (std::int32_t w = 0; w < wires; ++w) out.capacity.push_back(dice.upto(1, 40));
  for (std::int32_t f = dice.upto(1, most_flows); f > 0; --f) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(wires));
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::int32_t>& path = out.paths.emplace_back();
    for (std::int32_t left = dice.upto(1, std::min(3, wires)); left > 0; --left) {
      const auto at = static_cast<std::size_t>(dice.upto(0, static_cast<int>(all.size()) - 1));
      path.push_back(all[at]);
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
    }
    out.most.push_back(dice.upto(0, 2) == 0 ? dice.upto(1, 30) / 4.0
                                            : std::numeric_limits<double>::infinity());
  }
  return out;
}

std::vector<Share> shares_of(const Drawn& drawn) {
  std::vector<Share> out;
  for (std::size_t i = 0; i < drawn.paths.size(); ++i)
    out.push_back({.path = drawn.paths[i], .most = drawn.most[i]});
  MaxMin(drawn.capacity.size()).find(out, drawn.capacity);
  return out;
}

}  // namespace

TEST_CASE("rates are max-min fair, and the order of wires changes no bit") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Drawn drawn = draw(seed, 12);
    const std::vector<Share> shares = shares_of(drawn);
    check_max_min(shares, drawn.capacity);
    const auto last = static_cast<std::int32_t>(drawn.capacity.size()) - 1;
    std::reverse(drawn.capacity.begin(), drawn.capacity.end());
    for (auto& path : drawn.paths) {
      for (std::int32_t& wire : path) wire = last - wire;
    }
    const std::vector<Share> again = shares_of(drawn);
    for (std::size_t i = 0; i < shares.size(); ++i) CHECK(again[i].rate == shares[i].rate);
  }
}

TEST_CASE("a flow alone takes what it says, to the picosecond, beside others on other wires") {
  const Wires wires = wires_of({3, 7, 50e9});
  Run run(wires);
  run.start(0.1, flow(0, {0}, 10, 0.25));
  run.start(0.3, flow(1, {1, 2}, 11, 1e-7));
  run.start(0.3, flow(2, {2}, 0, 0.5));
  run.finish();
  const auto at = [](double time_s) {
    return static_cast<Picoseconds>(std::llround(time_s * 1e12));
  };
  CHECK(run.ends.at(0).end == after(at(0.1), 0.25 + 10.0 / 3, "here"));
  CHECK(run.ends.at(1).end == after(at(0.3), 1e-7 + 11.0 / 7, "here"));
  CHECK(run.ends.at(2).end == after(at(0.3), 0.5, "here"));  // nothing to send
  for (const auto& [slot, end] : run.ends) CHECK(end.end == end.alone_end);
}

TEST_CASE("equal flows from one instant end together, and what one leaves is the others'") {
  const Wires wires = wires_of({10});
  Run together(wires);
  for (std::int32_t i = 0; i < 5; ++i) together.start(0, flow(i, {0}, 20, 1));
  together.finish();
  for (std::int32_t i = 0; i < 5; ++i) CHECK(together.end_s(i) == 11);  // 1 + 5 * 20 / 10
  Run apart(wires);
  apart.start(0, flow(0, {0}, 20));  // alone until 1, then 5 bytes/s: ends at 3
  apart.start(1, flow(1, {0}, 20));  // 10 of 20 are through at 3, the others take 1 s
  apart.finish();
  CHECK(apart.end_s(0) == 3);
  CHECK(apart.end_s(1) == 4);
  FlowRequest slow = flow(0, {0}, 20);
  slow.bytes_per_s = 2;
  Run limited(wires);
  limited.start(0, slow);
  limited.start(0, flow(1, {0}, 40));  // 8 bytes/s are left
  limited.finish();
  CHECK(limited.end_s(0) == 10);
  CHECK(limited.end_s(1) == 5);
  CHECK(limited.ends.at(1).alone_end == 4 * s);
}

TEST_CASE("flows that others leave alone keep their ends to the picosecond") {
  const Wires wires = wires_of({7, 3, 5});
  Run run(wires);
  run.start(0, flow(0, {0}, 30));
  run.start(0.5, flow(1, {0}, 30));
  for (std::int32_t i = 0; i < 20; ++i) run.start(0.6 + 0.01 * i, flow(10 + i, {1, 2}, 1));
  run.finish();
  Run without(wires);
  without.start(0, flow(0, {0}, 30));
  without.start(0.5, flow(1, {0}, 30));
  without.finish();
  CHECK(run.ends.at(0).end == without.ends.at(0).end);
  CHECK(run.ends.at(1).end == without.ends.at(1).end);
}

TEST_CASE("a wire with streams carries so many at once, first come, first served") {
  const Wires wires = wires_of({10}, 2);
  Run run(wires);
  for (std::int32_t i = 0; i < 5; ++i) run.start(0.125 * i, flow(i, {0}, 10));
  run.finish();
  // 0 and 1 share from 0.125 on; two at a time, each gets 5 bytes/s
  CHECK(run.end_s(0) == 1.875);
  CHECK(run.end_s(1) == 2.125);
  CHECK(run.end_s(2) == 3.875);
  CHECK(run.end_s(3) == 4.125);
  CHECK(run.end_s(4) == 5.0);  // alone from 4.125 on
}

TEST_CASE("flows move as a naive sum of small times says") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Drawn drawn = draw(seed, 10);
    Dice dice(seed + 5000);
    struct Naive {
      double start, left, alpha, rate = 0;
      bool over = false;
    };
    std::vector<Naive> naive;
    Run run(wires_of(drawn.capacity));
    double time = 0;
    for (std::size_t i = 0; i < drawn.paths.size(); ++i) {
      time += dice.upto(0, 8) / 8.0;
      naive.push_back({time, double(dice.upto(0, 40)), dice.upto(0, 4) / 16.0});
      FlowRequest what =
          flow(static_cast<std::int32_t>(i), drawn.paths[i], naive.back().left, naive.back().alpha);
      what.bytes_per_s = drawn.most[i];
      run.start(time, what);
    }
    run.finish();
    // Between two events rates are constant: the next event is the first start or end.
    double now = 0;
    for (;;) {
      std::vector<Share> shares;
      std::vector<Naive*> moving;
      double next = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < naive.size(); ++i) {
        Naive& each = naive[i];
        const double begins = each.start + each.alpha;
        if (each.over) continue;
        if (begins > now) {
          next = std::min(next, begins);
        } else if (each.left <= 1e-9) {
          each.over = true;
          CHECK(std::abs(run.end_s(static_cast<std::int32_t>(i)) - now) < 1e-8);
        } else {
          shares.push_back({.path = drawn.paths[i], .most = drawn.most[i]});
          moving.push_back(&each);
        }
      }
      MaxMin(drawn.capacity.size()).find(shares, drawn.capacity);
      for (std::size_t i = 0; i < moving.size(); ++i)
        next = std::min(next, now + moving[i]->left / shares[i].rate);
      if (next == std::numeric_limits<double>::infinity()) break;
      for (std::size_t i = 0; i < moving.size(); ++i)
        moving[i]->left -= shares[i].rate * (next - now);
      now = next;
    }
    CHECK(std::all_of(naive.begin(), naive.end(), [](const Naive& each) { return each.over; }));
    CHECK(run.flows().under_way() == 0);
  }
}

TEST_CASE("ten thousand flows: a change costs what its component is large") {
  std::vector<double> capacity(10000, 1e9);
  Run run(wires_of(capacity));
  const auto begin = std::chrono::steady_clock::now();
  for (std::int32_t i = 0; i < 10000; ++i) run.start(0, flow(i, {i}, 1e9, 1 + i * 1e-6));
  for (std::int32_t i = 0; i < 10000; ++i)
    run.start(1.5, flow(10000 + i, {i % 5000, 5000 + i % 5000}, 1e6, i * 1e-6));
  run.finish();
  const double took_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(run.ends.size() == 20000);
  CHECK(took_s < 5);  // each of the changes looking at all flows would be 10^9 looks
}
