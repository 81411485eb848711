// Laws of an emulated server without its HTTP: what is recorded replays to the same schedule, and
// every token is seen once.

#include <filesystem>
#include <map>

#include "emulate/recording.h"
#include "measure/token_observer.h"
#include "script/bind/trace_box.h"
#include "serve/inbox/inbox.h"
#include "serve/traces/read.h"
#include "tests/scratch.h"
#include "tests/serve/random_cluster.h"

using namespace rooflua;
using namespace rooflua::emulate;
using namespace rooflua::test;

namespace {

constexpr std::int32_t block_tokens = 4;

/// Counts what lands, and checks it against what the end says.
class Counted : public TokenObserver {
 public:
  Counted(Picoseconds frontend, std::vector<char> prefills)
      : TokenObserver(std::move(prefills)), frontend_(frontend) {}
  void on_tokens(std::int32_t id, std::int32_t tokens, Picoseconds now) override {
    CHECK(tokens > 0);
    Seen& seen = seen_[id];
    if (seen.tokens == 0) seen.first = now;
    CHECK(now >= seen.last);
    seen.last = now;
    seen.tokens += tokens;
    all += tokens;
  }
  void on_done(const RequestDone& done) override {
    TokenObserver::on_done(done);
    ++ends;
    const Seen& seen = seen_[done.id];
    INFO("request " << done.id << " " << name(done.outcome) << " at replica " << done.replica
                    << ", its prompt at " << done.prefill_replica);
    CHECK(seen.tokens == done.output_tokens);
    if (done.outcome != Outcome::completed) return;
    CHECK(seen.first + frontend_ == done.first_token);
    CHECK(seen.last + frontend_ == done.last_token);
  }
  std::int64_t all = 0;
  int ends = 0;

 private:
  struct Seen {
    Picoseconds first = 0, last = 0;
    std::int32_t tokens = 0;
  };
  Picoseconds frontend_;
  std::map<std::int32_t, Seen> seen_;
};

/// A prompt that begins as others do.
Prompt random_prompt(Dice& dice, std::int32_t tokens) {
  std::vector<std::int64_t> list;
  const std::int64_t family = dice.upto(0, 2), same = dice.upto(0, tokens);
  for (std::int64_t i = 0; i < tokens; ++i)
    list.push_back(i < same ? 1000 * family + i : 100'000 + dice.upto(0, 1 << 20));
  PromptRules rules;
  rules.block_tokens = block_tokens;
  return count_tokens(list, rules);
}

/// The run as clients make it: at times of their own they send, and leave.
std::vector<std::string> serve_live(std::uint64_t seed, const std::string& path) {
  Scenario scenario(seed);
  PromptRules rules;
  rules.block_tokens = block_tokens;
  Inbox inbox(nullptr);
  Recording recording(path);
  scenario.more = [&](Scenario::Run&, Bindings& out) { out.workload = &inbox; };
  auto run = scenario.open();
  run->router.queue = CommonQueue::none;
  Simulation& simulation = *run->simulation;
  Counted counted(picoseconds(scenario.cluster().frontend.per_output_token_s, "frontend"),
                  prefill_replicas(scenario.cluster()));
  class Ends : public Observer {
   public:
    explicit Ends(Recording& to) : to_(to) {}
    bool reads_prices() const override { return false; }
    void on_done(const RequestDone& done) override { to_.end(done); }

   private:
    Recording& to_;
  } ends(recording);
  simulation.add_observer(counted);
  simulation.add_observer(ends);
  Dice dice(seed + 5);
  std::int64_t now_us = 0, last_us = 0;
  std::int32_t sent = 0;
  const std::int32_t wanted = dice.upto(1, 30);
  const auto next_us = [&] { return last_us = std::max(now_us, last_us) + 1; };
  while (sent < wanted) {
    now_us += dice.upto(0, 1) * dice.upto(0, 400'000);
    simulation.run_until(seconds_of_us(now_us));
    if (dice.upto(0, 2) > 0) {
      RequestSpec spec;
      const std::int64_t arrival_us = next_us();
      spec.arrival_s = seconds_of_us(arrival_us);
      spec.prompt_tokens = dice.upto(1, 60);
      spec.output_tokens = dice.upto(1, 30);
      spec.max_output_tokens = dice.upto(0, 1) * (spec.output_tokens + dice.upto(0, 5));
      const Prompt prompt = random_prompt(dice, spec.prompt_tokens);
      CHECK(inbox.send(spec, segments_of(prompt, rules)) == sent);
      recording.add(arrival_us, spec, "", prompt);
      ++sent;
    } else if (sent > 0) {
      const std::int32_t row = dice.upto(0, sent - 1);
      const std::int64_t time_us = next_us();
      inbox.leave(row, picoseconds(seconds_of_us(time_us), "leaves"));
      recording.leave(row, time_us);
    }
    simulation.look_at_workload();
  }
  inbox.close();
  simulation.look_at_workload();
  simulation.run();
  recording.finish();
  CHECK(counted.ends == wanted);
  CHECK(counted.all == run->told.tokens);
  return run->told.lines;
}

std::vector<std::string> replay(std::uint64_t seed, const std::string& path) {
  script::TraceBox box;
  TraceOptions options;
  options.hash_block_tokens = block_tokens;
  box.trace = std::make_shared<Trace>(read_trace(path, options));
  const std::unique_ptr<Workload> workload = script::trace_workload(box);
  Scenario scenario(seed);
  scenario.more = [&](Scenario::Run&, Bindings& out) { out.workload = workload.get(); };
  auto run = scenario.open();
  run->router.queue = CommonQueue::none;
  run->simulation->run();
  return run->told.lines;
}

}  // namespace

TEST_CASE("what clients did, replayed as a trace, gives the same schedule token for token") {
  const ScratchFolder scratch;
  const std::string path = (scratch.path() / "recorded.jsonl").string();
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    const std::vector<std::string> live = serve_live(seed, path);
    REQUIRE(live == replay(seed, path));
    compared += static_cast<int>(live.size());
  }
  CHECK(compared > 10'000);
}

TEST_CASE("an inbox takes lengths from the workload, and again from its first") {
  const auto listed = [](std::int32_t tokens) {
    RequestSpec out;
    out.prompt_tokens = 1;
    out.output_tokens = tokens;
    return out;
  };
  Inbox inbox(std::make_unique<ListedWorkload>(std::vector<RequestSpec>{listed(3), listed(5)}));
  CHECK(inbox.next_length() == 3);
  CHECK(inbox.next_length() == 5);
  CHECK(inbox.next_length() == 3);
  CHECK(Inbox(nullptr).next_length() == 0);
}
