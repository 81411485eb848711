#include "tests/reference/cases/retries.h"

#include <algorithm>

namespace rooflua::reference {

namespace {

/// In which order requests are sent: those of the workload first, then retries in the order in which
/// the attempts before them ended.
bool is_sent_before(const ClusterCase& cluster, Ps arrival, const CaseAttempt& of,
                    std::size_t other) {
  const CaseAttempt& than = cluster.client.attempts[other];
  const Ps other_arrival = cluster.question.prompts[other].plain.arrival;
  if (arrival != other_arrival) return arrival < other_arrival;
  if (than.attempt == 0) return false;
  return of.end < than.end;
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

/// `end`: which of all attempts that clients lost was the one before.
void insert(ClusterCase& cluster, std::size_t before, Ps ended, int end, int tokens) {
  std::vector<CaseAttempt>& attempts = cluster.client.attempts;
  CaseAttempt next = attempts[before];
  const Ps arrival = ended + cluster.client.delay_of(cluster.client.draws(attempts[before], 1));
  ++next.attempt;
  next.end = end;
  std::size_t place = 0;
  while (place < attempts.size() && !is_sent_before(cluster, arrival, next, place)) ++place;
  const auto offset = static_cast<std::ptrdiff_t>(place);
  std::vector<Prompt>& prompts = cluster.question.prompts;
  prompts.insert(prompts.begin() + offset, next_prompt(cluster, before, tokens, arrival));
  attempts.insert(attempts.begin() + offset, next);
  for (Prompt& each : prompts) each.follows += each.follows >= static_cast<int>(place);
  spell(cluster);
}

/// The earliest end after which a request is sent again that is not among the prompts yet.
bool add_retry(ClusterCase& cluster, const History& history) {
  const std::vector<CaseAttempt>& attempts = cluster.client.attempts;
  for (std::size_t end = 0; end < history.ends.size(); ++end) {
    const auto id = static_cast<std::size_t>(history.ends[end]);
    const CaseAttempt& own = attempts[id];
    if (own.attempt >= cluster.client.retries) continue;
    const auto follows = [&](const CaseAttempt& each) {
      return each.client == own.client && each.attempt == own.attempt + 1;
    };
    if (std::any_of(attempts.begin(), attempts.end(), follows)) continue;
    const Served& served = history.requests[id];
    insert(cluster, id, served.aborted, static_cast<int>(end), served.tokens);
    return true;
  }
  return false;
}

}  // namespace

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
    client.attempts.push_back({static_cast<int>(id), 0, -1});
}

History run_naive_with_retries(ClusterCase& cluster) {
  History history = run_naive(cluster);
  while (cluster.client.on && add_retry(cluster, history)) history = run_naive(cluster);
  return history;
}

}  // namespace rooflua::reference
