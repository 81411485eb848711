-- Sessions at the prompt: commands, expressions and broken lines in any order. Each line is answered or refused in
-- words, and the session goes on to its end: no crash, no internal error, no hang.
local fuzzer = dofile "tests/fuzz/fuzzer.lua"
local program = dofile "tests/fuzz/program.lua" (fuzzer)

local scenario = [[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h200", %s
  workload = require "workloads.%s" { num_requests = 40, prompt_tokens = 200, output_tokens = 6 } }]]
local price = [[return { kind = "price", model = "llama-3.1-8b", hardware = "h200",
  price = { { decodes = 4, decode_context_tokens = 400 } } }]]

local names = { "a", "b", "c", "few", "other", "sim", "_", "", "1x", "x y", "help" }
local numbers = { "0", "1", "2", "5", "-1", "+1", "+0", "0.5", "1e9", "1e999", "nan", "inf", "x", "" }
local views = { "load", "ttft", "tpot", "e2e", "queue", "roofline", "nonsense", "", "ttft_s" }
local settings = { "scheduler.max_num_seqs=2", "scheduler=sjf", "steps=roofline_v1", "steps.host_step_s=0.01", "x=1",
  "scheduler=", "=", "scheduler.max_num_seqs=-1", "steps=nonsense", "deployment.tp=2", "router=random" }

local function draw(random, list) return list[random:whole(1, #list)] end

local commands = {
  function(r) return ":open " .. draw(r, { "one.lua", "two.lua", "price.lua", "broken.lua", "gone.lua", "" }) .. " "
    .. draw(r, { "", "", "1", "2", "-1", "replicas=2", "vary={\"seed\":[1,2]}", "seed=x" }) end,
  function(r) return ":step " .. draw(r, numbers) end,
  function(r) return ":until " .. draw(r, numbers) end,
  function() return ":run" end,
  function(r) return ":set " .. draw(r, settings) end,
  function(r) return ":fork " .. draw(r, names) .. " " .. draw(r, settings) end,
  function(r) return ":use " .. draw(r, names) end,
  function(r) return ":explain " .. draw(r, numbers) end,
  function(r) return ":why " .. draw(r, numbers) end,
  function(r) return ":plot " .. draw(r, views) end,
  function(r) return ":diff " .. draw(r, names) .. " " .. draw(r, names) .. " " .. draw(r, views) end,
  function() return ":report" end,
  function(r) return ":time " .. draw(r, { "", "3 ", "-1 ", "1e9x " }) .. "1 + 1" end,
  function() return ":reload" end,
  function(r) return ":help " .. draw(r, { "", "cost.gemm", "steps.kernels", "nonsense", "Live:set", "[" }) end,
  function(r) return ":" .. draw(r, { "", "nonsense", "OPEN", ":", "quit x", "\255", " step" }) end,
}

local expressions = {
  function(r) return draw(r, names) end,
  function(r) return draw(r, names) .. "." .. draw(r, { "now_s", "step", "set", "nonsense" }) end,
  function(r) return "sim:" .. draw(r, { "step", "run_until", "request", "replica", "waiting" }) .. "("
    .. draw(r, numbers) .. ")" end,
  function(r) return draw(r, names) .. " = sim:fork()" end,
  function(r) return "serve.close(" .. draw(r, names) .. ")" end,
  function(r) return "sim:set { " .. draw(r, { "scheduler = 'sjf'", "steps = 3", "x = 1", "" }) .. " }" end,
  function(r) return ("measure.plot(sim, %q, { width = %s })"):format(draw(r, views), draw(r, numbers)) end,
  function(r) return ("measure.%s(sim)"):format(draw(r, { "summary", "compare", "why", "diff", "nonsense" })) end,
  function(r) return ("cost.gemm(mfu.open 'h200', %s, %s, %s)"):format(draw(r, numbers), draw(r, numbers),
    draw(r, numbers)) end,
  function(r) return ("spec.%s(%s)"):format(draw(r, { "model", "hardware", "deployment", "gpus" }),
    draw(r, { "'llama-3.1-8b'", "'h200'", "{}", "nil", "3", "sim" })) end,
  function(r) return ("for i = 1, 3 do print(i, %s) end"):format(draw(r, numbers)) end,
  function(r) return draw(r, { "sim?", "serve.run?", "help", "help 'cost'", "nil", "{}", "{ 1, { 2, { 3 } } }", "_G",
    "print", "sim.now_s;", "error 'x'", "error {}", "error()", "coroutine.wrap(function() sim:step() end)()",
    "string.rep('x', 1e6)", "('x'):rep(3):nonsense()", "return 1, 2, nil, 4",
    "local x = 3", "io.open('x')",
    "require 'nonsense'", "require 'rooflua'", "setmetatable({}, { __tostring = error })", "rawset(_G, 'sim', 3)",
    "pcall(sim.step, sim, -1)", "collectgarbage()", "(", ")", "function f(", "end", "if true then",
    "'", '"', "[[", "]]", "\255\254", "--", "--[[", "\t", "x = ", "= 3", "a b c", "1 / 0", "0 / 0",
    "-0.0", "2 ^ 63" }) end,
}

local function line(random)
  local text = random:chance(0.6) and random:pick(commands)(random) or random:pick(expressions)(random)
  local repeats = text:find "^for " or text:find "^:time" -- another number would be a longer loop
  return not repeats and random:chance(0.08) and random:damaged(text) or text
end

fuzzer.main(function(random, folder)
  folder = folder .. "/prompts"
  os.execute(("mkdir -p '%s'"):format(folder))
  fuzzer.write(folder .. "/one.lua", scenario:format("", random:pick { "poisson", "constant", "closed_loop" }))
  fuzzer.write(folder .. "/two.lua", scenario:format("vary = { seed = { 1, 2 } }, replicas = 2,", "poisson"))
  fuzzer.write(folder .. "/price.lua", price)
  fuzzer.write(folder .. "/broken.lua", "return {")
  local lines = random:chance(0.8) and { ":open one.lua" } or {}
  for _ = 1, random:whole(1, 25) do lines[#lines + 1] = line(random) end
  lines[#lines + 1] = "'" .. "the end'"
  local input = folder .. "/session.txt"
  fuzzer.write(input, table.concat(lines, "\n") .. "\n")
  local ok, problem = pcall(program.run, { "repl" }, folder, input)
  if not ok then error(tostring(problem) .. "\nthe session:\n" .. table.concat(lines, "\n"), 0) end
end)
