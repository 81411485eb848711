#include "serve/core/ranks.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"

namespace rooflua {

namespace {

/// Seats of a rank whose engine has no limit: not the slots that there are, which depend on how far
/// the workload was read.
constexpr std::int32_t no_limit = std::numeric_limits<std::int32_t>::max();

/// Among the members; their number if it is none.
std::size_t place_in(const RankGroup& group, std::int32_t replica) {
  const auto found = std::find(group.members.begin(), group.members.end(), replica);
  return static_cast<std::size_t>(found - group.members.begin());
}

}  // namespace

bool Ranks::queue_for(std::int32_t index) const {
  const Router* router = core_.bindings.router;
  return router != nullptr && router->common_queue() != CommonQueue::none &&
         core_.group_with(index).shared();
}

void Ranks::add(std::int32_t slot, std::int32_t index) {
  const Request& request = core_.requests[slot];
  if (Picoseconds& queued = core_.progress(slot).queued; queued == never) queued = core_.now;
  core_.group_with(index).queue.push_back(slot);
  core_.at(index).wait_outside(1, request.prompt_tokens + request.emitted_tokens);
  core_.tell(&Observer::on_queued, request, core_.now);
}

bool Ranks::are_without(std::int32_t slot) const {
  const std::int32_t index = core_.requests[slot].replica;
  const std::vector<std::int32_t>& queue = core_.group_with(index).queue;
  return std::find(queue.begin(), queue.end(), slot) != queue.end() ||
         core_.receptions[static_cast<std::size_t>(index)].has(slot);
}

bool Ranks::leave(std::int32_t slot) {
  const Request& request = core_.requests[slot];
  if (std::erase(core_.group_with(request.replica).queue, slot) == 0)
    return core_.receptions[static_cast<std::size_t>(request.replica)].remove(slot);
  core_.at(request.replica).wait_outside(-1, -request.prompt_tokens - request.emitted_tokens);
  return true;
}

/// Slots of requests that have blocks there, and KV that is on its way. They are looked for once
/// for all requests that get ranks together.
std::vector<std::int32_t> Ranks::awaiting_kv(const Core& core, std::int32_t index) {
  if (!core.is_split && !core.kv_links) return {};
  const RankGroup& group = core.groups[static_cast<std::size_t>(core.engine_of(index))];
  if (!group.awaiting.empty()) return group.awaiting[place_in(group, index)];
  std::vector<std::int32_t> out;
  const Requests& requests = core.requests;
  for (std::int32_t slot = 0; slot < requests.slots(); ++slot) {
    const bool has_blocks = requests.progress(slot).held_blocks > 0;
    if (requests[slot].replica == index && requests[slot].phase == Phase::pending && has_blocks)
      out.push_back(slot);
  }
  return out;
}

void Ranks::look_for_awaiting(RankGroup& group) {
  std::vector<std::vector<std::int32_t>> found(group.members.size());
  const bool any = core_.is_split || core_.kv_links;
  for (std::int32_t slot = 0; any && slot < core_.requests.slots(); ++slot) {
    const Request& each = core_.requests[slot];
    if (each.phase != Phase::pending || core_.progress(slot).held_blocks == 0) continue;
    const std::size_t place = place_in(group, each.replica);
    if (place < found.size()) found[place].push_back(slot);
  }
  group.awaiting = std::move(found);
}

std::optional<double> Ranks::fact(const Core& core, std::int32_t index, RouterFact what) {
  if (what == RouterFact::rank_requests) return requests_of(core, index);
  if (what == RouterFact::rank_tokens) return tokens_of(core, index);
  if (what == RouterFact::rank_seats) return seats_left(core, index);
  return std::nullopt;
}

std::int32_t Ranks::requests_of(const Core& core, std::int32_t index) {
  const ReplicaView& view = core.at(index).view();
  return view.waiting + view.seats + static_cast<std::int32_t>(awaiting_kv(core, index).size());
}

double Ranks::tokens_of(const Core& core, std::int32_t index) {
  const Requests& requests = core.requests;
  const ReplicaView& view = core.at(index).view();
  double tokens = 0;
  for (const std::int32_t head : {view.waiting_head, view.running_head}) {
    for (std::int32_t slot = head; slot >= 0; slot = requests[slot].next)
      tokens += requests[slot].prompt_tokens;
  }
  for (const std::int32_t slot : awaiting_kv(core, index)) tokens += requests[slot].prompt_tokens;
  return tokens;
}

std::vector<std::int32_t> Ranks::sent_to(const Core& core, std::int32_t index) {
  std::vector<std::int32_t> out;
  for (const RankGroup& group : core.groups) {
    for (const std::int32_t slot : group.queue)
      if (core.requests[slot].replica == index) out.push_back(slot);
  }
  return out;
}

std::int32_t Ranks::seats_left(const Core& core, std::int32_t index) {
  const std::int32_t limit = core.at(index).config().max_num_seqs;
  return std::max(0, (limit > 0 ? limit : no_limit) - requests_of(core, index));
}

void Ranks::let_all_in(RankGroup& group) {
  while (!group.queue.empty()) {
    const std::int32_t slot = group.queue.front();
    leave(slot);
    loop_.enter(slot, core_.at(core_.requests[slot].replica));
  }
}

void Ranks::let_in(RankGroup& group) {
  if (!queue_for(group.members.front())) return let_all_in(group);  // the router was exchanged
  look_for_awaiting(group);
  std::size_t seats = 0;
  for (const std::int32_t index : group.members)
    seats += static_cast<std::size_t>(seats_left(core_, index));
  const std::size_t count = std::min(group.queue.size(), seats);
  std::vector<std::int32_t> slots(group.queue.begin(),
                                  group.queue.begin() + static_cast<std::ptrdiff_t>(count));
  if (core_.bindings.router->common_queue() == CommonQueue::longest) {
    std::stable_sort(slots.begin(), slots.end(), [this](std::int32_t a, std::int32_t b) {
      return core_.requests[a].prompt_tokens > core_.requests[b].prompt_tokens;
    });
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t rank = place(slots[i], group, i, count);
    leave(slots[i]);
    change_rank(slots[i], rank);
    loop_.enter(slots[i], core_.at(rank));
    core_.signals.changed(rank);
    const bool awaits_kv = core_.requests[slots[i]].phase == Phase::pending &&
                           core_.progress(slots[i]).held_blocks > 0;
    if (awaits_kv) group.awaiting[place_in(group, rank)].push_back(slots[i]);
  }
  group.awaiting.clear();
}

/// The rank for the request, where `placed` of those that are let in together have theirs.
std::int32_t Ranks::place(std::int32_t slot, const RankGroup& group, std::size_t placed,
                          std::size_t together) {
  RouteView view = core_.route_view(slot, group.members, loop_);
  core_.show_signals(view);
  view.decode_stage = core_.is_decoder(group.members.front()) ? 1 : 0;
  view.placed = static_cast<std::int32_t>(placed);
  view.together = static_cast<std::int32_t>(together);
  const std::int32_t rank = core_.bindings.router->place(core_.requests[slot], view);
  const bool is_member = place_in(group, rank) < group.members.size();
  if (!is_member || seats_left(core_, rank) == 0)
    throw Error("router", "place: found replica " + std::to_string(rank + 1) + " for request " +
                              std::to_string(core_.requests[slot].id) +
                              (is_member ? ", which has no seat left" : ", which is no such rank"));
  return rank;
}

/// The request is at another rank than the one that it was sent to.
void Ranks::change_rank(std::int32_t slot, std::int32_t to) {
  const std::int32_t from = core_.requests[slot].replica;
  if (from == to) return;
  core_.requests[slot].replica = to;
  core_.signals.add_outstanding(from, -1);
  core_.signals.add_outstanding(to, 1);
  if (core_.is_split && core_.hand_over_of(slot).to == from) core_.hand_over_of(slot).to = to;
}

}  // namespace rooflua
