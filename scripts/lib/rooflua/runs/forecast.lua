-- A forecast of a served scenario from a handful of batches: which evidence its time will rest on, and whether it
-- keeps up with its load. Requests are drawn from the workload; nothing is simulated.
local batch = require "rooflua.border.batch"
local core = require "rooflua.base.core"
local ledger = require "rooflua.border.ledger"
local drawn = require "rooflua.plays.drawn"
local idle = require "rooflua.scenario.idle"
local items = require "rooflua.machine.items"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local prices = require "rooflua.machine.prices"
local statistics = require "rooflua.base.statistics"

local forecast = {}

local most_drawn, most_decodes = 256, 1024

--- The key of the seconds that notes of the model touch, besides the names of evidence.
forecast.noted = "noted"

--- The first requests of a workload: lists of arrivals and lengths, in what they differ (scenario/idle.lua), and of a
--- trace its notes and what it leaves out. Requests that wait for the end of others are not among them.
---@param model rooflua.spec.Model
function forecast.requests(workload, streams, model)
  local source = items.counted(policy.fresh(workload):requests(streams), model)
  local out = { arrivals_s = {}, prompts = {}, outputs = {} }
  local function add(at_s, prompt, output)
    local i = #out.prompts + 1
    out.arrivals_s[i], out.prompts[i], out.outputs[i] = at_s, prompt, output
  end
  if type(source) == "userdata" then
    for _, row in ipairs(native.trace_rows(source, most_drawn)) do add(row[1], row[2], row[3]) end
    local described = native.trace_describe(source)
    out.left_out, out.notes = described.left_out, described.notes
    return out
  end
  if type(source) == "table" and type(source.plays) == "function" then
    drawn.each(source, most_drawn, add)
    return out
  end
  -- What the run refuses is not drawn: the trial of policies says what is wrong with it.
  local next_request = source
  if type(source) == "table" then next_request = source.next end
  if type(next_request) ~= "function" then return out end
  out.seen = idle.seen()
  while #out.prompts < most_drawn do
    local at_s, prompt, output, more
    if type(source) == "function" then at_s, prompt, output, more = next_request()
    else at_s, prompt, output, more = next_request(source) end
    if at_s == nil then break end
    if type(at_s) ~= "number" or type(prompt) ~= "number" or type(output) ~= "number" then break end
    add(at_s, prompt, output)
    out.seen:on_done(type(more) == "table" and more or {})
  end
  out.seen.drawn = #out.prompts == most_drawn or type(source) == "table" and source.done ~= nil
  return out
end

local function largest(list)
  local out = 0
  for _, value in ipairs(list) do out = math.max(out, value) end
  return out
end

--- Mean and longest lengths, and the rate of arrivals.
function forecast.figures(requests)
  local longest, n = 0, #requests.prompts
  for i, prompt in ipairs(requests.prompts) do longest = math.max(longest, prompt + requests.outputs[i]) end
  local span_s = n > 1 and requests.arrivals_s[n] - requests.arrivals_s[1] or 0
  return { count = n, prompt = math.max(1, math.floor((statistics.mean(requests.prompts) or 0) + 0.5)),
    output = math.max(1, math.floor((statistics.mean(requests.outputs) or 0) + 0.5)),
    longest = longest, longest_prompt = largest(requests.prompts),
    rate_per_s = n > 20 and span_s > 0 and (n - 1) / span_s or nil }
end

local function price(replica, given)
  return prices.price_batch(replica.prepared, replica.steps, batch.new(given))
end

local function decode(replica, count, context)
  return price(replica, { decodes = count, decode_context_tokens = count * context })
end

--- How many requests can decode in one step.
local function seats_of(replica, figures)
  local config = replica.config
  local of_one = figures.prompt + figures.output + config.seat_blocks * config.block_size
  local by_kv = math.floor(config.kv_blocks * config.block_size / of_one)
  local seats = config.max_num_seqs > 0 and config.max_num_seqs or most_decodes
  return math.max(1, math.min(seats, by_kv, most_decodes))
end

--- Seconds of prefill per request: its prompt in chunks of the budget.
local function prefill(replica, figures)
  local budget = replica.config.max_num_batched_tokens
  local chunk = budget > 0 and math.min(budget, figures.prompt) or figures.prompt
  local first = price(replica, { prefills = { { new_tokens = chunk, context_tokens = 0,
    completes = chunk == figures.prompt, left_tokens = math.ceil(figures.prompt - chunk) } } })
  local chunks = figures.prompt / chunk
  if chunks <= 1 then return first.time_s, { { first, 1 } } end
  local last = price(replica, { prefills = { { new_tokens = chunk, context_tokens = figures.prompt - chunk } } })
  return chunks * (first.time_s + last.time_s) / 2, { { first, chunks / 2 }, { last, chunks / 2 } }
end

local function add(sums, priced, weight)
  for name, share in pairs(priced.evidence) do sums[name] = (sums[name] or 0) + share * priced.time_s * weight end
  if priced.noted_frac then
    sums[forecast.noted] = (sums[forecast.noted] or 0) + priced.noted_frac * priced.time_s * weight
  end
end

--- Adds the ops of a price to `ops`: evidence -> names of ops that rest on it.
local function note_ops(ops, priced)
  for _, row in ipairs(priced.rows) do
    if row.kind ~= "correction" and row.evidence then
      ops[row.evidence] = ops[row.evidence] or {}
      ops[row.evidence][row.kind] = true
    end
  end
end

local function of_replica(replica, figures, rate_per_s)
  local seats = seats_of(replica, figures)
  local prefill_s, parts = prefill(replica, figures)
  local context = math.floor(figures.prompt + figures.output / 2)
  local full = decode(replica, seats, context)
  local most_per_s = 1 / (prefill_s + figures.output * full.time_s / seats)
  local running = seats
  if rate_per_s and rate_per_s < most_per_s then -- Little's law, iterated from one request upwards
    running = 1
    for _ = 1, 4 do
      local step_s = decode(replica, running, context).time_s
      local e2e_s = prefill_s + figures.output * (step_s + rate_per_s * prefill_s * step_s)
      running = math.max(1, math.min(seats, math.floor(rate_per_s * e2e_s + 0.5)))
    end
  end
  local usual = decode(replica, running, context)
  local sums, ops = {}, {}
  for _, part in ipairs(parts) do
    add(sums, part[1], part[2])
    note_ops(ops, part[1])
  end
  add(sums, usual, figures.output / running)
  note_ops(ops, usual)
  parts[#parts + 1] = { usual, figures.output / running }
  return { seconds = sums, ops = ops, parts = parts, most_per_s = most_per_s, running = running, seats = seats }
end

--- One replica under its share of the load: seconds by evidence, the most requests per second that it can serve,
--- how many run at once, and the batches that were priced for one request: `parts`, a list of {priced, how often}.
---@param rate_per_s number? requests per second that come to this replica; nil = as many as it can take
function forecast.of_replica(replica, figures, rate_per_s)
  return ledger.with_corrections(replica.prepared.corrections, of_replica, replica, figures, rate_per_s)
end

--- Shares of evidence from seconds, and under forecast.noted the share that notes of the model touch.
function forecast.shares(seconds)
  local total, out = 0, {}
  for _, name in ipairs(core.sorted_keys(seconds)) do
    if name ~= forecast.noted then total = total + seconds[name] end
  end
  for name, value in pairs(seconds) do
    if value > 0 then out[name] = value / total end
  end
  return out
end

return forecast
