// Aborts of random requests at random times, in every phase: the engine against a naive cluster.

#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/cases/draw_speculation.h"
#include "tests/reference/cases/random_questions.h"

namespace rooflua::reference {

namespace {

/// Times at which something happens to a request, and times in between.
Ps draw_time(Dice& dice, const Served& of, const History& calm) {
  const Ps end = std::max(of.last, of.arrival);
  const auto any = [&](Ps low, Ps high) {
    return low + static_cast<Ps>(dice.bits() % static_cast<std::uint64_t>(high - low + 1));
  };
  const StepLog& step = calm.steps[static_cast<std::size_t>(
      dice.between(0, static_cast<int>(calm.steps.size()) - 1))];
  switch (dice.between(1, 8)) {
    case 1:
      return of.arrival;
    case 2:
      return of.pulled == unset ? end : any(of.pulled, of.pulled + 2000);
    case 3:
      return of.first == unset ? end : any(of.arrival, of.first);
    case 4:
      return step.end;
    case 5:
      return any(step.start, step.end);
    case 6:
      return end;
    default:
      return any(of.arrival, end);
  }
}

/// A few of the requests, or all of them, some of them at once.
ClusterCase with_aborts(ClusterCase cluster) {
  const History calm = run_naive(cluster);
  if (calm.steps.empty()) return cluster;
  Dice dice(cluster.question.seed * 15485863 + 5);
  const int share = dice.chance(20) ? 100 : dice.between(2, 60);
  const bool together = dice.chance(15);
  for (std::size_t id = 0; id < calm.requests.size(); ++id) {
    if (!dice.chance(share)) continue;
    Ps time = draw_time(dice, calm.requests[id], calm);
    if (together && !cluster.aborts.empty()) time = cluster.aborts.front().time;
    cluster.aborts.push_back({time, static_cast<int>(id)});
  }
  std::stable_sort(cluster.aborts.begin(), cluster.aborts.end(),
                   [](const Abort& a, const Abort& b) { return a.time < b.time; });
  return cluster;
}

class Aborted {
 public:
  void add(const History& history) {
    for (const auto& [where, count] : history.aborted) counts_[where] += count;
  }
  void print(const char* name) const {
    std::printf("%s: aborted", name);
    for (const auto& [where, count] : counts_) std::printf(" | %s %d", where.c_str(), count);
    std::printf("\n");
  }
  int operator[](const char* where) const {
    const auto found = counts_.find(where);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, int> counts_;
};

/// Asks both; `change` makes a question of a drawn cluster.
template <class Change>
Aborted compare(const char* name, std::uint64_t most, Change change) {
  Aborted aborted;
  const auto [first, last] = seeds(1, most);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ClusterCase cluster = with_aborts(change(draw_cluster(seed)));
    INFO("seed " << seed << "\n" << text(cluster));
    const History expected = run_naive(cluster);
    REQUIRE(difference(expected, run_engine(cluster)) == "");
    aborted.add(expected);
  }
  aborted.print(name);
  return aborted;
}

ClusterCase staged(ClusterCase cluster) {
  for (std::size_t i = 0; i < cluster.replicas.size(); ++i) {
    ClusterReplica& each = cluster.replicas[i];
    if (each.group < 0 && (cluster.question.seed + i) % 3 > 0)
      each.config.stages = draw_stages(cluster.question.seed + 17 * i);
  }
  return cluster;
}

/// Many requests of one instant, so that they are dealt out over plans.
ClusterCase in_crowds(ClusterCase cluster) {
  for (Prompt& prompt : cluster.question.prompts)
    prompt.plain.arrival -= prompt.plain.arrival % 20000;
  return staged(std::move(cluster));
}

}  // namespace

TEST_CASE("the engine and a naive cluster agree on aborts, wherever a request is") {
  const Aborted aborted = compare("clusters", 1000, [](ClusterCase cluster) { return cluster; });
  for (const char* where : {"frontend", "waits", "prompt in flight", "token in flight",
                            "waits for room", "KV on its way", "KV is here"}) {
    CAPTURE(where);
    CHECK(aborted[where] >= enough(20));
  }
  CHECK(aborted["seated"] >= enough(5));
  CHECK(aborted["waits, token in flight"] >= enough(2));
}

TEST_CASE("the engine and a naive cluster agree on aborts while KV is pushed") {
  const Aborted aborted = compare("pushed", 1500, [](ClusterCase cluster) {
    cluster.pushes_chunks = true;
    cluster.decode_first = cluster.split() && cluster.question.seed % 2 == 0;
    for (ClusterReplica& each : cluster.replicas)
      if (each.role == Role::prefill)
        each.config.max_num_batched_tokens = std::min(each.config.max_num_batched_tokens, 64);
    return cluster;
  });
  CHECK(aborted["a part of its KV on its way"] >= enough(20));
  CHECK(aborted["KV on its way"] >= enough(20));
}

TEST_CASE("the engine and a naive cluster agree on aborts where replicas have stages") {
  const Aborted aborted = compare("stages", 300, staged);
  CHECK(aborted["token in flight"] >= enough(100));
  const Aborted crowds = compare("crowds with stages", 300, in_crowds);
  CHECK(crowds["coming"] >= enough(20));
}

TEST_CASE("the engine and a naive cluster agree on aborts where replicas speculate") {
  const Aborted aborted =
      compare("drafts", 3000, [](ClusterCase cluster) { return speculative(std::move(cluster)); });
  CHECK(aborted["token in flight"] >= enough(100));
  CHECK(aborted["KV on its way"] >= enough(20));
}

}  // namespace rooflua::reference
