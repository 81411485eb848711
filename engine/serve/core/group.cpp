#include "serve/core/group.h"

#include <algorithm>
#include <map>

namespace rooflua {

std::vector<RankGroup> rank_groups(const std::vector<ReplicaConfig>& replicas) {
  std::vector<RankGroup> groups;
  std::map<std::int32_t, std::size_t> known;  // place in `groups`, by ReplicaConfig::group
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const std::int32_t number = replicas[i].group;
    const auto place =
        number < 0 ? groups.size() : known.try_emplace(number, groups.size()).first->second;
    if (place == groups.size()) groups.push_back({{}, replicas[i].dp_sync_s, {}, {}, {}});
    groups[place].members.push_back(static_cast<std::int32_t>(i));
  }
  for (RankGroup& group : groups) {
    if (group.members.size() == 1) group.sync_s = 0;
  }
  return groups;
}

void count_rank(GroupView& view, const rooflua_replica_view& rank) {
  view.prompt_ranks += rank.waiting + rank.prefilling > 0;
  view.decode_ranks += rank.decodes > 0;
  view.open_ranks += rank.max_num_seqs == 0 || rank.seats < rank.max_num_seqs;
}

void GroupWork::add(const Batch& batch) {
  ++ranks;
  tokens += batch.tokens;
  max_tokens = std::max(max_tokens, batch.tokens);
  prefills += batch.prefill_count > 0;
}

GroupWork GroupWork::of(const Batch& batch) {
  return {batch.group_ranks, batch.group_tokens, batch.group_max_tokens, batch.group_prefills};
}

void GroupWork::write_to(Batch& batch) const {
  batch.group_ranks = ranks;
  batch.group_tokens = tokens;
  batch.group_max_tokens = max_tokens;
  batch.group_prefills = prefills;
}

StepPrice price_in_group(const StepPrice& own, const StepPrice& slowest, double sync_s) {
  StepPrice out = slowest;
  out.own_s = own.time_s;
  out.bound = own.bound;
  out.time_s += sync_s;
  out.evidence_s[static_cast<int>(Evidence::assumed)] += sync_s;
  return out;
}

void add_waits(std::vector<OpTime>& operations, const StepPrice& price, double sync_s) {
  if (operations.empty()) return;
  const auto most = std::max_element(std::begin(price.evidence_s), std::end(price.evidence_s));
  const auto evidence = static_cast<Evidence>(most - std::begin(price.evidence_s));
  const double wait_s = price.time_s - sync_s - price.own_s;
  if (wait_s > 0) operations.push_back({"wait_for_ranks", evidence, wait_s});
  if (sync_s > 0) operations.push_back({"rank_sync", Evidence::assumed, sync_s});
}

}  // namespace rooflua
