-- Arguments for any function of the library: values that fit a declared parameter, by its name or its type, and values
-- that do not. The objects among them are those that the pool holds.
--
--   local arguments = dofile "tests/fuzz/arguments.lua"
--   local given, count = arguments.draw(random, entry, pool)
local json = require "rooflua.json"
local mfu = require "rooflua.mfu"
local policy = require "rooflua.policy"

local arguments = {}

local words = { "", "x", "bf16", "fp8", "fp8_block", "fp4", "gemm", "measured", "llama-3.1-8b", "h200-sxm", "h800",
  "kernels", "vllm_v1", "ttft_s", "e2e_s", "load", "roofline", "row", "shape", "exact", "nearest", "\0", "\255\254",
  "\27[31m", "%s%n", ("x"):rep(300), "workload.rate_per_s", "steps.host_step_s", "a.b.c", "1e999", "nan", "../..",
  "uniform", "lognormal", "grouped_gemm", "attention_decode", "h20", "mi300x", "latency_us", "sobol", "pareto" }

local cycle = {}
cycle.self = cycle
local function nothing() end
local function fails() error("from inside", 0) end
local function fails_oddly() error {} end

--- A value of any kind.
local function anything(random, pool)
  local kind = random:whole(1, 12)
  if kind <= 4 then return random:odd_number() end
  if kind == 5 then return random:whole(-3, 5000) end
  if kind <= 7 then return random:pick(words) end
  if kind == 8 then return random:pick { true, false } end
  if kind == 9 then return random:pick { {}, { {} }, { 1, 2, 3 }, { heads = "x" }, cycle, { [1.5] = 0 } } end
  if kind == 10 then return random:pick { nothing, fails, fails_oddly, coroutine.create(nothing) } end
  if kind == 11 then return pool.any(random) end
  return nil
end
arguments.anything = anything

-- Values by the name of a parameter ------------------------------------------------------------------------------

local function size(random) return random:pick { 1, 2, 16, 33, 128, 1000, 4096, 5120, 28672 } end
local function share(random) return random:pick { 0.1, 0.5, 0.9, 1 } end
local function rank(random) return random:pick { 1, 2, 4, 8 } end
local function small(random) return random:whole(0, 20) end
local function time(random) return random:pick { 0, 1e-6, 1e-3, 0.5, 2 } end
local function dtype(random) return random:pick { "bf16", "fp8", "fp8_block", "fp4", "nvfp4", "int8", "fp32", "x" } end
local function word(random) return random:pick(words) end
local function shape(random)
  return { heads = random:pick { 32, 64, 7 }, kv_heads = random:pick { 8, 1 }, head_dim = random:pick { 128, 64 },
    tp = random:chance(0.5) and rank(random) or nil, kv_dtype = random:chance(0.3) and dtype(random) or nil }
end

local ops = mfu.ops()
--- A query of an op, as the engine declares its fields.
local function query(random)
  local op = random:pick(ops)
  local out = { op = op.name }
  for _, field in ipairs(op.fields) do
    if random:chance(0.9) then
      if field.kind == "number" then
        out[field.name] = size(random)
      elseif field.kind == "flag" then
        out[field.name] = random:chance(0.5)
      elseif field.kind == "word" then
        out[field.name] = random:pick(field.words or words)
      else
        out[field.name] = dtype(random)
      end
    end
  end
  return out
end

local function questions(random)
  local out = {}
  for _, name in ipairs { "one", "two" } do
    out[name] = query(random)
    for _, key in ipairs { "m", "tokens", "new_tokens", "batch", "context_tokens" } do
      if out[name][key] and random:chance(0.5) then out[name][key] = random:pick { "first", "second" } end
    end
  end
  return out
end

local function batch(random)
  local out = { prefills = {}, decodes = small(random) }
  for i = 1, random:whole(0, 3) do
    out.prefills[i] = { new_tokens = size(random), context_tokens = small(random), completes = random:chance(0.5) }
  end
  if random:chance(0.5) then
    out.decodes, out.decode_contexts = nil, { size(random), size(random) }
  else
    out.decode_context_tokens = out.decodes * size(random)
  end
  return out
end

local function distribution(random)
  return random:pick { 5, { distribution = "fixed", tokens = 5 }, { distribution = "uniform", min = 1, max = 9 },
    { distribution = "normal", mean = 5, deviation = 2 }, { distribution = "lognormal", mean = 5, sigma = 1, max = 50 },
    { distribution = "zipf", exponent = 1.2, min = 1, max = 100 },
    { distribution = "pareto", shape = 2, min = 1, max = 50 },
    { distribution = "empirical", values = { 1, 5, 9 }, weights = { 1, 1, 2 } } }
end

local config = [[{"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": 2048,
"head_dim": 128, "num_attention_heads": 32, "num_hidden_layers": 12, "num_key_value_heads": 4, "vocab_size": 151936,
"intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8,
"decoder_sparse_step": 1, "max_position_embeddings": 40960, "tie_word_embeddings": false, "torch_dtype": "bfloat16"}]]

local function model_source(random, pool)
  if random:chance(0.5) then return random:pick { "llama-3.1-8b", "qwen3-30b-a3b", "deepseek-v3", "llama-2-7b" } end
  return random:chance(0.5) and json.decode(config) or pool.of(random, "Model")
end
local function hardware_source(random, pool)
  if random:chance(0.5) then return random:pick { "h800", "h200", "mi300x", "l4" } end
  return random:chance(0.5) and { from = "h200-sxm", sms = 100, memory_bytes_per_s = 4e12, clock_hz = 1.5e9 }
    or pool.of(random, "Hardware")
end

local Workload = require "workloads.poisson"
local Millisecond = policy.define { name = "millisecond", doc = "A millisecond a step.", params = {
  step_s = { default = 1e-3, min = 1e-6, max = 1, doc = "Of a step." } } }
function Millisecond:time() return self.step_s end

--- A scenario of few requests, without tables.
function arguments.scenario(random, pool)
  local out = { model = pool.of(random, "Model"), hardware = pool.hardware, mfu = pool.datasheet,
    steps = random:chance(0.8) and Millisecond {} or random:pick { "roofline_v1", "kernels" }, seed = small(random),
    workload = Workload { rate_per_s = 50, num_requests = random:whole(1, 4), prompt_tokens = 20, output_tokens = 3 },
    deployment = { kv_blocks = random:pick { 10, 100 }, block_size = 16 } }
  if random:chance(0.3) then out.scheduler = random:pick { "vllm_v1", "vllm_v0", "sglang", "orca", "sjf" } end
  if random:chance(0.2) then out.replicas, out.router = 2, random:pick { "random", "power_of_two", "x" } end
  if random:chance(0.1) then out.slo = { ttft_s = 1, tpot_s = 0.1 } end
  if random:chance(0.1) then out.frontend = { base_s = 0.1 } end
  return out
end

local function swept(random, pool)
  local out = { scenario = arguments.scenario(random, pool) }
  for key, value in pairs {
    vary = { ["steps.step_s"] = { 1e-3, 2e-3 } }, n = 2, method = "sobol", goal = random:pick { "rate", "pareto" },
    params = { ["steps.step_s"] = { 1e-4, 1e-2 } }, slo = { ttft_s_p99 = 0.5 }, min = 1, max = 4, tolerance = 0.5,
    checks = 0, metrics = { "ttft_s_p50" }, step = 0.01, evaluations = 3, target = { { decodes = 2,
      decode_context_tokens = 40, time_s = 1e-3 } }, objective = "median", algorithm = "nelder_mead" } do
    if random:chance(0.4) then out[key] = value end
  end
  return out
end

local function parameter(random)
  return { default = random:pick { 1, "x", true, 0.5 }, doc = "A parameter.", unit = random:chance(0.3) and "s" or nil,
    min = random:chance(0.3) and 0 or nil, max = random:chance(0.3) and 2 or nil, integer = random:chance(0.2) or nil,
    values = random:chance(0.2) and { 1, 2, "x" } or nil, optional = random:chance(0.2) or nil }
end

local function definition(random, pool)
  return { name = word(random), doc = "A policy.", params = { a = parameter(random), b = parameter(random) },
    presets = random:chance(0.2) and { p = { a = 1 } } or nil, returns = random:chance(0.2) and "mfu" or nil,
    extends = random:chance(0.3) and pool.class or nil, signals = random:chance(0.2) and { "waiting" } or nil }
end

--- By "function: parameter" or "parameter"; the values of the former fit better.
local by_name = {
  m = size, k = size, n = size, new_tokens = size, context_tokens = size, batch = size, context_tokens_sum = size,
  context_tokens_max = size, seq_len = size, heads = size, kv_heads = size, head_dim = size, bytes = size,
  flop = size, tp = rank, ranks = rank, index = rank, count = small, id = small, first = size, second = size,
  tokens = size, hold_tokens = size, fit_tokens = size, spare_blocks = small, limit = small, sent = small,
  dtype = dtype, kv_dtype = dtype, mfu = share, probability = share, time_s = time, arrival_s = time, rate = time,
  peak_flop_per_s = function() return 1e15 end, bytes_per_s = function() return 4e12 end,
  shape = shape, query = query, questions = questions, spec = distribution,
  target = function(random, pool) return pool.of(random, random:chance(0.5) and "Hardware" or "Database") end,
  evidence = function(random, pool)
    return random:chance(0.7) and random:pick { "measured", "modelled", "assumed" } or pool.estimate
  end,
  bound = function(random) return random:pick { "compute", "memory", "link" } end,
  low = small, high = size, scale = share, mean = share, deviation = share, mu = share, sigma = share,
  minimum = share, seed = small, indent = function(random) return random:whole(0, 8) end,
  kind = function(random) return random:pick { "steps", "schedulers", "routers", "workloads", "lookup", "x" } end,
  topic = function(random) return random:pick { "cost.gemm", "steps.kernels", "metrics", "Live:set", "[", "cost" } end,
  scenario = arguments.scenario, more = function(random) return { extra = parameter(random) } end,
  bucketing = function(_, pool) return pool.bucketing end,
  prefills = function(_, pool) return pool.batch.prefills end,
  ["cost.batch:given"] = batch, ["policy.define:given"] = definition, ["fit.fit:given"] = swept,
  ["sweep.grid:given"] = swept, ["sweep.sample:given"] = swept, ["sweep.search:given"] = swept,
  ["sweep.sensitivity:given"] = swept,
  ["spec.model:source"] = model_source, ["spec.hardware:source"] = hardware_source,
  ["spec.deployment:options"] = function(random, pool)
    return { model = model_source(random, pool), hardware = hardware_source(random, pool), tp = rank(random),
      weights = dtype(random), kv = dtype(random), memory_utilization = share(random), max_num_seqs = size(random),
      max_num_batched_tokens = size(random), block_size = 16, kv_blocks = size(random) }
  end,
  ["mfu.open:options"] = function(random, pool)
    return { gpu = random:pick { "h800", "mi300x", "x" }, lookup = random:pick(pool.lookups),
      tables = random:chance(0.5), engine = random:pick { "vllm", "sglang", "trtllm", "x" },
      default_mfu = share(random), model = random:chance(0.3) and { hbm_efficiency = 0.8 } or nil }
  end,
  ["Database:with:lookup"] = function(random, pool)
    return random:chance(0.6) and random:pick(pool.lookups)
      or random:pick { nothing, fails, function() return 1e-3, "measured" end, function() return -1, "x" end }
  end,
  ["Database:with:options"] = function(random) return { returns = random:pick { "mfu", "latency_s" }, name = "x" } end,
  ["Database:leave_one_out:options"] = function(random, pool)
    return { table = random:pick(pool.tables), lookup = random:pick(pool.lookups),
      leave = random:pick { "row", "shape" }, most_rows = random:whole(1, 5) }
  end,
  ["Database:rows:name"] = function(random, pool) return random:pick(pool.tables) end,
  ["Live:set:changes"] = function(random)
    return { scheduler = random:pick { "sjf", "vllm_v1" }, steps = random:chance(0.3) and Millisecond {} or nil }
  end,
  ["measure.plot:options"] = function(random) return { width = size(random), height = small(random), replica = 1 } end,
  ["measure.diff:options"] = function() return { metric = "ttft_s", top = 3, names = { "a", "b" } } end,
  ["measure.compare:options"] = function(random)
    return { metrics = { "ttft_s_p50" }, level = share(random), method = random:pick { "t", "bootstrap" } }
  end,
  ["measure.compare:runs"] = function(_, pool) return pool.runs end,
  ["measure.summary:run"] = function(random, pool)
    return random:chance(0.5) and pool.of(random, "Live") or pool.result
  end,
  ["json.decode:text"] = function(random) return random:damaged(config) end,
}

-- Values by type -----------------------------------------------------------------------------------------------

local function of_type(random, type_, pool)
  local class = type_:match "rooflua%.([%w]+)"
  if class and pool.has(class) then return pool.of(random, class) end
  if type_:find "^fun" then return random:pick { nothing, fails, function(x) return x end } end
  if type_:find "integer" then return size(random) end
  if type_:find "number" then return random:fraction() * 1000 end
  if type_:find "boolean" then return random:chance(0.5) end
  if type_:find "string" then return word(random) end
  return anything(random, pool)
end

--- A copy of a table with one or two faults: a value, a key too many, a key too few.
local function damaged(random, value, pool)
  local out = {}
  for key, each in pairs(value) do out[key] = each end
  for _ = 1, random:whole(1, 2) do
    local keys = {}
    for key in pairs(out) do
      if key ~= "num_requests" then keys[#keys + 1] = key end
    end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    local key = random:pick(keys)
    local inner = out[key]
    -- What a fault before put there may be a view of a call that has ended, which refuses to be read.
    local own = rawequal(inner, value[key])
    if own and type(inner) == "table" and getmetatable(inner) == nil and random:chance(0.6) then
      out[key] = damaged(random, inner, pool)
    elseif key == nil or random:chance(0.1) then
      out[random:pick(words)] = anything(random, pool)
    else
      out[key] = anything(random, pool)
    end
  end
  return out
end

local function one(random, name, parameter_, pool)
  local fault = random:fraction()
  if fault < 0.25 then return anything(random, pool) end
  if fault < 0.35 and parameter_.optional then return nil end
  local make = by_name[name .. ":" .. parameter_.name]
    or not parameter_.type:find "rooflua%.%u" and by_name[parameter_.name]
  local value = make and make(random, pool)
  if not make then value = of_type(random, parameter_.type, pool) end
  if make and type(value) == "table" and getmetatable(value) == nil and random:chance(0.4) then
    return damaged(random, value, pool)
  end
  return value
end

--- Arguments for an entry of a stub: {name, parameters = {{name, type, optional}}}. A few are missing or too many.
--- Returns the list and how many there are.
function arguments.draw(random, entry, pool)
  local out, count = {}, #entry.parameters
  if random:chance(0.05) then count = random:whole(0, count + 2) end
  for i = 1, count do
    local declared = entry.parameters[i]
    if declared then out[i] = one(random, entry.name, declared, pool) else out[i] = anything(random, pool) end
  end
  return out, count
end

--- The parameters that the text of a stub declares.
function arguments.parameters(doc)
  local out = {}
  for _, line in ipairs(doc) do
    local name, type_ = line:match "^@param ([%w_.]+)%s+(.+)$"
    if name then
      local optional = type_:find("?", 1, true) ~= nil
      local times = name == "..." and 3 or 1
      for _ = 1, times do out[#out + 1] = { name = name, type = type_, optional = optional } end
    end
  end
  return out
end

return arguments
