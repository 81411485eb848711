-- The autoscalers `planner_load` and `planner_sla` as the PlannerConfig of Dynamo's planner (--config FILE).
-- Source: ai-dynamo/dynamo 1.0 on, components/src/dynamo/planner/config/planner_config.py; optimization_target load 1.2
-- on. Fields have their first names (ttft, throughput_adjustment_interval), which later releases read as well as
-- ttft_ms and throughput_adjustment_interval_seconds.
local core = require "rooflua.base.core"
local pool = require "rooflua.handover.pool"
local yaml = require "rooflua.text.yaml"

local dynamo_planner = {}

local format = "dynamo-planner"

local modes = { prefill = "prefill", decode = "decode" }
local backends = { vllm = true, sglang = true, trtllm = true }

--- A percentage or milliseconds without the noise of a multiplication.
local function scaled(value, factor) return tonumber(("%.12g"):format(value * factor)) end

local function of_load(given, comments)
  if given:take "watch" == "queue" then
    given:fail("watch = \"queue\" has no place in the file: Dynamo 1.2 counts tokens of waiting prompts, not requests")
  end
  given:pass("queue_up", "queue_down")
  local up, down = given:take "kv_up", given:take "kv_down"
  if up <= down then given:fail("kv_up must be above kv_down") end
  comments[#comments + 1] = "Dynamo 1.2 or later"
  comments[#comments + 1] = ("not in this file: grace_intervals = %d; planners of these releases have no such period")
    :format(given:take "grace_intervals")
  return { { "optimization_target", "load" }, { "load_adjustment_interval", given:whole("interval_s", 1) },
    { "decode_scale_up_kv_rate", scaled(up, 100) }, { "decode_scale_down_kv_rate", scaled(down, 100) } }
end

local function of_sla(given, comments)
  comments[#comments + 1] = "Dynamo 1.0 or later"
  comments[#comments + 1] = ("not in this file: prefill_tokens_per_s = %g and decode_tokens_per_s = %g; the planner "
    .. "measures them (pre_deployment_sweeping_mode)"):format(given:take "prefill_tokens_per_s",
    given:take "decode_tokens_per_s")
  return { { "optimization_target", "sla" }, { "enable_throughput_scaling", true }, { "enable_load_scaling", false },
    { "throughput_adjustment_interval", given:whole("interval_s", 1) }, { "load_predictor", "constant" },
    { "ttft", scaled(given:take "ttft_s", 1000) }, { "itl", scaled(given:take "itl_s", 1000) } }
end

function dynamo_planner.text(facts)
  local policies, comments = facts.policies, {}
  local own, given = pool.of(format, policies, { planner_load = true, planner_sla = true })
  local role = own.role and modes[own.role] or "agg"
  local map = { { "mode", role } }
  if policies.engine then
    if not backends[policies.engine] then core.fail("--write %s: Dynamo has no backend %s", format, policies.engine) end
    map[#map + 1] = { "backend", policies.engine }
  else
    comments[#comments + 1] = "the scenario names no engine: backend is left out, which is vllm"
  end
  local rest = given.name == "planner_load" and of_load(given, comments) or of_sla(given, comments)
  if given.name == "planner_load" and role == "prefill" then
    given:fail("KV use has no place in the file of prefill replicas: Dynamo counts tokens of waiting prompts there")
  end
  for _, pair in ipairs(rest) do map[#map + 1] = pair end
  local gpus = facts.tp * facts.pp * facts.dp * facts.cp + facts.expert_gpus
  map[#map + 1] = { "min_endpoint", math.max(1, own.min) }
  map[#map + 1] = { "max_gpu_budget", own.max * gpus }
  map[#map + 1] = { (role == "prefill" and "prefill" or "decode") .. "_engine_num_gpu", gpus }
  given:finish()
  return yaml.text { { comments = comments, map = map } }
end

return dynamo_planner
