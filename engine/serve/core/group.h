#pragma once
// Ranks of attention that share the experts of one model step together: data-parallel attention.
//
// Each rank is a replica with its own queue, scheduler, seats and KV cache. The ranks of a group
// exchange tokens in front of the experts of every layer, so that no rank can be ahead of another:
//
//     period = max over ranks of own_s + sync_s
//
// All ranks plan at one instant, begin at one instant and end at one instant. A rank whose plan
// holds no token runs an empty step beside the others: its price is not asked for, because it does
// less than each rank that has tokens. A group in which no rank has tokens stands still. Requests
// that come while the group runs wait for the end of the step, also at a rank without tokens.
//
// @source vLLM v1/engine/core.py (DPEngineCoreProc), v1/worker/dp_utils.py; SGLang
//         managers/scheduler_dp_attn_mixin.py; TensorRT-LLM _torch/pyexecutor/py_executor.py

#include <cstdint>
#include <vector>

#include "serve/contract/batch.h"
#include "serve/replica/cluster.h"

namespace rooflua {

/// What schedulers of ranks read of their group (border.h).
using GroupView = rooflua_group_view;

struct RankGroup {
  std::vector<std::int32_t> members;  // replicas, by index; at least one
  double sync_s = 0;                  // 0 where there is one member
  std::vector<std::int32_t> queue;    // slots of requests that wait for a rank (ranks.cpp)
  // By member, while requests get ranks: those that have blocks there, and KV that is on its way.
  std::vector<std::vector<std::int32_t>> awaiting;
  GroupView view;  // kept where there are several members
  bool shared() const { return members.size() > 1; }
};

/// Adds a rank to the counts of ranks.
void count_rank(GroupView& view, const rooflua_replica_view& rank);

/// Every replica in one group, in the order of their first members.
std::vector<RankGroup> rank_groups(const std::vector<ReplicaConfig>& replicas);

/// What a step of a group consists of, over its ranks.
struct GroupWork {
  std::int32_t ranks = 0, tokens = 0, max_tokens = 0, prefills = 0;
  void add(const Batch& batch);
  /// Of a batch that knows its group.
  static GroupWork of(const Batch& batch);
  void write_to(Batch& batch) const;
};

/// The price of a rank's step in a group whose slowest rank has the price `slowest`.
StepPrice price_in_group(const StepPrice& own, const StepPrice& slowest, double sync_s);

/// The operations of a rank's step, and after them what it waits: for the slowest rank, with the
/// evidence that most of that rank's time has, and for the synchronisation.
void add_waits(std::vector<OpTime>& operations, const StepPrice& price, double sync_s);

}  // namespace rooflua
