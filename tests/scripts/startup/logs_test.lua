-- Start-up logs: facts, options, release, ranks, errors, secrets.
local test = dofile "tests/scripts/harness.lua"
local deployment = require "rooflua.startup.deployment"
local files = require "rooflua.program.files"
local json = require "rooflua.json"
local reading = require "rooflua.startup.reading"
local release = require "rooflua.engines.release"
local seen = require "rooflua.startup.seen"
local units = require "rooflua.text.units"
local wordings = dofile "tests/scripts/startup/wordings.lua"

local function file_of(text, name) return test.file(name or "start.log", text) end
local function seen_of(text) return seen.of { file_of(text) } end

local function deployment_of(text, about)
  return deployment.of { from = { file_of(text) }, engine = about }
end

local function each_wording(visit)
  for _, wording in ipairs(wordings.list) do
    visit(wording, wordings.text(wording, wordings.figures), wording.engine .. " " .. wording.release)
  end
end

test("each release's words give the figures that stand in them", function()
  each_wording(function(_, text, what)
    local found = seen_of(text)
    for _, name in ipairs { "weights_gib", "activation_gib", "graphs_gib", "memory_gib", "kv_gib", "kv_tokens",
      "kv_blocks", "concurrency", "max_model_len" } do
      local fact = found.facts[name]
      if fact then test.near(fact.value, wordings.figures[name], 1e-9, what .. " " .. name) end
      local stands = text:find(tostring(wordings.figures[name]), 1, true)
      local is_printed = stands and name ~= "memory_gib" and name ~= "max_model_len" and name ~= "kv_gib"
      if is_printed then test.check(fact, "%s: %s is not read", what, name) end
    end
    test.check(found.facts.kv_tokens or found.facts.kv_blocks, "%s: no size of the KV cache", what)
  end)
end)

test("each release's words give the model, the release and the options of the start", function()
  each_wording(function(wording, text, what)
    local given = wording.engine == "sglang" and what or nil
    local found = deployment_of(text, given)
    test.equal(found.engine.name, wording.engine, what)
    test.check(release.same and release.same(found.release, wording.release) or found.release == wording.release,
      "%s: the release is %s", what, found.release)
    if text:find(wordings.figures.model, 1, true) then test.equal(found.model, wordings.figures.model, what) end
    local options = json.encode(found.options)
    test.check(options:find "4096", "%s: max_model_len is not read: %s", what, options)
    if text:find "0%.9[,)}]" then test.check(options:find("0.9", 1, true), "%s: the share is not read", what) end
  end)
end)

test("every line is understood, or counted, or follows the start", function()
  each_wording(function(_, text, what)
    local record = reading.record("start.log", text .. "\nsomething else\n\n")
    test.equal(record.understood + record.not_understood + record.later + record.empty, record.count, what)
    test.check(record.understood >= 5, "%s: few lines are understood", what)
  end)
end)

test("what stands in front of a line changes nothing", function()
  local text = wordings.text(wordings.list[3], wordings.figures)
  local expected = json.encode(deployment_of(text).options)
  local function json_line(line) return json.encode { log = line .. "\n", stream = "stderr", time = "2026-01-01" } end
  for name, front in pairs {
    compose = function(line) return "vllm-1  | " .. line end,
    kubectl = function(line) return "[pod/llm-0/vllm] " .. line end,
    cri = function(line) return "2026-01-01T00:00:00.123456789Z stderr F " .. line end,
    collector = json_line,
    time = function(line) return "2026-05-14 12:43:22.095 | " .. line end,
    journal = function(line) return "Aug 25 14:58:34 host vllm[17578]: " .. line end,
    colours = function(line) return "\27[1;36m" .. line:gsub("%)", ")\27[0;0m", 1) end,
    windows = function(line) return line .. "\r" end,
  } do
    local found = deployment_of((text:gsub("[^\n]+", front)))
    test.equal(json.encode(found.options), expected, name)
    test.equal(found.found.facts.kv_tokens.value, 451744, name)
    test.equal(found.release, "0.10.2", name)
  end
end)

test("of several ranks the least counts, and it is said", function()
  local text = "[2026-01-15 13:56:40] server_args=ServerArgs(model_path='m', tp_size=2)\n"
    .. "[2026-01-15 13:56:49 TP0] KV Cache is allocated. #tokens: 834615, K size: 8.84 GB, V size: 8.84 GB\n"
    .. "[2026-01-15 13:56:49 TP1] KV Cache is allocated. #tokens: 830000, K size: 8.80 GB, V size: 8.80 GB\n"
  local found = seen_of(text)
  test.equal(found.facts.kv_tokens.value, 830000)
  test.near(found.facts.kv_gib.value, 17.6, 1e-9)
  test.equal(found.facts.kv_tokens.line, 3)
  test.has(table.concat(found.told, "\n"), "tokens of the KV cache: 2 ranks differ; the least counts, 830000")
end)

test("a drafter's weights and cache follow those of the model", function()
  local text = "[2026-08-13 10:00:00] server_args=ServerArgs(model_path='m')\n"
    .. "[2026-08-13 10:00:01 TP0] Load weight end. type=Main, avail mem=161.06 GB, mem usage=104.24 GB.\n"
    .. "[2026-08-13 10:00:02 TP0] KV Cache is allocated. #tokens: 171008, K size: 5.22 GB, V size: 5.22 GB\n"
    .. "[2026-08-13 10:00:03 TP0] Load weight end. type=Draft, avail mem=158.45 GB, mem usage=2.60 GB.\n"
    .. "[2026-08-13 10:00:04 TP0] KV Cache is allocated. #tokens: 171008, K size: 0.33 GB, V size: 0.33 GB\n"
    .. "[2026-08-13 10:00:05 TP0] Capture target verify CUDA graph end. elapsed=8.8 s, mem usage=0.50 GB, "
    .. "avail mem=1 GB.\n[2026-08-13 10:00:06 TP0] Capture draft decode CUDA graph end. elapsed=4.0 s, "
    .. "mem usage=0.25 GB, avail mem=1 GB.\n"
  local facts = seen_of(text).facts
  test.near(facts.weights_gib.value, 104.24, 1e-9)
  test.near(facts.kv_gib.value, 10.44, 1e-9)
  test.near(facts.graphs_gib.value, 0.75, 1e-9)
end)

test("of several starts in one file the last one counts", function()
  local one = wordings.text(wordings.list[3], wordings.figures)
  local other = wordings.text(wordings.list[3], { model = "meta-llama/Llama-3.1-8B-Instruct", max_model_len = 8192,
    tp = 1, share = 0.8, weights_gib = 15, kv_gib = 40, kv_tokens_grouped = "300,000", concurrency = 36,
    graphs_gib = 1 })
  local found = deployment_of(one .. other)
  test.equal(found.found.facts.kv_tokens.value, 300000)
  test.equal(found.options.max_model_len, 8192)
  test.has(table.concat(found.told, "\n"), "2 starts stand one behind the other; the last one counts")
end)

test("what follows the start is not read", function()
  local text = wordings.text(wordings.list[3], wordings.figures)
    .. "INFO 09-23 18:20:00 [logger.py:39] GPU KV cache size: 5 tokens\n"
    .. "INFO 09-23 18:20:00 [logger.py:39] Received request cmpl-1: prompt: 'GPU KV cache size: 6 tokens'\n"
  local found = seen_of(text)
  test.equal(found.facts.kv_tokens.value, 451744)
  test.equal(found.records[1].later, 2)
end)

test("an error that ended the start has its kind, its line and its figures", function()
  for _, each in ipairs {
    { "ERROR 03-25 21:32:50 [core.py:396] ValueError: To serve at least one request with the models's max seq len "
      .. "(131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (4.60 GiB). "
      .. "Based on the available memory, ...", "length", "needed_kv_gib", 16 },
    { "(EngineCore pid=316) ERROR 10-06 17:00:41 [core.py:1349] ValueError: To serve at least one request with the "
      .. "model's max seq len (100000), (4.26 GiB KV cache is needed, which is larger than the available KV cache "
      .. "memory (4.25 GiB).", "length", "kv_gib", 4.25 },
    { "ERROR 04-17 15:10:09 [engine.py:448] ValueError: The model's max seq len (8192) is larger than the maximum "
      .. "number of tokens that can be stored in KV cache (2400). Try increasing ...", "length", "kv_tokens", 2400 },
    { "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`", "memory" },
    { "ValueError: Free memory on device cuda:0 (12.3/79.18 GiB) on startup is less than desired GPU memory "
      .. "utilization (0.9, 71.26 GiB).", "others", "free_gib", 12.3 },
    { "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "memory" },
    { "KeyError: 'qwen3_5'", "other" },
  } do
    local found = seen_of("INFO 03-25 21:32:20 [api_server.py:1043] vLLM API server version 0.8.5\n" .. each[1]
      .. "\nRuntimeError: Engine core initialization failed. See root cause above.\n")
    test.equal(found.error and found.error.kind, each[2], each[1])
    test.equal(found.error.line, 2)
    if each[3] then test.equal(found.facts[each[3]].value, each[4], each[1]) end
  end
end)

test("keys, tokens and passwords stand in no output", function()
  local text = "INFO 09-23 18:11:14 [api_server.py:1896] vLLM API server version 0.10.2\n"
    .. "INFO 09-23 18:11:14 [utils.py:328] non-default args: {'model': 'm', 'api_key': ['TOPSECRET1', 'TOPSECRET2'], "
    .. "'hf_token': 'TOPSECRET3', 'ssl_keyfile_password': 'TOPSECRET4', 'max_model_len': 4096}\n"
    .. "HF_TOKEN=TOPSECRET5 --api-key TOPSECRET6 Authorization: Bearer TOPSECRET7\n"
    .. "ValueError: api_key='TOPSECRET8 is wrong\n"
  local path = file_of(text)
  local answer = files.run({ path }, true, true)
  local all = answer.text .. json.encode(answer.document) .. table.concat(deployment.of { from = { path } }.told, "\n")
  test.check(not all:find "TOPSECRET", "a secret is shown: %s", all:match ".....TOPSECRET." or "")
  test.has(all, "max_model_len")
end)

test("the GPU is that of the log, and one that is given against it is named", function()
  local text = "INFO 09-23 18:11:14 [api_server.py:1896] vLLM API server version 0.10.2\n"
    .. "WARNING 09-23 18:11:20 [fused_moe.py:682] Using default MoE config. Performance might be sub-optimal! Config "
    .. "file not found at ['/x/E=128,N=768,device_name=NVIDIA_H100_80GB_HBM3.json']\n"
  local found = seen_of(text)
  test.equal(deployment.hardware(found, nil, "--hardware"), "h100-sxm")
  local hardware, told = deployment.hardware(found, "h200", "--hardware")
  test.equal(hardware, "h100-sxm")
  test.has(told, "--hardware h200: ", "NVIDIA_H100_80GB_HBM3, which holds")
  test.equal(deployment.hardware(found, "h100", "--hardware"), "h100")
  test.has(found.warnings[1].text, "no tuned configuration of the MoE kernels")
  test.raises("no line names the GPU; say it: --hardware", function()
    deployment.hardware(seen_of "INFO 09-23 18:11:14 [a.py:1] vLLM API server version 0.10.2\n", nil, "--hardware")
  end)
end)

test("files that say different things are named both, and the log holds", function()
  local log = file_of(wordings.text(wordings.list[3], wordings.figures), "vllm.log")
  local metrics = file_of('vllm:cache_config_info{block_size="16",cache_dtype="auto",engine="0",'
    .. 'gpu_memory_utilization="0.5",num_gpu_blocks="20000",kv_cache_size_tokens="320000"} 1.0\n', "metrics.txt")
  local found = seen.of { metrics, log }
  test.equal(found.facts.kv_tokens.value, 451744)
  local told = table.concat(found.told, "\n")
  test.has(told, "tokens of the KV cache: ", "vllm.log:6 says 451744", "metrics.txt:1 says 320000; the first holds",
    "gpu_memory_utilization: ")
  test.raises("give files of one engine", function()
    seen.of { log, file_of("[2026-01-15 13:56:40] server_args=ServerArgs(model_path='m')\n", "sglang.log") }
  end)
end)

test("servers say of themselves what a log says", function()
  local info = file_of(json.encode { model_path = "meta-llama/Llama-3.1-8B-Instruct", mem_fraction_static = 0.85,
    tp_size = 2, version = "0.5.9", max_total_num_tokens = 400000, context_length = 8192, api_key = "hidden",
    internal_states = { { memory_usage = { weight = 7.5, kvcache = 25.5, token_capacity = 399999, graph = 0.9 } } } },
    "info.json")
  local found = deployment.of { from = { info } }
  test.equal(found.engine.name .. " " .. found.release, "sglang 0.5.9")
  test.equal(found.options.mem_fraction_static, 0.85)
  test.equal(found.options.context_length, 8192)
  test.equal(found.found.facts.kv_tokens.value, 399999)
  test.near(found.found.facts.weights_gib.value, 7.5, 1e-9)
  local plan = seen.of { file_of(json.encode { schema = 1, fingerprint = "ab12", kv_cache_memory_bytes = 2 ^ 34,
    free_memory_baseline = 2 ^ 36, created_unix = 1 }, "startup_plan_ab12.json") }
  test.equal(plan.facts.kv_gib.value, 16)
  local models = seen.of { file_of('{"object":"list","data":[{"id":"zz","object":"model","owned_by":"vllm","root":'
    .. '"meta-llama/Llama-3.1-8B-Instruct","max_model_len":4096}]}', "models.json") }
  test.equal(models.facts.model.value, "meta-llama/Llama-3.1-8B-Instruct")
  test.equal(models.facts.max_model_len.value, 4096)
end)

test("a file of another kind is named, not read as a log", function()
  for _, each in ipairs {
    { '{"status":"success","data":{"resultType":"matrix","result":[]}}', "a range over time: Prometheus" },
    { "hello\n", "is no start-up log" }, { "", "is no start-up log" },
  } do
    test.raises(each[2], function() reading.files { file_of(each[1], "other.txt") } end)
  end
end)

test("prefix caching that a list of all options has off is said, an adapter that it has off is a default", function()
  local text = "INFO 08-01 12:38:48 [api_server.py:1043] vLLM API server version 0.8.5\n"
    .. "INFO 08-01 12:38:48 [api_server.py:1044] args: Namespace(model_tag='Qwen/Qwen3-8B', max_num_seqs=16, "
    .. "enable_prefix_caching=%s, enable_lora=False, host=None, port=8000)\n"
  test.equal(deployment_of(text:format "False").options.enable_prefix_caching, false)
  test.equal(deployment_of(text:format "None").options.enable_prefix_caching, nil)
  test.equal(deployment_of(text:format "False").options.enable_lora, nil)
end)

test("a file that is given twice is refused: two copies of a manifest would be two deployments", function()
  local path = file_of "hello\n"
  test.raises("is given twice", function() reading.files { path, path } end)
  test.raises("is given twice", function() require("rooflua.attach.sources").of({ path, path }, {}) end)
end)

test("a release without rules asks for one", function()
  local text = "INFO 08-01 12:38:48 [api_server.py:1774] vLLM API server version 0.1.dev8168+g475c1a0\n"
  test.raises('Say by whose rules: --engine "vllm', function() deployment_of(text) end)
  test.equal(deployment_of(text, "vllm 0.10.0").release, "0.10.0")
  local _, told = seen.chosen(seen_of(wordings.text(wordings.list[3], wordings.figures)), "vllm 0.19")
  test.has(told, "--engine vllm 0.19: ", "says vllm 0.10.2, which holds")
end)

test("options that are cut off are said to be", function()
  local found = deployment_of("INFO 09-23 18:11:14 [a.py:1] vLLM API server version 0.10.2\n"
    .. "INFO 09-23 18:11:14 [utils.py:328] non-default args: {'model': 'm', 'max_model_len': 40\n")
  test.has(table.concat(found.told, "\n"), "line 2: the options are not read: it is cut off")
  test.equal(found.options.max_model_len, nil)
end)

test("the public start-ups are read from the words of every release", function()
  local native = require "rooflua.native"
  for _, name in ipairs { "develop", "develop2", "develop3" } do
    local rows = native.csv_read(test.shared("truth/capacity/" .. name .. ".csv"))
    for _, row in ipairs(rows) do
      local tokens = tonumber(row.kv_tokens)
      local figures = { model = row.model_hf:match "^[^%s\"]+" or "m", max_model_len = 4096, share = row.utilization,
        tp = tonumber(row.tp) or 1, weights_gib = row.weights_gib, kv_gib = row.kv_gib, kv_tokens = tokens or 1,
        kv_blocks = row.kv_blocks, concurrency = row.max_concurrency, half_kv_gib = 1, graphs_gib = 1,
        activation_gib = 1, memory_gib = 80,
        kv_tokens_grouped = units.grouped(tokens or 1) }
      local stated = {}
      for _, key in ipairs { "kv_tokens", "kv_blocks", "kv_gib", "weights_gib", "concurrency" } do
        stated[key] = tonumber(row[key] or "") and true
        if not tonumber(figures[key] or "") then figures[key] = 1 end
      end
      for _, wording in ipairs(wordings.list) do
        if wording.engine == row.engine and tonumber(figures.share or "") then
          local record = reading.record(row.case, wordings.text(wording, figures))
          for _, fact in ipairs { "kv_tokens", "kv_blocks", "kv_gib", "weights_gib" } do
            local value, has = stated[fact] and tonumber(figures[fact]), wording.text:find("@" .. fact, 1, true)
            local own = record.facts[fact]
            if value and has and not (fact == "kv_gib" and wording.engine == "sglang") then
              local rank = own and next(own)
              test.check(rank, "%s, %s %s: %s is not read", row.case, wording.engine, wording.release, fact)
              test.near(own[rank].value, value, 1e-9, row.case .. " " .. fact)
            end
          end
        end
      end
    end
  end
end)

test.finish()
