// Requests with images, sounds or videos: a step computes the items that its chunks reach, in a
// pass of the encoder in front of it, and keeps their embeddings (cache.h). Where a pool of
// encoders is there, a request goes there first, and brings its embeddings.

#include "serve/core/part.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "serve/contract/items.h"
#include "serve/parts/encoder/cache.h"
#include "serve/parts/encoder/encoders.h"

namespace rooflua {

namespace {

/// What a request has.
struct OwnItems {
  std::vector<PromptItem> items;
  std::int32_t replica = -1;  // whose cache has some of them for it
  bool is_prepared = false;   // a server has decoded them
  bool is_asked = false;      // the pool has them, or has given them
  bool is_brought = false;    // their embeddings come with the request
  bool is_sent = false;       // they are under way over links
  std::int32_t encoded = 0, found = 0;
  double encode_s = 0;
};

/// What the plan at hand of a replica computes.
struct PlannedPass {
  std::vector<std::int32_t> kinds;
  struct Share {
    std::int32_t slot = -1, tokens = 0;
  };
  std::vector<Share> shares;
  std::int64_t tokens = 0;
};

template <class List>
auto& at(List& list, std::int32_t place) {
  return list[static_cast<std::size_t>(place)];
}

class EncoderPart final : public Part,
                          public OnTime,
                          public OnRequest,
                          public OnStep,
                          public OnFlow,
                          public ItemRoom {
 public:
  EncoderPart(Core& core, Loop& loop) : core_(core), loop_(loop) {
    caches_.resize(core.replicas.size());
    passes_.resize(core.replicas.size());
    if (model().pool().replicas > 0) encoders_.emplace(model().pool());
    for (Replica& replica : core.replicas) replica.use_items(this);
  }

  std::unique_ptr<Part> copy(Core& core, Loop& loop) const override;
  std::string obstacle() const override {
    return encoders_ ? "requests share encoders" : std::string();
  }

  Picoseconds earliest() override {
    return encoders_ ? std::max(core_.now, encoders_->due()) : never;
  }
  void pass(Moment moment) override;

  void sent(std::int32_t slot, const RowSent* row) override;
  bool takes(std::int32_t slot) override;
  void ended(std::int32_t slot, RequestDone& done) override;
  void fills(std::int32_t slot, RequestDone& done) const override;

  void planned(Replica& replica) override;
  void waits(Replica& replica, StepPrice& price, std::vector<OpTime>& operations) override;
  void preempted(std::int32_t slot) override { let_go(slot); }

  void emptied(std::int32_t replica) override { at(caches_, replica).clear(); }
  bool describes(const FlowRequest& what, TransferSeen& seen) const override;
  bool arrived(const FlowEnded& flow) override;
  bool failed(const FlowRequest& what) override;

  std::int32_t encodable(std::int32_t replica, std::int32_t slot, std::int32_t ready,
                         std::int32_t tokens,
                         std::span<const PrefillWork> planned) const noexcept override;

 private:
  EncoderModel& model() const { return *core_.bindings.encoder; }
  const OwnItems* find(std::int32_t slot) const {
    if (static_cast<std::size_t>(slot) >= own_.size()) return nullptr;
    return at(own_, slot).items.empty() ? nullptr : &at(own_, slot);
  }
  static PromptItem all_of(const OwnItems& own);
  void need(std::int32_t replica, std::int32_t slot, const PromptItem& entry,
            std::span<PromptItem> items);
  void compute(std::int32_t replica, const PrefillWork& work);
  void leave(std::int32_t replica, const PrefillWork& work);
  void let_go(std::int32_t slot);
  void send(std::int32_t slot, std::int32_t encoder, double bytes);
  void go_on(std::int32_t slot, bool is_brought);

  Core& core_;
  Loop& loop_;
  std::vector<OwnItems> own_;       // by slot
  std::vector<std::int32_t> told_;  // kinds of the request that ended last
  std::vector<EncoderCache> caches_;
  std::vector<PlannedPass> passes_;  // both by replica
  std::optional<Encoders> encoders_;
};

std::unique_ptr<Part> EncoderPart::copy(Core& core, Loop& loop) const {
  auto out = std::make_unique<EncoderPart>(core, loop);
  out->own_ = own_;
  out->caches_ = caches_;
  out->passes_ = passes_;
  out->encoders_ = encoders_;
  return out;
}

// --- requests

void EncoderPart::sent(std::int32_t slot, const RowSent*) {
  if (own_.size() <= static_cast<std::size_t>(slot))
    own_.resize(static_cast<std::size_t>(slot) + 1);
  OwnItems& own = at(own_, slot);
  own = {};
  std::int32_t place = 0;
  for (const Segment& each : core_.progress(slot).segments) {
    if (each.item > 0) own.items.push_back({place, each.tokens, each.item, each.content});
    place += each.tokens;
  }
  if (model().rules(0).shares) return;
  const auto id = static_cast<std::uint64_t>(core_.requests[slot].id) + 1;
  for (std::size_t i = 0; i < own.items.size(); ++i) own.items[i].content = id << 20 | i;
}

bool EncoderPart::takes(std::int32_t slot) {
  if (find(slot) != nullptr && !at(own_, slot).is_prepared) {
    at(own_, slot).is_prepared = true;
    double host_s = 0;
    for (const PromptItem& item : at(own_, slot).items) host_s += model().host_s(item.kind);
    if (host_s > 0) {
      core_.post({.time = after(core_.now, host_s, "encoder: host_s"),
                  .kind = Delivery::Kind::through_frontend,
                  .slot = slot});
      return true;
    }
  }
  if (!encoders_ || find(slot) == nullptr || at(own_, slot).is_asked) return false;
  at(own_, slot).is_asked = true;
  encoders_->add(slot, at(own_, slot).items);
  loop_.due_changed();
  return true;
}

void EncoderPart::pass(Moment moment) {
  if (moment != Moment::late || !encoders_ || encoders_->due() > core_.now) return;
  for (const Encoders::Ready& each : encoders_->pass(core_.now, model())) {
    OwnItems& own = at(own_, each.slot);
    ++(each.pass_s > 0 ? own.encoded : own.found);
    own.encode_s += each.pass_s;
    if (each.encoder >= 0) send(each.slot, each.encoder, each.bytes);
    if (each.sent == never) continue;
    own.is_brought = true;
    core_.post({.time = each.sent, .kind = Delivery::Kind::through_frontend, .slot = each.slot});
  }
  loop_.due_changed();
}

// --- embeddings over links

/// Encoders stand behind the replicas.
void EncoderPart::send(std::int32_t slot, std::int32_t encoder, double bytes) {
  const EncoderPool& pool = model().pool();
  at(own_, slot).is_sent = true;
  core_.kv_links->send_away({.slot = slot,
                             .from = core_.replica_count() + encoder,
                             .bytes = bytes,
                             .alpha_s = pool.alpha_s,
                             .bytes_per_s = pool.bytes_per_s},
                            Errand::embeddings, slot, core_.now);
  core_.expect_flows();
}

/// The request is routed. Without its embeddings its replica encodes the items itself.
void EncoderPart::go_on(std::int32_t slot, bool is_brought) {
  at(own_, slot).is_sent = false;
  at(own_, slot).is_brought = is_brought;
  core_.post({.time = core_.now, .kind = Delivery::Kind::through_frontend, .slot = slot});
}

bool EncoderPart::describes(const FlowRequest& what, TransferSeen& seen) const {
  if (what.errand != Errand::embeddings) return false;
  seen.to = -1;
  return true;
}

bool EncoderPart::arrived(const FlowEnded& flow) {
  if (flow.what.errand != Errand::embeddings) return false;
  go_on(flow.what.slot, true);
  return true;
}

bool EncoderPart::failed(const FlowRequest& what) {
  if (what.errand != Errand::embeddings) return false;
  go_on(what.slot, false);
  return true;
}

void EncoderPart::let_go(std::int32_t slot) {
  if (find(slot) == nullptr) return;
  const std::int32_t replica = std::exchange(at(own_, slot).replica, -1);
  if (replica >= 0) at(caches_, replica).let_go_of_all(slot, model().rules(replica).shares);
}

void EncoderPart::ended(std::int32_t slot, RequestDone& done) {
  let_go(slot);
  if (const OwnItems* own = find(slot)) {
    told_.clear();
    for (const PromptItem& item : own->items) told_.push_back(item.kind);
    done.item_kinds = told_;
  }
  if (encoders_ && find(slot) != nullptr) {
    if (at(own_, slot).is_sent) {
      core_.kv_links->flows().stop(Errand::embeddings, slot, core_.now);
      core_.expect_flows();
    }
    encoders_->forget(slot);
    loop_.due_changed();
  }
  if (find(slot) == nullptr) return;
  at(own_, slot) = {};
}

void EncoderPart::fills(std::int32_t slot, RequestDone& done) const {
  const OwnItems* own = find(slot);
  if (own == nullptr) return;
  done.items = static_cast<std::int32_t>(own->items.size());
  done.encoded_items = own->encoded;
  done.found_items = own->found;
  done.encode_s = own->encode_s;
}

// --- steps

std::int32_t EncoderPart::encodable(std::int32_t replica, std::int32_t slot, std::int32_t ready,
                                    std::int32_t tokens,
                                    std::span<const PrefillWork> planned) const noexcept {
  const OwnItems* own = find(slot);
  if (own == nullptr) return tokens;
  const EncoderRules& rules = model().rules(replica);
  if (rules.whole) return tokens;
  EncoderCache::Trial trial(at(caches_, replica), rules);
  for (const PrefillWork& work : planned) {
    const OwnItems* other = find(work.slot);
    if (other == nullptr) continue;
    for (const PromptItem& item : other->items)
      if (item.meets(work.context_tokens, work.context_tokens + work.new_tokens) &&
          !trial.has(item))
        trial.add(item, other->is_brought);
  }
  for (const PromptItem& item : own->items) {
    if (!item.meets(ready, ready + tokens)) continue;
    const bool is_cut = ready < item.at && ready + tokens < item.end();
    if (!trial.has(item)) {
      if ((is_cut && !rules.splits) || !trial.has_room(item, own->is_brought))
        return std::max(0, item.at - ready);
      trial.add(item, own->is_brought);
    }
  }
  return tokens;
}

/// A chunk of a prompt needs these items, which are one in the cache.
void EncoderPart::need(std::int32_t replica, std::int32_t slot, const PromptItem& entry,
                       std::span<PromptItem> items) {
  OwnItems& own = at(own_, slot);
  PlannedPass& pass = at(passes_, replica);
  if (own.replica != replica) let_go(slot);
  own.replica = replica;
  const bool is_here = at(caches_, replica).use(entry, slot, model().rules(replica));
  if (own.is_brought) return;
  for (PromptItem& item : items) {
    own.found += is_here && !item.is_known;
    item.is_known = true;
    if (is_here) continue;
    ++own.encoded;
    pass.kinds.push_back(item.kind);
    pass.shares.push_back({slot, item.tokens});
    pass.tokens += item.tokens;
  }
}

/// All items of a prompt as one.
PromptItem EncoderPart::all_of(const OwnItems& own) {
  PromptItem out = own.items.front();
  for (std::size_t i = 1; i < own.items.size(); ++i) {
    const PromptItem& item = own.items[i];
    out.content = (out.content ^ (item.content >> 29)) * 0x9E3779B97F4A7C15ull + item.content;
    out.tokens += item.tokens;
  }
  return out;
}

void EncoderPart::compute(std::int32_t replica, const PrefillWork& work) {
  OwnItems& own = at(own_, work.slot);
  const std::int32_t upto = work.context_tokens + work.new_tokens;
  if (model().rules(replica).whole) {
    if (own.items.back().end() > work.context_tokens)
      need(replica, work.slot, all_of(own), own.items);
    return;
  }
  for (PromptItem& item : own.items)
    if (item.meets(work.context_tokens, upto)) need(replica, work.slot, item, {&item, 1});
}

/// What has KV when the step is over is needed no longer.
void EncoderPart::leave(std::int32_t replica, const PrefillWork& work) {
  const EncoderRules& rules = model().rules(replica);
  const OwnItems& own = at(own_, work.slot);
  const std::int32_t upto = work.context_tokens + work.new_tokens;
  EncoderCache& cache = at(caches_, replica);
  if (rules.whole) {
    if (own.items.back().end() <= upto) cache.let_go(all_of(own).content, work.slot, rules.shares);
    return;
  }
  for (const PromptItem& item : own.items)
    if (item.end() <= upto) cache.let_go(item.content, work.slot, rules.shares);
}

void EncoderPart::planned(Replica& replica) {
  const std::int32_t index = replica.view().index;
  at(passes_, index) = {};
  for (const PrefillWork& work : replica.plan().prefills())
    if (find(work.slot) != nullptr) compute(index, work);
  for (const PrefillWork& work : replica.plan().prefills())
    if (find(work.slot) != nullptr) leave(index, work);
}

void EncoderPart::waits(Replica& replica, StepPrice& price, std::vector<OpTime>& operations) {
  PlannedPass& own = at(passes_, replica.view().index);
  if (own.kinds.empty()) return;
  std::sort(own.kinds.begin(), own.kinds.end());
  const EncoderModel::Pass& pass = model().pass(replica.view().index, own.kinds);
  price.time_s += pass.time_s;
  for (int i = 0; i < rooflua_evidence_count; ++i) price.evidence_s[i] += pass.evidence_s[i];
  if (!operations.empty())
    operations.insert(operations.end(), pass.operations.begin(), pass.operations.end());
  for (const PlannedPass::Share& each : own.shares)
    at(own_, each.slot).encode_s += pass.time_s * each.tokens / static_cast<double>(own.tokens);
  own = {};
}

}  // namespace

std::unique_ptr<Part> make_encoder(Core& core, Loop& loop) {
  return std::make_unique<EncoderPart>(core, loop);
}

}  // namespace rooflua
