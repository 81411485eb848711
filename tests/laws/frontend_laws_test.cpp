// A front end as a queue on random clusters, against naive stations that are told what came and
// when steps ended, and serve one after another; and laws of what queues there.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "serve/parts/stations/frontend.h"
#include "serve/parts/stations/station.h"
#include "tests/catch.h"
#include "tests/serve/random_cluster.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr Picoseconds tick = 1'000'000'000'000 / 64;

/// What the naive stations are told.
class Watch : public Observer {
 public:
  struct Sent {
    std::int32_t id, prompt;
    Picoseconds time;
  };
  struct Step {
    std::int32_t replica;
    Picoseconds end;
    std::int64_t tokens;  // one of each request that gets some
    std::vector<std::int32_t> ending, firsts;
  };
  std::vector<Sent> sent;
  std::vector<Step> steps;
  std::map<std::int32_t, Picoseconds> queued;     // by id: the first time
  std::map<std::int32_t, std::int32_t> at;        // by id: a replica of its engine
  std::map<std::int32_t, RequestDone> completed;  // by id
  std::map<std::int32_t, int> begun;              // ids that have a token
  std::vector<Role> roles;

  bool reads_prices() const override { return false; }
  void on_arrival(const Request& request, Picoseconds now) override {
    sent.push_back({request.id, request.prompt_tokens, now});
  }
  void on_queued(const Request& request, Picoseconds now) override {
    queued.emplace(request.id, now);
    at.emplace(request.id, request.replica);
  }
  void on_step(const StepDone& done) override {
    if (done.empty() || roles[static_cast<std::size_t>(done.replica)] == Role::prefill) return;
    Step step{done.replica, done.end, done.batch->sampled - done.discarded, {}, {}};
    step.ending.assign(done.finished.begin(), done.finished.end());
    for (const PrefillWork& work : done.prefills)
      if (work.completes != 0 && begun[work.id]++ == 0) step.firsts.push_back(work.id);
    steps.push_back(step);
  }
  void on_done(const RequestDone& done) override {
    if (done.outcome == Outcome::completed) completed.emplace(done.id, done);
    if (done.replica >= 0) at.emplace(done.id, done.replica);
  }
};

/// Steps of which several are priced at once, so that they may take the short way.
class Runs : public LinearSteps {
 public:
  using LinearSteps::LinearSteps;
  std::int32_t price_run(const Batch& first, const BatchGrowth& growth,
                         std::span<StepPrice> prices) override {
    Batch batch = first;
    for (StepPrice& each : prices) {
      price(batch, each);
      batch.decode_context_tokens += growth.decode_context_tokens;
    }
    return static_cast<std::int32_t>(prices.size());
  }
};

/// One queue: who comes has the server that is free first.
struct NaiveStation {
  std::vector<Picoseconds> free;
  std::size_t best() const {
    std::size_t out = 0;
    for (std::size_t i = 1; i < free.size(); ++i)
      if (free[i] < free[out]) out = i;
    return out;
  }
  Picoseconds serve(Picoseconds now, Picoseconds service) { return serve(now, service, best()); }
  Picoseconds serve(Picoseconds now, Picoseconds service, std::size_t one) {
    return free[one] = std::max(free[one], now) + service;
  }
};

/// When requests should reach their replica, and clients see their first and last token.
class Naive {
 public:
  std::map<std::int32_t, Picoseconds> joined, first, last;
  std::int64_t chunks = 0;

  Naive(const Watch& watch, const ClusterConfig& cluster) : watch_(watch), given_(cluster.frontend) {
    const std::vector<RankGroup> groups = rank_groups(cluster.replicas);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto engine = static_cast<std::int32_t>(i);
      for (const std::int32_t member : groups[i].members) engine_[member] = engine;
      in_[engine].free.assign(static_cast<std::size_t>(given_.servers), 0);
      out_[engine].free.assign(static_cast<std::size_t>(given_.egress_servers), 0);
    }
    for (const Watch::Sent& each : watch.sent)
      reaches_[each.id] = client_out_.serve(each.time, ps(given_.client_request_s));
    for (const Watch::Step& step : watch.steps) {
      admit(step.end);
      stream(step);
    }
    admit(never);
  }

 private:
  static Picoseconds ps(double time_s) { return picoseconds(time_s, "test"); }

  /// Requests that come in front of the steps that end at that time.
  void admit(Picoseconds before) {
    for (;;) {
      const bool is_new = next_ < watch_.sent.size();
      const Picoseconds comes = is_new ? reaches_[watch_.sent[next_].id] : never;
      const Picoseconds next = again_.empty() ? never : again_.begin()->first.first;
      if (next < before && next <= comes) {
        turn_again();
        continue;
      }
      if (comes >= before) return;
      const Watch::Sent& each = watch_.sent[next_++];
      const auto found = watch_.at.find(each.id);
      if (found == watch_.at.end()) continue;
      const Picoseconds service =
          ps(given_.server_request_s) + ps(given_.server_prompt_token_s) * each.prompt;
      NaiveStation& station = in_[engine_[found->second]];
      const std::size_t server = station.best();
      const Picoseconds served = service > 0 ? station.serve(comes, service, server) : comes;
      const std::int32_t turns = service > 0 ? given_.server_turns - 1 : 0;
      leaves(served, {each.id, turns, server, &station});
    }
  }

  struct Turn {
    std::int32_t id, left;
    std::size_t server;
    NaiveStation* station;
  };
  void leaves(Picoseconds now, const Turn& turn) {
    if (turn.left > 0)
      again_.emplace(std::pair(now, order_++), turn);
    else
      joined[turn.id] = now;
  }
  /// The next one queues at its server again.
  void turn_again() {
    const Picoseconds now = again_.begin()->first.first;
    Turn turn = again_.begin()->second;
    again_.erase(again_.begin());
    --turn.left;
    leaves(turn.station->serve(now, 0, turn.server), turn);
  }

  void stream(const Watch::Step& step) {
    const std::int32_t engine = engine_[step.replica];
    NaiveStation& station = given_.egress_servers > 0 ? out_[engine] : in_[engine];
    const auto ends = static_cast<std::int64_t>(step.ending.size());
    const auto firsts = static_cast<std::int64_t>(step.firsts.size());
    const std::int64_t urgent = std::min(step.tokens, ends + firsts);
    left_[engine] += step.tokens - urgent;
    const std::int64_t count = urgent + left_[engine] / given_.stream_interval;
    left_[engine] %= given_.stream_interval;
    chunks += count;
    for (std::int64_t i = 0; i < count; ++i) {
      Picoseconds seen = step.end;
      if (given_.server_chunk_s > 0) seen = station.serve(seen, ps(given_.server_chunk_s));
      if (given_.client_chunk_s > 0) seen = client_in_.serve(seen, ps(given_.client_chunk_s));
      const std::int64_t of_firsts = i - (count - firsts);
      if (i < ends) last[step.ending[static_cast<std::size_t>(i)]] = seen;
      if (of_firsts >= 0) first[step.firsts[static_cast<std::size_t>(of_firsts)]] = seen;
    }
  }

  const Watch& watch_;
  const Frontend given_;
  std::map<std::int32_t, std::int32_t> engine_;  // by replica
  std::map<std::int32_t, NaiveStation> in_, out_;
  std::map<std::int32_t, std::int64_t> left_;  // tokens that wait for a chunk
  std::map<std::int32_t, Picoseconds> reaches_;
  NaiveStation client_out_{{0}}, client_in_{{0}};
  std::size_t next_ = 0;
  std::map<std::pair<Picoseconds, std::int64_t>, Turn> again_;
  std::int64_t order_ = 0;
};

Frontend draw(Dice& dice, bool is_split) {
  const auto ticks = [&](std::int32_t most) { return dice.upto(0, most) / 64.0; };
  Frontend out;
  out.server_request_s = is_split ? 0 : ticks(40);
  out.server_prompt_token_s = is_split ? 0 : ticks(1) * dice.upto(0, 1);
  out.server_chunk_s = ticks(12);
  out.client_request_s = is_split ? 0 : ticks(20);
  out.client_chunk_s = dice.upto(0, 1) * ticks(8);
  if (out.server_chunk_s > 0) out.egress_servers = dice.upto(0, 2);
  if (out.server_chunk_s + out.client_chunk_s > 0 && dice.upto(0, 1) == 0)
    out.stream_interval = dice.upto(1, 5);
  const bool is_served = out.server_request_s + out.server_prompt_token_s > 0 ||
                         (out.server_chunk_s > 0 && out.egress_servers == 0);
  if (is_served) out.servers = dice.upto(1, 3);
  if (out.server_request_s + out.server_prompt_token_s > 0) out.server_turns = dice.upto(1, 3);
  return out;
}

struct World {
  explicit World(std::uint64_t seed) : scenario(seed) {
    ClusterConfig& cluster = scenario.cluster();
    for (const ReplicaConfig& each : cluster.replicas) {
      is_split = is_split || each.role != Role::both;
      is_plain = is_plain && each.group < 0 && !each.stages.several() && each.role == Role::both;
    }
    Dice dice(seed + 4711);
    cluster.frontend = draw(dice, is_split);
  }
  Scenario scenario;
  bool is_split = false, is_plain = true;
};

}  // namespace

TEST_CASE("what queues at a front end goes when naive stations say") {
  int compared = 0, waited = 0, late = 0, plain = 0, intervals = 0, repeated = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    World world(seed);
    if (!world.scenario.cluster().frontend.queues()) continue;
    Watch watch;
    for (const ReplicaConfig& each : world.scenario.cluster().replicas)
      watch.roles.push_back(each.role);
    Runs steps(0.5, 1.0 / 64, 1.0 / 4096);
    world.scenario.more = [&](Scenario::Run&, Bindings& all) {
      all.observers = {&watch};
      all.steps.assign(all.steps.size(), &steps);
    };
    const auto run = world.scenario.open();
    run->simulation->run();
    REQUIRE(run->simulation->requests().alive() == 0);
    const Naive naive(watch, world.scenario.cluster());
    for (const auto& [id, queued] : watch.queued) {
      if (world.is_split) break;
      if (world.is_plain) REQUIRE(queued == naive.joined.at(id));
      REQUIRE(queued >= naive.joined.at(id));
      waited += queued > watch.sent[static_cast<std::size_t>(id)].time + tick;
      plain += world.is_plain;
    }
    for (const auto& [id, done] : watch.completed) {
      ++compared;
      REQUIRE(done.first_token == naive.first.at(id));
      REQUIRE(done.last_token == std::max(naive.last.at(id), naive.first.at(id)));
      REQUIRE(done.now == done.last_token);
      late += done.last_token > run->simulation->now();
    }
    const FrontendPart* part = frontend_of(run->simulation->parts());
    REQUIRE(part != nullptr);
    REQUIRE(part->totals().chunks == naive.chunks);
    const Frontend& given = world.scenario.cluster().frontend;
    intervals += given.stream_interval > 1;
    repeated += run->simulation->totals().plain_steps > 0;
  }
  std::printf("front ends: %d ends, %d waited, %d late, %d plain, %d intervals, %d repeated\n",
              compared, waited, late, plain, intervals, repeated);
  CHECK(compared >= 3000);
  CHECK(waited >= 500);
  CHECK(plain >= 500);
  CHECK(late >= 50);
  CHECK(intervals >= 50);
  CHECK(repeated >= 50);
}

TEST_CASE("requests at a front end may be aborted, and a copy has the same future") {
  int in_frontend = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    World world(seed);
    Dice dice(seed);
    const auto run = world.scenario.open();
    std::unique_ptr<Scenario::Run> copy;
    for (std::int32_t instants = 0; run->simulation->advance() > 0; ++instants) {
      check_counts(*run->simulation, run->told);
      if (instants == 30) copy = world.scenario.fork(*run);
      if (instants >= 30 || dice.upto(0, 4) > 0) continue;
      const std::vector<std::int32_t> live = live_ids(*run->simulation);
      if (live.empty()) continue;
      const auto last = static_cast<std::int32_t>(live.size()) - 1;
      const std::int32_t id = live[static_cast<std::size_t>(dice.upto(0, last))];
      const Request& request = run->simulation->requests()[run->simulation->slot_of(id)];
      in_frontend += request.phase == Phase::pending;
      run->simulation->abort_by_id(id, Outcome::cancelled);
    }
    check_end(*run, world.scenario.specs().size());
    if (copy == nullptr) continue;
    copy->simulation->run();
    CHECK(copy->told.lines == run->told.lines);
  }
  CHECK(in_frontend >= 50);
}

TEST_CASE("a station serves all that comes, later where service takes longer or servers are fewer") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    const std::int32_t servers = dice.upto(1, 4);
    Station station(servers), slower(servers), larger(servers + 1);
    Picoseconds now = 0, sum = 0;
    for (std::int32_t i = 0; i < 50; ++i) {
      now += dice.upto(0, 3);
      const Picoseconds service = dice.upto(1, 9);
      sum += service;
      const Picoseconds end = station.serve(now, service);
      CHECK(end >= now + service);
      CHECK(slower.serve(now, service + dice.upto(0, 2)) >= end);
      CHECK(larger.serve(now, service) <= end);
    }
    CHECK(station.busy() == sum);
  }
}

TEST_CASE("without times there is no front end, and settings without them are refused") {
  World world(3);
  Frontend& frontend = world.scenario.cluster().frontend;
  frontend = {};
  CHECK(frontend_of(world.scenario.open()->simulation->parts()) == nullptr);
  frontend.servers = 2;
  CHECK_THROWS(world.scenario.open());
  frontend = {};
  frontend.egress_servers = 1;
  CHECK_THROWS(world.scenario.open());
  frontend = {};
  frontend.stream_interval = 2;
  CHECK_THROWS(world.scenario.open());
  frontend = {};
  frontend.server_turns = 2;
  CHECK_THROWS(world.scenario.open());
}
