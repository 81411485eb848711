-- Each run of a scenario starts with the files of the user as they are after loading, and no script can change a
-- library: results depend neither on --jobs nor on the order of runs nor on what a results file holds.
local test = dofile "tests/scripts/harness.lua"

local program = assert(os.getenv "ROOFLUA_PROGRAM", "run by ctest, or set ROOFLUA_PROGRAM")

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- What the program prints, and whether it ends with status 0.
local function run(...)
  local words = { quoted(program) }
  for _, word in ipairs { ... } do words[#words + 1] = quoted(word) end
  local pipe = io.popen(table.concat(words, " ") .. " 2>&1; echo status $?")
  local out = pipe:read "*a"
  pipe:close()
  return out:gsub("status (%d+)\n$", ""), out:match "status (%d+)\n$" == "0"
end

local router = [[
local policy = require "rooflua.policy"
%s
local Mine = policy.define { name = "mine", doc = "Replicas in turn.", params = { skip = { default = 0, doc = "x" } } }
function Mine:route(request, replicas)
  %s
end
]]

local load = [[require "workloads.poisson" { rate_per_s = 9, num_requests = 31, output_tokens = 30,
  prompt_tokens = { distribution = "lognormal", mean = 3000, sigma = 1.2, max = 30000 } } ]]

--- A scenario of two replicas that are not alike, so that it matters which one gets a request. `more` are
--- its other keys.
local function scenario(more)
  return ([[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm",
    replicas = { {}, { hardware = "l40s" } }, workload = %s, scheduler = "vllm_v1", %s }]]):format(load, more)
end

local varied = 'vary = { ["workload.rate_per_s"] = { 9, 12, 18 } }'
local in_turn = "last = last % #replicas + 1 return last"

-- Ways to keep a state outside of `self`. Each is a file beside the scenario, or the scenario itself.
local states = {
  ["a local of the scenario"] = { ["s.lua"] = router:format("local last = 0", in_turn)
    .. scenario("router = Mine {}, " .. varied) },
  ["a table of the scenario"] = { ["s.lua"] = router:format("local at = { last = 0 }",
    "at.last = at.last % #replicas + 1 return at.last") .. scenario("router = Mine {}, " .. varied) },
  ["a local of a router's file"] = { ["mine.lua"] = router:format("local last = 0", in_turn) .. "return Mine",
    ["s.lua"] = scenario('router = require "mine" {}, ' .. varied) },
  ["a router by name"] = { ["routers/mine.lua"] = router:format("local last = 0", in_turn) .. "return Mine",
    ["s.lua"] = scenario('router = "mine", ' .. varied) },
  ["a router with a varied parameter"] = { ["routers/mine.lua"] = router:format("local last = 0", in_turn)
    .. "return Mine", ["s.lua"] = scenario('router = "mine", vary = { ["router.skip"] = { 0, 1, 2 } }') },
  ["routers of a list"] = { ["s.lua"] = router:format("local last = 0", in_turn)
    .. scenario [[vary = { router = { { label = "a", value = Mine {} }, "round_robin",
      { label = "b", value = Mine {} } } }]] },
  ["a module that a router requires"] = { ["kept.lua"] = "return { last = 0 }",
    ["mine.lua"] = router:format('local at = require "kept"', "at.last = at.last % #replicas + 1 return at.last")
      .. "return Mine", ["s.lua"] = scenario('router = require "mine" {}, ' .. varied) },
  ["a module that a method requires"] = { ["kept.lua"] = "return { last = 0 }",
    ["mine.lua"] = router:format("",
      'local at = require "kept" at.last = at.last % #replicas + 1 return at.last') .. "return Mine",
    ["s.lua"] = scenario('router = require "mine" {}, ' .. varied) },
  ["a parameter that is a table of the scenario"] = { ["s.lua"] = [[
local policy = require "rooflua.policy"
local at = { last = 0 }
local function turn(n) at.last = at.last % n + 1 return at.last end
local Mine = policy.define { name = "mine", doc = "x", params = { turn = { type = "any", optional = true, doc = "x" },
  skip = { default = 0, doc = "x" } } }
function Mine:route(request, replicas) return self.turn(#replicas) end
]] .. scenario 'router = Mine { turn = turn }, vary = { ["router.skip"] = { 0, 1, 2 } }' },
  ["a coroutine"] = { ["s.lua"] = router:format([[
local turn = coroutine.wrap(function() while true do for i = 1, 2 do coroutine.yield(i) end end end)]], "return turn()")
    .. scenario("router = Mine {}, " .. varied) },
  ["a random stream"] = { ["s.lua"] = router:format(
    'local draws = require("rooflua.random").streams(1):stream "mine"', "return 1 + math.floor(2 * draws:uniform())")
    .. scenario("router = Mine {}, " .. varied) },
  ["a class of another class"] = { ["s.lua"] = router:format("local last = 0", in_turn) .. [[
local Own = policy.define { name = "own", doc = "x", extends = Mine }
]] .. scenario("router = Own {}, " .. varied) },
  ["a step model"] = { ["s.lua"] = [[
local policy, cost = require "rooflua.policy", require "rooflua.cost"
local n = 0
local Mine = policy.define { name = "mine", doc = "x", params = { a = { default = 1, doc = "x" } } }
function Mine:bind() end
function Mine:time() n = n + 1 return cost.record("x", 0.001 * (1 + n / 1000), "assumed") end
]] .. scenario 'steps = Mine {}, vary = { ["steps.a"] = { 1, 2, 3 } }' },
  ["a scheduler"] = { ["s.lua"] = [[
local policy = require "rooflua.policy"
local Vllm, calls = require "schedulers.vllm_v1", 0
local Mine = policy.define { name = "mine", doc = "x", extends = Vllm }
function Mine:plan(state, plan)
  calls = calls + 1
  if calls < 50 and state.seats > 0 then return plan:decode_all() end
  return Vllm.plan(self, state, plan)
end
]] .. scenario("scheduler = Mine {}, router = 'round_robin', " .. varied) },
  ["prices of a step"] = { ["s.lua"] = [[
local policy, cost = require "rooflua.policy", require "rooflua.cost"
local n = 0
local Mine = policy.define { name = "mine", doc = "x", params = { a = { default = 1, doc = "x" } } }
function Mine:bind() end
function Mine:time() n = n + 1 return cost.record("x", 0.001 * n, "assumed") end
return { rooflua = 1, kind = "price", model = "llama-3.1-8b", hardware = "h100-sxm", steps = Mine {},
  price = { { decodes = 1, decode_context_tokens = 100 } }, vary = { ["steps.a"] = { 1, 2, 3 } } }
]] },
}

local names = {}
for name in pairs(states) do names[#names + 1] = name end
table.sort(names)

for _, name in ipairs(names) do
  test("variants do not share " .. name, function()
    local path = test.folder_of(states[name]) .. "/s.lua"
    local one, ok = run("run", path, "--quiet")
    test.check(ok, "%s", one)
    test.equal((run("run", path, "--quiet", "--jobs", "2")), one, "with two jobs")
    local results = path .. ".sqlite"
    run("run", path, "--quiet", "--shard", "2/2", "--results", results)
    test.equal((run("run", path, "--quiet", "--results", results)), one, "with results of another process")
  end)
end

test("the same variant twice has the same result in one process", function()
  local path = test.folder_of { ["s.lua"] = router:format("local last = 0", in_turn)
    .. scenario 'router = Mine {}, vary = { title = { "one", "two" } }' } .. "/s.lua"
  local out, ok = run("run", path, "--quiet")
  test.check(ok, "%s", out)
  local one, two = out:match "title=one([^\n]*)\ntitle=two([^\n]*)\n"
  test.check(one, "%s", out)
  test.equal(two, one)
end)

test("what a scenario prints when it is loaded is printed once", function()
  local path = test.folder_of { ["s.lua"] = "print 'loaded'\n" .. router:format("local last = 0", in_turn)
    .. scenario("router = Mine {}, " .. varied) } .. "/s.lua"
  local out = run("run", path, "--quiet")
  test.equal(select(2, out:gsub("loaded\n", "")), 1, out)
end)

test("files that change while a process runs are those that it has read", function()
  local path = test.folder_of { ["s.lua"] = router:format("local last = 0", in_turn)
    .. scenario("router = Mine {}, " .. varied) }
  local script = path .. "/lua.lua"
  local file = assert(io.open(script, "w"))
  file:write(([[
local sweep = require "rooflua.sweep"
local path = %q
local chunks = require "rooflua.sandbox.chunks"
local given = chunks.load_scenario(path)
local function mean()
  local live = require("rooflua.serve").open((function() local t = {} for k, v in pairs(given) do t[k] = v end
    t.vary = nil return t end)(), { file = path })
  live:run()
  return live:result().summary.e2e_s.mean
end
local before = mean()
io.open(path, "w"):write "return 1"
print(before == mean())
]]):format(path .. "/s.lua"))
  file:close()
  test.equal((run("lua", script)), "true\n")
end)

-- What no script can change --------------------------------------------------------------------------------------

local changes = {
  ["math.counter = 1"] = "math is read%-only %(assigning 'counter'%)",
  ["math.floor = nil"] = "math is read%-only %(assigning 'floor'%)",
  ["string.rep = print"] = "string is read%-only",
  ["table.mine = {}"] = "table is read%-only",
  ["bit.band = nil"] = "bit is read%-only",
  ["coroutine.wrap = nil"] = "coroutine is read%-only",
  ["rawset(math, 'counter', 1)"] = "read%-only",
  ["require('rooflua.cost').mine = 1"] = "rooflua.cost is read%-only",
  ["require('steps.kernels.bounds').mine = 1"] = "steps.kernels.bounds is read%-only",
  ["require('routers.round_robin').mine = 1"] = "immutable once it is in use",
  ["counter = 1"] = "undeclared global 'counter'",
}

for text, message in pairs(changes) do
  test("at the user's line: " .. text, function()
    local path = test.folder_of { ["s.lua"] = "-- one\n" .. text .. "\n" .. scenario "" } .. "/s.lua"
    local out, ok = run("run", path, "--quiet")
    test.check(not ok and out:find(message), "%s", out)
    test.check(out:find("s.lua:2:", 1, true), "%s", out)
  end)
  test("in a method, at the user's line: " .. text, function()
    local path = test.folder_of { ["s.lua"] = router:format("", "\n" .. text .. "\nreturn 1")
      .. scenario "router = Mine {}" } .. "/s.lua"
    local out, ok = run("run", path, "--quiet")
    test.check(not ok and out:find(message), "%s", out)
    test.check(out:find("s.lua:6:", 1, true), "%s", out)
  end)
end

test("a method of the program that a run replaced is the program's in the next run", function()
  local path = test.folder_of { ["s.lua"] = router:format('local Turn = require "routers.round_robin"', [[
    Turn.route = function() return 1 end
    return 1]]) .. scenario [[vary = { router = { "round_robin", Mine {},
      { label = "again", value = "round_robin" } } }]] } .. "/s.lua"
  local out, ok = run("run", path, "--quiet")
  test.check(ok, "%s", out)
  local first, last = out:match "\nrouter=round_robin([^\n]*)\n.-\nrouter=again([^\n]*)\n"
  test.check(last, "%s", out)
  test.equal((last:gsub(" +", " ")), (first:gsub(" +", " ")), out)
end)

test("the libraries have all their functions, and pairs sees them", function()
  local path = test.folder_of { ["s.lua"] = [[
assert(math.floor(1.5) == 1 and ("x"):rep(2) == "xx" and string.rep("x", 2) == "xx" and bit.band(3, 2) == 2)
local n, sum = 0, 0
for name, value in pairs(math) do n = n + 1 end
assert(n > 20, n)
for _ in pairs(string) do sum = sum + 1 end
assert(sum > 10)
assert(table.concat({ 1, 2 }, " ") == "1 2" and next(table) ~= nil)
]] .. scenario "" } .. "/s.lua"
  local out, ok = run("check", path)
  test.check(ok, "%s", out)
end)

test.finish()
