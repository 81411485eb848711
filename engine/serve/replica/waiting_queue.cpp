#include "serve/replica/waiting_queue.h"

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"

namespace rooflua {

WaitingQueue::Place WaitingQueue::place(std::int32_t slot) const {
  const Request& request = board_->request(slot);
  return {!holds_blocks(slot), request.key, request.id};
}

void WaitingQueue::join(std::int32_t slot, SchedulerPolicy& policy) {
  if (policy.has_key() != keyed_) rekey(policy);
  if (keyed_) {
    Request& request = board_->request(slot);
    request.key = policy.key(request);
    if (std::isnan(request.key))
      throw Error("scheduler", "key: found nan for request " + std::to_string(request.id));
  }
  insert(slot, false);
}

void WaitingQueue::insert(std::int32_t slot, bool front) {
  ReplicaView& view = board_->view;
  Request& request = board_->request(slot);
  const bool holds = holds_blocks(slot);
  std::int32_t before = front || holds ? last_holder_ : view.waiting_tail;
  if (keyed_) {
    const auto at = by_key_.emplace(place(slot), slot).first;
    before = at == by_key_.begin() ? -1 : std::prev(at)->second;
  } else if (holds) {
    last_holder_ = slot;
  }
  const std::int32_t behind = before >= 0 ? board_->request(before).next : view.waiting_head;
  request.previous = before;
  request.next = behind;
  (before >= 0 ? board_->request(before).next : view.waiting_head) = slot;
  (behind >= 0 ? board_->request(behind).previous : view.waiting_tail) = slot;
  request.phase = Phase::waiting;
  ++view.waiting;
  view.waiting_tokens += request.prompt_tokens + request.emitted_tokens;
}

void WaitingQueue::leave(std::int32_t slot) {
  ReplicaView& view = board_->view;
  Request& request = board_->request(slot);
  if (keyed_) by_key_.erase(place(slot));
  if (slot == last_holder_) last_holder_ = request.previous;
  (request.previous >= 0 ? board_->request(request.previous).next : view.waiting_head) =
      request.next;
  (request.next >= 0 ? board_->request(request.next).previous : view.waiting_tail) =
      request.previous;
  request.next = request.previous = -1;
  --view.waiting;
  view.waiting_tokens -= request.prompt_tokens + request.emitted_tokens;
}

void WaitingQueue::rekey(SchedulerPolicy& policy) {
  std::vector<std::int32_t> slots;
  for (std::int32_t slot = board_->view.waiting_head; slot >= 0; slot = board_->request(slot).next)
    slots.push_back(slot);
  const bool keyed = policy.has_key();
  std::vector<double> keys;  // all of them before anything changes: a key may be an error
  for (const std::int32_t slot : slots)
    keys.push_back(keyed ? policy.key(board_->request(slot)) : board_->request(slot).key);
  for (const std::int32_t slot : slots) leave(slot);
  keyed_ = keyed;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    board_->request(slots[i]).key = keys[i];
    insert(slots[i], false);
  }
}

}  // namespace rooflua
