-- A policy of the user in a folder beside the scenario is used by its name, wherever a policy may stand.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"
local kinds = require "rooflua.program.kinds"
local mfu = require "rooflua.mfu"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"

local folder = test.file("")
os.remove(folder)

local function write(name, text)
  assert(os.execute(("mkdir -p '%s'"):format((folder .. "/" .. name):match "^(.*)/")) == 0)
  local out = assert(io.open(folder .. "/" .. name, "w"))
  out:write(text)
  out:close()
end

--- A file that extends a shipped policy: it has one parameter more, and a preset.
local function extended(kind, parent, body)
  write(kind .. "/mine.lua", ([[
local policy = require "rooflua.policy"
local Parent = require "%s.%s"
local Mine = policy.define { name = "mine", doc = "d", extends = Parent,
  params = { twist = { default = 1.0, unit = "1", min = 0, doc = "d" } }, presets = { twisted = { twist = 3.0 } } }
%s
return Mine
]]):format(kind, parent, body))
end

extended("lookup", "roofline_blend", [[
function Mine:lookup(t, q, all) local s, e = Parent.lookup(self, t, q, all) return s * (1 + self.twist), e end]])
extended("bucketing", "pow2", [[
function Mine:bucket(length) return (1 + self.twist) * Parent.bucket(self, length) end]])
extended("steps", "roofline_v2", "function Mine:time(batch) return 1e-3 * self.twist + Parent.time(self, batch) end")
extended("corrections", "decode_multiplier", "function Mine:step(_, time_s) return time_s + 1e-3 * self.twist end")
extended("schedulers", "vllm_v1", "function Mine:key(request) return (self.twist - 2) * request.prompt_tokens end")
extended("routers", "round_robin", "function Mine:route(_, replicas) return self.twist > 2 and #replicas or 1 end")
extended("workloads", "poisson", [[
function Mine:requests(rng)
  local requests = Parent.requests(policy.with(self, { output_tokens = 5 + self.twist }), rng)
  return requests
end]])
write("bucketing/whole.lua", [[
local Whole = require("rooflua.policy").define { name = "whole", doc = "d" }
function Whole:groups(prefills)
  local group = { requests = #prefills, new_tokens = 0, seq_len = 100, members = {} }
  for i, each in ipairs(prefills) do group.members[i], group.new_tokens = i, group.new_tokens + each.new_tokens end
  return { group }
end
return Whole
]])
extended("acceptance", "constant", [[
function Mine:curve() return { math.min(1, 0.2 * self.twist) } end]])
extended("speculators", "fixed", "function Mine:drafts() return self.twist > 2 and 2 or 1 end")
extended("drafters", "free", "function Mine:time() return 1e-3 * self.twist end")
write("metrics/mine.lua", [[
local policy = require "rooflua.policy"
local Mine = policy.define { name = "mine", doc = "d", params = { twist = { default = 1.0, unit = "1", doc = "d" } },
  presets = { twisted = { twist = 3.0 } } }
function Mine:value() return self.twist end
return Mine
]])
write("priced.lua", [[
return { rooflua = 1, kind = "price", model = "llama-3.1-8b", hardware = "h200", steps = "roofline_v2",
  price = { { prefills = { { new_tokens = 100, context_tokens = 0 }, { new_tokens = 900, context_tokens = 0 } } },
    { decodes = 4, decode_context_tokens = 4000 } } }
]])
write("served.lua", [[
return { rooflua = 1, model = "llama-3.1-8b", hardware = "h200", steps = "roofline_v1", replicas = 2,
  workload = require "workloads.poisson" { rate_per_s = 200, num_requests = 20, output_tokens = 5,
    prompt_tokens = { distribution = "uniform", min = 10, max = 3000 } }, scheduler = "vllm_v1",
  speculation = { speculator = "fixed", acceptance = "constant", drafter = "free" },
  metrics = { own = "decode_batch_p50" } }
]])

--- The document of a run, as text.
local function result(file, sets)
  local opened = opening.file(folder .. "/" .. file, { set = sets })
  return require("rooflua.json").encode(kinds.run(opened, 1, { requests = true }))
end

--- At a key, the name acts; its preset and its parameter act; a name with a letter too many is told.
local function acts(file, key, first)
  local function with(...)
    local sets = { ... }
    if first then table.insert(sets, 1, first) end
    return result(file, sets)
  end
  test(key .. " = mine", function()
    local before, mine, twisted = with(), with(key .. "=mine"), with(key .. "=mine:twisted")
    test.check(before ~= mine, "the name acts")
    test.check(mine ~= twisted, "the preset acts")
    if first == nil then
      test.check(with(key .. "=mine", key .. ".twist=3") ~= mine, "its parameter acts")
      test.check(with(key .. "=mine:twisted", key .. ".twist=1") ~= twisted, "its parameter acts after the preset")
    end
    test.raises("did you mean 'mine'", function() with(key .. "=mines") end)
  end)
end

acts("priced.lua", "steps.bucketing")
acts("priced.lua", "bucketing")
acts("priced.lua", "mfu.lookup")
acts("priced.lua", "steps")
acts("priced.lua", "corrections.1", 'corrections=["decode_multiplier"]')
for _, key in ipairs { "steps", "scheduler", "router", "workload", "speculation.acceptance", "speculation.speculator",
  "speculation.drafter", "metrics.own" } do acts("served.lua", key) end
acts("served.lua", "replicas.1.scheduler", 'replicas=[{"scheduler":"vllm_v1"},{"steps":"roofline_v1"}]')
acts("served.lua", "replicas.1.steps", 'replicas=[{"scheduler":"vllm_v1"},{"steps":"roofline_v1"}]')

test("a lookup is named alone, in a table, in `vary` and in `--set` over either", function()
  local alone = result("priced.lua", { "mfu=mine" })
  test.equal(result("priced.lua", { 'mfu={"lookup":"mine"}' }), alone)
  test.equal(result("priced.lua", { "mfu=nearest", "mfu.lookup=mine" }), alone)
  test.check(result("priced.lua", { "mfu=mine", "mfu.lookup.twist=2" }) ~= alone)
  local opened = opening.file(folder .. "/priced.lua", { set = { 'vary={"mfu.lookup": ["nearest", "mine"]}' } })
  test.equal(kinds.run(opened, 2).time_s, kinds.run(opening.file(folder .. "/priced.lua", { set = { "mfu=mine" } }), 1)
    .time_s)
  test.raises("has no parameters", function() result("priced.lua", { "mfu=nearest", "mfu.lookup.twist=2" }) end)
end)

test("the parameters of a lookup are among those that searches and fits may change", function()
  local declared, Reader = require "rooflua.applied.declared", require "rooflua.scenario.reader"
  for _, given in ipairs { { mfu = "mine" }, { mfu = { lookup = "mine:twisted" } } } do
    given.kind = "price"
    test.equal(declared.find(Reader.new "s", given, "mfu.lookup.twist", "params").kind, "continuous")
  end
  test.raises("unknown parameter", function()
    declared.find(Reader.new "s", { kind = "price", mfu = "nearest" }, "mfu.lookup.twist", "params")
  end)
end)

test("corrections by name have parameters by name, and a list of them keeps its order", function()
  local sets = { 'corrections=["step_overhead", "mine"]' }
  local before = result("priced.lua", sets)
  sets[2] = "corrections.mine.twist=2"
  local more = result("priced.lua", sets)
  test.check(more ~= before)
  sets[2] = "corrections.2.twist=2"
  test.equal(result("priced.lua", sets), more)
  test.raises("the list has no 'launch_overhead' (it has: ", function()
    result("priced.lua", { 'corrections=["step_overhead"]', "corrections.launch_overhead.x=1" })
  end)
end)

test("the parameter of a policy that is given as a class or that is absent can be set", function()
  write("class.lua", [[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h200",
    scheduler = require "schedulers.mine", workload = require "workloads.mine" }]])
  local opened = opening.file(folder .. "/class.lua", { set = { "scheduler.max_num_seqs=3", "workload.rate_per_s=9" } })
  test.equal(opened.given.scheduler.max_num_seqs, 3)
  test.equal(opened.given.workload.rate_per_s, 9)
  test.raises("states none", function() result("class.lua", { "bucketing.key=new" }) end)
end)

test("a lookup that a step model replaces is an error", function()
  test.raises("mfu.lookup: has no effect: the step model roofline_v2 asks infersim_floor", function()
    result("priced.lua", { "steps=roofline_v2:plan", "mfu=nearest" })
  end)
  result("priced.lua", { "steps=roofline_v2:plan", "mfu=infersim_floor" })
  result("priced.lua", { "steps=roofline_v2:plan", "steps.lookup=mine" })
end)

test("bucket_key counts for every bucketing that counts lengths, and is refused where nothing reads it", function()
  local function priced(...) return result("priced.lua", { "price=" .. [[[{"prefills": [{"new_tokens": 100,
    "context_tokens": 0}, {"new_tokens": 100, "context_tokens": 9000}]}]
]], ... }) end
  test.check(priced("bucketing=pow2", "steps.bucket_key=new") ~= priced("bucketing=pow2"))
  test.equal(priced("bucketing=pow2", "steps.bucket_key=new"), priced "steps.bucket_key=new")
  test.raises("bucket_key: has no effect, because the bucketing pow2 states its own key", function()
    priced("bucketing=pow2", "bucketing.key=new", "steps.bucket_key=new")
  end)
  test.raises("bucket_key: has no effect, because the bucketing whole has no parameter key", function()
    priced("bucketing=whole", "steps.bucket_key=new")
  end)
  priced("steps=roofline_v2:plan", "steps.lookup=", "bucketing=whole")
end)

-- Judged -----------------------------------------------------------------------------------------------------------

local measured = "tests/fixtures/measured"

--- The error of each row, as text.
local function errors_of(list)
  local out = {}
  for i, each in ipairs(list) do out[i] = ("%.12g %s %g"):format(each.error, each.evidence, each.distance) end
  return table.concat(out, "\n")
end

test("leave_one_out judges a lookup of the user: by name, class, instance, and that of the database", function()
  chunks.folder(folder)
  local db = mfu.open { path = measured, hardware = "h200-sxm" }
  local Mine = chunks.require "lookup.mine"
  local function judged(lookup) return errors_of(db:leave_one_out { table = "gemm_bf16", lookup = lookup }) end
  local mine = judged "mine"
  test.check(mine ~= judged "roofline_blend" and mine ~= judged "latency_linear", "another lookup has other errors")
  test.equal(judged(Mine), mine)
  test.equal(judged(Mine {}), mine)
  test.equal(errors_of(db:with("mine"):leave_one_out { table = "gemm_bf16" }), mine)
  test.equal(errors_of(db:with(Mine, { name = "other" }):leave_one_out { table = "gemm_bf16" }), mine)
  test.equal(errors_of(db:with("mine"):of_engine("sglang"):leave_one_out { table = "gemm_bf16" }), mine)
  test.equal(judged(Mine { twist = 3 }), judged "mine:twisted")
  test.equal(errors_of(db:with("mine"):leave_one_out { table = "gemm_bf16", lookup = "nearest" }), judged "nearest")
end)

test("a lookup that answers with the value of the nearest row that is left is judged as nearest is", function()
  local db = mfu.open { path = measured, hardware = "h200-sxm" }
  local seen = 0
  local function nearest(t, query)
    seen = seen + 1
    local row = t:near(query, 1)[1]
    test.check(row.distance > 0, "the row itself was taken away")
    return row.latency_s, "stand_in"
  end
  local rows = db:leave_one_out { table = "gemm_bf16", lookup = nearest }
  test.equal(#rows, seen)
  for _, row in ipairs(rows) do
    test.check(row.distance > 0, "the distance is that of the rows that are left")
    test.equal(row.evidence, "stand_in")
  end
end)

test("what a policy remembers of a table does not reach a table with another row left out", function()
  local Remembers = policy.define { name = "remembers", doc = "d", returns = "latency_s" }
  function Remembers:lookup(t)
    self.count = self.count or #t.rows
    test.equal(self.count, #t.rows)
    self.asked = (self.asked or 0) + 1
    return self.asked * 1e-6
  end
  local db = mfu.open { path = measured, hardware = "h200-sxm" }
  for _, row in ipairs(db:leave_one_out { table = "gemm_bf16", lookup = Remembers }) do
    test.equal(row.predicted_s, 1e-6)
  end
end)

test("mistakes in judging are told", function()
  local db = mfu.open { path = measured, hardware = "h200-sxm" }
  local function judge(lookup) db:leave_one_out { table = "gemm_bf16", lookup = lookup } end
  test.raises("lookup: unknown lookup 'nearst'; did you mean 'nearest'", function() judge "nearst" end)
  test.raises("expected a lookup's name, a function or a policy, found number 7", function() judge(7) end)
  test.raises("boom", function() judge(function() error "boom" end) end)
  test.raises("positive", function() judge(function() return -1 end) end)
  test.raises("name: has no effect, because nearest is a compiled lookup", function()
    db:with("nearest", { name = "x" })
  end)
end)

-- Commands ---------------------------------------------------------------------------------------------------------

local function output(arguments) return test.printed(arguments, folder) end

test("step, check, help and lua take the names of the current folder", function()
  local step = "step --model llama-3.1-8b --hardware h200 --decode 900x4 --prefill 0+900"
  local before = output(step):match "step: ([^\n]+)"
  test.check(before ~= nil)
  for _, each in ipairs { "--set mfu.lookup=mine", "--set mfu=mine", "--steps mine", "--set 'corrections=[\"mine\"]'",
    "--steps roofline_v2 --set bucketing=mine" } do
    local found = output(step .. " " .. each)
    test.check(found:match "step: ([^\n]+)" and found:match "step: ([^\n]+)" ~= before, "%s: %s", each, found)
  end
  test.check(output "help lookup.mine":find("twist = 1", 1, true))
  test.check(output("check priced.lua --set mfu=mine"):find("ok", 1, true))
  write("judge.lua", [[
    local db = require("rooflua.mfu").open "h200-sxm"
    local name = db:tables()[1].name
    print("judged " .. #db:leave_one_out { table = name, lookup = "mine", most_rows = 5 })]])
  test.check(output("lua judge.lua"):find "judged [1-9]", "%s", output "lua judge.lua")
  test.check(output("lua ../" .. folder:match "[^/]+$" .. "/judge.lua"):find "judged [1-9]")
end)

test.finish()
