-- The figures of one side: the memory, prices of a few steps, and a run under the load.
local capacity = require "rooflua.serving.capacity"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local metrics = require "rooflua.measure.metrics"
local Reader = require "rooflua.scenario.reader"
local single = require "rooflua.runs.single"
local trials = require "rooflua.advise.trials"
local units = require "rooflua.text.units"

local figures = {}

local prompts = { 1024, 8192 }
local batch_sizes = { 1, 32 }
local context_tokens = 1024

--- The metrics of a run that are compared.
figures.shown = trials.shown

local of_capacity = { "model", "hardware", "engine", "deployment", "scheduler", "speculation", "adapters", "experts",
  "tiers" }
local of_price = { "model", "hardware", "engine", "deployment", "speculation", "adapters", "steps", "corrections",
  "mfu", "links" }

local function picked(given, keys)
  local out = {}
  for _, key in ipairs(keys) do out[key] = given[key] end
  return out
end

local function reader_of(side, engine)
  local reader = Reader.new(side.file)
  reader.shared.engine_in_place = engine
  return reader
end

--- Passes on what ends everything; else the sentence of an error.
local function problem_of(found)
  if chunks.is_spent(found) or tostring(found) == "interrupted" then error(found, 0) end
  return tostring(found)
end

local function memory_of(side, engine)
  local given = picked(side.given, of_capacity)
  given.deployment = core.plain(given.deployment or {})
  given.deployment.engine = nil
  local found = capacity.of(given, reader_of(side, engine))
  local parts = {}
  for i, each in ipairs(found.parts) do parts[i] = { name = each.name, bytes = each.bytes } end
  return { starts = found.starts, reason = found.reason, kv_tokens = found.tokens, kv_bytes = found.kv_bytes,
    kv_blocks = found.blocks, max_concurrency = found.concurrency, budget_bytes = found.budget_bytes, parts = parts,
    max_num_seqs = found.facts.seats, max_num_batched_tokens = found.facts.budget,
    max_model_len = found.facts.max_model_len, block_size = found.block_size }
end

--- A prompt in steps of the token budget: {batches}.
local function prompt_steps(tokens, budget)
  local out, done = {}, 0
  while done < tokens do
    local new = math.min(tokens - done, budget)
    out[#out + 1] = { prefills = { { new_tokens = new, context_tokens = done, completes = done + new == tokens,
      left_tokens = tokens - done - new } } }
    done = done + new
  end
  return out
end

--- The steps that are priced: {name, batches}.
---@param memories table[] of both sides: a step is one that both can run
function figures.steps(memories)
  local seats, longest, out = math.huge, math.huge, {}
  for _, each in ipairs(memories) do
    seats, longest = math.min(seats, each.max_num_seqs), math.min(longest, each.max_model_len)
  end
  for _, tokens in ipairs(prompts) do
    if tokens <= longest then
      out[#out + 1] = { name = ("a prompt of %s tokens"):format(units.grouped(tokens)), prompt = tokens }
    end
  end
  local last = 0
  for _, count in ipairs { batch_sizes[1], batch_sizes[2], seats } do
    if count > last and count <= seats and count < math.huge then
      local context = math.min(context_tokens, longest)
      out[#out + 1] = { name = ("%s of %s tokens"):format(units.counted(count, "decode"), units.grouped(context)),
        decodes = count, context = context }
      last = count
    end
  end
  return out
end

--- Seconds of each of the steps; the chunks of a prompt are those of the side.
local function prices_of(side, engine, memory, steps)
  local given, of = picked(side.given, of_price), {}
  given.kind, given.price, given.intervals = "price", {}, "off"
  for i, each in ipairs(steps) do
    local batches = each.prompt and prompt_steps(each.prompt, math.max(1, memory.max_num_batched_tokens))
      or { { decodes = each.decodes, decode_context_tokens = each.decodes * each.context } }
    for _, one in ipairs(batches) do
      given.price[#given.price + 1] = one
      of[#given.price] = i
    end
  end
  local found = single.run("price", reader_of(side, engine), given, { operations = false })
  local out = {}
  for i, batch in ipairs(found.batches) do out[of[i]] = (out[of[i]] or 0) + batch.time_s end
  return out
end

local function load_of(side, engine)
  local found = single.run("serve", reader_of(side, engine), side.given, { document = true, operations = false })
  if found.partial then return { problem = found.partial.message or "stopped" } end
  local out = { metrics = {}, intervals = found.intervals }
  local run = { summary = found.summary, intervals = found.intervals }
  for _, name in ipairs(figures.shown) do out.metrics[name] = metrics.value(run, name) end
  return out
end

--- What the memory of a side is; errors pass.
---@param side table {given, file}
---@param engine table? in place of its own
function figures.memory(side, engine) return memory_of(side, engine) end

--- {memory, steps = {seconds}, load = {metrics, intervals}}; `problem` in place of each that has none.
---@param steps table[] of figures.steps
---@param has_load boolean whether the scenario is run
function figures.of(side, engine, steps, has_load)
  local function tried(call, ...)
    local ok, found = pcall(call, ...)
    return ok and found or { problem = problem_of(found) }
  end
  local memory = tried(memory_of, side, engine)
  local out = { memory = memory }
  out.steps = memory.problem and { problem = memory.problem } or tried(prices_of, side, engine, memory, steps)
  if has_load then out.load = tried(load_of, side, engine) end
  return out
end

return figures
