// Where the time of requests goes: parts add up to TTFT and E2E on random clusters, the same with
// and without the short way of steps that repeat, and they are those that the account of a single
// request has.

#include <map>
#include <memory>
#include <numeric>

#include "measure/record/latency_parts.h"
#include "measure/record/summary.h"
#include "measure/record/why.h"
#include "tests/catch.h"
#include "tests/serve/random_cluster.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

Picoseconds sum(const PartTimes& parts) {
  return std::accumulate(parts.begin(), parts.end(), Picoseconds{0});
}

struct Watch : Observer {
  LatencyPartsCounter counter;
  std::map<std::int32_t, RequestDone> completed;
  bool prices = false;
  int at_once = 0;

  bool reads_prices() const override { return prices; }
  bool reads_waits() const override { return true; }
  void on_arrival(const Request& r, Picoseconds now) override { counter.on_arrival(r, now); }
  void on_queued(const Request& r, Picoseconds now) override { counter.on_queued(r, now); }
  void on_preempt(const Request& r, Picoseconds now) override { counter.on_preempt(r, now); }
  void on_step(const StepDone& step) override { counter.on_step(step); }
  void on_steps(const StepsDone& done) override {
    at_once += done.steps.size() > 1;
    counter.on_steps(done);
  }
  void on_transfer(const TransferSeen& seen) override { counter.on_transfer(seen); }
  void on_load(const Request& r, Picoseconds now) override { counter.on_load(r, now); }
  void on_loaded(const Request& r, Picoseconds now) override { counter.on_loaded(r, now); }
  void on_computed(const Request& r, Picoseconds now) override { counter.on_computed(r, now); }
  void on_kv(const Request& r, Picoseconds now) override { counter.on_kv(r, now); }
  void on_held(const Request& r, Picoseconds now) override { counter.on_held(r, now); }
  void on_no_replica(const Request& r) override { counter.on_no_replica(r); }
  void on_passed(const Request& r, Picoseconds now) override { counter.on_passed(r, now); }
  void on_done(const RequestDone& done) override {
    if (done.outcome == Outcome::completed) completed.emplace(done.id, done);
    counter.on_done(done);
  }
};

/// Linear, and priced ahead, so that several steps pass at once.
class AheadSteps : public LinearSteps {
 public:
  AheadSteps() : LinearSteps(0.5, 1.0 / 64, 1.0 / 4096) {}
  std::int32_t price_run(const Batch& first, const BatchGrowth& growth,
                         std::span<StepPrice> prices) override {
    Batch batch;
    batch.tokens = first.tokens;
    batch.decode_context_tokens = first.decode_context_tokens;
    for (StepPrice& each : prices) {
      price(batch, each);
      batch.decode_context_tokens += growth.decode_context_tokens;
    }
    return static_cast<std::int32_t>(prices.size());
  }
};

Picoseconds of(const PartTimes& parts, LatencyPart part) {
  return parts[static_cast<std::size_t>(part)];
}

Picoseconds of(const Why& why, LatencyHeading heading) {
  return why.time[static_cast<std::size_t>(heading)];
}

/// What the account of the request says in its own way. Without stages, of which steps overlap.
void check_account(const Why& why, const PartTimes& parts) {
  using enum LatencyHeading;
  const Picoseconds waited = of(why, queue_idle) + of(why, queue_prefill) + of(why, queue_decode) +
                             of(why, queue_ranks) + of(why, prefill) + of(why, prefill_stalled) +
                             of(why, preempted) + of(why, recompute) + of(why, decode) +
                             of(why, decode_mixed) + of(why, decode_stalled);
  CHECK(of(parts, LatencyPart::frontend) == of(why, frontend));
  CHECK(of(parts, LatencyPart::seat) + of(parts, LatencyPart::budget) +
            of(parts, LatencyPart::kv) + of(parts, LatencyPart::prefill) +
            of(parts, LatencyPart::decodes) + of(parts, LatencyPart::transfer) +
            of(parts, LatencyPart::route) ==
        waited + of(why, transfer) + of(why, load));
  CHECK(of(parts, LatencyPart::kv) >= of(why, preempted) + of(why, recompute));
  CHECK(of(parts, LatencyPart::decodes) >= of(why, decode));
  CHECK(of(parts, LatencyPart::transfer) >= of(why, transfer) + of(why, load));
}

}  // namespace

TEST_CASE("parts of latencies add up, whatever the way of the run") {
  const std::uint64_t seeds = 2000;
  PartTimes seen{};
  std::int64_t requests = 0, at_once = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    bool has_stages = false;
    for (const ReplicaConfig& each : scenario.cluster().replicas)
      has_stages = has_stages || !each.stages.shares.empty();
    AheadSteps model;
    scenario.more = [&](Scenario::Run&, Bindings& out) {
      out.steps.assign(out.steps.size(), &model);
    };
    Watch fast, slow;
    slow.prices = true;
    SummaryObserver fast_summary, slow_summary;
    std::vector<std::unique_ptr<WhyObserver>> accounts;
    for (std::int32_t id = 0; id < 5; ++id) accounts.push_back(std::make_unique<WhyObserver>(id));
    const auto run = scenario.open();
    run->simulation->add_observer(fast);
    run->simulation->add_observer(fast_summary);
    run->simulation->run();
    at_once += fast.at_once;
    const auto again = scenario.open();
    again->simulation->add_observer(slow);
    again->simulation->add_observer(slow_summary);
    for (const auto& account : accounts) again->simulation->add_observer(*account);
    again->simulation->run();
    REQUIRE(fast_summary.summary().ttft_parts_s == slow_summary.summary().ttft_parts_s);
    REQUIRE(fast_summary.summary().e2e_parts_s == slow_summary.summary().e2e_parts_s);
    REQUIRE(fast.counter.ended().size() == fast.completed.size());
    REQUIRE(fast.counter.ended().size() == slow.counter.ended().size());
    for (std::size_t i = 0; i < fast.counter.ended().size(); ++i) {
      const LatencyPartsCounter::Ended& each = fast.counter.ended()[i];
      const LatencyPartsCounter::Ended& other = slow.counter.ended()[i];
      CAPTURE(each.id);
      REQUIRE(each.id == other.id);
      REQUIRE(each.all == other.all);
      REQUIRE(each.to_first == other.to_first);
      const RequestDone& done = fast.completed.at(each.id);
      REQUIRE(sum(each.all) == done.last_token - done.arrival);
      REQUIRE(sum(each.to_first) == done.first_token - done.arrival);
      for (std::size_t part = 0; part < each.all.size(); ++part) {
        REQUIRE(each.to_first[part] >= 0);
        REQUIRE(each.all[part] >= each.to_first[part]);
        seen[part] += each.all[part] > 0 ? 1 : 0;
      }
      ++requests;
      if (has_stages || each.id >= 5) continue;
      const auto& why = accounts[static_cast<std::size_t>(each.id)]->why();
      REQUIRE(why);
      check_account(*why, each.all);
    }
  }
  CHECK(requests > 20'000);
  CHECK(at_once > 1000);
  for (const LatencyPart part :
       {LatencyPart::seat, LatencyPart::budget, LatencyPart::kv, LatencyPart::prefill,
        LatencyPart::decodes, LatencyPart::transfer, LatencyPart::frontend}) {
    CAPTURE(latency_part_words[static_cast<std::size_t>(part)].name);
    CHECK(seen[static_cast<std::size_t>(part)] > 100);
  }
}
