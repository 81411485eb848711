// The journal of a live run, for Lua: its steps, its requests, its last step.

#include "measure/record/journal.h"

#include <cmath>
#include <sstream>

#include "base/error.h"
#include "measure/write/requests.h"
#include "measure/write/step_report.h"
#include "script/serving/record.h"
#include "script/serving/run.h"
#include "script/variant_result.h"

namespace rooflua::script {

namespace {

const Journal& journal_of(const Run& run) {
  const Journal* journal = run.find<Journal>();
  if (journal == nullptr)
    throw Error("", "this simulation remembers nothing (it was opened with remember = false)");
  return *journal;
}

/// The second argument: the number of a request or replica.
std::int32_t check_index(lua_State* L, const char* what) {
  const double value = check_number(L, 2, what);
  if (!(value >= 0 && value <= 2147483647.0) || value != std::floor(value))
    throw Error(what, "expected a whole number, 0 or more");
  return static_cast<std::int32_t>(value);
}

Json sample_json(const EndedStep& sample) {
  Json out = Json::object();
  out["replica"] = sample.replica + 1;
  out["start_s"] = seconds(sample.start);
  out["end_s"] = seconds(sample.end);
  out["waiting"] = sample.waiting;
  out["running"] = sample.running;
  out["decodes"] = sample.decodes;
  out["prefills"] = sample.prefills;
  out["prefill_tokens"] = sample.prefill_tokens;
  if (sample.speculates) {
    out["decode_tokens"] = sample.decode_tokens;
    out["drafted"] = sample.drafted;
    out["accepted"] = sample.accepted;
  }
  out["kv_used_frac"] =
      sample.total_blocks > 0 ? static_cast<double>(sample.used_blocks) / sample.total_blocks : 0.0;
  return out;
}

/// serve_steps(run) -> a table per step that ended.
int serve_steps(lua_State* L, Run& run) {
  Json out = Json::array();
  for (const EndedStep& sample : journal_of(run).steps()) out.push_back(sample_json(sample));
  return push_json(L, out, false);
}

Json headings_json(const std::array<Picoseconds, latency_heading_count>& time) {
  Json out = Json::object();
  for (std::size_t i = 0; i < latency_heading_count; ++i) {
    if (time[i] > 0) out[name(static_cast<LatencyHeading>(i))] = seconds(time[i]);
  }
  return out;
}

Json ended_json(const Why& why) {
  const RequestDone& done = why.done;
  Json out = Json::object();
  out["id"] = done.id;
  out["outcome"] = name(done.outcome);
  out["arrival_s"] = seconds(done.arrival);
  out["prompt_tokens"] = done.prompt_tokens;
  out["output_tokens"] = done.output_tokens;
  out["cached_tokens"] = done.cached_tokens;
  out["preemptions"] = done.preemptions;
  out["class"] = done.klass;
  out["replica"] = done.replica + 1;
  if (done.scheduled != never && done.queued != never)
    out["queue_s"] = seconds(done.scheduled - done.queued);
  if (done.first_token != never) out["ttft_s"] = seconds(done.first_token - done.arrival);
  if (done.last_token != never && done.first_token != never) {
    out["e2e_s"] = seconds(done.last_token - done.arrival);
    if (done.output_tokens > 1) {
      out["tpot_s"] = seconds(done.last_token - done.first_token) / (done.output_tokens - 1);
    }
  }
  out["where_s"] = headings_json(why.time);
  out["where_to_first_s"] = headings_json(why.time_to_first);
  return out;
}

/// serve_ended(run) -> a table per request that ended, in that order.
int serve_ended(lua_State* L, Run& run) {
  Json out = Json::array();
  for (const Why& why : journal_of(run).ended()) out.push_back(ended_json(why));
  return push_json(L, out, false);
}

/// serve_ended_csv(run) -> the file of --requests, of the requests that ended.
int serve_ended_csv(lua_State* L, Run& run) {
  const Journal& journal = journal_of(run);
  std::ostringstream text;
  RequestsCsv csv(text, "requests", {run.classes, run.speculates()});
  for (const Why& why : journal.ended()) csv.on_done(why.done);
  csv.finish();
  const std::string out = std::move(text).str();
  lua_pushlstring(L, out.data(), out.size());
  return 1;
}

/// serve_why_of(run, id) -> report text and document; nothing while that request has not ended.
int serve_why_of(lua_State* L, Run& run) {
  const Journal* journal = run.find<Journal>();
  if (journal == nullptr) return 0;
  const Why* why = journal->find(check_index(L, "request"));
  if (why == nullptr) return 0;
  const auto* parts = run.summary->latency_of(why->done.id);
  lua_pushstring(L, report(*why, parts).c_str());
  push_json(L, to_json(*why, parts), false);
  return 2;
}

/// serve_plays(run) -> a table per play that ended, in that order.
int serve_plays(lua_State* L, Run& run) {
  return push_json(L, to_json(journal_of(run).plays()), false);
}

/// serve_why_play_of(run, play from 0) -> report text and document; nothing while that play is not
/// over.
int serve_why_play_of(lua_State* L, Run& run) {
  const auto why = journal_of(run).why_play(check_index(L, "play"));
  if (!why) return 0;
  lua_pushstring(L, report(*why).c_str());
  push_json(L, to_json(*why), false);
  return 2;
}

/// serve_last_step(run, replica from 1) -> the step that ended last there; nothing before the
/// first.
int serve_last_step(lua_State* L, Run& run) {
  const StepWork* work = journal_of(run).last_step(check_index(L, "replica") - 1);
  if (work == nullptr) return 0;
  Json out = sample_json(work->sample);
  out["time_s"] = work->time_s;
  Json prefills = Json::array(), contexts = Json::array(), ids = Json::array();
  for (const PrefillWork& each : work->prefills) {
    Json prefill = Json::object();
    prefill["id"] = each.id;
    prefill["new_tokens"] = each.new_tokens;
    prefill["context_tokens"] = each.context_tokens;
    prefill["completes"] = each.completes != 0;
    if (each.left_tokens > 0) prefill["left_tokens"] = each.left_tokens;
    prefills.push_back(std::move(prefill));
  }
  for (const std::int32_t context : work->decode_contexts()) contexts.push_back(context);
  for (const std::int32_t id : work->decode_ids()) ids.push_back(id);
  out["prefill_work"] = std::move(prefills);
  out["decode_contexts"] = std::move(contexts);
  out["decode_ids"] = std::move(ids);
  put_drafts(out, work->drafts);
  if (work->group.ranks > 1) {
    out["own_s"] = work->own_s;
    out["group"] = group_json(work->group);
  }
  return push_json(L, out, false);
}

/// step_report(priced) -> the table of `step --explain`, of what prices.price_batch gives.
int step_report_text(lua_State* L) {
  lua_pushstring(L, price_text(to_json(L, 1, "price")).c_str());
  return 1;
}

}  // namespace

void bind_journal(lua_State* L) {
  set_function(L, "serve_steps", on_run<"steps", serve_steps>);
  set_function(L, "serve_ended", on_run<"ended", serve_ended>);
  set_function(L, "serve_ended_csv", on_run<"ended", serve_ended_csv>);
  set_function(L, "serve_why_of", on_run<"why", serve_why_of>);
  set_function(L, "serve_plays", on_run<"plays", serve_plays>);
  set_function(L, "serve_why_play_of", on_run<"why_play", serve_why_play_of>);
  set_function(L, "serve_last_step", on_run<"last_step", serve_last_step>);
  set_function(L, "step_report", guarded<step_report_text>);
}

}  // namespace rooflua::script
