-- `rooflua check-run`: what is plausible, and which input of a scenario is named where it is not.
local test = dofile "tests/scripts/harness.lua"
local command = require "rooflua.plausible.command"
local json = require "rooflua.json"
local native = require "rooflua.native"
local full_run = require "rooflua.serving.full_run"
local opening = require "rooflua.runs.opening"

local folder = test.folder()
local open_loop = [[
return { model = "qwen3-8b", hardware = "h100-sxm", engine = "vllm 0.19",
  workload = require "workloads.poisson" { rate_per_s = 3, prompt_tokens = 2000, output_tokens = 60,
    num_requests = 60 } }
]]
local closed_loop = [[
return { model = "qwen3-8b", hardware = "h100-sxm", engine = "vllm 0.19",
  workload = require "workloads.closed_loop" { clients = 8, prompt_tokens = 1000, output_tokens = 60,
    num_requests = 64 } }
]]

local function write(name, text)
  local path = folder .. "/" .. name
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return path
end

local written = 0

--- A result that the scenario gives with other settings, as vllm bench serve writes it.
---@param changed fun(result: table)? changes the document
local function result_of(scenario, set, changed)
  written = written + 1
  local path = ("%s/result%d.json"):format(folder, written)
  local opened = opening.file(scenario, { set = set })
  full_run.run(opened.reader, (opening.variant(opened, 1)), { requests_path = path })
  if changed then
    local document = json.decode((native.read_file(path)))
    changed(document)
    write(("result%d.json"):format(written), json.encode(document))
  end
  return path
end

local open_file, closed_file = write("open.lua", open_loop), write("closed.lua", closed_loop)

--- The answer to a result that a scenario gives with settings that it does not state.
local function answer_of(scenario, set, changed)
  return command.run { result = result_of(scenario, set, changed), scenario = scenario }
end

local function likeliest(answer)
  local of = answer.document.likeliest
  return of and ("%s = %s"):format(of.set, tostring(of.after)) or "none"
end

test("a scenario's own result is plausible, in one line and with status 0", function()
  local answer = answer_of(open_file, {})
  test.equal(answer.status, 0)
  test.equal(answer.text:match "^[^\n]*", "plausible: 4 figures inside of their intervals")
  test.equal(#answer.document.figures, 4)
  test.equal(#answer.document.workload, 0)
  for _, each in ipairs(answer.document.figures) do
    test.near(each.measured, each.simulated, 1e-6, each.title)
    test.check(each.low < each.measured and each.measured < each.high, each.title)
  end
end)

test("the input that differs is named with its value, in the scenario's names", function()
  local cases = {
    { open_file, "workload.rate_per_s=12", "workload.rate_per_s = 12" },
    { open_file, "workload.prompt_tokens=500", "workload.prompt_tokens = 500" },
    { open_file, "workload.output_tokens=240", "workload.output_tokens = 240" },
    { open_file, "engine.tensor_parallel_size=2", "engine.tensor_parallel_size = 2" },
    { open_file, "engine.enforce_eager=true", "engine.enforce_eager = true" },
    { open_file, "deployment.weights=fp8", "engine.quantization = fp8" },
    { closed_file, "workload.clients=32", "workload.clients = 32" },
  }
  for _, each in ipairs(cases) do
    local answer = answer_of(each[1], { each[2] })
    test.equal(answer.status, 1, each[2])
    test.equal(likeliest(answer), each[3], each[2])
    test.check(answer.text:match "^[^\n]*":find("likeliest wrong: " .. each[3], 1, true), answer.text)
  end
end)

test("prompts that begin alike are named as a hit rate of the prefix cache", function()
  local shared = require("rooflua.plausible.altered")
  local opened = opening.file(open_file, {})
  local given = opening.variant(opened, 1)
  local path = folder .. "/shared.json"
  local copy = {}
  for key, value in pairs(given) do copy[key] = value end
  copy.workload = shared { base = given.workload, shared = 0.9 }
  full_run.run(opened.reader, copy, { requests_path = path })
  local answer = command.run { result = path, scenario = open_file }
  test.equal(answer.status, 1)
  test.equal(likeliest(answer), "prefix cache hit rate = 0.9")
end)

test("times that are longer by one factor are those of slower hardware", function()
  local answer = answer_of(closed_file, {}, function(document)
    for i, each in ipairs(document.ttfts) do document.ttfts[i] = each * 1.5 end
    for i, list in ipairs(document.itls) do
      for j, each in ipairs(list) do document.itls[i][j] = each * 1.5 end
    end
    for i, each in ipairs(document.start_times) do document.start_times[i] = each * 1.5 end
    for key, value in pairs(document) do
      if type(value) == "number" and key:find "_ms$" then document[key] = value * 1.5 end
    end
    document.duration = document.duration * 1.5
    for _, key in ipairs { "output_throughput", "request_throughput", "total_token_throughput" } do
      document[key] = document[key] / 1.5
    end
  end)
  test.equal(answer.status, 1)
  test.check(answer.text:find("likeliest wrong: the hardware is 50 % slower than the table", 1, true), answer.text)
end)

test("where the load of the result is another one, the report says so, also of a plausible result", function()
  local answer = answer_of(open_file, { "workload.num_requests=50" })
  test.equal(answer.status, 0)
  test.check(answer.text:find("the result has 50 requests, the scenario 60 (workload.num_requests)", 1, true),
    answer.text)
  answer = answer_of(open_file, { "workload.rate_per_s=6" })
  test.check(answer.text:find("the result has 6 requests/s, the scenario 3 (workload.rate_per_s)", 1, true),
    answer.text)
end)

test("where several parts of the load differ, the whole load of the result is named", function()
  local answer = answer_of(open_file, { "workload.rate_per_s=8", "workload.prompt_tokens=400",
    "workload.output_tokens=150" })
  test.equal(answer.status, 1)
  test.equal(#answer.document.workload, 3)
  test.equal(likeliest(answer), "workload = that of the result")
end)

test("a launch command takes the load of the result", function()
  local result = result_of(open_file, {})
  local answer = command.run { result = result, hardware = "h100-sxm",
    command = { text = "vllm serve Qwen/Qwen3-8B", engine = "vllm 0.19" } }
  test.equal(answer.status, 0)
  answer = command.run { result = result_of(open_file, { "engine.tensor_parallel_size=2" }), hardware = "h100-sxm",
    command = { text = "vllm serve Qwen/Qwen3-8B", engine = "vllm 0.19" } }
  test.equal(likeliest(answer), "--tensor-parallel-size = 2")
end)

test("figures that the result does not have are left out, and one without any is refused", function()
  local function only(keep)
    return function(document)
      for _, key in ipairs { "ttfts", "itls", "start_times", "input_lens", "output_lens", "errors",
        "generated_texts" } do
        document[key] = nil
      end
      for key in pairs(document) do
        if key:find "_ms$" and not keep[key] then document[key] = nil end
      end
    end
  end
  local answer = answer_of(open_file, {}, only { mean_ttft_ms = true })
  local titles = {}
  for i, each in ipairs(answer.document.figures) do titles[i] = each.title end
  test.equal(table.concat(titles, " "), "TTFT tokens/s")
end)

test.finish()
