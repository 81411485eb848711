-- Calls every public function with every kind of wrong argument. Each call returns values or raises
-- an error that names this file. No call ends in a signal, and no error names a line of the library.
-- Runs sandboxed and trusted.
local rooflua = require "rooflua"
local spec = require "rooflua.spec"
local mfu = require "rooflua.mfu"
local cost = require "rooflua.cost"
local json = require "rooflua.json"
local policy = require "rooflua.policy"

local model = spec.model "llama-3.1-8b"
local hardware = spec.hardware "h200-sxm"
local deployment = spec.deployment { model = model, hardware = hardware }
-- Hundreds of calls read all its tables: this GPU has few rows.
local db = mfu.open "h800"
local shape = { heads = 32, kv_heads = 8, head_dim = 128, tp = 1 }
local _, estimate = db:gemm(16, 4096, 4096)
local batch = cost.batch { prefills = { { new_tokens = 8 } }, decode_contexts = { 1, 2 } }
local Class = policy.define { name = "sample", doc = "A sample.",
  params = { a = { default = 1, doc = "A." } } }
function Class:op(_, time_s) return time_s end
local instance = Class {}

local cycle = {}
cycle.self = cycle
local nan, infinity = 0 / 0, 1 / 0
local wrong = {
  nan, infinity, -infinity, -1, 0, 0.5, 2^53, 1e300, "", "x", "bf16", true, {}, { {} },
    { heads = "x" }, cycle,
  function() end, function() error "from inside" end, function() error {} end,
    coroutine.create(function() end),
  model, hardware, deployment, db, estimate, batch, batch.prefills, json.null, Class, instance,
}
local count = #wrong
local trusted, debug = pcall(function() return debug end)
if trusted then -- trusted: closed objects and other people's userdata
  local closed = mfu.open "h800"
  local closed_model = spec.model "llama-2-7b"
  debug.getmetatable(closed).__gc(closed)
  debug.getmetatable(closed_model).__gc(closed_model)
  wrong[count + 1], wrong[count + 2], wrong[count + 3], wrong[count + 4] = closed, closed_model,
    io.stdout, newproxy(true)
  count = count + 4
end

local targets = {}
local function add(name, call, ...)
  targets[#targets + 1] = { name = name, call = call, given = { ... }, n = select("#", ...) }
end
local function add_all(name, module)
  for key, value in pairs(module) do
    if type(value) == "function" then add(name .. "." .. key, value) end
  end
end
-- Functions that change the state of the library or start a run are not called here.
add_all("spec", { model = spec.model, hardware = spec.hardware, deployment = spec.deployment,
  models = spec.models, gpus = spec.gpus })
add_all("mfu", { open = mfu.open, lookups = mfu.lookups, failure = mfu.failure })
for _, name in ipairs { "gemm", "attention_prefill", "attention_decode", "all_reduce",
  "all_to_all", "memory", "lookup",
  "query_text", "listening", "record", "roofline", "mixed", "memoize", "memoize2", "explain",
    "batch", "layers" } do
  add("cost." .. name, cost[name])
end
for _, name in ipairs { "gemm", "causal_pairs", "attention_decode", "experts" } do
  add("cost.flop." .. name, cost.flop[name])
end
for _, name in ipairs { "weight", "kv", "touched_experts", "lm_head" } do
  add("cost.bytes." .. name, cost.bytes[name])
end
add_all("json", { decode = json.decode, encode = json.encode, array = json.array,
  read = json.read })
for _, name in ipairs { "define", "fresh", "with", "parameters", "describe", "where", "is_class",
  "is_instance" } do
  add("policy." .. name, policy[name])
end
add("rooflua.list", rooflua.list)
add("rooflua.help", rooflua.help)
for _, name in ipairs { "gemm", "prefill", "decode", "lookup", "with", "tables", "rows", "peak",
  "report" } do
  local method = db[name]
  add("db:" .. name, method)
  add("db:" .. name .. "(db)", method, db)
  add("db:" .. name .. "(db, 1)", method, db, 1)
  add("db:" .. name .. "(db, 1, 4096)", method, db, 1, 4096)
end
for _, name in ipairs { "parameters", "active_parameters", "kv_bytes_per_token" } do
  add("model:" .. name, model[name])
  add("model:" .. name .. "(model)", model[name], model)
end
for _, name in ipairs { "serve", "measure", "random", "lengths", "arrivals", "trace" } do
  local module = require("rooflua." .. name)
  for key, value in pairs(module) do
    if type(value) == "function" and key ~= "run_variant" and key ~= "check" and key ~= "write" then
      add(name .. "." .. key, value)
    end
  end
end
local streams = require("rooflua.random").streams(1)
local stream = streams:stream "misuse"
add("streams.stream", streams.stream)
add("streams.stream(streams)", streams.stream, streams)
for _, name in ipairs { "uniform", "exponential", "gamma", "weibull", "normal", "lognormal",
  "pareto", "poisson", "integer" } do
  add("stream." .. name, stream[name])
  add("stream." .. name .. "(stream)", stream[name], stream)
end
add("cost.gemm(db, 1, 1)", cost.gemm, db, 1, 1)
add("cost.gemm(db, 1, 1, 1)", cost.gemm, db, 1, 1, 1)
add("cost.gemm(db, 1, 1, 1, bf16)", cost.gemm, db, 1, 1, 1, "bf16")
add("cost.attention_prefill(db, shape)", cost.attention_prefill, db, shape)
add("cost.attention_prefill(db, shape, 1)", cost.attention_prefill, db, shape, 1)
add("cost.attention_decode(db, shape)", cost.attention_decode, db, shape)
add("cost.attention_decode(db, shape, 4)", cost.attention_decode, db, shape, 4)
add("cost.attention_decode(db, shape, 4, 100, 50)", cost.attention_decode, db, shape, 4, 100, 50)
add("cost.all_reduce(hardware)", cost.all_reduce, hardware)
add("cost.all_reduce(hardware, 1)", cost.all_reduce, hardware, 1)
add("cost.memory(hardware)", cost.memory, hardware)
add("cost.record(x)", cost.record, "x")
add("cost.record(x, 1)", cost.record, "x", 1)
add("cost.roofline(1, 1)", cost.roofline, 1, 1)
add("cost.memoized", cost.memoize(function(m) return (cost.gemm(db, m, 16, 16)) end))
add("Class", function(...) return Class(...) end)
add("Class.preset", Class.preset)
add("Class.preset(Class)", Class.preset, Class)
add("set model", function(value) model.layers = value end)
add("read model", function(value) return model[value] end)
add("read hardware", function(value) return hardware[value] end)
add("read peak", function(value) return hardware.peak_flop_per_s[value] end)
add("set peak", function(value) hardware.peak_flop_per_s.bf16 = value end)
add("read estimate", function(value) return estimate[value] end)
add("set estimate", function(value) estimate.mfu = value end)
add("read batch", function(value) return batch[value] end)
add("set batch", function(value) batch.tokens = value end)
add("read prefills", function(value) return batch.prefills[value] end)
add("read prefill", function(value) return batch.prefills[1][value] end)
add("read contexts", function(value) return batch.decode_contexts[value] end)
add("read library", function(value) return cost[value] end)
add("set library", function(value) cost.gemm = value end)
add("require", function(value) return require(value) end)
add("compare", function(value) return batch == value, model == value end)
add("index db", function(value) return db[value] end)

local this = "misuse.lua:"
local calls, refused, bad = 0, 0, {}

local function try(target, ...)
  calls = calls + 1
  local given = {}
  for i = 1, target.n do given[i] = target.given[i] end
  local extra = select("#", ...)
  for i = 1, extra do given[target.n + i] = (select(i, ...)) end
  local ok, problem = pcall(function() return (target.call(unpack(given, 1, target.n + extra))) end)
  if ok then return end
  refused = refused + 1
  local fine = type(problem) == "string" and problem:find(this, 1, true)
    or type(problem) == "table" -- raised by a function that was passed in
    or problem == "from inside"
  if not fine then bad[target.name .. ": " .. tostring(problem)] = true end
end

for _, target in ipairs(targets) do
  try(target)
  for i = 1, count do
    try(target, wrong[i])
    try(target, nil, wrong[i])
    for j = 1, count, 3 do
      try(target, wrong[i], wrong[(i + j) % count + 1], wrong[(i * 7 + j) % count + 1])
    end
  end
end

-- Everything still works.
assert(model.layers == 32 and db:gemm(16, 4096, 4096) and batch.tokens == 10)

local messages = {}
for message in pairs(bad) do messages[#messages + 1] = message end
table.sort(messages)
for i = 1, math.min(#messages, 60) do print(messages[i]) end
print(calls .. " calls, " .. refused .. " refused, " .. #messages .. " badly")
if #messages > 0 then error("misuse found bad messages", 0) end
return calls
