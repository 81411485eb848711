#pragma once
// How requests enter an engine with several stages. Such an engine looks at what has come only when
// it plans a step. Requests that are sent at one instant do not come at one instant: the server
// reads, tokenises and hands them over one after another, while steps are planned and land. So
// those of one instant are divided evenly over the next plans, in the order in which they were
// sent, as many plans as steps are under way at once:
//
//     a plan sees  ceil(requests of the instant / steps under way at once)  more of them
//
// Without this rule, requests that a client sends together would stay together in one lane for
// ever, and the other stages would idle, which no engine shows under load.
//
// A request that is aborted before any plan saw its instant is not counted. After that, the others
// keep the plans that they were divided over.
//
// @source vLLM issues 14213 (requests spread over the batches of a pipeline by themselves) and
// 50853 (a burst may fill one of them); the even division is an assumption

#include <cstdint>
#include <deque>
#include <vector>

#include "serve/contract/clock.h"

namespace rooflua {

class Reception {
 public:
  /// The request is sent to the engine.
  void add(std::int32_t slot, Picoseconds now);
  bool empty() const { return bursts_.empty(); }
  /// The next plan is made.
  /// @param plans  steps that are under way at once
  /// @param slots  gets the requests that it sees besides those before them
  void let_in(std::int32_t plans, std::vector<std::int32_t>& slots);
  /// Whether the request is on its way.
  bool has(std::int32_t slot) const;
  /// The request is aborted on its way. False: it is not here.
  bool remove(std::int32_t slot);

 private:
  struct Burst {  // requests of one instant
    Picoseconds at = 0;
    std::vector<std::int32_t> slots;  // -1: aborted
    std::size_t inside = 0;           // of these
    std::size_t share = 0;            // that each plan sees; 0: none has seen any
  };
  std::deque<Burst> bursts_;
};

}  // namespace rooflua
