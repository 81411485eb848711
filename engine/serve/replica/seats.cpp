#include "serve/replica/seats.h"

#include <algorithm>

#include "base/error.h"
#include "serve/kv/kv_cache.h"

namespace rooflua {

void Seats::take(std::int32_t slot) {
  ReplicaView& view = board_->view;
  Request& request = board_->request(slot);
  board_->progress(slot).seat = given_++;
  request.phase = Phase::prefilling;

  request.previous = view.running_tail;
  request.next = -1;
  (view.running_tail >= 0 ? board_->request(view.running_tail).next : view.running_head) = slot;
  view.running_tail = slot;
  ++view.seats;

  request.previous_prefilling = view.prefilling_tail;
  request.next_prefilling = -1;
  (view.prefilling_tail >= 0 ? board_->request(view.prefilling_tail).next_prefilling
                             : view.prefilling_head) = slot;
  view.prefilling_tail = slot;
  ++view.prefilling;
}

void Seats::end_prefill(std::int32_t slot) {
  ReplicaView& view = board_->view;
  Request& request = board_->request(slot);
  const std::int32_t before = request.previous_prefilling, behind = request.next_prefilling;
  (before >= 0 ? board_->request(before).next_prefilling : view.prefilling_head) = behind;
  (behind >= 0 ? board_->request(behind).previous_prefilling : view.prefilling_tail) = before;
  request.next_prefilling = request.previous_prefilling = -1;
  --view.prefilling;
}

void Seats::finish(std::int32_t slot) {
  Request& request = board_->request(slot);
  if (request.phase == Phase::prefilling) end_prefill(slot);
  request.phase = Phase::finishing;
  ++board_->view.finishing;
}

void Seats::leave(std::int32_t slot) {
  ReplicaView& view = board_->view;
  Request& request = board_->request(slot);
  ROOFLUA_ASSERT(seated(request.phase));
  if (request.phase == Phase::prefilling) end_prefill(slot);
  if (request.phase == Phase::finishing) --view.finishing;
  (request.previous >= 0 ? board_->request(request.previous).next : view.running_head) =
      request.next;
  (request.next >= 0 ? board_->request(request.next).previous : view.running_tail) =
      request.previous;
  request.next = request.previous = -1;
  --view.seats;
}

std::int32_t Seats::missing_blocks() const noexcept {
  std::int32_t blocks = 0;
  for (std::int32_t slot = board_->view.prefilling_head; slot >= 0;
       slot = board_->request(slot).next_prefilling) {
    const Request& r = board_->request(slot);
    const std::int32_t whole =
        blocks_for(r.prompt_tokens + r.emitted_tokens, board_->view.block_size);
    blocks += std::max(0, whole - board_->progress(slot).held_blocks);
  }
  return blocks;
}

}  // namespace rooflua
