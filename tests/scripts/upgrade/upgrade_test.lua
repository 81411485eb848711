-- `rooflua upgrade`: flags, rules, figures, and questions that cannot be answered.
local test = dofile "tests/scripts/harness.lua"
local command = require "rooflua.upgrade.command"
local engines = require "rooflua.engines"

local function asked(given)
  given.set = given.set or {}
  return command.run(given)
end

local function of_command(text, from, to, more)
  local given = { command = text, hardware = "h200", from = from, to = to }
  for key, value in pairs(more or {}) do given[key] = value end
  return asked(given)
end

--- The entry of a list with a value under a name.
local function entry(list, name, value)
  for _, each in ipairs(list) do
    if each[name] == value then return each end
  end
  return error(("no %s is %s"):format(name, value), 2)
end

test("rules that act are listed with their sources, values and effects", function()
  local answer = of_command("vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2", "vllm 0.19", "vllm 0.24").document
  local graphs = entry(answer.rules, "name", "graphs_counted")
  test.check(graphs.before == false and graphs.after == true and graphs.source:find "pull request")
  test.check(graphs.effect.memory.kv_tokens < 0)
  test.check(answer.starts and not answer.same and answer.without_effect > 0 and answer.rows_between > #answer.rules)
  local sum = answer.rest.memory.kv_tokens or 0
  for _, rule in ipairs(answer.rules) do sum = sum + (rule.effect.memory.kv_tokens or 0) end
  test.near(sum, answer.capacity.after.kv_tokens - answer.capacity.before.kv_tokens, 1e-9)
end)

test("the sides are what capacity says of the releases", function()
  local answer = of_command("vllm serve Qwen/Qwen3-32B --max-num-seqs 64", "vllm 0.12", "vllm 0.24").document
  for side, release in pairs { before = "vllm 0.12", after = "vllm 0.24" } do
    local alone = engines.capacity { model = "qwen3-32b", hardware = "h200", engine = { release, max_num_seqs = 64 } }
    test.equal(answer.capacity[side].kv_tokens, alone.kv_tokens, release)
    test.equal(answer.capacity[side].starts, alone.starts, release)
  end
end)

test("an option that is gone is named, and the command is mended", function()
  local answer = of_command("vllm serve Qwen/Qwen3-32B --swap-space 8 --max-num-seqs 64", "vllm 0.8", "vllm 0.24")
  local row = entry(answer.document.flags, "flag", "--max-num-seqs")
  test.equal(row.state, "kept")
  answer = of_command("python -m sglang.launch_server --model-path Qwen/Qwen3-32B --enable-deepep-moe --tp 2",
    "sglang 0.4.6", "sglang 0.5.9")
  row = entry(answer.document.flags, "flag", "--enable-deepep-moe")
  test.equal(row.state, "gone")
  test.check(row.why:find "gone since" and not answer.document.command:find "deepep")
end)

test("another engine gets the settings under its own names", function()
  local answer = of_command("vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-num-seqs 64 "
    .. "--kv-cache-dtype fp8 --gpu-memory-utilization 0.8", "vllm 0.19", "sglang 0.5.9").document
  test.equal(entry(answer.flags, "flag", "--max-num-seqs").to, "--max-running-requests")
  test.equal(entry(answer.flags, "flag", "--kv-cache-dtype").to_value, "fp8_e4m3")
  test.equal(entry(answer.flags, "flag", "--gpu-memory-utilization").state, "gone")
  test.equal(answer.capacity.after.max_num_seqs, 64)
  test.check(answer.command:find("--tp-size 2", 1, true) ~= nil and answer.rows_between == nil)
end)

test("a load has metrics and intervals of both sides, and each rule its part of them", function()
  local answer = of_command("vllm serve Qwen/Qwen3-8B", "vllm 0.8", "vllm 0.24",
    { clients = 8, workload = "500+50", requests = 40 }).document
  local changed = answer.load.after.metrics.tpot_s_mean - answer.load.before.metrics.tpot_s_mean
  test.check(changed < 0 and answer.load.after.intervals ~= nil)
  local sum = answer.rest.load.tpot_s_mean or 0
  for _, rule in ipairs(answer.rules) do sum = sum + (rule.effect.load.tpot_s_mean or 0) end
  test.near(sum, changed, 1e-9)
end)

test("a release that does not start has status 1 and the reason", function()
  local answer = of_command("vllm serve Qwen/Qwen3-32B", "vllm 0.19", "vllm 0.24", { hardware = "h100" })
  test.equal(answer.status, 1)
  test.check(answer.text:find "would not start after: max_model_len")
end)

test("a newer release than the known ones is said", function()
  local answer = of_command("vllm serve Qwen/Qwen3-8B", "vllm 0.19", "vllm 99.0").document
  test.check(table.concat(answer.notes, "\n"):find "newer than the rules that are known")
end)

test("engines.changes has the rules of a deployment for scripts", function()
  local list = engines.changes("vllm 0.19", "vllm 0.24", { model = "qwen3-32b", hardware = "h200", tp = 2 })
  test.equal(entry(list, "name", "graphs_counted").after, true)
  test.equal(#engines.changes("vllm 0.24", "vllm 0.24", { model = "qwen3-32b", hardware = "h200" }), 0)
end)

test("questions that cannot be answered say what is missing", function()
  for message, given in pairs {
    ["needs a scenario, or --command"] = { to = "vllm 0.24" },
    ["--hardware: on which GPU"] = { command = "vllm serve Qwen/Qwen3-8B", to = "vllm 0.24" },
    ["--from: from which release"] = { command = "vllm serve Qwen/Qwen3-8B", hardware = "h200", to = "vllm 0.24" },
    ["a scenario and --command"] = { scenario = "scenarios/07_disaggregation.lua", command = "vllm serve X",
      to = "vllm 0.24" },
    ["--model is said by"] = { scenario = "scenarios/07_disaggregation.lua", model = "qwen3-8b", to = "vllm 0.24" },
    ["--from is said by"] = { scenario = "scenarios/07_disaggregation.lua", from = "vllm 0.9", to = "vllm 0.24" },
    ["--rate is said by"] = { scenario = "scenarios/07_disaggregation.lua", rate = 1, to = "vllm 0.24" },
    ["needs a scenario of kind \"serve\""] = { scenario = "scenarios/01_hello.lua", to = "vllm 0.24" },
    ["is no release"] = { command = "vllm serve Qwen/Qwen3-8B", hardware = "h200", from = "vllm 0.9", to = "vllm x" },
  } do
    test.raises(message, function() asked(given) end)
  end
end)

test.finish()
