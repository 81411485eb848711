-- Simulated deployments of a plan: one run, and the fewest replicas with which a run meets the SLO. Every run of a plan
-- with one seed has the same requests, whatever the candidate.
--
-- A run whose steps take f times as long is the run of f times the load on the same steps, with every duration times f.
-- So a factor on all steps costs no other price of any step.
local native = require "rooflua.native"
local answers = require "rooflua.intervals.answers"
local breakdown = require "rooflua.serving.breakdown"
local deploy = require "rooflua.plan.deploy"
local live = require "rooflua.serving.live"
local load = require "rooflua.machine.load"
local metrics = require "rooflua.measure.metrics"
local notes = require "rooflua.machine.notes"
local outcomes = require "rooflua.measure.outcomes"
local Reader = require "rooflua.scenario.reader"
local replicas_of = require "rooflua.serving.replicas"

local evaluate = {}

local shown = { "ttft_s_p50", "ttft_s_p99", "ttft_s_mean", "tpot_s_p50", "tpot_s_p99", "tpot_s_mean", "e2e_s_mean",
  "output_tokens_per_s", "requests_per_s" }

--- The step model of the candidate of the last run, whose prices hold for the next run of the same candidate, and what
--- its runs have in common (machine/shared.lua).
local kept = {}

local function reader_of(question, candidate)
  local reader = Reader.new(question.reader.file)
  if candidate.speculation or candidate.set then return reader end
  if kept.question == question and kept.candidate == candidate then reader.shared = kept.shared end
  reader.bind_steps = function(prepared)
    if kept.question ~= question or kept.candidate ~= candidate then
      kept = { question = question, candidate = candidate, steps = replicas_of.bound_steps(prepared),
        shared = reader.shared }
    end
    if #prepared.corrections > 0 then return replicas_of.bound_steps(prepared) end
    return kept.steps
  end
  return reader
end

--- Value of a metric of a run whose steps take `factor` times as long.
local function scaled(name, value, factor)
  if factor == 1 or not value then return value end
  local unit = (metrics.about(name) or {}).unit or "1"
  if unit == "s" then return value * factor end
  return unit:find "/s" and value / factor or value
end

local function limits_of(question, factor)
  local given = question.base.slo
  if not given or factor == 1 then return given end
  local out = {}
  for key, value in pairs(given) do out[key] = value / factor end
  return out
end

--- What lets the engine end a run that has missed the SLO already: {metric, limit_s, most_above} of each quantile, as
--- engine/measure/record/quantile_watch.h has it. A request that is not completed is a miss as well. nil where the
--- number of requests is not known before the run, or where quantiles are not exact.
local function limits_of_run(question, requests)
  if question.drawn.count ~= question.requests or not requests or requests > question.requests then return nil end
  if question.base.metrics ~= nil then return nil end -- exact_requests may be there
  local out = {}
  for _, bound in ipairs(question.bounds) do
    local metric, digits = bound.metric:match "^(%w+)_s_p(%d+)$"
    if bound.max and (metric == "ttft" or metric == "tpot" or metric == "e2e") then
      local q = tonumber(digits) / 10 ^ #digits
      out[#out + 1] = { metric = metric, limit_s = bound.max,
        most_above = requests - math.floor(q * (requests - 1)) - 1 }
    end
  end
  return out
end

local growth = 2 -- of the mean TTFT from the first half of the requests to the second

--- Whether the second half of the requests waits much longer than the first: the queue grows. A load that changes by
--- itself (a ramp, a day, a burst) is judged by its limits alone. That of users is never one: they wait for answers.
local function is_unsteady(run, asked, workload)
  local early_s, late_s, varies = native.serve_growth(run)
  if early_s == nil or late_s <= growth * early_s then return false end
  return asked.kind == "clients" or not (varies or load.varies(workload))
end

local unmeasured = 1e9 -- how far a metric without a value is from its limit

--- The verdict: whether every bound holds, and how far the worst of them is from its limit (1: at it).
local function judge(bounds, out)
  out.meets, out.margin, out.missed = true, 0, {}
  local function miss(bound)
    out.meets = false
    out.missed[#out.missed + 1] = bound.metric
  end
  for _, bound in ipairs(bounds) do
    local value = out.metrics[bound.metric]
    if not value then
      miss(bound)
      out.margin = unmeasured
    else
      local ratio = 0
      if bound.max then ratio = bound.max > 0 and value / bound.max or (value > 0 and math.huge or 0) end
      if bound.min then ratio = math.max(ratio, value > 0 and bound.min / value or math.huge) end
      if bound.max and value > bound.max or bound.min and value < bound.min then miss(bound) end
      ratio = math.min(ratio, unmeasured)
      if ratio > out.margin then out.margin, out.binds = ratio, bound.metric end
    end
  end
end

--- The mean share of time in which GPUs run steps, and those that only encode run passes.
---@param encoders integer GPUs that only encode
---@param gpus integer all of them
local function busy_of(summary, encoders, gpus)
  local sum, count = 0, 0
  for _, each in ipairs(summary.replicas or {}) do
    if each.busy_frac then sum, count = sum + each.busy_frac, count + 1 end
  end
  if count == 0 then return nil end
  if encoders == 0 or not summary.encoder or summary.duration_s == 0 then return sum / count end
  return (sum / count * (gpus - encoders) + math.min(encoders, summary.encoder.encode_s / summary.duration_s)) / gpus
end

--- Means of a run's work over the GPUs and the whole run, which a power policy reads; nil where no step was sampled.
local function work_of(run)
  local mfu, bandwidth_frac = metrics.value(run, "overall_mfu"), metrics.value(run, "bandwidth_frac")
  return mfu and bandwidth_frac and { mfu = mfu, bandwidth_frac = bandwidth_frac } or nil
end

--- What `run` prints besides the figures of a run: what its workload did not send, and the notes.
local function notes_of(state)
  local out = native.left_out_lines { { left_out = native.serve_left_out(state.run) } }
  for _, note in ipairs(notes.of_run(state) or {}) do out[#out + 1] = note end
  return out
end

--- One run. options: requests, seed, scale (of the load), factor (on all steps), steady (whether a queue that grows
--- is a miss), verdict (whether only `meets` is wanted: a run that misses ends as soon as it has missed, and has no
--- metrics), caps (whether to watch what seats and budget decide), here (whether it runs outside of worker processes,
--- where Ctrl-C is an error as in every call), brief (whether nothing tells of the run: it has no notes, nor the
--- share of time that notes touch). Returns {replicas, requests, meets, margin, binds, missed, problem, metrics,
--- evidence, noted_frac, notes, lost, cut, limited, most_running}. missed: metrics whose limits do not hold;
--- "steady" where the queue grows. lost: requests that were not completed, by outcome.
function evaluate.run(question, candidate, replicas, options)
  local factor = options.factor or 1
  local scenario = deploy.scenario(question, candidate, replicas, { requests = options.requests,
    seed = options.seed, scale = (options.scale or 1) * (question.load.kind == "clients" and 1 or factor),
    slo = limits_of(question, factor) })
  return evaluate.scenario(question, candidate, replicas, scenario, options)
end

--- The same of a scenario that is there already. `pool`: how its replicas came and went, where an autoscaler did that.
function evaluate.scenario(question, candidate, replicas, scenario, options)
  local factor = options.factor or 1
  local may_grow = question.load.kind == "recorded" -- by itself
  local state = live.state(live.begin(reader_of(question, candidate), scenario,
    { closes = true, sketch = question.power.reads_work or nil, caps = options.caps or nil,
      growth = options.steady and not may_grow or nil,
      limits = options.verdict and factor == 1 and limits_of_run(question, options.requests) or nil }))
  if options.here then native.serve_advance(state.run) end
  local stopped = native.serve_run_or_stop(state.run)
  if stopped and stopped.stopped_by == "limits" then
    local out = { replicas = replicas, requests = options.requests, meets = false, cut = true }
    out.limited, out.most_running = native.serve_limited(state.run)
    native.serve_close(state.run)
    return out
  end
  if stopped then error(stopped.message or "stopped", 0) end
  native.serve_finish(state.run)
  local told = not options.brief or question.base.metrics ~= nil -- bounds may be on what sampled steps tell
  if told or question.power.reads_work then breakdown.tell(state) end
  local summary = native.serve_document(state.run)
  local gpus = deploy.gpus(question, candidate, replicas)
  local out = { replicas = replicas, requests = options.requests, scale = options.scale or 1, metrics = {},
    evidence = summary.evidence, noted_frac = summary.noted_frac,
    busy_frac = busy_of(summary, candidate.encoders or 0, gpus),
    passes = told and answers.passes_of(state, summary) or nil,
    notes = told and notes_of(state) or nil, pool = summary.pools and summary.pools[1] }
  local run = { summary = summary, gpus = gpus }
  if question.power.reads_work then out.work = work_of(run) end
  for _, list in ipairs { shown, question.metrics or {} } do
    for _, name in ipairs(list) do out.metrics[name] = scaled(name, metrics.value(run, name), factor) end
  end
  for _, bound in ipairs(question.bounds) do
    out.metrics[bound.metric] = scaled(bound.metric, metrics.value(run, bound.metric), factor)
  end
  judge(question.bounds, out)
  out.lost = outcomes.not_completed(summary)
  if out.lost then
    out.meets, out.problem = false, outcomes.text(out.lost)
  elseif out.meets and options.steady and is_unsteady(state.run, question.load, scenario.workload) then
    out.meets, out.problem, out.missed = false, "not steady: TTFT grows", { "steady" }
  end
  out.limited, out.most_running = native.serve_limited(state.run)
  native.serve_close(state.run)
  return out
end

--- The fewest replicas from `least` to `most` with which a run meets the SLO, near `guess`. It assumes that more
--- replicas are never worse. options: those of evaluate.run but for `verdict`. Returns {replicas or nil, best = the
--- run, missed = the run with one fewer, tried, runs}: runs has all that were tried, by the number of replicas.
function evaluate.fewest(question, candidate, range, options)
  local least, most = range.least, range.most
  local tried, count = {}, 0
  local function meets(replicas)
    if not tried[replicas] then
      local own = { requests = options.requests, seed = options.seed, steady = options.steady, caps = options.caps,
        scale = options.scale, brief = options.brief,
        verdict = replicas < most } -- the run with all GPUs tells how far the candidate is from the SLO
      tried[replicas], count = evaluate.run(question, candidate, replicas, own), count + 1
    end
    return tried[replicas].meets
  end
  local at = math.max(least, math.min(most, range.guess or least))
  local low, high -- misses, meets
  local step = 1
  if meets(at) then
    high = at
    while high > least do
      local lower = math.max(least, high - step)
      if not meets(lower) then low = lower break end
      high, step = lower, step * 2
    end
    low = low or least - 1
  else
    low = at
    while low < most do
      local upper = math.min(most, low + step)
      if meets(upper) then high = upper break end
      low, step = upper, step * 2
    end
  end
  if not high then return { best = tried[most], tried = count, runs = tried } end
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if meets(middle) then high = middle else low = middle end
  end
  return { replicas = high, best = tried[high], missed = tried[high - 1], tried = count, runs = tried }
end

evaluate.most_scale = 4 -- multiples of the load beyond this are not looked for

--- The largest multiple of the load that so many replicas hold, to 2 %; 0 where 5 % of it is too much. Also the run at
--- it, where there was one, the number of runs, and whether no larger multiple was looked for.
---@param options table requests, seed, steady; meets: whether the load itself is held, where that is known; most_scale;
--- never: the multiple that bounds exclude; brief, as in evaluate.run
function evaluate.holds_to(question, candidate, replicas, options)
  local runs, tried = {}, 0
  local most = options.most_scale or evaluate.most_scale
  local function meets(scale)
    if scale == 1 and options.meets ~= nil then return options.meets end
    if options.never and scale > options.never then return false end
    local own = { requests = options.requests, seed = options.seed, scale = scale, steady = options.steady,
      verdict = true, brief = options.brief }
    runs[scale], tried = evaluate.run(question, candidate, replicas, own), tried + 1
    return runs[scale].meets
  end
  local low, high
  if meets(1) then
    low, high = 1, 1.25
    while high < most and meets(high) do low, high = high, high * 1.5 end
    if high >= most then return low, runs[low], tried, true end
  else
    low, high = 0.8, 1
    while low > 0.05 and not meets(low) do low, high = low / 1.5, low end
    if low <= 0.05 then return 0, nil, tried end
  end
  while high / low > 1.02 do
    local middle = math.sqrt(low * high)
    if meets(middle) then low = middle else high = middle end
  end
  return low, runs[low], tried
end

return evaluate
