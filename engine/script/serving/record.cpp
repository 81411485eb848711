#include "script/serving/record.h"

#include "serve/replica.h"

namespace rooflua::script {

namespace {

Json work(std::int32_t id, const char* kind, std::int32_t tokens) {
  Json out = Json::object();
  out["id"] = id;
  out["kind"] = kind;
  out["tokens"] = tokens;
  return out;
}

}  // namespace

void ScheduleRecord::add(const Batch& batch, const StepPrice& price) {
  if (steps_.items().size() >= most_steps || batch.origin == nullptr) return;
  const Replica& replica = *batch.origin;
  Json step = Json::object();
  step["replica"] = batch.replica + 1;
  step["planned_s"] = replica.view().now_s;
  step["time_s"] = price.time_s;
  Json preempted = Json::array();
  for (const std::int32_t slot : replica.preempted_now())
    preempted.push_back(replica.request(slot).id);
  step["preempted"] = preempted;
  Json rows = Json::array();
  for (const std::int32_t id : decode_ids(batch)) rows.push_back(work(id, "decode", 1));
  for (std::int32_t i = 0; i < batch.prefill_count; ++i)
    rows.push_back(work(batch.prefills[i].id, "prefill", batch.prefills[i].new_tokens));
  step["work"] = rows;
  steps_.push_back(step);
}

void RecordedSteps::price(const Batch& batch, StepPrice& price) {
  inner_->price(batch, price);
  record_->add(batch, price);
}

}  // namespace rooflua::script
