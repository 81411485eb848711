// Ranks of the naive cluster that take requests from one queue. In front of each plan as many of
// them as there are seats left are let in; until then they count as waiting where they were sent.

#include <algorithm>
#include <stdexcept>

#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

bool NaiveCluster::has_common_queue(std::size_t i) const {
  return router_->common_queue() != CommonQueue::none && groups_[engine_of(i)].size() > 1;
}

/// Those with a seat, in the queue, or whose KV is on its way.
std::vector<int> NaiveCluster::requests_at(std::size_t i) const {
  std::vector<int> out;
  for (std::size_t id = 0; id < prompts().size(); ++id) {
    const NaiveRequest& r = engines_[i]->request(static_cast<int>(id));
    const bool is_inside = engines_[i]->has(r);
    const bool awaits_kv =
        at_[id] == static_cast<int>(i) && r.phase == Phase::pending && !r.blocks.empty();
    if (is_inside || awaits_kv) out.push_back(static_cast<int>(id));
  }
  return out;
}

/// Those that wait for a rank and were sent to this one.
std::vector<int> NaiveCluster::sent_to(std::size_t i) const {
  std::vector<int> out;
  for (const int id : without_rank_)
    if (at_[static_cast<std::size_t>(id)] == static_cast<int>(i)) out.push_back(id);
  return out;
}

int NaiveCluster::seats_left(std::size_t i) const {
  const auto taken = static_cast<int>(requests_at(i).size());
  return std::max(0, cluster_.replicas[i].config.max_num_seqs - taken);
}

/// It is not in the queue any more. False: it was not there.
bool NaiveCluster::leave_queue(int id) {
  const std::size_t erased = std::erase_if(without_rank_, [id](int each) { return each == id; });
  return erased > 0;
}

void NaiveCluster::let_in(const std::vector<std::size_t>& group) {
  int seats = 0;
  for (const std::size_t i : group) seats += seats_left(i);
  std::vector<int> ids;
  for (const int id : without_rank_) {
    const auto at = static_cast<std::size_t>(at_[static_cast<std::size_t>(id)]);
    const bool is_here = std::count(group.begin(), group.end(), at) > 0;
    if (is_here && static_cast<int>(ids.size()) < seats) ids.push_back(id);
  }
  const auto tokens = [&](int id) { return prompts()[static_cast<std::size_t>(id)].plain.prompt; };
  if (router_->common_queue() == CommonQueue::longest)
    std::stable_sort(ids.begin(), ids.end(),
                     [&](int a, int b) { return tokens(a) > tokens(b); });
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const int id = ids[k];
    const int rank = place(id, group, k, ids.size());
    if (seats_left(static_cast<std::size_t>(rank)) == 0) throw std::logic_error("the rank is full");
    leave_queue(id);
    int& at = at_[static_cast<std::size_t>(id)];
    --outstanding_[static_cast<std::size_t>(at)];
    ++outstanding_[static_cast<std::size_t>(rank)];
    int& promised = split_[static_cast<std::size_t>(id)].to;
    if (promised == at) promised = rank;
    history_.changed_rank += at != rank;
    at = rank;
    enter(id, static_cast<std::size_t>(rank));
  }
}

int NaiveCluster::place(int id, const std::vector<std::size_t>& group, std::size_t placed,
                        std::size_t together) {
  const std::vector<std::int32_t> ranks(group.begin(), group.end());
  std::vector<ReplicaSignals> seen = signals_for_router();
  RouteView view = route_view(id, ranks, seen);
  view.decode_stage = cluster_.replicas[group.front()].role == Role::decode ? 1 : 0;
  view.placed = static_cast<std::int32_t>(placed);
  view.together = static_cast<std::int32_t>(together);
  return router_->place(shown_[id], view);
}

}  // namespace rooflua::reference
