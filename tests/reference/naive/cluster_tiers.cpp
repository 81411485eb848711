// Stores of the naive cluster.
//
// When a step lands, before its requests end, what it completed of prompts goes into the stores:
// also of a request that has lost its seat since the step was planned. The blocks that a write
// reads are those that a lookup of the content finds: the first that got it, be they the request's
// own or not, up to the end of the run, and as far as they are still there. So does what it computed
// of a request that was aborted, as long as that has its blocks.
//
// A plan's loads begin when it is complete, in the order of admission; then the requests that it
// seated ask for their chunks. A request asks once, at its first admission of either kind.

#include <algorithm>

#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

void NaiveCluster::bind_tiers() {
  if (cluster_.tiers.stores.empty()) return;
  tiers_.emplace(cluster_.tiers, prompts(), engines_.size());
  for (std::size_t i = 0; i < engines_.size(); ++i)
    if (has_tiers(i)) engines_[i]->use_tiers(&*tiers_, i);
}

/// Prompts are computed there, of which stores have KV.
bool NaiveCluster::has_tiers(std::size_t i) const {
  return tiers_ && cluster_.replicas[i].role != Role::decode;
}

/// The replica has failed: what goes to it or comes from it stops.
void NaiveCluster::lose_flows(std::size_t i) {
  if (!tiers_) return;
  for (const NaiveTiers::Flow& flow : tiers_->lose(i, now_)) {
    if (!flow.load)
      engines_[i]->unpin(flow.pinned);
    else if (flow.last)
      engines_[i]->refuse(flow.id);
  }
}

/// It was aborted, and its blocks are not free yet.
bool NaiveCluster::has_left(int id, std::size_t i) {
  const std::vector<int>& left = leave_[i];
  return split_[static_cast<std::size_t>(id)].flows > 0 ||
         std::find(left.begin(), left.end(), id) != left.end();
}

void NaiveCluster::store_computed(const Rows& rows, std::size_t i) {
  if (!has_tiers(i)) return;
  for (const Row& row : rows) {
    if (!row.prefill || (is_aborted(row.id) && !has_left(row.id, i))) continue;
    const int prompt = prompts()[static_cast<std::size_t>(row.id)].plain.prompt;
    const int end = row.context + row.tokens;
    store(row.id, i, std::min(end, prompt));
    if (tiers_->rules().outputs && end > prompt) store(row.id, i, end);
  }
}

/// Of rows that landed: chunks that decodes fill, of requests that had not ended before.
void NaiveCluster::store_filled(const Rows& rows, std::size_t i) {
  if (!has_tiers(i) || !tiers_->rules().outputs) return;
  const auto& ended = engines_[i]->ended();
  for (const Row& row : rows) {
    const bool lives = !engines_[i]->is_over(row.id) ||
                       std::find(ended.begin(), ended.end(), row.id) != ended.end();
    if (!row.prefill && lives && tiers_->fills(row.id, row.context + 1))
      store(row.id, i, row.context + 1);
  }
}

void NaiveCluster::store_answer(int id, std::size_t i) {
  if (!has_tiers(i) || !tiers_->rules().outputs) return;
  const NaiveRequest& r = engines_[i]->request(id);
  store(id, i, r.given->plain.prompt + r.landed - 1);
}

void NaiveCluster::store(int id, std::size_t i, int tokens) {
  const std::vector<int> writes = tiers_->computed(i, id, tokens, now_);
  for (std::size_t w = 0; w < writes.size(); ++w)
    tiers_->pin(w, writes.size(), engines_[i]->pin(id, writes[w]));
}

void NaiveCluster::pass_flows() {
  if (!tiers_) return;
  const std::vector<NaiveTiers::Flow> ended = tiers_->pass(now_);
  for (std::size_t i = 0; !ended.empty() && i < engines_.size(); ++i) {
    if (!engines_[i]->has_deferred()) continue;
    touched_[i] = true;
    engines_[i]->ask_again();
  }
  for (const NaiveTiers::Flow& flow : ended) {
    if (flow.load && !flow.last) continue;
    touched_[flow.replica] = true;
    NaiveReplica& engine = *engines_[flow.replica];
    if (!flow.load)
      engine.unpin(flow.pinned);
    else
      is_aborted(flow.id) ? engine.refuse(flow.id) : engine.receive(flow.id);
  }
}

void NaiveCluster::ask_stores(std::size_t i) {
  if (!has_tiers(i)) return;
  tiers_->evicted(i, engines_[i]->take_lost(), now_);
  for (const int id : engines_[i]->loading()) {
    tiers_->ask(i, id, prompts()[static_cast<std::size_t>(id)].plain.prompt);
    tiers_->send_load(id, now_);
  }
  for (const int id : engines_[i]->seated())
    tiers_->ask(i, id, prompts()[static_cast<std::size_t>(id)].plain.prompt);
}

/// How much later a step starts that could start then.
Ps NaiveCluster::wait_for_writes(std::size_t i, Ps start) const {
  return has_tiers(i) ? std::max<Ps>(0, tiers_->held_until(i) - start) : 0;
}

}  // namespace rooflua::reference
