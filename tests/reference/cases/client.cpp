#include "tests/reference/cases/client.h"

#include <utility>

namespace rooflua::reference {

/// The streams that the engine documents: of the client, the attempt and the question.
RandomStream ClientCase::draws(const CaseAttempt& attempt, int question) const {
  const auto number = (static_cast<std::uint64_t>(attempt.client) << 20 |
                       static_cast<std::uint64_t>(attempt.attempt))
                          << 1 |
                      static_cast<std::uint64_t>(question);
  return random_stream(seed, "clients", number);
}

ClientCase::Waits ClientCase::waits(RandomStream draws) const {
  Waits out;
  if (uniform_integer(draws, 1, 100) > impatient) return out;
  const auto which = uniform_integer(draws, 0, 3);
  if (which != 1) out.first = uniform_integer(draws, 1, first);
  if (which != 0) out.total = uniform_integer(draws, 1, total);
  return out;
}

Ps ClientCase::delay_of(RandomStream draws) const {
  return uniform_integer(draws, 0, 2) == 0 ? 0 : uniform_integer(draws, 0, delay);
}

Patience CaseClient::patience(const rooflua::Request&, RandomStream& draws) {
  const ClientCase::Waits waits = client_.waits(draws);
  Patience out;
  if (waits.first != unset) out.first_token_s = seconds(waits.first);
  if (waits.total != unset) out.total_s = seconds(waits.total);
  return out;
}

std::optional<Again> CaseClient::again(const rooflua::Request&, const Ending& ending,
                                       RandomStream& draws) {
  if (!ends_early(ending.outcome) || ending.attempt >= client_.retries) return {};
  return Again{seconds(client_.delay_of(draws)), client_.keeps};
}

std::vector<RequestSpec> sent_first(const ClientCase& client, std::vector<RequestSpec> specs) {
  std::vector<RequestSpec> out;
  for (std::size_t id = 0; id < specs.size(); ++id)
    if (client.attempts.empty() || client.attempts[id].attempt == 0) out.push_back(specs[id]);
  return out;
}

}  // namespace rooflua::reference
