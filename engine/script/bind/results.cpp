// What a run amounted to, and what it looks like now, for Lua.

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json_text.h"
#include "measure/record/cap_watch.h"
#include "measure/record/growth.h"
#include "measure/record/sketch.h"
#include "measure/record/why.h"
#include "measure/record/why_play.h"
#include "measure/write/evidence_text.h"
#include "measure/write/left_out.h"
#include "measure/write/report.h"
#include "measure/write/requests.h"
#include "measure/write/result.h"
#include "script/serving/own_metrics.h"
#include "script/serving/record.h"
#include "script/serving/run.h"
#include "script/vm/context.h"
#include "serve/core/ranks.h"

namespace rooflua::script {

Summary summary_of(const Run& run) {
  Summary out = run.summary->summary(run.simulation.get());
  out.noted_frac = run.noted_frac;
  if (run.work_s && out.seen_s > 0) {
    out.mfu = std::min(1.0, *run.work_s / out.seen_s);
    out.bandwidth_frac = std::min(1.0, run.moving_s / out.seen_s);
  }
  if (const auto* metrics = run.find<LuaOwnMetrics>()) out.own = metrics->values();
  return out;
}

namespace {

/// serve_summary(run) -> the summary; a figure that does not exist is nan.
int serve_summary(lua_State* L, Run& run) {
  return push_json(L, to_json(summary_of(run)), false);
}

/// serve_noted(run, share): the share of supported time that notes of a model touch.
int serve_noted(lua_State* L, Run& run) {
  run.noted_frac = check_number(L, 2, "serve_noted");
  return 0;
}

/// serve_utilised(run, work_s, moving_s): seconds of a GPU, of all steps (Run).
int serve_utilised(lua_State* L, Run& run) {
  run.work_s = check_number(L, 2, "serve_utilised");
  run.moving_s = check_number(L, 3, "serve_utilised");
  return 0;
}

/// serve_document(run) -> the summary as json.decode gives its document: what does not exist is
/// json.null.
int serve_document(lua_State* L, Run& run) {
  return push_json(L, document(summary_of(run)), true);
}

/// serve_hand_over(run) -> the summary as a report. The program takes the summary itself when the
/// function that it called has returned (Context::served).
int serve_hand_over(lua_State* L, Run& run) {
  const auto summary = std::make_shared<const Summary>(summary_of(run));
  context_of(L).served = summary;
  lua_pushstring(L, report(*summary).c_str());
  return 1;
}

/// serve_report(run) -> the summary so far as a report.
int serve_report(lua_State* L, Run& run) {
  lua_pushstring(L, report(summary_of(run)).c_str());
  return 1;
}

/// What the scheduler was asked and what happened, for benchmarks and tests.
int serve_totals(lua_State* L, Run& run) {
  const Totals& totals = run.simulation->totals();
  Json out = Json::object();
  out["arrived"] = totals.arrived;
  out["plans_asked"] = totals.plans_asked;
  out["steps"] = totals.steps;
  out["preemptions"] = totals.preemptions;
  out["output_tokens"] = totals.output_tokens;
  return push_json(L, out, false);
}

/// serve_outcomes(run) -> how many requests ended so far: by outcome, {arrived, cut_answers,
/// refused_at_gate, refused_without_replica}.
int serve_outcomes(lua_State* L, Run& run) {
  const Totals& totals = run.simulation->totals();
  Json out = Json::object();
  out["arrived"] = totals.arrived;
  out["cut_answers"] = totals.cut_answers;
  out["refused_at_gate"] = totals.refused_at_gate;
  out["refused_without_replica"] = totals.refused_without_replica;
  for (std::size_t i = 0; i < outcome_count; ++i)
    out[std::string(name(static_cast<Outcome>(i)))] = totals.ended[i];
  return push_json(L, out, false);
}

/// serve_left_out(run) -> what its workload left out so far (measure/write/left_out.h), or nil.
int serve_left_out(lua_State* L, Run& run) {
  const Json* told = run.workload_told.find("left_out");
  return push_json(L, told != nullptr ? *told : to_json(run.workload->left_out()), false);
}

/// serve_workload_notes(run) -> a list of sentences of its workload.
int serve_workload_notes(lua_State* L, Run& run) {
  const Json* told = run.workload_told.find("notes");
  return told != nullptr ? push_json(L, *told, false) : push_texts(L, run.workload->notes());
}

/// left_out_lines(documents) -> a list of lines (measure/write/left_out.h).
int left_out_text(lua_State* L) {
  const Json documents = to_json(L, 1, "documents");
  std::vector<const Json*> list;
  for (const Json& each : documents.items()) list.push_back(&each);
  return push_json(L, texts_json(left_out_lines(list)), false);
}

/// strict_problem(evidence, noted_frac, percent) -> why --strict refuses it
/// (measure/write/evidence_text.h), or nil.
int strict_problem_of(lua_State* L) {
  const EvidenceShares shares = shares_from_json(to_json(L, 1, "evidence"));
  const std::string problem =
      strict_problem(shares, luaL_checknumber(L, 2), luaL_checknumber(L, 3));
  if (problem.empty()) return 0;
  lua_pushlstring(L, problem.data(), problem.size());
  return 1;
}

/// serve_record(run) -> the steps so far (ScheduleRecord::steps); nil without record = true.
int serve_record(lua_State* L, Run& run) {
  const auto* record = run.find<ScheduleRecord>();
  if (record == nullptr) return 0;
  return push_json(L, record->steps(), false);
}

Json describe_request(const Replica& replica, std::int32_t slot) {
  const Request& request = replica.request(slot);
  const ReplicaView& view = replica.view();
  Json out = Json::object();
  out["id"] = request.id;
  out["phase"] = name(request.phase);
  out["arrival_s"] = request.arrival_s;
  out["prompt_tokens"] = request.prompt_tokens;
  out["context_tokens"] = context_tokens(view, request);
  out["emitted_tokens"] = emitted_tokens(view, request);
  out["pending_tokens"] = pending_tokens(view, request);
  out["cached_tokens"] =
      request.phase == Phase::waiting ? replica.cached_tokens(slot) : request.cached_tokens;
  out["preemptions"] = request.preemptions;
  out["priority"] = request.priority;
  out["class"] = request.klass;
  return out;
}

Json describe_list(const Replica& replica, std::int32_t head) {
  Json out = Json::array();
  for (std::int32_t slot = head; slot >= 0; slot = replica.request(slot).next) {
    out.push_back(describe_request(replica, slot));
  }
  return out;
}

/// serve_replica(run, index from 1) -> a table: what it looks like now.
int serve_replica(lua_State* L, Run& run) {
  const Simulation& simulation = *run.simulation;
  const double index = check_number(L, 2, "replica");
  if (!(index >= 1 && index <= simulation.replica_count()) || index != std::floor(index)) {
    throw Error("replica",
                "expected a whole number from 1 to " + std::to_string(simulation.replica_count()));
  }
  const Replica& replica = simulation.replica(static_cast<std::int32_t>(index) - 1);
  const ReplicaView& view = replica.view();
  Json out = Json::object();
  out["now_s"] = simulation.now_s();
  out["decodes"] = view.decodes;
  out["seats"] = view.seats;
  out["free_blocks"] = view.free_blocks;
  out["total_blocks"] = view.total_blocks;
  out["block_size"] = view.block_size;
  out["decode_context_tokens"] = view.decode_context_tokens;
  out["planned_steps"] = replica.planned_steps();
  if (replica.has_stages()) {
    out["stages"] = static_cast<double>(replica.config().stages.shares.size());
    out["in_flight"] = view.in_flight;
  }
  out["outstanding"] = simulation.outstanding(static_cast<std::int32_t>(index) - 1);
  out["waiting"] = describe_list(replica, view.waiting_head);
  for (const std::int32_t slot : Ranks::sent_to(simulation.core(), view.index))
    out["waiting"].push_back(describe_request(replica, slot));
  out["running"] = describe_list(replica, view.running_head);
  return push_json(L, out, false);
}

int serve_request(lua_State* L, Run& run) {
  const Simulation& simulation = *run.simulation;
  const double id = check_number(L, 2, "request id");
  if (!(id >= 0 && id < 2147483647.0)) throw Error("request", "expected an id, 0 or more");
  const std::int32_t slot = simulation.slot_of(static_cast<std::int32_t>(id));
  if (slot < 0) return 0;
  const std::int32_t replica = simulation.requests()[slot].replica;
  if (replica < 0) return 0;
  return push_json(L, describe_request(simulation.replica(replica), slot), false);
}

/// serve_requests(run) -> KeptRequests::columns; nothing without keep_requests = true.
int serve_requests(lua_State* L, Run& run) {
  const auto* kept = run.find<KeptRequests>();
  if (kept == nullptr) return 0;
  return push_json(L, kept->columns(), false);
}

/// serve_growth(run) -> mean seconds to the first token in the two halves of the requests, and
/// whether the load changes by itself; nothing without growth = true, or where a half has no
/// completed request.
int serve_growth(lua_State* L, Run& run) {
  const auto* watch = run.find<GrowthWatch>();
  const auto halves = watch != nullptr ? watch->halves() : std::nullopt;
  if (!halves) return 0;
  lua_pushnumber(L, halves->early_s);
  lua_pushnumber(L, halves->late_s);
  lua_pushboolean(L, watch->load_varies() ? 1 : 0);
  return 3;
}

/// serve_limited(run) -> whether seats or token budgets decided anything, and the most requests
/// that ran in a step of one replica; nothing without caps = true.
int serve_limited(lua_State* L, Run& run) {
  const auto* watch = run.find<CapWatch>();
  if (watch == nullptr) return 0;
  lua_pushboolean(L, watch->limited() ? 1 : 0);
  lua_pushnumber(L, watch->most_running());
  return 2;
}

/// serve_why(run) -> report text and document; nothing if that request did not end.
int serve_why(lua_State* L, Run& run) {
  const auto* observer = run.find<WhyObserver>();
  if (observer == nullptr || !observer->why()) return 0;
  const auto* parts = run.summary->latency_of(observer->why()->done.id);
  lua_pushstring(L, report(*observer->why(), parts).c_str());
  push_json(L, to_json(*observer->why(), parts), false);
  return 2;
}

/// serve_why_play(run) -> report text and document; without them, if that play is not over, how
/// many plays have begun.
int serve_why_play(lua_State* L, Run& run) {
  const auto* observer = run.find<WhyPlayObserver>();
  if (observer == nullptr) return 0;
  if (!observer->why()) {
    lua_pushnil(L);
    lua_pushnumber(L, static_cast<lua_Number>(observer->begun()));
    return 2;
  }
  lua_pushstring(L, report(*observer->why()).c_str());
  push_json(L, to_json(*observer->why()), false);
  return 2;
}

/// serve_listed_plays(run) -> a table per play that ended, in that order.
int serve_listed_plays(lua_State* L, Run& run) {
  const auto* list = run.find<PlayList>();
  if (list == nullptr) return 0;
  return push_json(L, to_json(list->ended()), false);
}

Json amounts_json(const Amounts& amounts) {
  Json out = Json::object();
  out["steps"] = amounts.steps;
  out["tokens"] = amounts.tokens;
  out["rows"] = amounts.rows;
  out["prompt_tokens"] = amounts.prompt_tokens;
  out["group_tokens"] = amounts.group_tokens;
  out["contexts"] = amounts.contexts;
  out["pairs"] = amounts.pairs;
  out["time_s"] = amounts.time_s;
  return out;
}

Json describe_step(const SampledStep& step) {
  Json prefills = Json::array(), contexts = Json::array();
  for (const PrefillWork& each : step.prefills) {
    Json prefill = Json::object();
    prefill["new_tokens"] = each.new_tokens;
    prefill["context_tokens"] = each.context_tokens;
    prefill["completes"] = each.completes != 0;
    if (each.left_tokens > 0) prefill["left_tokens"] = each.left_tokens;
    prefills.push_back(std::move(prefill));
  }
  for (const std::int32_t context : step.decode_contexts) contexts.push_back(context);
  Json out = Json::object();
  out["replica"] = step.replica + 1;
  out["weight"] = step.weight;
  out["time_s"] = step.time_s;
  out["amounts"] = amounts_json(step.amounts);
  out["batch"]["prefills"] = std::move(prefills);
  out["batch"]["decode_contexts"] = std::move(contexts);
  put_drafts(out["batch"], step.drafts);
  if (step.group.ranks > 1) {
    out["own_s"] = step.own_s;
    out["batch"]["group"] = group_json(step.group);
  }
  return out;
}

/// serve_sketch(run) -> what a report draws, as JSON text, the sampled steps, and what all steps of
/// each replica amount to; nothing without sketch = true.
int serve_sketch(lua_State* L, Run& run) {
  const auto* sketch = run.find<Sketch>();
  if (sketch == nullptr) return 0;
  Json steps = Json::array();
  for (const SampledStep& step : sketch->sample().steps()) steps.push_back(describe_step(step));
  lua_pushstring(L, dump_json(sketch->json()).c_str());
  push_json(L, steps, false);
  Json totals = Json::array();
  for (const Amounts& each : sketch->sample().totals()) totals.push_back(amounts_json(each));
  push_json(L, totals, false);
  return 3;
}

}  // namespace

void bind_results(lua_State* L) {
  set_function(L, "serve_summary", on_run<"result", serve_summary>);
  set_function(L, "serve_noted", on_run<"result", serve_noted>);
  set_function(L, "serve_utilised", on_run<"result", serve_utilised>);
  set_function(L, "serve_document", on_run<"result", serve_document>);
  set_function(L, "serve_hand_over", on_run<"result", serve_hand_over>);
  set_function(L, "serve_report", on_run<"result", serve_report>);
  set_function(L, "serve_outcomes", on_run<"result", serve_outcomes>);
  set_function(L, "serve_totals", on_run<"result", serve_totals>);
  set_function(L, "serve_replica", on_run<"replica", serve_replica>);
  set_function(L, "serve_request", on_run<"request", serve_request>);
  set_function(L, "left_out_lines", guarded<left_out_text>);
  set_function(L, "strict_problem", guarded<strict_problem_of>);
  set_function(L, "serve_workload_notes", on_run<"result", serve_workload_notes>);
  set_function(L, "serve_left_out", on_run<"result", serve_left_out>);
  set_function(L, "serve_record", on_run<"result", serve_record>);
  set_function(L, "serve_requests", on_run<"result", serve_requests>);
  set_function(L, "serve_limited", on_run<"result", serve_limited>);
  set_function(L, "serve_growth", on_run<"result", serve_growth>);
  set_function(L, "serve_why", on_run<"why", serve_why>);
  set_function(L, "serve_why_play", on_run<"why", serve_why_play>);
  set_function(L, "serve_listed_plays", on_run<"plays", serve_listed_plays>);
  set_function(L, "serve_sketch", on_run<"result", serve_sketch>);
}

}  // namespace rooflua::script
