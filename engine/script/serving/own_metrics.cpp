#include "script/serving/own_metrics.h"

#include <cmath>
#include <limits>

#include "base/error.h"

namespace rooflua::script {

namespace {

/// Writes fields of the table on top of the stack.
class Fill {
 public:
  explicit Fill(lua_State* L) : L_(L) {}
  void number(const char* key, double value) const {
    lua_pushnumber(L_, value);
    lua_setfield(L_, -2, key);
  }
  void text(const char* key, std::string_view value) const {
    lua_pushlstring(L_, value.data(), value.size());
    lua_setfield(L_, -2, key);
  }
  void claim(const char* key, bool value) const {
    lua_pushboolean(L_, value ? 1 : 0);
    lua_setfield(L_, -2, key);
  }
  void nothing(const char* key) const {
    lua_pushnil(L_);
    lua_setfield(L_, -2, key);
  }
  /// A time in seconds; nothing where it did not come to that.
  void time(const char* key, Picoseconds value) const {
    if (value == never) return nothing(key);
    number(key, seconds(value));
  }
  void span(const char* key, Picoseconds from, Picoseconds to) const {
    if (from == never || to == never) return nothing(key);
    number(key, seconds(to - from));
  }
  /// An index that counts from 0 here and from 1 in scripts; nothing below 0.
  void index(const char* key, std::int32_t value) const {
    if (value < 0) return nothing(key);
    number(key, value + 1);
  }

 private:
  lua_State* L_;
};

/// Calls the function with what is on the stack after it; its error becomes ours.
void call(lua_State* L, int results, const std::string& when) {
  if (lua_pcall(L, 0, results, 0) == 0) return;
  const char* text = lua_tostring(L, -1);
  const std::string message =
      text != nullptr ? text : "an error that is not text but " + describe_value(L, lua_gettop(L));
  lua_pop(L, 1);
  throw Error("", message + " (" + when + ")");
}

std::string at(Picoseconds time) {
  char text[64];
  std::snprintf(text, sizeof text, "metric, at %.6f s", seconds(time));
  return text;
}

}  // namespace

LuaOwnMetrics::LuaOwnMetrics(Asking& asking) : asking_(&asking) {
  lua_State* L = asking.L;
  on_step_ = field_reference(L, "on_step");
  on_done_ = field_reference(L, "on_done");
  values_ = field_reference(L, "values");
  request_ = field_reference(L, "request");
  step_ = field_reference(L, "step");
  evidence_ = field_reference(L, "evidence_s");
  lua_pop(L, 1);
}

void LuaOwnMetrics::on_step(const StepDone& step) {
  if (!on_step_) return;
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "one of its metrics (on_step)");
  const Batch& batch = *step.batch;
  step_.push(L);
  const Fill fill(L);
  fill.index("replica", step.replica);
  fill.number("start_s", seconds(step.start));
  fill.number("end_s", seconds(step.end));
  fill.number("time_s", step.price->time_s);
  fill.number("own_s", step.price->own_s);
  fill.number("waiting", step.waiting);
  fill.number("running", step.running);
  fill.number("decodes", batch.decodes);
  fill.number("prefills", batch.prefill_count);
  fill.number("prefill_tokens", batch.tokens - batch.decode_tokens);
  fill.number("decode_context_tokens", batch.decode_context_tokens);
  fill.number("tokens_landed", step.tokens_landed());
  fill.number("used_blocks", step.used_blocks);
  fill.number("total_blocks", step.total_blocks);
  lua_pop(L, 1);
  evidence_.push(L);
  for (const EvidenceWord& word : evidence_words)
    fill.number(word.name.data(), step.price->evidence_s[static_cast<std::size_t>(word.value)]);
  lua_pop(L, 1);
  on_step_.push(L);
  call(L, 0, at(step.end));
}

void LuaOwnMetrics::on_done(const RequestDone& done) {
  if (!on_done_) return;
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "one of its metrics (on_done)");
  request_.push(L);
  const Fill fill(L);
  fill.number("id", done.id);
  fill.text("outcome", name(done.outcome));
  fill.time("arrival_s", done.arrival);
  fill.time("queued_s", done.queued);
  fill.time("scheduled_s", done.scheduled);
  fill.time("first_token_s", done.first_token);
  fill.time("last_token_s", done.last_token);
  fill.time("end_s", done.now);
  fill.span("queue_s", done.queued, done.scheduled);
  fill.span("ttft_s", done.arrival, done.first_token);
  fill.span("e2e_s", done.arrival, done.last_token);
  fill.nothing("tpot_s");
  if (done.output_tokens > 1 && done.first_token != never && done.last_token != never)
    fill.number("tpot_s", seconds(done.last_token - done.first_token) / (done.output_tokens - 1));
  fill.number("prompt_tokens", done.prompt_tokens);
  fill.number("output_tokens", done.output_tokens);
  fill.number("cached_tokens", done.cached_tokens);
  fill.number("preemptions", done.preemptions);
  fill.number("priority", done.priority);
  fill.number("class", done.klass);
  fill.index("replica", done.replica);
  fill.index("prefill_replica", done.prefill_replica);
  fill.nothing("session");
  if (done.session >= 0) fill.number("session", done.session);
  fill.nothing("tenant");
  if (done.tenant >= 0) fill.number("tenant", done.tenant);
  fill.nothing("program");
  if (done.program >= 0) fill.number("program", done.program);
  fill.nothing("adapter");
  if (done.adapter > 0) fill.number("adapter", done.adapter);
  fill.number("attempt", done.attempt);
  fill.number("origin", done.origin >= 0 ? done.origin : done.id);
  fill.claim("is_retried", done.is_retried);
  lua_pop(L, 1);
  on_done_.push(L);
  call(L, 0, at(done.now));
}

std::vector<OwnMetric> LuaOwnMetrics::values() const {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "one of its metrics (value)");
  values_.push(L);
  call(L, 1, "metric, value()");
  const Json given = to_json(L, lua_gettop(L), "metrics");
  lua_pop(L, 1);
  std::vector<OwnMetric> out;
  for (const Json& each : given.items()) {
    const Json* value = each.find("value");
    out.push_back({each.find("name")->text(), each.find("unit")->text(),
                   value != nullptr ? value->number() : std::numeric_limits<double>::quiet_NaN()});
  }
  return out;
}

}  // namespace rooflua::script
