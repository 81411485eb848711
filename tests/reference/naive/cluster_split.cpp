// Prefill and decode split in the naive cluster. A prompt gets a decode replica when its KV is to
// be sent, or first of all. With pushes_chunks a chunk's KV is sent at the end of its step, if
// blocks for the whole prompt are taken at the decode replica, or can be.

#include <algorithm>

#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

void NaiveCluster::route(int id) {
  if (wait_at_door(id)) return;
  if (!cluster_.decode_first || !cluster_.split()) return queue(id, choose(id, false));
  const int to = choose(id, true);
  promise(id, to);
  if (!has_candidates(false) || !is_split(id)) {
    knowledge_.expect(id, to, believed_uncached_);
    return join(id, to);
  }
  queue(id, choose(id, false));
}

void NaiveCluster::promise(int id, int to) {
  split_[static_cast<std::size_t>(id)].to = to;
  ++outstanding_[static_cast<std::size_t>(to)];
}

/// It is aborted before it is at its decode replica.
void NaiveCluster::break_promise(int id) {
  const Split& split = split_[static_cast<std::size_t>(id)];
  if (split.to >= 0 && at_[static_cast<std::size_t>(id)] != split.to)
    leave(id, static_cast<std::size_t>(split.to));
}

/// Reserved blocks are free.
void NaiveCluster::cancel(int id) {
  Split& split = split_[static_cast<std::size_t>(id)];
  if (!split.reserved) return;
  split.reserved = false;
  split.sent = 0;
  engines_[static_cast<std::size_t>(split.to)]->refuse(id);
  touched_[static_cast<std::size_t>(split.to)] = true;
}

bool NaiveCluster::reserve(int id) {
  Split& split = split_[static_cast<std::size_t>(id)];
  if (split.reserved) return true;
  if (split.to < 0 && !has_candidates(true)) return false;
  if (split.to < 0) promise(id, choose(id, true));
  split.reserved = engines_[static_cast<std::size_t>(split.to)]->reserve(id);
  return split.reserved;
}

void NaiveCluster::push(const Rows& rows, std::size_t i) {
  for (const Row& row : rows) {
    if (row.samples || !row.prefill || is_aborted(row.id)) continue;
    if (engines_[i]->request(row.id).phase == Phase::waiting) continue;  // it lost its seat
    if (reserve(row.id)) send(row.id, row.context + row.tokens, static_cast<int>(i));
  }
}

void NaiveCluster::hand_over(int id, std::size_t from) {
  Split& split = split_[static_cast<std::size_t>(id)];
  if (split.to < 0 && !has_candidates(true)) return lose_computed(id, from);
  if (split.to < 0) promise(id, choose(id, true));
  split.computed = split.kept = true;
  if (!split.reserved) return join(id, split.to);
  split.reserved = false;
  at_[static_cast<std::size_t>(id)] = split.to;
  engines_[static_cast<std::size_t>(split.to)]->adopt(id);
  send(id, prompts()[static_cast<std::size_t>(id)].plain.prompt, static_cast<int>(from));
}

/// No decode replica is there any more.
void NaiveCluster::lose_computed(int id, std::size_t from) {
  over_[static_cast<std::size_t>(id)] = true;
  at_[static_cast<std::size_t>(id)] = -1;
  ++history_.aborted["computed in vain"];
  engines_[from]->release_kept(id);
  touched_[from] = true;
  leave(id, from);
  if (gate_) gate_->end(id, 0);
  note_abort(id);
}

/// It has blocks at its decode replica. What is cached there is not sent.
void NaiveCluster::pull(int id, std::size_t to) {
  const int prompt = prompts()[static_cast<std::size_t>(id)].plain.prompt;
  Split& split = split_[static_cast<std::size_t>(id)];
  split.cached = split.sent = std::min(engines_[to]->cached_tokens(id), prompt - 1);
  history_.cached_pulls += split.cached > 0;
  send(id, prompt, served(id).prefill_replica);
}

/// KV of its first tokens sets off, but for what was sent.
void NaiveCluster::send(int id, int tokens, int from) {
  Split& split = split_[static_cast<std::size_t>(id)];
  const Ps prompt = prompts()[static_cast<std::size_t>(id)].plain.prompt;
  const bool is_last = tokens == prompt, is_first = split.sent == split.cached;
  Ps time = cluster_.transfer_token * (tokens - split.sent);
  if (is_last)
    time += cluster_.transfer_fixed +
            cluster_.transfer_bounded * std::min<Ps>(prompt, cluster_.transfer_window);
  split.sent = tokens;
  if (time == 0 && !(is_first && is_last)) {
    if (is_last && split.flows == 0) end_parcel({now_, id, from, split.to});
    return;
  }
  if (!tiers_) served(id).pulled = now_;
  ++split.flows;
  engines_[static_cast<std::size_t>(from)]->count_flows(id, 1);
  parcels_.push_back(
      {now_ + std::max<Ps>(1, cluster_.transfer_alpha + time), id, from, split.to, now_});
}

/// A part of the KV is there, or nothing is left to send.
void NaiveCluster::end_parcel(const Parcel& parcel) {
  Split& split = split_[static_cast<std::size_t>(parcel.id)];
  const auto from = static_cast<std::size_t>(parcel.from), to = static_cast<std::size_t>(parcel.to);
  if (split.flows > 0) {
    // Where there are links, observers are told of a transfer when it ends.
    Ps& pulled = served(parcel.id).pulled;
    if (tiers_) pulled = std::max(pulled, parcel.starts);
    engines_[from]->count_flows(parcel.id, -1);
    if (--split.flows > 0) return;
  }
  touched_[from] = true;
  if (split.computed) {
    split.kept = false;
    engines_[from]->release_kept(parcel.id);
    leave(parcel.id, from);
    is_aborted(parcel.id) ? engines_[to]->refuse(parcel.id) : engines_[to]->receive(parcel.id);
    touched_[to] = true;
    return;
  }
  const std::vector<int>& seated = leave_[from];
  if (!is_aborted(parcel.id) || std::count(seated.begin(), seated.end(), parcel.id) > 0) return;
  engines_[from]->release_kept(parcel.id);
  cancel(parcel.id);
}

}  // namespace rooflua::reference
