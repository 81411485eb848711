#include "serve/loop/routing.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "serve/core/ranks.h"

namespace rooflua {

// --- bindings

void Routing::bind() {
  if (core_.bindings.router == nullptr) {
    if (core_.built[0] > 1 || core_.built[1] > 1)
      throw Error("router", "there is none; several replicas need one");
    return;
  }
  core_.signals.set_staleness(
      picoseconds(core_.bindings.router->staleness_s(), "router: staleness_s"));
  core_.signals.set_landing(core_.bindings.router->reads_landing_prompts());
  core_.signals.set_reports(core_.bindings.router->reads_reports());
  bind_knowledge();
}

namespace {

/// Whether events say what a look into the caches finds: they are never late, none is lost, and
/// every replica can be a holder of each block.
bool are_exact(const RouterIndex& rules, std::size_t replicas) {
  const bool all =
      rules.most_holders == 0 || replicas <= static_cast<std::size_t>(rules.most_holders);
  return rules.kind == RouterIndex::Kind::told && rules.lag_s == 0 && rules.loss == 0 &&
         rules.speculative_s == 0 && all;
}

}  // namespace

/// A router that wants to know the same as the one before goes on from what that one knew.
void Routing::bind_knowledge() {
  RouterIndex wanted = core_.bindings.router->index();
  wanted.seed = static_cast<std::uint64_t>(core_.config.replicas.front().seed);
  if (are_exact(wanted, core_.replicas.size())) wanted.kind = RouterIndex::Kind::fresh;
  if (wanted.kind == RouterIndex::Kind::fresh && !wanted.in_flight) {
    knowledge_.reset();
  } else if (!knowledge_ || !(knowledge_->rules() == wanted)) {
    std::vector<std::int32_t> sizes;
    for (const ReplicaConfig& each : core_.config.replicas) sizes.push_back(each.block_size);
    knowledge_.emplace(wanted, std::move(sizes));
  }
  const bool hears = knowledge_ && knowledge_->hears();
  if (hears) knowledge_->events().read(&core_.now);
  holders_.tell(hears ? &knowledge_->events() : nullptr);
}

/// The caches of several replicas report which prompts they begin.
void Routing::bind_holders() {
  of_each_block_size_.clear();
  holders_.publish(nullptr);
  if (core_.replicas.size() < 2) return core_.at(0).tell(nullptr);
  std::set<std::int32_t> known;
  for (std::int32_t i = 0; i < core_.replica_count(); ++i) {
    core_.at(i).tell(&holders_);
    if (known.insert(core_.at(i).config().block_size).second) of_each_block_size_.push_back(i);
  }
}

/// A cache reports nothing until it is asked to.
void Routing::publish(KvEvents& events) {
  events.read(&core_.now);
  holders_.publish(&events);
  if (core_.replicas.size() == 1) core_.at(0).tell(&holders_);
}

// --- what a router sees

std::int32_t Routing::cached_tokens(std::int32_t slot, std::int32_t index) const noexcept {
  if (knowledge_ && knowledge_->hears()) return knowledge_->told_tokens(index);
  return core_.replicas[static_cast<std::size_t>(index)].cached_tokens(slot);
}

/// One place more that is returned, if this replica is a candidate.
void Routing::add_place(std::int32_t holder, const RouteView& view) const {
  if (core_.is_decoder(holder) != (view.decode_stage != 0)) return;
  const std::int32_t place = core_.signals.place_of(holder);
  if (place >= 0) holding_places_.push_back(place);
}

std::span<const std::int32_t> Routing::prefix_holders(const RouteView& view) const noexcept {
  if (knowledge_ && knowledge_->hears()) return places_of_known(view);
  holding_places_.clear();
  for (const std::int32_t index : of_each_block_size_) {
    const std::uint64_t hash =
        core_.at(index).kv().first_hash(core_.requests[view.slot], core_.progress(view.slot));
    if (hash == 0) continue;
    const std::span<const std::int32_t> holders = holders_.of(hash);
    core_.prefetch_prefixes(holders, hash);
    for (const std::int32_t holder : holders) add_place(holder, view);
  }
  if (of_each_block_size_.size() > 1) std::sort(holding_places_.begin(), holding_places_.end());
  return holding_places_;
}

std::span<const std::int32_t> Routing::sent_holders(const RouteView& view) const noexcept {
  if (!knowledge_ || knowledge_->hears()) return {};
  return places_of_known(view);
}

std::span<const std::int32_t> Routing::places_of_known(const RouteView& view) const noexcept {
  holding_places_.clear();
  for (const std::int32_t holder : knowledge_->holders()) add_place(holder, view);
  return holding_places_;
}

double Routing::fact(const RouteView& view, std::int32_t index, RouterFact what) const noexcept {
  for (const auto& part : parts_.all) {
    const std::optional<double> known = part ? part->fact(view.slot, index, what) : std::nullopt;
    if (known) return *known;
  }
  if (const std::optional<double> known = Ranks::fact(core_, index, what)) return *known;
  if (what == RouterFact::has_adapter) return 1;  // no part has any
  if (!knowledge_) return 0;
  switch (what) {
    case RouterFact::sent_tokens:
      return knowledge_->sent_tokens(index);
    case RouterFact::prefill_tokens:
      return knowledge_->prefill_tokens(index);
    case RouterFact::blocks:
      return knowledge_->blocks(index);
    case RouterFact::shared_blocks:
      return knowledge_->shared_blocks(index);
    case RouterFact::sent_blocks:
      return knowledge_->sent_blocks(index);
    default:
      return 0;
  }
}

// --- what the router is told of its own requests

/// The prompt is believed to be cached as far as the router's index said when it was asked last.
std::int32_t Routing::believed_uncached(std::int32_t slot, std::int32_t index) const {
  const bool remembers = knowledge_->rules().kind == RouterIndex::Kind::sent;
  const std::int32_t known =
      remembers ? knowledge_->sent_tokens(index) : cached_tokens(slot, index);
  return std::max(0, core_.requests[slot].prompt_tokens - known);
}

void Routing::ask(std::int32_t slot) {
  if (knowledge_) knowledge_->ask(core_.requests[slot], core_.progress(slot), core_.now);
}

void Routing::note_sent(std::int32_t slot, std::int32_t index, Stage stage) {
  if (!knowledge_) return;
  const bool computes = stage == Stage::prompt && knowledge_->counts();
  const std::int32_t tokens = computes ? believed_uncached(slot, index) : 0;
  knowledge_->send(core_.requests[slot], core_.progress(slot), slot, index, tokens, core_.now);
}

void Routing::computes_itself(std::int32_t slot, std::int32_t to) {
  if (counts()) knowledge_->expect(slot, to, believed_uncached(slot, to));
}

void Routing::landed(const StepDone& done) {
  for (const PrefillWork& work : done.prefills)
    if (work.completes != 0) knowledge_->compute(work.slot, done.replica);
}

void Routing::leave_replica(std::int32_t slot, std::int32_t index) {
  core_.signals.add_outstanding(index, -1);
  if (knowledge_) knowledge_->end(core_.requests[slot], core_.progress(slot), slot, index);
}

void Routing::forget_content(std::int32_t index) {
  if (knowledge_) knowledge_->lose(index);
}

}  // namespace rooflua
