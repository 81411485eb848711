#pragma once
// A board with requests on it, for tests of the parts of a replica.

#include <cstdint>
#include <vector>

#include "serve/contract/visible_replica.h"

namespace rooflua::test {

struct TestBoard {
  Requests requests;
  Board board;

  explicit TestBoard(std::int32_t block_size = 16) {
    board.requests = &requests;
    board.view.block_size = block_size;
  }

  /// The slot of a request that arrives, with the next id.
  std::int32_t add(std::int32_t prompt, std::int32_t output = 8) {
    RequestSpec spec;
    spec.prompt_tokens = prompt;
    spec.output_tokens = spec.max_output_tokens = output;
    const std::int32_t slot = requests.open(spec, next_id_);
    requests[slot].id = next_id_++;
    requests.progress(slot).stop_at = requests.progress(slot).limit = output;
    return slot;
  }

  /// Ids of a list, from its head; empty if the links back do not mirror it.
  std::vector<std::int32_t> ids(std::int32_t head, std::int32_t tail) const {
    std::vector<std::int32_t> out;
    std::int32_t before = -1;
    for (std::int32_t slot = head; slot >= 0; slot = requests[slot].next) {
      if (requests[slot].previous != before) return {};
      out.push_back(requests[slot].id);
      before = slot;
    }
    return before == tail ? out : std::vector<std::int32_t>{};
  }

 private:
  std::int32_t next_id_ = 0;
};

}  // namespace rooflua::test
