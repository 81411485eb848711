-- Files with faults: models, hardware, kernel tables, recorded requests, results. Each is read or refused in words;
-- what is read is used, and its prices are numbers. No crash, no internal error, nothing that takes long.
local fuzzer = dofile "tests/fuzz/fuzzer.lua"
local rooflua = require "rooflua"
local spec, mfu, cost, serve, sweep, json = rooflua.spec, rooflua.mfu, rooflua.cost, rooflua.serve, rooflua.sweep,
  rooflua.json
local Poisson, Trace = require "workloads.poisson", require "workloads.trace"
local kernels = require "steps.kernels"

local function listed(command)
  local out, pipe = {}, io.popen(command)
  for line in pipe:lines() do out[#out + 1] = line end
  pipe:close()
  return out
end

local models = listed "ls scenarios/models/*.toml"
local gpus = listed "ls bench_data/*/hardware.toml"
local tables = listed "find tests/fixtures/measured tests/fixtures/mfu_denominators -type f | sort"
local options_of = { -- how the tables of a folder are opened
  ["tests/fixtures/measured"] = {},
  ["tests/fixtures/mfu_denominators"] = { layout = "infersim", gpu = "h100" },
}

local config = [[{"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": 2048,
"head_dim": 128, "num_attention_heads": 32, "num_hidden_layers": 12, "num_key_value_heads": 4, "vocab_size": 151936,
"intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8,
"decoder_sparse_step": 1, "mlp_only_layers": [], "max_position_embeddings": 40960, "tie_word_embeddings": false,
"torch_dtype": "bfloat16", "sliding_window": null, "quantization_config": {"quant_method": "fp8",
"weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"]}}]]

local traces = {
  { "csv", "arrival_s,prompt_tokens,output_tokens\n0,100,10\n0.5,20,3\n0.75,1,1\n1.25,700,20\n" },
  { "csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n"
    .. "2023-11-16 18:17:04.0319569,3180,8\n2023-11-16 18:17:05.0319569,110,27\n" },
  { "jsonl", '{"timestamp": 0, "input_length": 1200, "output_length": 12, "hash_ids": [0, 1, 2]}\n'
    .. '{"timestamp": 900, "input_length": 600, "output_length": 3, "hash_ids": [0, 5]}\n' },
  { "csv", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,"
    .. "Conversation log\n45,ChatGPT,1087,23,1110,Conversation log\n" },
}

local function finite(value, what)
  if type(value) ~= "number" or value ~= value or value < 0 or value == math.huge then
    error(("%s is %s"):format(what, tostring(value)), 0)
  end
end

--- Runs a few requests.
local function run(given)
  given.model, given.hardware = given.model or "llama-3.1-8b", given.hardware or "h200-sxm"
  given.workload = given.workload
    or Poisson { rate_per_s = 50, num_requests = 4, prompt_tokens = 64, output_tokens = 3 }
  local ok, result = fuzzer.try("serve.run", serve.run, given)
  if not ok then return end
  if result.summary.completed > 0 then finite(result.summary.e2e_s.mean, "the mean of e2e_s") end
end

local function use_model(model)
  finite(model:parameters(), "the number of weights")
  finite(model:kv_bytes_per_token(), "KV bytes of a token")
  fuzzer.try("cost.layers", cost.layers, model, spec.deployment { model = "llama-3.1-8b", hardware = "h200-sxm" })
  fuzzer.try("spec.deployment", spec.deployment, { model = model, hardware = spec.hardware "h200-sxm" })
  run { model = model, deployment = { kv_blocks = 200 } }
end

local kinds = {}

function kinds.model(random, folder)
  local path = folder .. "/m.toml"
  fuzzer.write(path, random:damaged(fuzzer.read(random:pick(models))))
  local ok, model = fuzzer.try("spec.model", spec.model, path)
  if ok then use_model(model) end
end

function kinds.config(random, folder)
  local path = folder .. "/config.json"
  fuzzer.write(path, random:damaged(config))
  local ok, model = fuzzer.try("spec.model", spec.model, path)
  if ok then use_model(model) end
end

function kinds.hardware(random, folder)
  local path = folder .. "/hardware.toml"
  fuzzer.write(path, random:damaged(fuzzer.read(random:pick(gpus))))
  local ok, hardware = fuzzer.try("spec.hardware", spec.hardware, path)
  if ok then run { hardware = hardware, deployment = { kv_blocks = 200 } } end
end

function kinds.table(random, folder)
  local at = folder .. "/tables"
  local bad = random:pick(tables)
  local from = bad:match "^tests/fixtures/[^/]+"
  os.execute(("rm -rf %s && cp -r %s %s"):format(at, from, at))
  fuzzer.write(at .. bad:sub(#from + 1), random:damaged(fuzzer.read(bad)))
  local options = { path = at, hardware = spec.hardware "h100-sxm" }
  for key, value in pairs(options_of[from]) do options[key] = value end
  local ok, database = fuzzer.try("mfu.open", mfu.open, options)
  if not ok then return end
  for _, m in ipairs { 1, 77, 4096 } do
    for _, ask in ipairs {
      function() return database:gemm(m, 4096, 4096) end,
      function() return database:prefill(32, 8, 128, m, 1) end,
      function() return database:decode(32, 8, 128, m, 1000, 1) end,
    } do
      local good, _, estimate = fuzzer.try("a question", ask)
      if good then finite(estimate.latency_s, "latency_s") end
      if good ~= pcall(ask) then error("a question gets another answer when it is asked again", 0) end
    end
  end
  fuzzer.try("db:report", function() return database:report() end)
  local import = ("'%s' data import '%s' '%s' --layout infersim --gpu h100 2>&1"):format(
    os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua", at, folder .. "/imported")
  if options.layout and random:chance(0.2) then
    local pipe = io.popen(import)
    fuzzer.check_message(pipe:read "*a", "data import")
    pipe:close()
  end
end

function kinds.trace(random, folder)
  local chosen = random:pick(traces)
  local path = folder .. "/trace." .. chosen[1]
  fuzzer.write(path, random:damaged(chosen[2]))
  run { workload = Trace { path = path } }
end

--- Values of a deployment that are out of place.
function kinds.deployment(random)
  local given = { tp = 1, gpu_memory_utilization = 0.9, kv_blocks = 100, block_size = 16, max_model_len = 2048,
    activation_bytes = 1e9, runtime_bytes = 1e9 }
  local names = {}
  for name in pairs(given) do names[#names + 1] = name end
  table.sort(names)
  for _ = 1, 2 do given[random:pick(names)] = random:chance(0.8) and random:odd_number() or "x" end
  run { deployment = given }
end

local expected -- what the runs of the results file give

--- A results file with a fault gives the same results as none, or an error that names it.
function kinds.results(random, folder)
  local path = folder .. "/results.sqlite"
  local given = { kind = "price", model = "llama-3.1-8b", hardware = "h200-sxm", steps = kernels {},
    price = { { decodes = 4, decode_context_tokens = 400 } } }
  local vary = { ["steps.host_step_s"] = { 1e-3, 2e-3, 3e-3 } }
  local function all(results) return json.encode((sweep.grid { given, vary = vary, results = results })) end
  os.remove(path)
  expected = expected or all()
  all(path)
  local bytes = fuzzer.read(path)
  for _ = 1, random:whole(1, 3) do
    if random:chance(0.7) then -- where texts are: behind the header and the schema
      local at = random:whole(math.floor(#bytes / 2), #bytes)
      bytes = bytes:sub(1, at - 1) .. string.char(random:whole(32, 126)) .. bytes:sub(at + 1)
    else
      bytes = random:damaged(bytes)
    end
  end
  fuzzer.write(path, bytes)
  local ok, found = fuzzer.try("a results file with a fault", all, path)
  if not ok and not tostring(found):find(path, 1, true) then
    error("the error does not name the file of results: " .. tostring(found), 0)
  end
  if ok and found ~= expected then error("a fault in the file of results changed a result", 0) end
end

local names = {}
for name in pairs(kinds) do names[#names + 1] = name end
table.sort(names)

fuzzer.main(function(random, folder) return kinds[random:pick(names)](random, folder) end)
