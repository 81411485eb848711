#include "serve/plan.h"

#include <cstdio>

#include "base/error.h"
#include "serve/policy.h"
#include "serve/visible_replica.h"

namespace rooflua {

namespace {

const char* name(Phase phase) {
  switch (phase) {
    case Phase::absent:
      return "gone";
    case Phase::pending:
      return "not at a replica";
    case Phase::waiting:
      return "waiting";
    case Phase::prefilling:
      return "prefilling";
    case Phase::decoding:
      return "decoding";
    case Phase::finishing:
      return "finishing";
  }
  return "unknown";
}

}  // namespace

const char* name(Refusal refusal) {
  switch (refusal) {
    case Refusal::none:
      return "nothing was refused";
    case Refusal::no_such_request:
      return "there is no such request at this replica";
    case Refusal::not_waiting:
      return "only a waiting request can be admitted or rejected";
    case Refusal::not_prefilling:
      return "only a prefilling request has a prompt left to compute";
    case Refusal::not_decoding:
      return "only a decoding request can decode";
    case Refusal::not_seated:
      return "only a running request can be preempted";
    case Refusal::planned_already:
      return "it is scheduled in this step already";
    case Refusal::decoded_already:
      return "decode_all was called in this step already";
    case Refusal::preempted_now:
      return "it was preempted in this very step";
    case Refusal::admitted_now:
      return "it was admitted in this very step";
    case Refusal::no_tokens:
      return "at least one token must be scheduled";
    case Refusal::too_many_tokens:
      return "more tokens than the request has pending";
    case Refusal::over_budget:
      return "the step would exceed max_num_batched_tokens";
    case Refusal::victim_expected:
      return "decode_all waits for a victim";
    case Refusal::no_victim:
      return "no victim was asked for";
    case Refusal::bad_limit:
      return "a limit is 0 or more";
    case Refusal::bad_wake:
      return "a wake time is finite and later than now";
  }
  return "unknown";
}

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
  std::snprintf(text, sizeof text, "at %.9g s, replica %d, plan %lld: ", seconds(now_),
                replica_->view().index + 1, static_cast<long long>(serial_));
  std::string message = std::string(text) + verb_;
  const std::int32_t slot = view_.refused_request;
  const bool exists = slot >= 0 && slot < replica_->view().slots;
  if (exists) {
    const Request& request = replica_->request(slot);
    message += "(request " + std::to_string(request.id) + ", " + name(request.phase) + ")";
  }
  return message + ": " + name(view_.refusal);
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

bool Plan::decode(std::int32_t slot) {
  return answer(try_decode(slot)) == 1;
}

bool Plan::prefill(std::int32_t slot, std::int32_t tokens) {
  return answer(try_prefill(slot, tokens)) == 1;
}

bool Plan::admit(std::int32_t slot, const Admission& admission) {
  return answer(try_admit(slot, admission)) == 1;
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
