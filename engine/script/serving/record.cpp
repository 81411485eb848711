#include "script/serving/record.h"

#include "serve/replica/replica.h"

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

Json group_json(const GroupWork& group) {
  Json out = Json::object();
  out["ranks"] = group.ranks;
  out["tokens"] = group.tokens;
  out["max_tokens"] = group.max_tokens;
  out["prefills"] = group.prefills;
  return out;
}

void put_drafts(Json& batch, const DraftWork& drafts) {
  if (drafts.empty()) return;
  if (!drafts.widths.empty()) {
    Json widths = Json::array();
    for (const std::int32_t width : drafts.widths) widths.push_back(width);
    batch["decode_widths"] = std::move(widths);
  }
  batch["draft_rows"] = drafts.rows;
  batch["draft_tokens"] = drafts.tokens;
  batch["draft_passes"] = drafts.passes;
}

void ScheduleRecord::on_priced(const StepPriced& priced) {
  if (steps_.items().size() >= most_steps || priced.batch.tokens == 0) return;
  const Batch& batch = priced.batch;
  Json step = Json::object();
  step["replica"] = batch.replica + 1;
  step["planned_s"] = seconds(priced.planned);
  step["time_s"] = priced.price.time_s;
  Json preempted = Json::array();
  for (const std::int32_t slot : priced.replica.plan().preempted())
    preempted.push_back(priced.replica.request(slot).id);
  step["preempted"] = preempted;
  Json rows = Json::array();
  const std::vector<std::int32_t> ids = decode_ids(batch);
  const std::int32_t* widths = decode_widths(batch);
  for (std::size_t i = 0; i < ids.size(); ++i) rows.push_back(work(ids[i], "decode", widths[i]));
  for (std::int32_t i = 0; i < batch.prefill_count; ++i)
    rows.push_back(work(batch.prefills[i].id, "prefill", batch.prefills[i].new_tokens));
  step["work"] = rows;
  steps_.push_back(step);
}

}  // namespace rooflua::script
