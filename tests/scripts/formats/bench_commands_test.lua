-- Commands of benchmark tools as workloads (`--bench`).
local test = dofile "tests/scripts/harness.lua"
local command = require "rooflua.bench.command"
local core = require "rooflua.base.core"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local random = require "rooflua.random"

--- The given parameters of a workload, and its name.
local function read_of(workload)
  local out = { name = workload.name }
  for name, value in pairs(policy.parameters(workload)) do
    if policy.is_given(workload, name) then out[name] = value end
  end
  return out
end

--- The same of the workload of a command, and what is said of it.
local function read(text)
  local workload, told = command.read(text)
  return read_of(workload), told
end

test("vLLM's benchmark is its own workload, with its own defaults", function()
  local found, told = read("vllm bench serve --model Qwen/Qwen3-8B --dataset-name random --random-input-len 1000 "
    .. "--random-output-len=200 --num-prompts 100 --request-rate 4 --burstiness 0.5 --ignore-eos --seed 3")
  test.equal(found.name, "vllm_bench")
  test.equal(found.random_input_len + found.random_output_len + found.num_prompts, 1300)
  test.equal(found.request_rate * found.burstiness, 2)
  test.equal(#told, 0)
  found = read "python3 benchmarks/benchmark_serving.py --backend vllm --dataset-name random --max-concurrency 16"
  test.equal(found.request_rate, math.huge)
  test.equal(found.max_concurrency, 16)
  found = read("vllm bench serve --random-input-len 5 --input-len 7 --random-range-ratio "
    .. "'{\"input\": 0.5, \"output\": 0}' --random-out 9")
  test.equal(found.random_output_len, 9)
  test.equal(found.random_input_len, 7)
  test.equal(found.random_range_ratio.input, 0.5)
  found, told = read "python benchmark_serving.py --dataset-name random --random-range-ratio 1.0"
  test.equal(found.random_range_ratio, 0)
  test.has(told[1], "before 2025")
end)

test("datasets whose lengths are stated or published are read, others are refused by name", function()
  local found = read "vllm bench serve --dataset-name sonnet --sonnet-input-len 700 --num-prompts 9 --request-rate 2"
  test.equal(found.shared_prefix_tokens + found.question_tokens, 700)
  test.equal(found.output_tokens, 150)
  local told
  found, told = read("vllm bench serve --dataset-name sharegpt --sharegpt-output-len 99 --request-rate 2 "
    .. "--max-concurrency 4")
  test.equal(found.question_tokens.max, 1024)
  test.equal(found.output_tokens + found.max_in_flight, 103)
  test.has(told[1], "stand for them")
  for _, text in ipairs { "python -m sglang.bench_serving --num-prompts 5", "python benchmark_serving.py",
    "aiperf profile --public-dataset sharegpt" } do
    found, told = read(text)
    test.equal(found.prompt_tokens.distribution, "lognormal", text)
    test.has(told[1], "ShareGPT")
  end
  local path = test.file("trace.jsonl", '{"timestamp": 0, "input_length": 5, "output_length": 2, "hash_ids": [1]}\n')
  for text, unit in pairs { ["vllm bench serve --dataset-name timed_trace --timed-trace-sec-multiplier 0.001 "
      .. "--dataset-path "] = "ms", ["python -m sglang.bench_serving --dataset-name mooncake --dataset-path "] = "",
    ["aiperf profile --custom-dataset-type mooncake_trace --fixed-schedule --input-file "] = "" } do
    found = read(text .. path)
    test.equal(found.name .. found.path, "trace" .. path)
    test.equal(found.time_unit or "", unit, text)
    test.raises("absent.jsonl is not here", function() command.read(text .. "absent.jsonl") end)
  end
  test.raises("the dataset 'spec_bench'", function() command.read "vllm bench serve --dataset-name spec_bench" end)
  test.raises("no answer of text", function() command.read "vllm bench serve --backend openai-embeddings" end)
end)

test("conversations, images and gamma gaps of AIPerf are read", function()
  local _, told
  local found = read("aiperf profile --concurrency 4 --conversation-num 8 --session-turns-mean 3 --isl 50 "
    .. "--osl 20 --conversation-turn-delay-mean 2000")
  test.equal(found.name, "conversations")
  test.equal(found.turns * found.pause_s + found.num_requests, 30)
  found, told = read "aiperf profile --concurrency 4 --isl 50 --image-width-mean 640 --image-height-mean 480"
  test.equal(found.name .. found.images.sizes[1][1], "with_pictures640")
  test.has(told[1], "128 tokens stand for them")
  found = read "aiperf profile --request-rate 4 --arrival-pattern gamma --vllm-burstiness 0.5 --osl 9"
  test.equal(found.name .. found.shape, "gamma0.5")
  _, told = read "aiperf profile --concurrency 4 --osl 9 --prefill-concurrency 2 --audio-length-mean 0"
  test.equal(table.concat(told, "; "), "--bench: not followed, and changes the load: --prefill-concurrency")
  for message, text in pairs { ["--user-centric-rate: such a load"] = "--user-centric-rate 4",
    ["'1,2' is many loads"] = "--concurrency 1,2", ["give workloads.mix"] = "--seq-dist 1,2:100" } do
    test.raises(message, function() command.read("aiperf profile --osl 9 " .. text) end)
  end
end)

test("guidellm run has kinds with attributes", function()
  local found, told = read("guidellm run --backend kind=openai_http,target=http://s "
    .. "--profile kind=concurrent,streams=4,8 --data kind=synthetic_text,prompt_tokens=100,output_tokens=10 "
    .. "--constraint kind=max_requests,count=40 "
    .. "--constraint kind=max_errors,count=3 --seed kind=static,value=4")
  test.equal(#found.stages .. " " .. found.stages[2].clients .. " " .. found.stages[2].requests, "2 8 40")
  test.equal(table.concat(told, "; "), "--bench: not followed, and changes the load: constraint max_errors")
  found = read("guidellm run --profile '{\"kind\": \"constant\", \"rate\": 2}' "
    .. "--data kind=synthetic_text,prompt_tokens=9,output_tokens=3 --constraint kind=max_duration,seconds=30")
  test.equal(found.name .. found.num_requests, "constant60")
end)

test("the command stands in a script, behind other words and in front of a pipe", function()
  for _, text in ipairs { "vllm bench serve --num-prompts 7 2>&1 | tee log", "N=7\nvllm bench serve --num-prompts $N",
    "pip install vllm && vllm bench serve --num-prompts ${COUNT:-7} > log &",
    "kubectl exec -it pod -- env A=b vllm bench serve --num-prompts 7 --base-url http://$HOST --seed $SEED" } do
    test.equal((read(text)).num_prompts, 7, text)
  end
  local _, told = read "vllm bench serve --num-prompts 7 --save-result $EXTRA"
  test.equal(table.concat(told), "--bench: not given, and left out: $EXTRA")
  test.raises("--num-prompts: $N is known only to whoever runs it", function()
    command.read "for N in 1 2; do\n  vllm bench serve --num-prompts $N\ndone"
  end)
  test.raises("has 2 commands of benchmarks", function() command.read "vllm bench serve; aiperf profile" end)
end)

test("prompts with few prefixes are groups", function()
  local found = read("vllm bench serve --dataset-name prefix_repetition --num-prompts 200 "
    .. "--prefix-repetition-num-prefixes 20 --prefix-repetition-prefix-len 512 --request-rate 10")
  test.equal(found.groups * found.prompts_per_group, 200)
  test.equal(found.shared_prefix_tokens, 512)
  test.equal(found.stages[1].rate_per_s * found.stages[1].duration_s, 200)
end)

test("SGLang draws lengths up to those that are stated", function()
  local found = read("python -m sglang.bench_serving --backend sglang --dataset-name random --num-prompts 300 "
    .. "--random-input 1024 --random-output 512 --random-range-ratio 0.5 --max-concurrency 32")
  test.equal(found.name, "closed_loop")
  test.equal(found.clients, 32)
  test.equal(found.prompt_tokens.min, 512)
  test.equal(found.prompt_tokens.max, 1024)
  found = read("python -m sglang.bench_serving --dataset-name random --random-range-ratio 1 --request-rate 8")
  test.equal(found.name, "poisson")
  test.equal(found.prompt_tokens, 1024)
  found = read "python3 -m sglang.bench_serving --dataset-name generated-shared-prefix --gsp-num-groups 8"
  test.equal(found.groups * found.prompts_per_group, 128)
  test.equal(found.stages[1].clients, 128)
end)

test("AIPerf has one client by default, and distinct prompts", function()
  local found = read("aiperf profile --model M --url localhost:8000 --endpoint-type chat --streaming --concurrency 8 "
    .. "--request-count 200 --synthetic-input-tokens-mean 1101 --synthetic-input-tokens-stddev 0 --osl 256 "
    .. "--num-dataset-entries 50 --extra-inputs ignore_eos:true min_tokens:256 --ui none")
  test.equal(found.clients, 8)
  test.equal(found.distinct_prompts, 50)
  test.equal(found.prompt_tokens + found.output_tokens, 1357)
  found = read "genai-perf profile -m M --osl 100 --isl 200 --isl-stddev 20 --measurement-interval 4000"
  test.equal(found.clients, 1)
  test.equal(found.prompt_tokens.deviation, 20)
  found = read("aiperf profile --model M --osl 100 --request-rate 5 --request-rate-mode constant "
    .. "--benchmark-duration 60")
  test.equal(found.name, "constant")
  test.equal(found.num_requests, 300)
end)

test("guidellm has kinds of loads, and lengths in --data", function()
  local data = "--data prompt_tokens=512,output_tokens=128,output_tokens_stdev=20,output_tokens_max=200"
  local found = read("guidellm benchmark --target http://server:8000 --rate-type concurrent --rate 16 " .. data)
  test.equal(found.clients, 16)
  test.equal(found.output_tokens.max, 200)
  found = read("guidellm benchmark run --target http://server:8000 --profile poisson --rate 2.5 --max-seconds 40 "
    .. "--data '{\"prompt_tokens\": 256, \"output_tokens\": 64}'")
  test.equal(found.rate_per_s, 2.5)
  test.equal(found.num_requests, 100)
  test.equal(found.prompt_tokens, 256)
end)

test("a flag that is not known is told, a value that is none is an error", function()
  local found, told = read "vllm bench serve --new-flag 3 --num-prompts 40 --other"
  test.equal(found.num_prompts, 40)
  test.check(told[1]:find("--new-flag, --other", 1, true) ~= nil, told[1])
  for message, text in pairs {
    ["--num-prompts: expected a whole number"] = "vllm bench serve --num-prompts many",
    ["--num-prompts: expected a value"] = "vllm bench serve --num-prompts --other",
    ["belongs to no flag"] = "vllm bench serve 5",
    ["is stated twice"] = "vllm bench serve --num-prompts 5 --num-prompts 6",
    ["expected the command of a benchmark"] = "vllm serve Qwen/Qwen3-8B",
    ["sweep is many loads"] = "guidellm benchmark --profile sweep --data prompt_tokens=5,output_tokens=5",
    ["needs output_tokens"] = "guidellm benchmark --profile synchronous --data prompt_tokens=5",
    ["--bench: expected"] = "ls -l",
  } do
    test.raises(message, function() command.read(text) end)
  end
end)

test("a scenario without a load refuses one", function()
  for message, kind in pairs { ["kind \"price\" has no load"] = "price", ["sends all requests at once"] = "plan" } do
    local given = { kind = kind, model = "qwen3-8b", hardware = "h100-sxm", price = {}, plan = {} }
    test.raises(message, function() opening.table(given, { set = { "bench=vllm bench serve" } }) end)
  end
end)

test("every tool's workload sends requests of the stated number", function()
  for _, text in ipairs {
    "vllm bench serve --num-prompts 20 --request-rate 5",
    "vllm bench serve --num-prompts 20 --dataset-name prefix_repetition",
    "python -m sglang.bench_serving --dataset-name random --num-prompts 20 --random-range-ratio 0.3 --request-rate 9 "
      .. "--max-concurrency 3",
    "aiperf profile --osl 20 --request-count 20 --concurrency 4",
    "guidellm benchmark --profile constant --rate 5 --max-requests 20 --data prompt_tokens=50,output_tokens=5",
  } do
    local opened = opening.table({ model = "qwen3-8b", hardware = "h100-sxm", workload = (command.read(text)) }, {})
    local found = require("rooflua.runs.single").run("serve", opened.reader, (opening.variant(opened, 1)),
      { document = true, operations = false })
    test.equal(found.summary.completed, 20, text)
  end
end)

test("words that are changed at random are read or refused, and never a mistake of the reader", function()
  local stream = random.streams(3):stream "words"
  local commands = { "vllm bench serve --num-prompts 20 --request-rate 5 --random-range-ratio 0.1",
    "python -m sglang.bench_serving --dataset-name random --num-prompts 20 --random-input-len 100",
    "aiperf profile --osl 20 --request-count 20 --concurrency 4 --isl 100 --isl-stddev 5",
    "guidellm benchmark --profile constant --rate 5 --max-requests 20 --data prompt_tokens=50,output_tokens=5" }
  local pieces = { "--", "-1", "inf", "nan", "1e308", "''", "=", "--rate", "{}", "0", "\255", "--data", "%", "'", "\n" }
  for _ = 1, 5000 do
    local words = {}
    for word in commands[stream:integer(1, #commands)]:gmatch "%S+" do
      local dice = stream:uniform()
      if dice < 0.1 then word = pieces[stream:integer(1, #pieces)] end
      if dice < 0.9 then words[#words + 1] = word end
      if dice > 0.95 then words[#words + 1] = pieces[stream:integer(1, #pieces)] end
    end
    local ok, problem = pcall(command.read, table.concat(words, " "))
    test.check(ok or not tostring(problem):find "attempt to", "%s: %s", table.concat(words, " "), tostring(problem))
  end
end)

--- What a workload is, as text: its name and all that it was given.
local function text_of(value)
  if policy.is_instance(value) then return text_of(read_of(value)) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for key, each in core.sorted_pairs(core.plain(value)) do parts[#parts + 1] = key .. "=" .. text_of(each) end
  return "{" .. table.concat(parts, ",") .. "}"
end

test("a value that is changed makes another load, or is named", function()
  local stream = random.streams(4):stream "values"
  local bases = { "vllm bench serve --num-prompts 20 --request-rate 5 --random-input-len 100 --random-output-len 9 "
      .. "--burstiness 2 --random-prefix-len 7 --max-concurrency 6",
    "vllm bench serve --dataset-name sonnet --sonnet-input-len 700 --sonnet-prefix-len 90 --sonnet-output-len 9",
    "python -m sglang.bench_serving --dataset-name generated-shared-prefix --gsp-num-groups 5 --gsp-question-len 9 "
      .. "--gsp-prompts-per-group 4 --gsp-system-prompt-len 50 --gsp-output-len 8 --max-concurrency 3",
    "aiperf profile --osl 20 --request-count 20 --concurrency 4 --isl 100 --isl-stddev 5 --num-dataset-entries 9",
    "aiperf profile --concurrency 4 --num-sessions 8 --session-turns-mean 3 --osl 9 --session-turn-delay-mean 3000",
    "guidellm benchmark --profile constant --rate 5 --max-requests 20 --data prompt_tokens=50,output_tokens=5",
    "guidellm run --profile kind=concurrent,streams=5 --constraint kind=max_requests,count=20 "
      .. "--data kind=synthetic_text,prompt_tokens=50,output_tokens=5" }
  local is_read, tries = 0, os.getenv "ROOFLUA_MUTATIONS" == "all" and 5000 or 140
  for i = 1, tries do
    local base = bases[1 + i % #bases]
    local before, told_before = command.read(base)
    local at = stream:integer(1, select(2, base:gsub("%f[%w]%d+%f[^%w]", "")))
    local values = { stream:integer(0, 3000), -1, 0.5, "x", "1e3", "07", "nan", "" }
    local value, count, old = values[stream:integer(1, #values)], 0, nil
    local text = base:gsub("%f[%w]%d+%f[^%w]", function(number)
      count = count + 1
      if count == at then old = number end
      return count == at and tostring(value) or number
    end)
    local ok, found, told = pcall(command.read, text)
    if ok and tonumber(value) ~= tonumber(old) then
      is_read = is_read + 1
      test.check(text_of(found) ~= text_of(before) or #told > #told_before, "%s: the value is not seen", text)
    elseif not ok then
      test.check(not tostring(found):find "attempt to", "%s: %s", text, tostring(found))
    end
  end
  test.check(is_read > tries / 10, "%d of %d were read", is_read, tries)
end)

test.finish()
