// Stores of the naive cluster.
//
// When a step lands, before its requests end, what it completed of prompts goes into the stores:
// also of a request that has lost its seat since the step was planned. The blocks that a write
// reads are those that a lookup of the content finds: the first that got it, be they the request's
// own or not, up to the end of the run, and as far as they are still there.
//
// A plan's loads begin when it is complete, in the order of admission; then the requests that it
// seated ask for their chunks. A request asks once, at its first admission of either kind.

#include <algorithm>

#include "tests/reference/naive_cluster.h"

namespace rooflua::reference {

void NaiveCluster::bind_tiers() {
  if (cluster_.tiers.stores.empty()) return;
  tiers_.emplace(cluster_.tiers, prompts());
  for (const auto& engine : engines_) engine->use_tiers(&*tiers_);
}

void NaiveCluster::store_computed(const Rows& rows, std::size_t i) {
  if (!tiers_) return;
  for (const Row& row : rows) {
    if (!row.prefill) continue;
    const int prompt = prompts()[static_cast<std::size_t>(row.id)].plain.prompt;
    const std::vector<int> writes =
        tiers_->computed(row.id, std::min(row.context + row.tokens, prompt), now_);
    for (std::size_t w = 0; w < writes.size(); ++w)
      tiers_->pin(w, writes.size(), engines_[i]->pin(row.id, writes[w]));
  }
}

void NaiveCluster::pass_flows() {
  if (!tiers_) return;
  for (const NaiveTiers::Flow& flow : tiers_->pass(now_)) {
    if (flow.load && !flow.last) continue;
    touched_[0] = true;
    flow.load ? engines_[0]->receive(flow.id) : engines_[0]->unpin(flow.pinned);
  }
}

void NaiveCluster::ask_stores(std::size_t i) {
  if (!tiers_) return;
  for (const int id : engines_[i]->loading()) {
    tiers_->ask(id, prompts()[static_cast<std::size_t>(id)].plain.prompt);
    tiers_->send_load(id, now_);
  }
  for (const int id : engines_[i]->seated())
    tiers_->ask(id, prompts()[static_cast<std::size_t>(id)].plain.prompt);
}

}  // namespace rooflua::reference
