#pragma once
// Random plays on random clusters: several replicas behind a router, prefill and decode split, KV
// in stores, caches that are too small; and runs of them that can be copied.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "serve/plays/plays.h"
#include "tests/serve/listed_plays.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"
#include "tests/serve/tiers/bench.h"

namespace rooflua::test {

using RowKey = std::pair<std::int64_t, std::int32_t>;  // play, row

struct RowSeen {
  Picoseconds sent = never;
  int ends = 0;
  RequestDone done;
};

struct PlaySeen {
  int ends = 0;
  PlayDone done;
  std::vector<PlayStep> path;
};

/// What a run told, and how often which mechanism was at work.
class Watch : public Observer {
 public:
  std::map<RowKey, RowSeen> rows;
  std::map<std::int64_t, PlaySeen> plays;
  std::int64_t preempted = 0, loaded = 0, moved = 0;
  bool in_order = true;  // no row of a play lives when it is over, and none is sent after it

  bool reads_prices() const override { return false; }
  void on_row(const RowSent& row) override {
    key_of_[row.id] = {row.play, row.row};
    in_order = in_order && plays.count(row.play) == 0;
  }
  void on_arrival(const Request& request, Picoseconds now) override {
    rows[key_of_.at(request.id)].sent = now;
    ++alive_[key_of_.at(request.id).first];
  }
  void on_preempt(const Request&, Picoseconds) override { ++preempted; }
  void on_transfer(const TransferSeen& seen) override { ++(seen.is_load ? loaded : moved); }
  void on_done(const RequestDone& done) override {
    RowSeen& row = rows[key_of_.at(done.id)];
    ++row.ends;
    row.done = done;
    --alive_[key_of_.at(done.id).first];
  }
  void on_play(const PlayDone& play) override {
    PlaySeen& seen = plays[play.play];
    ++seen.ends;
    seen.done = play;
    seen.path.assign(play.path.begin(), play.path.end());
    in_order = in_order && alive_[play.play] == 0;
  }

 private:
  std::map<std::int32_t, RowKey> key_of_;
  std::map<std::int64_t, int> alive_;
};

enum class Kind : std::uint8_t { router, pools, stores, tight };
inline constexpr Kind kinds[] = {Kind::router, Kind::pools, Kind::stores, Kind::tight};

/// A prompt that goes on after that of an earlier row, or begins as others do, or is its own.
inline void draw_prompt(Dice& dice, Play& play, PlayRow& row) {
  const auto count = static_cast<std::int32_t>(play.rows.size());
  std::vector<Segment> prompt;
  std::int32_t base = -1;
  if (count > 0 && dice.upto(0, 2) > 0) {
    base = dice.upto(0, count - 1);
    const PlayRow& before = play.rows[static_cast<std::size_t>(base)];
    const auto segments = play.segments(before);
    prompt.assign(segments.begin(), segments.end());
    if (before.spec.output_content != 0 && !prompt.empty())
      prompt.push_back({before.spec.output_content, before.spec.output_tokens});
  }
  if (prompt.empty()) prompt.push_back({static_cast<std::uint64_t>(dice.upto(1, 3)), 24});
  if (prompt.size() < 5) prompt.push_back({0, dice.upto(1, 20)});
  row.spec.prompt_tokens = 0;
  for (const Segment& each : prompt) row.spec.prompt_tokens += each.tokens;
  play.set_segments(row, prompt, base);
}

struct Shape {
  bool cancels = true, barriers = true;
  bool apart = false;  // no two rows are due at one instant
};

inline Play random_play(std::uint64_t seed, const Shape& shape) {
  Dice dice(seed);
  Play play;
  const std::int32_t count = dice.upto(1, 10);
  const bool warms = shape.barriers && dice.upto(0, 4) == 0;
  const auto delay = [&](std::int32_t row) {
    const double own =
        shape.apart ? 0.0009765625 * (row + 1) + 1e-6 * static_cast<double>(seed % 977) : 0;
    return (dice.upto(0, 1) == 0 ? 0.25 * dice.upto(1, 12) : 0) + own;
  };
  for (std::int32_t i = 0; i < count; ++i) {
    PlayRow one;
    one.spec.output_tokens = dice.upto(1, 9);
    one.spec.output_content = 1000 + seed * 100 + static_cast<std::uint64_t>(i);
    draw_prompt(dice, play, one);
    if (dice.upto(0, 11) == 0) {  // above max_model_len: it fails
      one.spec.prompt_tokens = 400;
      one.list = -1;
      one.segments = 0;
    }
    std::set<RowKey> taken;
    for (std::int32_t k = i == 0 ? 0 : dice.upto(0, 3); k > 0; --k) {
      RowTrigger parent{dice.upto(0, i - 1), static_cast<RowEvent>(dice.upto(0, 2)), 0};
      if (dice.upto(0, 5) == 0) parent.event = RowEvent::ended;
      if (dice.upto(0, 12) == 0) parent.event = RowEvent::failed;
      parent.delay_s = delay(i);
      if (taken.insert({parent.row, static_cast<std::int32_t>(parent.event)}).second)
        one.parents.push_back(parent);
    }
    if (one.parents.empty() || dice.upto(0, 4) == 0) one.not_before_s = delay(i);
    if (warms && one.parents.empty() && dice.upto(0, 1) == 0) one.warm = true;
    if (warms && !one.warm && dice.upto(0, 2) == 0) one.barrier = 1;
    play.rows.push_back(one);
  }
  for (std::int32_t i = 0; shape.cancels && i < count; ++i) {
    const std::int32_t by = dice.upto(0, count - 1);  // of itself, too
    if (dice.upto(0, 4) == 0)
      play.rows[static_cast<std::size_t>(i)].cancel = {by, static_cast<RowEvent>(dice.upto(0, 4)),
                                                       delay(count + i)};
  }
  return play;
}

struct World {
  TiersBench bench;
  SplitsSome decider;
  std::vector<Play> plays;
  PlaysOptions options;
  std::set<std::int64_t> aborts;  // after so many advances the oldest request is aborted

  World(std::uint64_t seed, Kind kind, const Shape& shape = {}) : bench(60) {
    Dice dice(seed);
    bench.model = LinearSteps(0.5, 1.0 / 64, 1.0 / 4096);
    if (kind != Kind::stores) bench.cluster.tiers = {};
    if (kind == Kind::stores) bench.store().capacity_bytes = dice.upto(60, 400);
    draw_replicas(dice, kind);
    if (kind == Kind::pools) draw_pools(seed, dice);
    if (dice.upto(0, 2) == 0) bench.cluster.frontend = {0.125, 1.0 / 256, 0.25};
    const std::int32_t count = dice.upto(1, 10);
    options.lanes = dice.upto(0, 4);
    options.shares_content = true;
    double arrival_s = 0;
    for (std::int32_t i = 0; i < count; ++i) {
      plays.push_back(random_play(seed * 31 + static_cast<std::uint64_t>(i), shape));
      plays.back().arrival_s = arrival_s += 0.25 * dice.upto(0, 9) + (shape.apart ? 0.0001 : 0);
    }
  }
  /// No request is served before one that was sent earlier to its replica.
  bool serves_in_turn() const {
    return bench.cluster.tiers.stores.empty() && bench.cluster.frontend.per_prompt_token_s == 0;
  }
  void abort_some(std::uint64_t seed) {
    Dice dice(seed + 4);
    for (int i = dice.upto(0, 5); i > 0; --i) aborts.insert(dice.upto(1, 150));
  }

 private:
  void draw_replicas(Dice& dice, Kind kind) {
    ReplicaConfig replica = bench.replica();
    const bool is_small = kind == Kind::tight || kind == Kind::stores;
    replica.kv_blocks = is_small ? dice.upto(34, 44) : 300;
    replica.max_model_len = is_small ? 130 : 300;
    replica.max_num_batched_tokens = dice.upto(20, 200);
    replica.max_num_seqs = dice.upto(0, 1) == 0 ? dice.upto(2, 8) : 0;
    replica.async_depth = dice.upto(1, 2);
    const std::int32_t count = kind == Kind::router || kind == Kind::pools ? dice.upto(2, 4) : 1;
    bench.cluster.replicas.assign(static_cast<std::size_t>(count), replica);
    if (kind == Kind::stores && dice.upto(0, 1) == 0) bench.cluster.replicas.push_back(replica);
  }
  void draw_pools(std::uint64_t seed, Dice& dice) {
    auto& replicas = bench.cluster.replicas;
    for (std::size_t i = 0; i < replicas.size(); ++i)
      replicas[i].role = i % 2 == 0 ? Role::prefill : Role::decode;
    bench.cluster.links.clear();
    bench.cluster.transfer = {0.25, 64, 1};
    draw_disaggregation(seed, bench.cluster);
    if (dice.upto(0, 1) == 0) return;
    bench.cluster.links = {{"nic", 48, 0.125, LinkScope::node}};
    bench.cluster.transfer.path.between = {"nic"};
  }
};

/// A run of a world, or a copy of one that is under way.
struct Run {
  std::unique_ptr<Workload> workload;
  std::vector<Fcfs> schedulers;
  Watch watch;
  std::unique_ptr<Simulation> simulation;
  std::int64_t advances = 0, aborted = 0;

  explicit Run(World& world)
      : workload(
            std::make_unique<Plays>(std::make_unique<ListedPlays>(world.plays), world.options)),
        schedulers(world.bench.cluster.replicas.size(), world.bench.scheduler) {
    simulation = std::make_unique<Simulation>(world.bench.cluster, bindings(world));
  }
  Run(World& world, const Run& other)
      : workload(other.workload->fork()),
        schedulers(other.schedulers),
        watch(other.watch),
        advances(other.advances),
        aborted(other.aborted) {
    simulation = other.simulation->fork(bindings(world));
  }
  bool advance(const World& world) {
    const bool more = simulation->advance() > 0;
    if (world.aborts.count(++advances) == 0) return more;
    const std::vector<RequestDone> alive = simulation->unfinished();
    if (alive.empty()) return more;
    return aborted += simulation->abort_by_id(alive.front().id, Outcome::timed_out);
  }
  void finish(const World& world) {
    while (advance(world)) {
    }
  }

 private:
  Bindings bindings(World& world) {
    Bindings out = world.bench.bindings(*workload);
    for (std::size_t i = 0; i < schedulers.size(); ++i) out.schedulers[i] = &schedulers[i];
    out.router = &world.bench.router;
    out.decider = &world.decider;
    if (!world.bench.cluster.tiers.stores.empty())
      out.tiers.assign(schedulers.size(), &world.bench.policy);
    out.observers = {&watch};
    return out;
  }
};

}  // namespace rooflua::test
