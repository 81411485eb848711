-- Questions for `rooflua advise`, and the answer of brute force: every value of every option that acts, and every pair
-- of them, runs with all requests, without bounds and without an order.
local changes = require "rooflua.applied.changes"
local core = require "rooflua.base.core"
local deployment = require "rooflua.advise.deployment"
local metrics = require "rooflua.measure.metrics"
local moves = require "rooflua.advise.moves"
local opening = require "rooflua.runs.opening"
local random = require "rooflua.random"
local search = require "rooflua.advise.search"
local single = require "rooflua.runs.single"
local slo = require "rooflua.explore.search.slo"
local trials = require "rooflua.advise.trials"

local setup = {}

--- What the search is asked of a scenario's table.
---@param limits table {metric = limit}
---@param gpus integer? that there are
function setup.asked(given, limits, gpus)
  local opened = opening.table(given, {})
  local scenario = trials.plain((opening.variant(opened, 1)))
  local base = deployment.of(opened.reader, scenario, {})
  if base.problem then error(base.problem, 0) end
  local bounds = slo.bounds(limits, "slo", {})
  local drawn = deployment.question(opened.reader, scenario, base.workload, bounds).drawn
  return { reader = opened.reader, given = scenario, limits = bounds, gpus = gpus or base.gpus, jobs = 1, limit_s = 30,
    moves = moves.of(opened.reader, scenario, { replica = base.replica, gpus = gpus or base.gpus,
      longest = drawn and drawn.longest }), is_late = function() return false end }
end

function setup.searched(given, limits, gpus) return search.run(setup.asked(given, limits, gpus)) end

--- Whether changes meet the SLO, and how far the worst metric is from its limit; nil where they are refused or need
--- more GPUs. Deployments that are one have one answer.
local function judged(asked, list, known)
  local about = deployment.of(asked.reader, asked.given, list)
  if about.problem or about.gpus > asked.gpus then return nil end
  if known[about.text] then return nil end
  known[about.text] = true
  local ok, run = pcall(single.run, "serve", asked.reader, changes.apply(asked.reader, asked.given, list),
    { document = true, operations = false })
  if not ok then return nil end
  local verdict, margin = slo.judge({ run }, asked.limits), 0
  for _, bound in ipairs(asked.limits) do
    local value = metrics.value(run, bound.metric) or math.huge
    margin = math.max(margin, bound.max and value / bound.max or bound.min / value)
  end
  return verdict.meets, margin
end

--- The fewest changes that meet the SLO and the best of them: {count, margin, sets}; count nil where no pair does.
---@param most integer changes at once
function setup.brute(given, limits, gpus, most)
  local asked, known = setup.asked(given, limits, gpus), {}
  if judged(asked, {}, known) then return { count = 0 } end
  local best = {}
  local function try(list)
    local changed, sets = {}, {}
    for i, move in ipairs(list) do changed[i], sets[i] = { path = move.path, value = move.value }, move.set end
    local meets, margin = judged(asked, changed, known)
    if meets and (not best.margin or margin < best.margin) then
      best = { count = #list, margin = margin, sets = sets }
    end
  end
  for _, move in ipairs(asked.moves) do try { move } end
  if best.count or most < 2 then return best end
  for i, first in ipairs(asked.moves) do
    for j = i + 1, #asked.moves do
      if asked.moves[j].path ~= first.path then try { first, asked.moves[j] } end
    end
  end
  return best
end

--- Engines with two settings that cost time, or three.
local worsened = {
  { "vllm 0.19", enforce_eager = true, max_num_seqs = 4 },
  { "vllm 0.11.0", enforce_eager = true, async_scheduling = false, max_num_batched_tokens = 512 },
  { "sglang 0.5.9", disable_overlap_schedule = true, chunked_prefill_size = 512 },
  { "sglang 0.5.6", disable_cuda_graph = true, max_running_requests = 4 },
  { "trtllm 1.2.0rc6", disable_overlap_scheduler = true, max_batch_size = 4 } }

--- A small scenario and limits that it is near to, drawn at random: a share of its own metric, or those of the engine
--- without the settings that cost time ("repaired", a multiple of them).
function setup.random(stream)
  local function pick(list) return list[stream:integer(1, #list)] end
  local is_worse = stream:uniform() < 0.4
  local engine = pick { { "vllm 0.10.2" }, { "vllm 0.19", enforce_eager = true }, { "sglang 0.5.9" },
    { "trtllm 1.2.0rc6" }, { "vllm 0.24", max_num_seqs = 4 }, { "sglang 0.5.6", max_running_requests = 4 },
    { "vllm 0.11.0", max_num_batched_tokens = 512 }, { "sglang 0.5.9", chunked_prefill_size = 512 } }
  if is_worse then engine = pick(worsened) end
  local lengths = { num_requests = 40, prompt_tokens = pick { 200, 1000, 3000 }, output_tokens = pick { 8, 24 } }
  local is_closed = stream:uniform() < 0.4
  if is_closed then lengths.clients = pick { 8, 16, 32 } else lengths.rate_per_s = pick { 4, 12, 30, 60 } end
  local gpus = pick { 1, 1, 2 }
  local given = { model = pick { "llama-3.1-8b", "qwen3-8b", "qwen3-30b-a3b" },
    hardware = pick { "h100-sxm", "h200-sxm" },
    engine = engine, seed = stream:integer(1, 1000),
    workload = require(is_closed and "workloads.closed_loop" or "workloads.poisson")(lengths) }
  if is_worse then return given, 1, "repaired", pick { 1.01, 1.1, 1.3, 1.6 } end
  return given, gpus, pick { "ttft_s_p99", "tpot_s_p99", "e2e_s_mean", "output_tokens_per_s", "both" },
    pick { 0.5, 0.7, 0.85, 0.93, 0.98 }
end

--- Limits at a share of what the scenario has as it is: below it of times, above it of speeds; or at a multiple of what
--- it has repaired.
function setup.limits(given, metric, share)
  if metric == "repaired" then given = core.copy(given, { engine = given.engine[1] }) end
  local asked = setup.asked(given, { ttft_s_mean = 1 })
  local run = single.run("serve", asked.reader, asked.given, { document = true, operations = false })
  if metric == "repaired" then
    return { ttft_s_p99 = metrics.value(run, "ttft_s_p99") * share,
      tpot_s_mean = metrics.value(run, "tpot_s_mean") * share }
  end
  if metric == "both" then
    return { ttft_s_p99 = metrics.value(run, "ttft_s_p99") * share,
      tpot_s_mean = metrics.value(run, "tpot_s_mean") * (1 + share) / 2 }
  end
  local value = metrics.value(run, metric)
  return { [metric] = metric == "output_tokens_per_s" and value / share or value * share }
end

--- Compares advice with brute force on scenarios drawn at random: how many are the same, how many changes they need,
--- and what differs, as texts.
---@param most integer changes at once that brute force tries
function setup.compared(seed, count, most)
  local stream, same, by_count, told = random.streams(seed):stream "advise", 0, {}, {}
  for i = 1, count do
    local given, gpus, metric, share = setup.random(stream)
    local limits = setup.limits(given, metric, share)
    local found, expected = setup.searched(given, limits, gpus), setup.brute(given, limits, gpus, most)
    local changed = found.answer and found.answer.moves
    local number = found.base.verdict.meets and 0 or changed and #changed or nil
    if number and number > most then number = nil end
    local is_same = number == expected.count
      and (not expected.margin or math.abs(found.answer.verdict.margin / expected.margin - 1) < 1e-9)
    local needs = tostring(expected.count or "more")
    same, by_count[needs] = same + (is_same and 1 or 0), (by_count[needs] or 0) + 1
    if not is_same then
      local sets = {}
      for k, move in ipairs(changed or {}) do sets[k] = move.set end
      told[#told + 1] = ("%d: %s, %s at %g: advice %s (%s), brute force %s (%s)"):format(i, given.engine[1], metric,
        share, core.join(sets, "+"), tostring(found.answer and found.answer.verdict.margin),
        core.join(expected.sets or {}, "+"), tostring(expected.margin))
      print(told[#told])
    end
  end
  return same, by_count, told
end

return setup
