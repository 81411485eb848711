#pragma once
// Ranks that take requests from one queue of their engine (Router::common_queue()).
//
//   sent       the router chose the engine. The request waits beside the ranks, and counts as
//              waiting at the rank that the router named
//   let in     in front of each plan of the group as many requests as its ranks have seats left,
//              from the head of the queue; the router says to which rank each of them goes
//
// A rank has a seat left as long as it has fewer requests than seats: those that run, that wait
// there, or whose KV is on its way.
// @source TensorRT-LLM _torch/pyexecutor/py_executor.py, _fetch_new_requests and
// _pop_from_waiting_queue

#include <cstddef>
#include <cstdint>
#include <vector>

#include "serve/core/part.h"

namespace rooflua {

class Ranks {
 public:
  Ranks(Core& core, Loop& loop) : core_(core), loop_(loop) {}

  /// Whether requests for this replica wait for a rank.
  bool queue_for(std::int32_t index) const;
  /// The request, which was sent to this replica, waits for a rank.
  void add(std::int32_t slot, std::int32_t index);
  /// Whether the request waits for a rank, or is on its way into an engine with stages.
  bool are_without(std::int32_t slot) const;
  /// Such a request leaves. False: it is none.
  bool leave(std::int32_t slot);
  /// As many as there are seats for get ranks.
  void let_in(RankGroup& group);
  /// All that wait are where they were sent.
  void let_all_in(RankGroup& group);
  /// What a router that asks is told of a rank; nothing: it is another fact.
  static std::optional<double> fact(const Core& core, std::int32_t index, RouterFact what);
  /// Requests of a rank that are not over, and tokens of their prompts.
  static std::int32_t requests_of(const Core& core, std::int32_t index);
  static double tokens_of(const Core& core, std::int32_t index);
  static std::int32_t seats_left(const Core& core, std::int32_t index);
  /// Slots of those that wait for a rank and were sent to this one, as they came.
  static std::vector<std::int32_t> sent_to(const Core& core, std::int32_t index);

 private:
  static std::vector<std::int32_t> awaiting_kv(const Core& core, std::int32_t index);
  void look_for_awaiting(RankGroup& group);
  std::int32_t place(std::int32_t slot, const RankGroup& group, std::size_t placed,
                     std::size_t together);
  void change_rank(std::int32_t slot, std::int32_t to);

  Core& core_;
  Loop& loop_;
};

}  // namespace rooflua
