-- Completion of the prompt, without a terminal.
local test = dofile "tests/scripts/harness.lua"
local repl = require "rooflua.repl.session"

local quiet = print
print = function() end -- luacheck: ignore
repl.eval(":open scenarios/02_chunk_size.lua", 0, 100)
repl.eval(":until 5", 0, 100)
repl.eval("ran = 0 function run() ran = ran + 1 return { field = 1 } end", 0, 100)
print = quiet -- luacheck: ignore

--- The candidates as " a b c ".
local function offered(line) return " " .. table.concat(repl.complete(line).candidates, " ") .. " " end

local function offers(line, ...)
  for _, name in ipairs { ... } do
    test.check(offered(line):find(" " .. name .. " ", 1, true), line .. " offers" .. offered(line) .. "not " .. name)
  end
end

test("fields of what a simulation answers are offered, however deep", function()
  offers("sim:result().", "summary", "totals")
  offers("x = sim:result().summary.ttft_s.p", "p50", "p99")
  offers("sim:replica().", "free_blocks", "running")
  offers("print(sim:replica(1).running[1].", "prompt_tokens", "phase")
end)

test("after a colon there are methods and nothing else", function()
  offers("sim:", "step", "result")
  test.equal(offered("sim:now"), "  ")
  offers("sim.now", "now_s")
end)

test("nothing is called that could change something", function()
  for _, line in ipairs { "run().", "sim:step().", "sim:run_until(9).", "sim:replica(run()).", "spec.model(run()):" } do
    test.equal(offered(line), "  ", line)
  end
  local said = {}
  print = function(text) said[#said + 1] = text end -- luacheck: ignore
  repl.eval("ran == 0 and sim.now_s == 5", 0, 100)
  print = quiet -- luacheck: ignore
  test.equal(table.concat(said, " "), "true")
end)

test("names of models, GPUs, policies and files are offered inside a text", function()
  offers("spec.model('qwen3", "qwen3-8b", "qwen3-14b")
  offers("serve.open { model = \"qwen3", "qwen3-8b")
  offers("mfu.open \"h", "h200-sxm", "h20")
  offers("mfu.open('h200'):", "gemm", "tables")
  offers("a:set { steps = \"roof", "roofline_v1", "roofline_v2")
  offers("dofile 'tests/scripts/explore/fit", "tests/scripts/explore/fit_test.lua")
end)

test("help on the name of a command is its line", function()
  local said = {}
  print = function(text) said[#said + 1] = text end -- luacheck: ignore
  repl.eval(":help why", 0, 100)
  repl.eval(":help :until", 0, 100)
  print = quiet -- luacheck: ignore
  test.equal(said[1]:match "^%S+ %S+", ":why ID")
  test.equal(said[2], ":until T  every simulation up to T seconds; +T from now")
end)

test("what the prompt cannot do is refused in words", function()
  local function refused(part, line)
    local session = { lives = {}, order = {}, environment = {}, width = 100 }
    print = function() end -- luacheck: ignore
    local ok, problem = pcall(require("rooflua.repl.commands").run, session, line)
    print = quiet -- luacheck: ignore
    test.check(not ok, "nothing is refused: %s", line)
    test.has(tostring(problem), part)
  end
  refused("23_plan.lua: a scenario of kind plan is no simulation; `rooflua run` answers it",
    ":open scenarios/23_plan.lua")
  refused("expected an expression, as in :time sim:result()", ":time")
end)

test("commands know what can follow them", function()
  offers(":set ", "scheduler=", "steps=", "scheduler.max_num_seqs=")
  offers(":set steps.host_s", "steps.host_step_s=")
  offers(":set steps.host_step_s=0 scheduler=sj", "sjf")
  offers(":fork few scheduler.max_num_s", "scheduler.max_num_seqs=")
  offers(":diff a t", "ttft", "tpot")
  offers(":help cost.g", "cost.gemm")
  offers(":open scenarios/02", "scenarios/02_chunk_size.lua")
end)

test.finish()
