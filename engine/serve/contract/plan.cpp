#include "serve/contract/plan.h"

#include <cstdio>

#include "base/error.h"
#include "base/numbers/digits.h"
#include "serve/contract/policy.h"
#include "serve/contract/visible_replica.h"

namespace rooflua {

void Plan::begin(const VisibleReplica& replica, SchedulerPolicy* policy, Picoseconds now,
                 std::int64_t serial) {
  view_ = PlanView{};
  replica_ = &replica;
  policy_ = policy;
  serial_ = serial;
  now_ = now;
}

std::int32_t Plan::refuse(const char* verb, Refusal refusal, std::int32_t slot) noexcept {
  verb_ = verb;
  view_.refusal = refusal;
  view_.refused_request = slot;
  return -1;
}

std::string Plan::refusal_text() const {
  char text[96];
  std::snprintf(text, sizeof text,
                "at %s s, replica %d, plan %lld: ", significant(seconds(now_), 9).c_str(),
                replica_->view().index + 1, static_cast<long long>(serial_));
  std::string message = std::string(text) + verb_;
  const std::int32_t slot = view_.refused_request;
  const bool exists = slot >= 0 && slot < replica_->view().slots;
  if (exists) {
    const Request& request = replica_->request(slot);
    message += "(request " + std::to_string(request.id) + ", " +
               std::string(words_of(request.phase).state) + ")";
  }
  return message + ": " + std::string(words_of(view_.refusal).help);
}

std::int32_t Plan::answer(std::int32_t status) const {
  if (status == -1) throw Error("scheduler", refusal_text());
  return status;
}

std::int32_t Plan::decode_all(std::int32_t limit) {
  std::int32_t count = answer(try_decode_all(limit));
  while (count == asks_victim) count = answer(try_shed(policy_->victim(*replica_)));
  return count;
}

bool Plan::decode(std::int32_t slot, std::int32_t tokens) {
  return answer(try_decode(slot, tokens)) == 1;
}

bool Plan::prefill(std::int32_t slot, std::int32_t tokens) {
  return answer(try_prefill(slot, tokens)) == 1;
}

bool Plan::admit(std::int32_t slot, const Admission& admission) {
  std::int32_t status = answer(try_admit(slot, admission));
  while (status == asks_load) {
    const TierPolicy::Load load = tier_policy()->load(replica_->request(slot), *found());
    answer_load(load.tokens, load.patience_s);
    status = answer(try_admit(slot, admission));
  }
  return status == 1;
}

std::int32_t Plan::encodable(std::int32_t slot, std::int32_t tokens) {
  return answer(try_encodable(slot, tokens));
}

bool Plan::preempt(std::int32_t slot) {
  return answer(try_preempt(slot)) == 1;
}

void Plan::reject(std::int32_t slot) {
  answer(try_reject(slot));
}

void Plan::wake_at(double time_s) {
  answer(try_wake_at(time_s));
}

}  // namespace rooflua
