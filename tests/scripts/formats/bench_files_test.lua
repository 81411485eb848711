-- Files that say what a benchmark sends as workloads (`--bench FILE`).
local test = dofile "tests/scripts/harness.lua"
local command = require "rooflua.bench.command"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local random = require "rooflua.random"

--- The given parameters of the workload of a file, and sentences about it as one text.
---@param which any "#2": a row
local function read(text, which)
  local workload, told = command.read(test.file("load", text) .. (type(which) == "string" and which or ""))
  local out = { name = workload.name }
  for name, value in pairs(policy.parameters(workload)) do
    if policy.is_given(workload, name) then out[name] = value end
  end
  return out, table.concat(told, "\n")
end

local stages = [[
load:
  type: constant
  interval: 5
  num_workers: 4
  worker_max_concurrency: 10
  stages:
    - {rate: 2, duration: 10}
    - {rate: 4.5, duration: 4}
]]
local prefixes = [[
data:
  type: shared_prefix
  shared_prefix: {num_groups: 8, num_users_per_system_prompt: 4, system_prompt_len: 512, question_len: 64,
    output_len: {type: uniform, min: 10, max: 30}}
]]
local clients = "load:\n  type: concurrent\n  stages: [{concurrency_level: 2, num_requests: 8}]\n"
local lengths = [[
data:
  type: random
  input_distribution: {min: 100, max: 300, mean: 200, std_dev: 20, total_count: 9}
  output_distribution: {min: 10, max: 40, mean: 20, variance: 25}
server: {type: vllm, base_url: "http://server", ignore_eos: true}
]]

test("inference-perf: rates that follow each other, over prompts with shared prefixes", function()
  local found, told = read(stages .. prefixes)
  test.equal(found.name, "shared_prefix_stages")
  test.equal(found.groups * found.prompts_per_group, 32)
  test.equal(found.shared_prefix_tokens + found.question_tokens, 576)
  test.equal(found.output_tokens.max, 30)
  test.equal(#found.stages, 2)
  test.equal(found.stages[2].rate_per_s * found.stages[2].duration_s, 18)
  test.equal(found.arrivals .. found.gap_s, "constant5")
  test.equal(found.max_in_flight, 40)
  test.equal(told, "")
  found = read((stages .. prefixes):gsub("constant", "poisson"):gsub("interval: 5", "num_workers: 0"
    ):gsub("num_workers: 4\n", "base_seed: 4\n"))
  test.equal(found.arrivals .. found.gap_s .. found.max_in_flight, "poisson10")
end)

test("inference-perf: clients, and lengths that are drawn", function()
  local found = read(clients .. lengths)
  test.equal(found.groups, 0)
  test.equal(found.stages[1].clients .. " " .. found.stages[1].requests, "2 8")
  test.equal(found.question_tokens.mean .. " " .. found.question_tokens.deviation, "200 20")
  test.equal(found.output_tokens.deviation .. " " .. found.output_tokens.max, "5 40")
end)

test("inference-perf: prompts of one text begin alike", function()
  local found, told = read((clients .. lengths):gsub("type: random", "type: synthetic"))
  test.equal(found.groups, 1)
  test.equal(found.shared_prefix_tokens + found.question_tokens.mean, 200)
  test.equal(found.question_tokens.max, 200)
  test.has(told, "beginnings of one text")
  found, told = read((clients .. lengths):gsub("type: random", "type: synthetic"):gsub("std_dev: 20", "type: fixed"))
  test.equal(found.prompts_per_group, 1)
  test.equal(found.shared_prefix_tokens + found.question_tokens, 200)
  test.equal(told, "")
end)

test("what changes the load and is not followed is told, and what is not known", function()
  local _, told = read(stages:gsub("num_workers: 4", "request_timeout: 9") .. lengths:gsub("true", "false"
    ):gsub("total_count", "std"))
  test.has(told, "not followed, and changes the load: load.request_timeout, load.worker_max_concurrency, "
    .. "server.ignore_eos")
  test.has(told, "not known, and nothing follows from it: data.input_distribution.std")
end)

test("llm-d-benchmark: flags of a command, with and without its name", function()
  local found, told = read("executable: bench/benchmark_serving.py\nmodel: M\ndataset-name: random\n"
    .. "random-input-len: 1024\nmax-concurrency: 4\nnum-prompts: 12\nrequest-rate: inf\nignore-eos: none\nother: 3\n")
  test.equal(found.name, "vllm_bench")
  test.equal(found.random_input_len + found.num_prompts + found.max_concurrency, 1040)
  test.has(told, "nothing follows from it: --other")
  found = read "args: [--dataset-name, random, --num-prompts, 5, --random-input-len=100]"
  test.equal(found.num_prompts + found.random_input_len, 105)
  found, told = read "name: sanity\nargs: [vllm, bench, serve, --num-prompts, 5]\n"
  test.equal(found.num_prompts, 5)
  test.has(told, "nothing follows from it: --name")
end)

test("guidellm: a profile, and rates that follow each other", function()
  local found = read("target: http://server\nprofile: concurrent\nrate: 2\nmax_seconds: 50\n"
    .. "data: prompt_tokens=256,output_tokens=128,prefix_tokens=2048\n")
  test.equal(found.stages[1].clients, 2)
  test.equal(found.shared_prefix_tokens, 2048)
  found = read("rate-type: constant\nrate: [4, 8]\nmax_seconds: 5\ndata: {prompt_tokens: 100, output_tokens: 10}\n")
  test.equal(#found.stages, 2)
  test.equal(found.stages[2].rate_per_s * found.stages[2].duration_s, 40)
  test.equal(found.groups, 0)
end)

local chats = [[
data:
  type: conversation_replay
  conversation_replay: {num_conversations: 6, shared_system_prompt_len: 40, max_model_len: 4096,
    turns_per_conversation: {type: fixed, mean: 3}, input_tokens_per_turn: {min: 5, max: 50, mean: 20, std_dev: 9},
    output_tokens_per_turn: {type: lognormal, min: 1, max: 90, mean: 20, std_dev: 9}}
]]

test("inference-perf: conversations, chats of a file, and images", function()
  local found, told = read(clients .. chats)
  test.equal(found.name .. found.turns .. found.clients .. found.num_requests, "conversations328")
  test.equal(found.output_tokens.distribution .. told, "lognormal")
  found = read(clients .. chats:gsub("mean: 3", "mean: 1"))
  test.equal(found.prompts_per_group .. found.name, "6shared_prefix_stages")
  found, told = read(clients .. "data: {type: shareGPT, path: x}\n")
  test.equal(found.question_tokens.distribution, "lognormal")
  test.has(told, "stand for them")
  found = read(clients .. lengths:gsub("type: random", "type: random\n  multimodal: {image: {resolutions: 720p, "
    .. "count: {type: uniform, min: 1, max: 3}}}"))
  test.equal(found.images.sizes[1][1] + found.images.count.max, 1283)
end)

test("guidellm: files of kinds, with runs that differ", function()
  local spec = "spec:\n  backend: {kind: openai_http}\n  profile: {kind: concurrent}\n"
    .. "  constraints: [{kind: max_requests}]\n"
    .. "  data: [{kind: synthetic_text, prompt_tokens: 100, output_tokens: 10,\n"
    .. "    prefix_buckets: [{prefix_tokens: 50}]}]\n"
    .. "benchmarks:\n- {profile.streams: 2, \"constraints[0].count\": 20}\n- {profile.streams: 4, "
    .. "\"constraints[0].count\": 40}\n"
  local found, told = read(spec)
  test.equal(found.stages[2].clients .. " " .. found.stages[2].requests .. " " .. found.shared_prefix_tokens, "4 40 50")
  test.equal(told, "")
end)

test("a script has the command of a benchmark", function()
  local found = read("#!/bin/bash\nset -e\nP=100\nvllm serve M &\nvllm bench serve --num-prompts 5 \\\n"
    .. "  --random-input-len ${P} | tee log\n")
  test.equal(found.num_prompts + found.random_input_len, 105)
end)

local rows = '[{"image": "x", "isl": 1024, "osl": 8, "conc": 4, "tp": 8}, '
  .. '{"isl": 100, "osl": 8, "conc": [1, 2], "n": 1}]'

test("InferenceX: a row of a matrix", function()
  local found, told = read(rows, "#1")
  test.equal(found.name, "closed_loop")
  test.equal(found.clients .. " " .. found.num_requests, "4 40")
  test.equal(found.prompt_tokens + found.output_tokens, 1032)
  test.has(told, "10 requests a client")
  found, told = read(rows, "#2")
  test.equal(found.stages[2].clients .. " " .. found.stages[2].requests, "2 20")
  test.has(told, "nothing follows from it: [2].n")
  test.equal((read "- {isl: 10, osl: 2, conc: 3}\n").clients, 3)
end)

test("a file that is none of these, or says too little, is an error with file and key", function()
  for message, text in pairs {
    ["is no load that is known"] = "kind: Deployment\n",
    ["load.type: expected constant, poisson, concurrent or trace_replay, found text \"burst\""] =
      stages:gsub("constant", "burst") .. prefixes,
    ["load.trace.file: which file is it?"] = stages:gsub("constant", "trace_replay") .. prefixes,
    ["sessions of a recording"] = stages:gsub("constant", "trace_session_replay") .. prefixes,
    ["load.stages[2].num_requests: such a load"] = stages:gsub("duration: 4", "num_requests: 4") .. prefixes,
    ["load.stages[1]: duration: is missing"] = stages:gsub(", duration: 10", "") .. prefixes,
    ["load.sweep: such a load"] = stages:gsub("interval: 5", "sweep: {}") .. prefixes,
    ["load.stages: expected a list"] = "load: {type: poisson}\n" .. prefixes,
    ["expected from 1 to 1e+07 requests"] = stages:gsub("rate: 2", "rate: 0.01") .. prefixes,
    ["data.type: expected conversation_replay, random, shareGPT"] = stages .. "data: {type: mock}\n",
    ["2 stages of conversations: name one"] = stages .. chats,
    ["system_prompt_len: prefixes of different lengths"] = stages .. prefixes:gsub("512", "{mean: 500}"),
    ["enable_multi_turn_chat: give conversations"] = stages .. prefixes:gsub("question_len",
      "enable_multi_turn_chat: true, question_len"),
    ["data.input_distribution: mean: expected a number from min 100"] = clients .. lengths:gsub("200", "99"),
    ["states variance and std_dev"] = clients .. lengths:gsub("std_dev: 20", "std_dev: 20, variance: 4"),
    ["data.input_distribution: is missing"] = clients .. "data: {type: random}\n",
    ["type: expected normal, lognormal, poisson, uniform or fixed"] = clients .. lengths:gsub("std_dev: 20",
      "type: skew_normal"),
    ["--num-prompts: expected a whole number"] = "executable: benchmark_serving.py\nnum-prompts: many\n",
    ["args[1]: expected a text"] = "args: [{a: 1}]\n",
    ["expected the command of a benchmark"] = "args: [vllm, serve]\n",
    ["rate: expected a text or a number"] = "profile: constant\nrate: {x: 1}\n",
    ["has 2 rows: name one"] = rows,
    ["[1]: isl: expected a whole number"] = "- {osl: 2, conc: 3}\n",
    ["an anchor is not read"] = "load: &a {}\ndata: *a\n",
  } do
    local path = test.file("load", text)
    test.raises(message, function() command.read(path) end)
    test.raises("--bench: " .. path, function() command.read(path) end)
  end
  test.raises("has 2 rows: name one", function() command.read(test.file("load", rows) .. "#3") end)
  test.raises("#2: only a list", function() command.read(test.file("load", stages .. prefixes) .. "#2") end)
end)

test("every form sends requests of the stated number", function()
  for count, text in pairs { [38] = stages .. prefixes, [8] = clients .. lengths, [12] = "executable: "
    .. "benchmark_serving.py\nnum-prompts: 12\n", [10] = "profile: poisson\nrate: [4, 8]\nmax-requests: 5\n"
    .. "data: {prompt_tokens: 9, output_tokens: 3}\n", [20] = "- {isl: 10, osl: 2, conc: 2}\n" } do
    local opened = opening.table({ model = "qwen3-8b", hardware = "h100-sxm",
      workload = (command.read(test.file("load", text))) }, {})
    local found = require("rooflua.runs.single").run("serve", opened.reader, (opening.variant(opened, 1)),
      { document = true, operations = false })
    test.equal(found.summary.completed, count, text)
  end
end)

local tries = os.getenv "ROOFLUA_MUTATIONS" == "all" and 5000 or 400

test("files that are changed at random are read or refused by name, and never a mistake of the reader", function()
  local stream = random.streams(5):stream "files"
  local texts = { stages .. prefixes, clients .. lengths, rows, "executable: benchmark_serving.py\nnum-prompts: 12\n",
    "profile: constant\nrate: [4, 8]\nmax_seconds: 5\ndata: {prompt_tokens: 100, output_tokens: 10}\n" }
  local pieces = { "null", "-1", ".inf", ".nan", "1e308", "''", "[]", "{}", "[1, 2]", "{a: 1}", "0", "0.5", "yes",
    "\255", "uniform", "fixed", "- ", ": ", ",", "\n", "&a", "\t" }
  local is_read = 0
  for _ = 1, tries do
    local text = texts[stream:integer(1, #texts)]:gsub("[%w_.-]+", function(word)
      if stream:uniform() < 0.06 then return pieces[stream:integer(1, #pieces)] end
      return word
    end)
    local path = test.file("load", text)
    local ok, problem = pcall(command.read, path)
    if ok then is_read = is_read + 1 end
    test.check(ok or tostring(problem):find("--bench: " .. path, 1, true) and not problem:find "attempt to"
      and not problem:find "bad argument", "%s: %s", text, tostring(problem))
  end
  test.check(is_read > tries / 20 and is_read < tries, "%d of %d were read", is_read, tries)
end)

test.finish()
