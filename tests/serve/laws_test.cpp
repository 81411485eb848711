// What holds on any input: random workloads, tight caches, both depths.

#include <numeric>

#include "tests/catch.h"
#include "tests/serve/kv/walked_bounds.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

struct Run {
  Totals totals;
  Recorder recorder;
  std::int64_t counted = 0, walked = 0;  // as WalkedSteps says
};

/// Walks the contexts of every batch: its sums of bounded contexts are theirs.
class WalkedSteps : public LinearSteps {
 public:
  WalkedSteps(const ClusterConfig& cluster, double base, double per_token, double per_context)
      : LinearSteps(base, per_token, per_context), cluster_(&cluster) {}
  std::int64_t counted = 0, walked = 0;  // batches whose sums are those of the pool, or were walked
  void price(const Batch& batch, StepPrice& price) override {
    const ReplicaConfig& c = cluster_->replicas[static_cast<std::size_t>(batch.replica)];
    REQUIRE(wrong_bounds(batch, {c.context_caps.data(), c.context_chunk}) == "");
    const bool everyone = batch.origin->plan().decodes_everyone();
    counted += batch.bounds != nullptr && everyone;
    walked += batch.bounds != nullptr && !everyone;
    LinearSteps::price(batch, price);
  }

 private:
  const ClusterConfig* cluster_;
};

Run run(Case& it) {
  Run result;
  WalkedSteps model(it.cluster, 0.75, 1.0 / 64, 1.0 / 4096);
  ListedWorkload workload(it.specs);
  Bindings bindings;
  bindings.schedulers = {&it.scheduler};
  bindings.steps = {&model};
  bindings.workload = &workload;
  bindings.observers = {&result.recorder};
  result.totals = simulate(it.cluster, bindings);
  result.counted = model.counted;
  result.walked = model.walked;
  return result;
}

bool same(const RequestDone& a, const RequestDone& b) {
  return a.id == b.id && a.outcome == b.outcome && a.now == b.now && a.queued == b.queued &&
         a.scheduled == b.scheduled && a.first_token == b.first_token &&
         a.last_token == b.last_token && a.output_tokens == b.output_tokens &&
         a.cached_tokens == b.cached_tokens && a.preemptions == b.preemptions;
}

void check_same(Run& a, Run& b, const char* what) {
  CAPTURE(what);
  CHECK(a.recorder.steps == b.recorder.steps);
  REQUIRE(a.recorder.done.size() == b.recorder.done.size());
  for (std::size_t i = 0; i < a.recorder.done.size(); ++i)
    CHECK(same(a.recorder.done[i], b.recorder.done[i]));
  std::sort(a.recorder.gaps.begin(), a.recorder.gaps.end());
  std::sort(b.recorder.gaps.begin(), b.recorder.gaps.end());
  CHECK(a.recorder.gaps == b.recorder.gaps);
}

}  // namespace

TEST_CASE("asked on change or at every step, together or one by one: the same run") {
  std::int64_t preemptions = 0, hits = 0, repeated = 0, counted = 0, walked = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    const bool shared = seed % 3 == 0;
    Case it = random_case(seed, shared);
    Run plain = run(it);
    preemptions += plain.totals.preemptions;
    repeated += plain.totals.steps > plain.totals.plans_asked ? 1 : 0;
    for (const RequestDone& done : plain.recorder.done) hits += done.cached_tokens > 0 ? 1 : 0;

    Case always = it;
    always.scheduler.always = true;
    Run asked = run(always);
    check_same(plain, asked, "every step");

    Case singly = it;
    singly.scheduler.singly = singly.scheduler.always = true;
    Run one_by_one = run(singly);
    check_same(plain, one_by_one, "one by one");
    counted += plain.counted;
    walked += one_by_one.walked;

    for (const bool each : {false, true}) {
      Case ragged = each ? singly : it;
      ragged.cluster.replicas[0].ragged = true;
      Run visited = run(ragged);
      check_same(plain, visited, each ? "ragged, one by one" : "ragged");
      CHECK((each || visited.totals.plans_asked == plain.totals.plans_asked));
      CHECK(visited.totals.output_tokens == plain.totals.output_tokens);
    }

    if (!shared && it.cluster.replicas[0].prefix_caching) {
      Case real = it;
      real.cluster.replicas[0].real_blocks = true;
      Run blocks = run(real);
      check_same(plain, blocks, "real blocks");
    }
  }
  CHECK(preemptions > 1000);
  CHECK(hits > 100);
  CHECK(repeated > 100);
  CHECK(counted > 10000);
  CHECK(walked > 10000);
}

namespace {

class Auditor : public Observer {
 public:
  std::int32_t budget = 0, seats = 0;
  Picoseconds last_end = 0;
  std::int64_t tokens = 0, ended = 0, gaps = 0, output_tokens = 0, started = 0, discarded = 0;
  void on_step(const StepDone& seen) override {
    CHECK(seen.start >= last_end);
    CHECK(seen.end > seen.start);
    CHECK(seen.planned <= seen.start);
    last_end = seen.end;
    if (budget > 0) CHECK(seen.batch->tokens <= budget);
    if (seats > 0) CHECK(seen.running <= seats);
    CHECK(seen.used_blocks <= seen.total_blocks);
    CHECK(seen.used_blocks >= 0);
    std::int32_t sum = seen.batch->decodes;
    for (const PrefillWork& work : seen.prefills) sum += work.new_tokens;
    CHECK(sum == seen.batch->tokens);
    CHECK(seen.batch->tokens > 0);
    tokens += seen.tokens_landed();
    discarded += seen.discarded;
    CHECK(seen.discarded <= seen.batch->decodes);
    gaps += seen.common_gaps + static_cast<std::int64_t>(seen.other_gaps.size());
    CHECK((seen.common_gaps == 0 || seen.common_gap > 0));
    for (const Picoseconds gap : seen.other_gaps) CHECK(gap > 0);
  }
  void on_done(const RequestDone& done) override {
    ++ended;
    output_tokens += done.output_tokens;
    if (done.first_token != never) ++started;
    if (done.outcome != Outcome::completed) return;
    CHECK(done.arrival <= done.queued);
    CHECK(done.queued <= done.scheduled);
    CHECK(done.scheduled < done.first_token);
    CHECK(done.first_token <= done.last_token);
    CHECK(done.last_token == done.now);
  }
};

}  // namespace

namespace {

/// Blocks that requests with a seat hold: those of their tokens, and seat_blocks each.
std::int64_t held_by_seats(const Simulation& simulation) {
  const ReplicaView& v = simulation.replica(0).view();
  std::int64_t blocks = 0;
  for (std::int32_t slot = v.running_head; slot >= 0; slot = simulation.requests()[slot].next) {
    const Request& request = simulation.requests()[slot];
    const std::int32_t held = simulation.requests().progress(slot).held_blocks;
    blocks += std::max(held, blocks_for(context_tokens(v, request), v.block_size)) + v.seat_blocks;
  }
  return blocks;
}

}  // namespace

TEST_CASE("in = out, used + free = total, the clock never goes back, no step over budget") {
  std::int64_t discarded = 0, with_seat_blocks = 0;
  for (std::uint64_t seed = 1000; seed < 1200; ++seed) {
    CAPTURE(seed);
    Case it = random_case(seed, seed % 2 == 0);
    Auditor auditor;
    auditor.budget = it.cluster.replicas[0].max_num_batched_tokens;
    auditor.seats = it.cluster.replicas[0].max_num_seqs;
    WalkedSteps model(it.cluster, 0.5, 1.0 / 64, 0);
    ListedWorkload workload(it.specs);
    Bindings bindings;
    bindings.schedulers = {&it.scheduler};
    bindings.steps = {&model};
    bindings.workload = &workload;
    bindings.observers = {&auditor};
    Simulation simulation(it.cluster, bindings);
    Picoseconds last = 0;
    while (simulation.advance()) {
      CHECK(simulation.now() >= last);
      last = simulation.now();
      const ReplicaView& v = simulation.replica(0).view();
      const KvCache& kv = simulation.replica(0).kv();
      CHECK(kv.used_blocks() + kv.free_blocks() == kv.total_blocks());
      CHECK(v.free_blocks == kv.free_blocks());
      // Requests that share a prefix hold its blocks together.
      const std::int64_t held = held_by_seats(simulation);
      const bool apart = seed % 2 != 0;
      if (apart) CHECK(held == kv.used_blocks());
      CHECK(held >= kv.used_blocks());
      CHECK(kv.used_blocks() >= std::int64_t{v.seats} * v.seat_blocks);
      with_seat_blocks += v.seats > 1 && v.seat_blocks > 0;
      CHECK(v.seats == v.decodes + v.prefilling + v.finishing);
      std::int64_t contexts = 0;
      std::int32_t running = 0;
      for (std::int32_t slot = v.running_head; slot >= 0; slot = simulation.requests()[slot].next) {
        ++running;
        if (simulation.requests()[slot].phase == Phase::decoding)
          contexts += context_tokens(v, simulation.requests()[slot]);
      }
      CHECK(running == v.seats);
      CHECK(static_cast<double>(contexts) == v.decode_context_tokens);
      const Totals& t = simulation.totals();
      CHECK(t.arrived == std::accumulate(t.ended.begin(), t.ended.end(), std::int64_t{0}) +
                             simulation.outstanding(0));
    }
    CHECK(simulation.requests().alive() == 0);
    CHECK(simulation.replica(0).kv().used_blocks() == 0);
    CHECK(auditor.ended == static_cast<std::int64_t>(it.specs.size()));
    CHECK(auditor.tokens == auditor.output_tokens);
    CHECK(auditor.tokens == simulation.totals().output_tokens);
    CHECK(auditor.gaps == auditor.output_tokens - auditor.started);
    discarded += auditor.discarded;
  }
  CHECK(discarded > 500);
  CHECK(with_seat_blocks > 500);
}

TEST_CASE("the same inputs give the same run, and a fork of it the same future") {
  for (std::uint64_t seed = 2000; seed < 2060; ++seed) {
    CAPTURE(seed);
    Case it = random_case(seed, seed % 2 == 0);
    Run first = run(it), second = run(it);
    check_same(first, second, "again");

    Recorder before, after, copied;
    WalkedSteps model(it.cluster, 0.75, 1.0 / 64, 1.0 / 4096);
    ListedWorkload workload(it.specs);
    Bindings bindings;
    bindings.schedulers = {&it.scheduler};
    bindings.steps = {&model};
    bindings.workload = &workload;
    bindings.observers = {&before};
    Simulation simulation(it.cluster, bindings);
    for (int i = 0; i < 25; ++i) simulation.advance();
    const std::unique_ptr<Workload> rest = workload.fork();
    Fcfs scheduler = it.scheduler;
    Bindings other = bindings;
    other.workload = rest.get();
    other.schedulers = {&scheduler};
    other.observers = {&copied};
    const std::unique_ptr<Simulation> fork = simulation.fork(other);
    simulation.add_observer(after);
    simulation.run();
    fork->run();
    CHECK(after.steps == copied.steps);
    REQUIRE(after.done.size() == copied.done.size());
    for (std::size_t i = 0; i < after.done.size(); ++i) CHECK(same(after.done[i], copied.done[i]));
    CHECK(before.steps == first.recorder.steps);
  }
}

namespace {

/// Any candidate, by turns.
class Turns : public Router {
 public:
  std::int32_t route(const Request&, const RouteView& view) override {
    return view.candidates[turn_++ % view.candidate_count];
  }
  double staleness_s() const override { return 0.7; }

 private:
  std::int32_t turn_ = 0;
};

/// Ends are answered: at once, later, or not at all.
class Answers : public ListedWorkload {
 public:
  Answers(std::vector<RequestSpec> specs, std::uint64_t seed)
      : ListedWorkload(std::move(specs)), dice_(seed) {}
  std::int64_t sent = 0;
  void on_done(const RequestDone& done, FollowUps& follow_ups) override {
    if (sent == 40 || dice_.upto(0, 2) == 0) return;
    ++sent;
    RequestSpec answer =
        spec(seconds(done.now) + 0.5 * dice_.upto(0, 3), dice_.upto(1, 50), dice_.upto(1, 30));
    answer.max_output_tokens += dice_.upto(0, 1) * dice_.upto(1, 9);
    follow_ups.send(answer);
  }

 private:
  Dice dice_;
};

}  // namespace

TEST_CASE("clusters keep the laws: mixed replicas, split prefill and decode, frontends, answers") {
  std::int64_t transfers = 0;
  for (std::uint64_t seed = 3000; seed < 3150; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    Case it = random_case(seed, seed % 2 == 0);
    const bool split = dice.upto(0, 1) == 1;
    ClusterConfig& cluster = it.cluster;
    for (std::int32_t more = dice.upto(1, 3); more > 0; --more)
      cluster.replicas.push_back(
          random_case(seed * 7 + static_cast<std::uint64_t>(more), false).cluster.replicas[0]);
    if (split) {
      for (std::size_t i = 0; i < cluster.replicas.size(); ++i)
        cluster.replicas[i].role = i % 2 == 0 ? Role::prefill : Role::decode;
      cluster.transfer = {0.25, 64, 1};
      if (dice.upto(0, 1) == 1) {  // the wires of some nodes, which transfers share
        cluster.links = {
            {"nic", 48, 0.125, LinkScope::node, dice.upto(0, 1) == 1, dice.upto(0, 2)}};
        cluster.transfer.path.between = {"nic"};
        for (ReplicaConfig& each : cluster.replicas) each.node = dice.upto(-1, 1);
      }
    }
    if (dice.upto(0, 1) == 1) cluster.frontend = {0.125, 1.0 / 256, 0.25};
    Auditor auditor;
    Answers workload(it.specs, seed);
    Turns router;
    std::vector<Fcfs> schedulers(cluster.replicas.size(), it.scheduler);
    WalkedSteps model(cluster, 0.5, 1.0 / 64, 0);
    Bindings bindings;
    for (Fcfs& scheduler : schedulers) bindings.schedulers.push_back(&scheduler);
    bindings.steps.assign(cluster.replicas.size(), &model);
    bindings.router = &router;
    bindings.workload = &workload;
    class Ends : public Observer {
     public:
      std::int64_t transfers = 0, tokens = 0;
      void on_transfer(const TransferSeen& seen) override {
        ++transfers;
        CHECK(seen.end > seen.start);
      }
      void on_done(const RequestDone& done) override {
        tokens += done.output_tokens;
        if (done.outcome != Outcome::completed) return;
        CHECK(done.arrival <= done.queued);
        CHECK(done.queued <= done.scheduled);
        CHECK(done.scheduled < done.first_token);
        CHECK(done.first_token <= done.last_token);
        CHECK(done.last_token <= done.now);
      }
    } ends;
    bindings.observers = {&ends};
    Simulation simulation(cluster, bindings);
    simulation.run();
    transfers += ends.transfers;
    CHECK(simulation.requests().alive() == 0);
    const Totals& totals = simulation.totals();
    CHECK(totals.arrived == static_cast<std::int64_t>(it.specs.size()) + workload.sent);
    CHECK(totals.arrived ==
          std::accumulate(totals.ended.begin(), totals.ended.end(), std::int64_t{0}));
    CHECK(totals.output_tokens == ends.tokens);
    for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
      CHECK(simulation.replica(i).kv().used_blocks() == 0);
      CHECK(simulation.outstanding(i) == 0);
    }
  }
  CHECK(transfers > 1000);
}
