// Clients of the naive cluster that wait no longer. Patience counts from the sending. It is over at
// its instant after steps and KV that end there, and in front of requests that reach the router.

#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

void NaiveCluster::find_patience() {
  patience_.resize(prompts().size());
  if (!cluster_.client.on) return;
  for (std::size_t id = 0; id < prompts().size(); ++id) {
    const ClientCase& client = cluster_.client;
    const ClientCase::Waits waits = client.waits(client.draws(client.attempts[id], 0));
    const Ps sent = prompts()[id].plain.arrival;
    if (waits.first != unset) patience_[id].first = sent + waits.first;
    if (waits.total != unset) patience_[id].total = sent + waits.total;
  }
}

/// Nor do those wait that sent to a replica of which nobody knew that it was lost.
void NaiveCluster::lose_patience() {
  for (std::size_t id = 0; id < prompts().size(); ++id) {
    const Served& served = history_.requests[id];
    const bool saw_token = served.first != unset && served.first <= now_;
    const bool late = patience_[id].first == now_ && !saw_token;
    if (late || patience_[id].total == now_) abort(static_cast<int>(id));
    if (lost_.empty() || over_[id] || lost_[id] != now_) continue;
    ++history_.aborted["sent to a lost replica"];
    abort(static_cast<int>(id));
  }
}

/// A retry is sent when the attempt before it has ended, which may be late in the same instant.
bool NaiveCluster::has_to_be_sent(std::size_t id) const {
  if (!cluster_.client.on) return true;
  const std::vector<CaseAttempt>& attempts = cluster_.client.attempts;
  for (std::size_t other = 0; other < attempts.size(); ++other) {
    const bool precedes = attempts[other].client == attempts[id].client &&
                          attempts[other].attempt + 1 == attempts[id].attempt;
    if (precedes) return over_[other];
  }
  return true;
}

}  // namespace rooflua::reference
