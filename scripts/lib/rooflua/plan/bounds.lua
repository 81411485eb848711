-- What a candidate cannot beat (stage 1), from prices of single steps. For one engine with seats S and budget B, of the
-- lengths that the load draws,
--
--     rate <= M(a, b, g) / (a (O-1) + b P + g C)     for every a, b, g >= 0
--     M = max over 0 <= n <= S, n + p <= B, c of (a n + b p + g c) / T(n, p, c)
--
-- n: decodes, p: prefill tokens, c: tokens of context that the decodes read; O, P, C: mean answer, prompt and context
-- read of a request. A run lasts at least the sum of its steps, each step takes at least (a n + b p + g c) / M, and the
-- sums of n, p, c are the load's. M is bounded cell by cell of a grid: the numerator at the upper corner, T at the
-- lower. c has no limit, so it counts only through the ceiling T >= (weights + KV bytes of c) / bandwidth.
--
-- TTFT >= T(0, prompt), TPOT >= T(1, 0, prompt): a quantile of these is below the same quantile of any run.
--
-- Step models that do not declare `monotone`, corrections and a table that falls somewhere have no bounds.
local batch = require "rooflua.border.batch"
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local replicas = require "rooflua.serving.replicas"
local statistics = require "rooflua.base.statistics"

local bounds = {}

--- The bound step model of one engine of a candidate.
function bounds.engine(question, candidate)
  local scenario = deploy.scenario(question, candidate, 1)
  scenario.replicas = 1
  return replicas.of(question.reader, scenario)[1]
end

--- Batches by "n p c chunks": those of one candidate serve the next, and making one costs as much as pricing it.
local batches = {}

local function batch_of(key, n, p, c, chunks)
  if not batches[key] then
    local prefills = {}
    for i = 1, chunks do
      local tokens = math.floor(p * i / chunks) - math.floor(p * (i - 1) / chunks)
      if tokens > 0 then prefills[#prefills + 1] = { new_tokens = tokens, context_tokens = 0, completes = false } end
    end
    batches[key] = batch.new { decodes = n, decode_context_tokens = n > 0 and c or 0, prefills = prefills }
  end
  return batches[key]
end

--- Prices steps of a bound engine, each once: time(n, p, c, chunks) in seconds.
function bounds.pricer(engine)
  local steps, known = engine.steps.steps, {}
  return function(n, p, c, chunks)
    local key = ("%d %d %.0f %d"):format(n, p, c, chunks or 1)
    if not known[key] then known[key] = steps:time(batch_of(key, n, p, c, chunks or 1)) end
    return known[key]
  end
end

local parts = 6 -- of the seats and of the budget
local first = { 0, 1, 2, 8, 64, 256 }
local most_chunks = 16 -- of a step's prompts

--- Whole numbers from 0 to `most`: fine at both ends.
local function grid(most)
  local seen, out = {}, {}
  local function add(value)
    if value <= most and not seen[value] then seen[value], out[#out + 1] = true, value end
  end
  for _, value in ipairs(first) do add(value) end
  for i = 1, parts do add(math.floor(most * i / parts)) end
  table.sort(out)
  return out
end

local rounding = 1e-9

--- Whether T falls from a corner to the next one. Where no number lies between the two, each has a price of its own:
--- SGLang runs decodes without a graph beside a chunk of one token, and in a graph beside one of two.
local function falls_to(value, before, numbers, i)
  return before and numbers[i] > numbers[i - 1] + 1 and value < before * (1 - rounding)
end

--- T at the corners, and whether it falls anywhere between two of them.
local function prices_of(time, ns, ps, drawn, budget)
  local out, falls = {}, false
  for i, n in ipairs(ns) do
    out[i] = {}
    for j, p in ipairs(ps) do
      if n + p > 0 and n + p <= budget then
        local c = n * drawn.shortest_prompt
        local chunks = math.max(1, math.min(most_chunks, math.floor(p / math.max(1, drawn.shortest_prompt))))
        local one = time(n, p, c, 1)
        out[i][j] = math.min(one, p > 0 and chunks > 1 and time(n, p, c, chunks) or one)
        falls = falls or falls_to(out[i][j], i > 1 and out[i - 1][j], ns, i)
          or falls_to(out[i][j], j > 1 and out[i][j - 1], ps, j)
      end
    end
  end
  return out, falls
end

--- Seconds per byte of context that decodes read, and of the weights; nil where that is not the whole of it.
local function ceiling_of(question, candidate, steps)
  if not steps.ceiling or candidate.pp > 1 or candidate.speculation then return nil end
  for _, kind in ipairs(core.plain(question.model.attention)) do
    if kind.kind ~= "full" then return nil end
  end
  local own, hardware = candidate.deployment, question.gpus[candidate.gpu].hardware
  local embedding = question.model.vocab_size * question.model.hidden_size * 2
  local weights = question.model.moe and 0 or math.max(0, own.weight_bytes - embedding)
  return { context_s = own.kv_bytes_per_block / own.block_size / hardware.memory_bytes_per_s,
    weights_s = weights / hardware.memory_bytes_per_s }
end

--- The most of (a n + b p + g c) / T in one cell, over every c.
local function most_of_cell(base, g, time_s, ceiling)
  if g == 0 then return base / time_s end
  local c = math.max(0, (time_s - ceiling.weights_s) / ceiling.context_s) -- the ceiling is reached here
  return math.max((base + g * c) / math.max(time_s, ceiling.weights_s), g / ceiling.context_s)
end

--- M of one choice of a, b, g.
local function most(cells, a, b, g, ceiling)
  local out = 0
  for _, cell in ipairs(cells) do
    local value = most_of_cell(a * cell.n + b * cell.p, g, cell.time_s, ceiling)
    if value > out then out = value end
  end
  return out
end

--- Cells as {n, p of the upper corner, time_s of the lower}.
local function cells_of(table_s, ns, ps, seats, budget)
  local out = {}
  for i, n in ipairs(ns) do
    local n_upper = ns[i + 1] and ns[i + 1] - 1 or seats
    for j, p in ipairs(ps) do
      if table_s[i][j] then
        local p_upper = math.min(ps[j + 1] and ps[j + 1] - 1 or budget, budget - n)
        out[#out + 1] = { n = n_upper, p = math.max(p_upper, p), time_s = table_s[i][j] }
      end
    end
  end
  return out
end

--- Mean decodes, prompt tokens and context read of a request; what may be cached is not counted.
local function work_of(drawn, candidate)
  local decodes, prompt, context = 0, 0, 0
  local accepted = candidate.speculation and 64 or 1 -- a step gives at most this many tokens of a request
  for i = 1, drawn.count do
    local p, o = drawn.prompts[i], drawn.outputs[i]
    decodes = decodes + (o - 1) / accepted / drawn.count
    prompt = prompt + (drawn.shares and 1 or p) / drawn.count
    context = context + (o - 1) * (p + o / 2) / drawn.count
  end
  return decodes, prompt, context
end

local shares_of_context = { 0, 0.25, 1, 4 }

--- The rate that one engine cannot exceed.
local function rate_of(cells, decodes, prompt, context, ceiling)
  local least = math.huge
  local function try(a, b)
    local own = a * decodes + b * prompt
    for _, share in ipairs(shares_of_context) do
      local g = ceiling and context > 0 and share * own / context or 0
      local weight = own + g * context
      if weight > 0 and (g > 0 or share == 0) then least = math.min(least, most(cells, a, b, g, ceiling) / weight) end
    end
  end
  for i = -8, 32 do try(10 ^ (i / 8), 1) end
  try(1, 0)
  try(0, 1)
  return least
end

--- The same for x prefill and y decode engines: each does its own part of a request. Prices are those of the decode
--- engines, so prefill engines of other widths have no bound.
local function rate_of_split(candidate, table_s, ns, ps, work)
  local prefills, decodes = {}, {}
  for _, cell in ipairs(cells_of(table_s, ns, ps, candidate.max_num_seqs, candidate.max_num_batched_tokens)) do
    prefills[#prefills + 1] = { n = 0, p = cell.p, time_s = cell.time_s }
    decodes[#decodes + 1] = { n = cell.n, p = 0, time_s = cell.time_s }
  end
  local has_bound = work[2] > 0 and deploy.pool(candidate, "prefill") == candidate
  local by_prefill = has_bound and most(prefills, 0, 1, 0) / work[2] or math.huge
  local by_decode = work[1] > 0 and most(decodes, 1, 0, 0) / work[1] or math.huge
  return math.min(candidate.split.prefill * by_prefill, candidate.split.decode * by_decode)
end

local function sorted_of(list)
  local out = {}
  for i, each in ipairs(list) do out[i] = each end
  table.sort(out)
  return out
end

--- The lower bound of a metric of the SLO; nil where there is none. T does not fall in the prompt, so requests in the
--- order of their prompts are in the order of their least TTFT.
local function of_metric(time, drawn, candidate, metric)
  local name, figure = metric:match "^(%a%d?%a*)_s_(%w+)$"
  local q = figure == "mean" and 0 or figure and figure:match "^p(%d+)$"
  if not q then return nil end
  if q ~= 0 then q = tonumber(q) / 10 ^ #q end
  local budget = candidate.max_num_batched_tokens
  local function ttft_s(prompt)
    if drawn.shares then prompt = 1 end
    local rest = prompt % budget
    return math.floor(prompt / budget) * time(0, budget, 0) + (rest > 0 and time(0, rest, 0) or 0)
  end
  local prefills_alike = deploy.pool(candidate, "prefill") == candidate
  local tpot_s = time(1, 0, drawn.shortest_prompt) / (candidate.speculation and 64 or 1)
  drawn.by_prompt, drawn.by_output = drawn.by_prompt or sorted_of(drawn.prompts),
    drawn.by_output or sorted_of(drawn.outputs)
  if name == "ttft" then return prefills_alike and statistics.of_sorted(drawn.by_prompt, q, ttft_s) or nil end
  if name == "tpot" then return tpot_s end
  if name == "e2e" then
    local first_s = prefills_alike and ttft_s(drawn.shortest_prompt) or 0
    return statistics.of_sorted(drawn.by_output, q, function(output) return first_s + (output - 1) * tpot_s end)
  end
end

--- Why there are no bounds for a step model; nil where there are.
local function off_because(engine)
  local prepared, steps = engine.prepared, engine.steps.steps
  for _, each in ipairs(prepared.corrections) do
    if not each.lengthens then return ("steps have the correction %s"):format(tostring(each.name)) end
  end
  if not steps.monotone then return ("%s does not declare itself monotone"):format(tostring(steps.name)) end
end

--- {rate_per_s of one replica, latency = {metric = seconds}, never = {metric, least, limit}, off = reason}.
function bounds.of(question, candidate, engine, time)
  local off = off_because(engine)
  if off then return { off = off } end
  local drawn, seats, budget = question.drawn, candidate.max_num_seqs, candidate.max_num_batched_tokens
  local ns, ps = grid(math.min(seats, budget)), grid(budget)
  local table_s, falls = prices_of(time, ns, ps, drawn, budget)
  if falls then return { off = ("a step of %s gets cheaper with more work"):format(candidate.name) } end
  local out = { latency = {} }
  local work = { work_of(drawn, candidate) }
  if candidate.split then
    out.rate_per_s = rate_of_split(candidate, table_s, ns, ps, work)
  else
    local cells = cells_of(table_s, ns, ps, math.min(seats, budget), budget)
    out.rate_per_s = rate_of(cells, work[1], work[2], work[3],
      ceiling_of(question, candidate, engine.steps.steps))
  end
  out.rate_per_s = out.rate_per_s * candidate.dp * candidate.pp
  for _, bound in ipairs(question.bounds) do
    local least = of_metric(time, drawn, candidate, bound.metric)
    out.latency[bound.metric] = least
    if least and bound.max and least > bound.max then
      out.never = out.never or { metric = bound.metric, least = least, limit = bound.max }
    end
  end
  return out
end

--- Fewest replicas that the rate bound allows; 1 where the load is no rate.
function bounds.fewest(question, found)
  if not found.rate_per_s or question.load.kind ~= "rate" then return 1 end
  return math.max(1, math.ceil(question.load.value * question.load.peak / found.rate_per_s - 1e-9))
end

return bounds
