// Requests that end by their end token, before the limit that they declare: the end is known when
// that token lands. With two steps in flight one more row is planned, priced and discarded.

#include <sstream>

#include "tests/catch.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;
using Lines = std::vector<std::string>;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

RequestSpec limited(double arrival_s, std::int32_t prompt, std::int32_t output,
                    std::int32_t limit) {
  RequestSpec out = spec(arrival_s, prompt, output);
  out.max_output_tokens = limit;
  return out;
}

Bench two_in_flight(std::int32_t blocks, std::int32_t block_size) {
  Bench bench(blocks, 64, block_size);
  bench.replica().async_depth = 2;
  return bench;
}

}  // namespace

TEST_CASE("the step after an end token holds one more row, which no request waits for") {
  Bench bench = two_in_flight(100, 16);
  const Totals totals = bench.run({limited(0, 16, 3, 8), spec(0, 16, 5), spec(2.5, 16, 1)});
  CHECK(bench.recorder.steps == Lines{
                                    "0..1: p0:16+0* p1:16+0* w0 u2",
                                    "1..2: d2 w0 u4",
                                    "2..3: d2 w0 u4",     // lands the end token of 0
                                    "3..4: d2 x1 w0 u4",  // planned at 2: 0 goes on, it seems
                                    "4..5: d1 p2:16+0* w0 u3",
                                });
  CHECK(bench.recorder.of(0).last_token == 3 * s);
  CHECK(bench.recorder.of(0).output_tokens == 3);
  CHECK(bench.recorder.gaps == std::vector<Picoseconds>(6, s));
  CHECK(totals.output_tokens == 3 + 5 + 1);

  bench.recorder = {};
  bench.run({spec(0, 16, 3), spec(0, 16, 5), spec(2.5, 16, 1)});
  CHECK(bench.recorder.steps[3] == "3..4: d1 w0 u4");  // by its length: it only keeps its seat
}

TEST_CASE("the row that is discarded costs what a row costs, and a block where it needs one") {
  Bench bench = two_in_flight(100, 4);
  bench.model = LinearSteps(1, 1, 0);
  bench.run({limited(0, 4, 5, 6)});  // 8 tokens of KV in 2 blocks; the row needs a third
  CHECK(bench.recorder.steps == Lines{"0..5: p0:4+0* w0 u1", "5..7: d1 w0 u2", "7..9: d1 w0 u2",
                                      "9..11: d1 w0 u2", "11..13: d1 w0 u2",
                                      "13..15: d1 x1 w0 u3"});
  CHECK(bench.recorder.of(0).last_token == 13 * s);
}

TEST_CASE(
    "the row takes a block also where the request had held blocks ahead, up to its end token") {
  class HoldsEight : public SchedulerPolicy {
    void plan(const VisibleReplica& replica, Plan& plan) override {
      plan.decode_all();
      if (replica.view().waiting > 0) plan.admit(replica.view().waiting_head, {4, 8, 0, 0});
    }
  } scheduler;
  Bench bench = two_in_flight(100, 4);
  ListedWorkload workload({limited(0, 4, 5, 9)});
  Bindings bindings = bench.bindings(workload);
  bindings.schedulers = {&scheduler};
  simulate(bench.cluster, bindings);
  CHECK(bench.recorder.steps == Lines{"0..1: p0:4+0* w0 u2", "1..2: d1 w0 u2", "2..3: d1 w0 u2",
                                      "3..4: d1 w0 u2", "4..5: d1 w0 u2", "5..6: d1 x1 w0 u3"});
}

TEST_CASE("a first token may be the end token") {
  Bench bench = two_in_flight(100, 16);
  bench.run({limited(0, 16, 1, 4), spec(1.5, 16, 2)});
  // Request 1 comes while the row is in flight and gets the slot of request 0.
  CHECK(bench.recorder.steps == Lines{"0..1: p0:16+0* w0 u1", "1..2: d1 x1 w0 u2",
                                      "2..3: p1:16+0* w0 u1", "3..4: d1 w0 u2"});
  CHECK(bench.recorder.of(0).last_token == 1 * s);
  CHECK(bench.recorder.of(1).first_token == 3 * s);
  CHECK(bench.recorder.gaps == std::vector<Picoseconds>{s});
}

TEST_CASE("with one step in flight an end token ends a request as its length does") {
  Bench by_token(100, 64), by_length(100, 64);
  by_token.run({limited(0, 16, 3, 8), limited(0, 16, 1, 2), limited(0.5, 20, 4, 5)});
  by_length.run({spec(0, 16, 3), spec(0, 16, 1), spec(0.5, 20, 4)});
  CHECK(by_token.recorder.steps == by_length.recorder.steps);
}

TEST_CASE("max_model_len can be foreseen") {
  Bench bench = two_in_flight(100, 16);
  bench.replica().max_model_len = 19;
  bench.run({limited(0, 16, 5, 9), limited(0, 16, 3, 9)});
  CHECK(bench.recorder.steps ==
        Lines{"0..1: p0:16+0* p1:16+0* w0 u2", "1..2: d2 w0 u4", "2..3: d2 w0 u4"});
  CHECK(bench.recorder.of(1).output_tokens == 3);
}

TEST_CASE("a row that is discarded may cost another request its seat") {
  Bench bench = two_in_flight(4, 4);
  bench.replica().prefix_caching = false;
  bench.run({limited(0, 4, 5, 8), spec(0, 3, 6)});
  CHECK(bench.recorder.steps == Lines{
                                    "0..1: p0:4+0* p1:3+0* w0 u2",
                                    "1..2: d2 w0 u3",
                                    "2..3: d2 w0 u4",
                                    "3..4: d2 w0 u4",
                                    "4..5: d2 w0 u4",     // the end token of 0
                                    "5..6: d1 x1 w1 u3",  // its row takes a block from 1
                                    "6..7: p1:8+0* w0 u2",
                                });
  CHECK(bench.recorder.preempted == Lines{"4:1"});
  CHECK(bench.recorder.of(1).last_token == 7 * s);
}

TEST_CASE("a request that loses its seat while its end token is in flight ends out of the queue") {
  for (const bool caching : {false, true}) {
    Bench bench = two_in_flight(4, 4);
    bench.replica().prefix_caching = caching;
    bench.run({spec(0, 4, 6), limited(0, 3, 5, 9)});
    CHECK(bench.recorder.steps.back() == "5..6: d1 w1 u3");
    CHECK(bench.recorder.preempted == Lines{"4:1"});
    CHECK(bench.recorder.of(1).outcome == Outcome::completed);
    CHECK(bench.recorder.of(1).last_token == 5 * s);
    CHECK(bench.recorder.of(1).preemptions == 1);
  }
}

TEST_CASE("an end token counts also where the cache has no room for the row after it") {
  Bench bench = two_in_flight(2, 4);
  const Totals totals = bench.run({limited(0, 7, 2, 9), spec(5, 4, 1)});
  CHECK(bench.recorder.steps ==
        Lines{"0..1: p0:7+0* w0 u2", "1..2: d1 w0 u2", "5..6: p1:4+0* w0 u1"});
  CHECK(bench.recorder.of(0).outcome == Outcome::completed);
  CHECK(bench.recorder.of(0).output_tokens == 2);
  CHECK(bench.recorder.of(0).preemptions == 1);
  CHECK(totals.ended[static_cast<int>(Outcome::completed)] == 2);
}

TEST_CASE("what is computed after an end token is no prefix of any request") {
  // 4 + 5 tokens: with the row after, 9 of them would have KV, and so would a third block of 3.
  const std::vector<Segment> first{{1, 4}}, second{{1, 4}, {2, 5}, {3, 4}};
  for (const bool row : {false, true}) {
    Bench bench = two_in_flight(100, 3);
    RequestSpec a = row ? limited(0, 4, 5, 9) : spec(0, 4, 5), b = spec(10, 13, 1);
    a.segments = first;
    a.output_content = 2;
    b.segments = second;
    bench.run({a, b});
    CHECK(bench.recorder.of(1).cached_tokens == 6);
  }
}

// --- policies cannot tell

namespace {

/// The numbers that a policy read, in words, up to a time.
struct Shown {
  std::vector<std::pair<Picoseconds, std::string>> lines;
  void add(Picoseconds now, std::string line) { lines.emplace_back(now, std::move(line)); }
  std::string before(Picoseconds end) const {
    std::string out;
    for (const auto& [now, line] : lines)
      if (now < end) out += line + "\n";
    return out;
  }
};

/// Fcfs that writes down all it may read.
class WatchedFcfs : public Fcfs {
 public:
  Shown* shown = nullptr;
  void plan(const VisibleReplica& replica, Plan& plan) override {
    const ReplicaView& v = replica.view();
    std::ostringstream out;
    out << v.index << " at " << v.now_s << ": " << v.waiting << " " << v.seats << " "
        << v.prefilling << " " << v.decodes << " " << v.finishing << " " << v.free_blocks << " "
        << v.decode_context_tokens << " " << v.waiting_tokens << " " << replica.decode_blocks();
    for (const std::int32_t head : {v.waiting_head, v.running_head}) {
      out << " |";
      for (std::int32_t slot = head; slot >= 0; slot = replica.request(slot).next) {
        const Request& r = replica.request(slot);
        out << " " << r.id << ":" << static_cast<int>(r.phase) << "," << context_tokens(v, r) << ","
            << emitted_tokens(v, r) << "," << r.preemptions << "," << replica.cached_tokens(slot);
      }
    }
    shown->add(static_cast<Picoseconds>(std::llround(v.now_s * 1e12)), out.str());
    Fcfs::plan(replica, plan);
  }
};

/// Takes turns, and writes down all it may read.
class WatchedTurns : public Router {
 public:
  explicit WatchedTurns(Shown& shown) : shown_(&shown) {}
  std::int32_t route(const Request& request, const RouteView& view) override {
    std::ostringstream out;
    out << "route " << request.id << " at " << view.now_s;
    for (std::int32_t i = 0; i < view.replica_count; ++i) {
      const ReplicaSignals& each = view.signals[i];
      out << " | " << each.waiting_tokens << " " << each.context_tokens << " " << each.waiting
          << " " << each.running << " " << each.decodes << " " << each.prefilling << " "
          << each.free_blocks << " " << each.outstanding;
    }
    shown_->add(static_cast<Picoseconds>(std::llround(view.now_s * 1e12)), out.str());
    return view.candidates[request.id % view.candidate_count];
  }

 private:
  Shown* shown_;
};

/// The numbers that policies read, and when each request ended.
std::pair<Shown, std::vector<Picoseconds>> watch(const Case& it) {
  Shown shown;
  WatchedFcfs one, other;
  static_cast<Fcfs&>(one) = static_cast<Fcfs&>(other) = it.scheduler;
  one.shown = other.shown = &shown;
  WatchedTurns router(shown);
  LinearSteps model(0.75, 1.0 / 64, 1.0 / 4096);
  Recorder recorder;
  ListedWorkload workload(it.specs);
  Bindings bindings;
  bindings.schedulers = {&one, &other};
  bindings.steps = {&model, &model};
  bindings.router = &router;
  bindings.workload = &workload;
  bindings.observers = {&recorder};
  ClusterConfig cluster = it.cluster;
  cluster.replicas.push_back(cluster.replicas.front());
  simulate(cluster, bindings);
  std::vector<Picoseconds> ends(it.specs.size(), never);
  for (const RequestDone& done : recorder.done) ends[static_cast<std::size_t>(done.id)] = done.now;
  return {shown, ends};
}

}  // namespace

TEST_CASE("until an end token lands, schedulers and routers see what they see without it") {
  int compared = 0, ended_otherwise = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Case it = random_case(seed, seed % 3 == 0);
    const auto [shown, ends] = watch(it);
    for (std::size_t id = seed % 4; id < it.specs.size(); id += 7) {
      RequestSpec& spec = it.specs[id];
      if (spec.output_tokens == spec.max_output_tokens) continue;
      const std::int32_t output = spec.output_tokens;
      // One token more, or as many as it may have.
      spec.output_tokens = seed % 2 == 0 ? output + 1 : spec.max_output_tokens;
      const auto [longer, later] = watch(it);
      spec.output_tokens = output;
      CHECK(shown.before(ends[id]) == longer.before(ends[id]));
      ++compared;
      ended_otherwise += later[id] != ends[id];
    }
  }
  CHECK(compared > 500);
  CHECK(ended_otherwise > 400);
}
