#include "emulate/kv/feed.h"

#include <algorithm>

#include "serve/kv/block_hashes.h"

namespace rooflua::emulate {

KvFeed::KvFeed(Simulation& simulation, const KvRules& rules, Send send)
    : simulation_(simulation),
      rules_(rules),
      send_(std::move(send)),
      names_(rules_.seed, rules_.form.chains_64_bits) {
  const auto replicas = static_cast<std::size_t>(simulation.replica_count());
  batches_.assign(replicas, KvBatch(rules_.form, rules_.block_tokens));
  told_.assign(replicas, 0);
  simulation.publish_kv(events_);
}

void KvFeed::sent(std::int32_t id, std::span<const std::int64_t> tokens,
                  std::span<const Segment> segments) {
  const auto size = static_cast<std::size_t>(rules_.block_tokens);
  const std::size_t count = tokens.size() / size;
  if (count == 0) return;
  Request request;
  Progress progress;
  request.prompt_tokens = static_cast<std::int32_t>(tokens.size());
  progress.segments.assign(segments.begin(), segments.end());
  std::vector<std::uint64_t> hashes =
      block_hashes(request, progress, rules_.block_tokens, static_cast<std::int32_t>(count));
  hashes.resize(count);
  Digest front = names_.none();
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const std::int64_t> own = tokens.subspan(i * size, size);
    const Digest name = names_.next(front, own);
    Block& block = blocks_[hashes[i]];
    if (block.tokens.empty()) {
      block.name = low_64(name);
      block.front = low_64(front);
      block.is_first = i == 0;
      block.tokens.assign(own.begin(), own.end());
    }
    ++block.requests;
    front = name;
  }
  requests_[id] = std::move(hashes);
}

// --- events of caches

/// Blocks after each other: an event names them as far as they are known.
void KvFeed::keep(const KvEvents::Event& event, KvBatch& out) {
  KvStored stored;
  for (const std::uint64_t hash : event.hashes) {
    const auto found = blocks_.find(hash);
    if (found == blocks_.end()) break;
    Block& block = found->second;
    if (stored.names.empty() && !block.is_first) stored.front = block.front;
    stored.names.push_back(block.name);
    stored.tokens.insert(stored.tokens.end(), block.tokens.begin(), block.tokens.end());
    block.holders.push_back(event.replica);
    ++told_[static_cast<std::size_t>(event.replica)];
  }
  if (!stored.names.empty()) out.stored(std::move(stored));
}

/// The deepest blocks leave first.
void KvFeed::lose(const KvEvents::Event& event, KvBatch& out) {
  for (std::size_t i = event.hashes.size(); i-- > 0;) {
    const auto found = blocks_.find(event.hashes[i]);
    if (found == blocks_.end()) continue;
    if (std::erase(found->second.holders, event.replica) == 0) continue;
    --told_[static_cast<std::size_t>(event.replica)];
    out.removed(found->second.name);
    forget_unused(found);
  }
}

void KvFeed::add(const KvEvents::Event& event) {
  KvBatch& batch = batches_[static_cast<std::size_t>(event.replica)];
  const bool was_empty = batch.is_empty();
  event.kept ? keep(event, batch) : lose(event, batch);
  if (was_empty && !batch.is_empty()) touched_.push_back(event.replica);
}

/// A replica that is not there any more has lost all at once.
void KvFeed::send_batches(double time_s) {
  for (const std::int32_t replica : touched_) {
    const auto place = static_cast<std::size_t>(replica);
    const Lifecycle state = simulation_.lifecycle(replica);
    if (told_[place] == 0 && state != Lifecycle::ready && state != Lifecycle::draining) {
      batches_[place] = KvBatch(rules_.form, rules_.block_tokens);
      batches_[place].cleared();
    }
    send_(replica, batches_[place].bytes(time_s, rules_.replicas_are_engines ? 0 : replica));
    batches_[place] = KvBatch(rules_.form, rules_.block_tokens);
  }
  touched_.clear();
}

void KvFeed::flush(double time_s) {
  std::deque<KvEvents::Event>& pending = events_.pending();
  while (!pending.empty()) {
    const Picoseconds now = pending.front().time;
    while (!pending.empty() && pending.front().time == now) {
      add(pending.front());
      pending.pop_front();
    }
    send_batches(time_s);
  }
  forget_ended();
}

// --- what need not be known any more

/// Blocks of a request that was aborted may get content until its last step is over.
void KvFeed::forget_ended() {
  std::erase_if(ended_, [this](std::int32_t id) {
    if (simulation_.is_leaving(id)) return false;
    const auto found = requests_.find(id);
    if (found == requests_.end()) return true;
    for (const std::uint64_t hash : found->second) {
      const auto block = blocks_.find(hash);
      --block->second.requests;
      forget_unused(block);
    }
    requests_.erase(found);
    return true;
  });
}

void KvFeed::forget_unused(Blocks::iterator block) {
  if (block->second.requests == 0 && block->second.holders.empty()) blocks_.erase(block);
}

}  // namespace rooflua::emulate
