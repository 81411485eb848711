// Clients with random patience that send requests again: the engine against a naive cluster. A
// retry is a request of its own, with an id by when it is sent. The naive cluster knows prompts
// alone, so retries are put among them one after the other, the earliest end first: what comes
// before it does not change.

#include <algorithm>
#include <cstdio>

#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/cases/draw_speculation.h"
#include "tests/reference/cases/random_questions.h"

namespace rooflua::reference {

namespace {

/// In which order requests are sent: those of the workload first, then retries by the end of the
/// attempt before.
bool is_sent_before(const ClusterCase& cluster, Ps arrival, const CaseAttempt& of,
                    std::size_t other) {
  const CaseAttempt& than = cluster.client.attempts[other];
  const Ps other_arrival = cluster.question.prompts[other].plain.arrival;
  if (arrival != other_arrival) return arrival < other_arrival;
  if (than.attempt == 0) return false;
  if (of.ended != than.ended) return of.ended < than.ended;
  return of.before < than.before;
}

/// The prompt of the attempt after the one at `place`.
Prompt next_prompt(const ClusterCase& cluster, std::size_t place, int tokens, Ps arrival) {
  Prompt prompt = cluster.question.prompts[place];
  const int kept = cluster.client.keeps ? std::min(tokens, prompt.plain.output - 1) : 0;
  prompt.plain.arrival = arrival;
  prompt.follows = -1;
  if (kept == 0) return prompt;
  prompt.plain.prompt += kept;
  prompt.plain.output -= kept;
  prompt.plain.max_new = std::max(1, prompt.plain.max_new - kept);
  if (prompt.plain.predicted > 0)
    prompt.plain.predicted = std::max(1, prompt.plain.predicted - kept);
  if (prompt.segments.empty()) return prompt;
  if (prompt.output_content != 0 && prompt.segments.back().first == prompt.output_content) {
    prompt.segments.back().second += kept;
  } else {
    prompt.segments.emplace_back(prompt.output_content, kept);
  }
  return prompt;
}

/// Tokens of answers go on after those that were kept.
void spell(ClusterCase& cluster) {
  cluster.question.spell_tokens();
  for (std::size_t id = 0; id < cluster.question.prompts.size(); ++id) {
    Prompt& prompt = cluster.question.prompts[id];
    const bool goes_on = cluster.client.attempts[id].attempt > 0 && !prompt.segments.empty() &&
                         prompt.output_content != 0 &&
                         prompt.segments.back().first == prompt.output_content;
    if (!goes_on) continue;
    const int kept = prompt.segments.back().second;
    for (std::size_t i = static_cast<std::size_t>(prompt.plain.prompt);
         i < prompt.plain.tokens.size(); ++i)
      prompt.plain.tokens[i].place += kept;
  }
}

void insert(ClusterCase& cluster, std::size_t before, Ps ended, int tokens) {
  std::vector<CaseAttempt>& attempts = cluster.client.attempts;
  CaseAttempt next = attempts[before];
  const Ps arrival = ended + cluster.client.delay_of(cluster.client.draws(attempts[before], 1));
  ++next.attempt;
  next.ended = ended;
  next.before = static_cast<int>(before);
  std::size_t place = 0;
  while (place < attempts.size() && !is_sent_before(cluster, arrival, next, place)) ++place;
  const auto offset = static_cast<std::ptrdiff_t>(place);
  std::vector<Prompt>& prompts = cluster.question.prompts;
  prompts.insert(prompts.begin() + offset, next_prompt(cluster, before, tokens, arrival));
  attempts.insert(attempts.begin() + offset, next);
  for (Prompt& each : prompts) each.follows += each.follows >= static_cast<int>(place);
  for (CaseAttempt& each : attempts) each.before += each.before >= static_cast<int>(place);
  spell(cluster);
}

/// The earliest end after which a request is sent again that is not among the prompts yet.
bool add_retry(ClusterCase& cluster, const History& history) {
  const std::vector<CaseAttempt>& attempts = cluster.client.attempts;
  std::size_t best = attempts.size();
  for (std::size_t id = 0; id < attempts.size(); ++id) {
    const Served& served = history.requests[id];
    if (served.aborted == unset || attempts[id].attempt >= cluster.client.retries) continue;
    const auto follows = [&](const CaseAttempt& each) {
      return each.client == attempts[id].client && each.attempt == attempts[id].attempt + 1;
    };
    if (std::any_of(attempts.begin(), attempts.end(), follows)) continue;
    if (best == attempts.size() || served.aborted < history.requests[best].aborted) best = id;
  }
  if (best == attempts.size()) return false;
  insert(cluster, best, history.requests[best].aborted, history.requests[best].tokens);
  return true;
}

/// Patience of about what requests take.
void draw_client(ClusterCase& cluster, const History& calm) {
  Dice dice(cluster.question.seed * 6700417 + 3);
  ClientCase& client = cluster.client;
  client.on = true;
  client.seed = cluster.replicas.front().config.acceptance_seed;
  client.impatient = dice.chance(20) ? 100 : dice.between(5, 40);
  Ps longest = 2, longest_first = 2;
  for (const Served& each : calm.requests) {
    longest = std::max(longest, each.last - each.arrival);
    longest_first = std::max(longest_first, each.first - each.arrival);
  }
  client.first = dice.chance(50) ? longest_first : std::max<Ps>(1, longest_first / 4);
  client.total = dice.chance(70) ? longest : std::max<Ps>(1, longest / 8);
  client.retries = dice.between(0, 3);
  client.delay = dice.chance(30) ? 1 : longest / 4 + 1;
  client.keeps = dice.chance(50);
  for (std::size_t id = 0; id < calm.requests.size(); ++id)
    client.attempts.push_back({static_cast<int>(id), 0, 0, -1});
}

struct Counts {
  int cases = 0, timed_out = 0, retries = 0, kept = 0, late_tokens = 0;
};

template <class Change>
Counts compare(const char* name, std::uint64_t most, Change change) {
  Counts counts;
  const auto [first, last] = seeds(1, most);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ClusterCase cluster = change(draw_cluster(seed));
    const History calm = run_naive(cluster);
    if (calm.requests.size() > 40 || !calm.finished) continue;
    draw_client(cluster, calm);
    History expected = run_naive(cluster);
    while (add_retry(cluster, expected)) expected = run_naive(cluster);
    INFO("seed " << seed << "\n" << text(cluster));
    REQUIRE(difference(expected, run_engine(cluster)) == "");
    ++counts.cases;
    for (std::size_t id = 0; id < expected.requests.size(); ++id) {
      const Served& served = expected.requests[id];
      const bool is_retry = cluster.client.attempts[id].attempt > 0;
      counts.timed_out += served.aborted != unset;
      counts.late_tokens += served.aborted != unset && served.first != unset;
      counts.retries += is_retry;
      counts.kept += is_retry && cluster.client.keeps;
    }
  }
  std::printf("%s: %d cases, %d timed out (%d with tokens), %d retries (%d may keep output)\n",
              name, counts.cases, counts.timed_out, counts.late_tokens, counts.retries,
              counts.kept);
  return counts;
}

}  // namespace

TEST_CASE("the engine and a naive cluster agree on patience and retries") {
  const Counts counts = compare("clusters", 300, [](ClusterCase cluster) { return cluster; });
  CHECK(counts.cases >= 100);
  CHECK(counts.timed_out >= 500);
  CHECK(counts.late_tokens >= 100);
  CHECK(counts.retries >= 300);
  CHECK(counts.kept >= 100);
}

TEST_CASE("the engine and a naive cluster agree on patience and retries where replicas speculate") {
  const Counts counts =
      compare("drafts", 150, [](ClusterCase cluster) { return speculative(std::move(cluster)); });
  CHECK(counts.retries >= 50);
}

}  // namespace rooflua::reference
