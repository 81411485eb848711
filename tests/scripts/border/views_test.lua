-- Trusted scripts that walk over views, and the places where files of a scenario are found.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"

local function keys_of(t)
  local out = {}
  for key, value in pairs(t) do
    test.check(value ~= nil)
    out[#out + 1] = tostring(key)
  end
  return table.concat(out, " ")
end

test("pairs walks a read-only view, an engine object and a report, in sorted order", function()
  local model = rooflua.spec.model "qwen3-30b-a3b"
  test.check(keys_of(rooflua.spec.hardware("h100-sxm").peak_flop_per_s):find "^bf16 ")
  test.check(keys_of(model.moe):find "experts experts_per_token")
  test.check(keys_of(model):find "heads hidden_size")
  test.check(keys_of(rooflua.cost.flop):find "gemm")
  local bound = dofile "tests/scripts/bound_steps.lua"
  local steps = bound.bind(require "steps.infersim" {}, { model = "qwen3-8b", hardware = "h20" })
  test.check(keys_of(steps:static().values):find("decode/TPOT (ms)", 1, true))
end)

test("pairs of a plain table is as ever, also one with a metatable", function()
  local t = setmetatable({ a = 1, 2, 3 }, { __index = { b = 1 } })
  local sum = 0
  for _, value in pairs(t) do sum = sum + value end
  test.equal(sum, 6)
  test.equal(pairs(t), next)
end)

test("ipairs walks the prefills and the contexts of a batch", function()
  local batch = rooflua.cost.batch {
    prefills = { { new_tokens = 5, context_tokens = 0 }, { new_tokens = 7, context_tokens = 1 } },
    decode_contexts = { 10, 20, 30 },
  }
  local tokens, contexts = 0, 0
  for i, prefill in ipairs(batch.prefills) do tokens = tokens + i * prefill.new_tokens end
  for i, context in ipairs(batch.decode_contexts) do contexts = contexts + i * context end
  test.equal(tokens, 5 + 2 * 7)
  test.equal(contexts, 10 + 40 + 90)
end)

test("the engine goes over its requests for their contexts once a step, however often a model looks at them", function()
  local ffi, batch = require("rooflua.border.abi").ffi, require "rooflua.border.batch"
  local numbers, asked = ffi.new("int32_t[3]", { 10, 20, 30 }), 0
  local data = ffi.new "rooflua_batch"
  data.decodes = 3
  require("rooflua.border.views").border.batch = data
  batch.attach(function() return 30 end, function()
    asked = asked + 1
    return numbers
  end)
  for step = 1, 3 do
    numbers[0] = step
    local contexts, sum = batch.live().decode_contexts, 0
    for _ = 1, 2 do
      for i = 1, #contexts do sum = sum + contexts[i] end
    end
    test.equal(sum, 2 * (step + 20 + 30))
    test.equal(asked, step)
  end
end)

test("a database says its lookup's name", function()
  local database = rooflua.mfu.open { gpu = "h200-sxm", lookup = "nearest" }
  test.equal(database.strategy, "nearest")
  test.equal(database:with("log_linear").strategy, "log_linear")
  test.equal(type(database.lookup), "function")
end)

-- Files ------------------------------------------------------------------------------------------

local folder = test.folder()
assert(os.execute("mkdir -p " .. folder .. "/traces " .. folder .. "/tables/gemm/h20") == 0)

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
end

local function run(scenario, arguments)
  local pipe = io.popen(("%s run %s/%s %s 2>&1"):format(program, folder, scenario, arguments or ""))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

write("traces/two.csv", "arrival_s,prompt_tokens,output_tokens\n0,100,2\n1,100,2\n")
write("tables/gemm/h20/data.csv", "m,k,n,latency_us,mfu\n16,4096,4096,10,0.1\n64,4096,4096,20,0.2\n")
write("replay.lua", [[
return { model = "llama-3.1-8b", hardware = "h100-sxm",
         workload = require "workloads.trace" { path = "traces/two.csv" } }
]])
write("tables.lua", [[
return { kind = "price", model = "qwen3-8b", hardware = "h20", mfu = { path = "tables", layout = "infersim" },
         price = { { name = "one", decodes = 1, decode_context_tokens = 100 } } }
]])

test("a trace and tables are found beside the scenario", function()
  local text = run("replay.lua", "--json -")
  test.equal(require("rooflua.json").decode(text).variants[1].summary.completed, 2)
  test.check(run("tables.lua", "--explain"):find("gemm/h20/data.csv", 1, true))
end)

test("what is not beside the scenario is looked for in the working directory", function()
  local text = run("replay.lua", "--json - --set workload.path=scenarios/traces/bursty_chat.csv")
  test.equal(require("rooflua.json").decode(text).variants[1].summary.completed, 600)
end)

test("what is at neither place is an error that names both", function()
  for key, what in pairs { ["workload.path=no/such.csv"] = "replay.lua", ["mfu.path=no/such.csv"] = "tables.lua" } do
    local text = run(what, "--set " .. key)
    test.check(text:find("there is no such", 1, true) and text:find(folder .. "/no/such.csv beside the scenario and "
      .. "no/such.csv in the working directory", 1, true), text)
  end
end)

test("messages and results count replicas from 1, as scripts do", function()
  write("fails.lua", [[
local policy = require "rooflua.policy"
local Twice = policy.define { name = "twice", doc = "Fails at replica 2.", params = {} }
function Twice:plan(replica, plan)
  if replica.index == 2 then error "here" end
  plan:decode_all()
  local waiting = replica:waiting()
  while #waiting > 0 do plan:admit(waiting[1], waiting[1].pending_tokens) end
end
return { model = "llama-3.1-8b", hardware = "h100-sxm", replicas = 2, scheduler = Twice {},
         workload = require "workloads.trace" { path = "traces/two.csv" } }
]])
  test.check(run("fails.lua"):find("replica 2", 1, true), run "fails.lua")
  write("two.lua", [[
return { model = "llama-3.1-8b", hardware = "h100-sxm", replicas = 2,
         workload = require "workloads.trace" { path = "traces/two.csv" } }
]])
  local replicas = require("rooflua.json").decode(run("two.lua", "--json -")).variants[1].summary.replicas
  test.equal(replicas[1].name .. replicas[2].name, "12")
  run("two.lua", "--quiet --requests " .. folder .. "/requests.csv")
  local seen = {}
  for line in io.lines(folder .. "/requests.csv") do seen[#seen + 1] = line:match "^%d+,[^,]*,[^,]*,(%d+)," end
  test.equal(table.concat(seen, " "), "1 2")
end)

test.finish()
