-- The engine of a measured closed loop: its release by version, date or neither, and the options that its row names.
local test = dofile "tests/scripts/harness.lua"
local engine = require "rooflua.validate.closed_loops.engine"
local rows = require "rooflua.validate.closed_loops.rows"

local write = dofile "tests/scripts/validate/closed_loop_file.lua" (test)

local function question(row, about)
  local found = rows.read(write({ row }, about))[1]
  test.equal(found.problem, nil)
  return found
end

local function chosen(name, version, date)
  local found, note = engine.chosen(question { engine = name, engine_version = version, date = date })
  return found.engine.name .. " " .. found.release, note
end

--- The key `engine` of a row's scenario, what else follows from its options, and sentences.
local function keys(row, about, part)
  local asked = question(row, about)
  return engine.of(asked, asked.parts[part or 1], (engine.chosen(asked)), require "acceptance.constant" { rate = 0.7 })
end

-- Releases ---------------------------------------------------------------------------------------------------------

test("a version that is a release holds, whatever the date", function()
  for _, each in ipairs { { "vllm", "0.12.0" }, { "sglang", "0.5.8.post1" }, { "trtllm", "1.2.0rc6.post3" },
    { "vllm", "0.10" }, { "trtllm", "1.1.0rc2.post2" } } do
    local found, note = chosen(each[1], each[2], "2025-01-01")
    test.equal(found, each[1] .. " " .. each[2])
    test.equal(note, nil, found)
  end
end)

test("without a version it is the release in force at the date", function()
  for date, release in pairs { ["2025-10-02"] = "0.10.2", ["2025-10-03"] = "0.11.0", ["2025-11-18"] = "0.11.0",
    ["2026-02-02"] = "0.15.0" } do
    local found, note = chosen("vllm", "", date)
    test.equal(found, "vllm " .. release, date)
    test.equal(note, "engine version not stated: vLLM " .. release .. ", the release of its date")
  end
  local found, note = chosen("vllm", "", "2020-01-01")
  test.equal(found, "vllm 0.5.0")
  test.check(note:find("the first that is known", 1, true), note)
end)

test("a build has the release of its own day, else of the date", function()
  test.equal((chosen("sglang", "nightly-dev-20260216-d3bae71e", "2026-05-01")), "sglang 0.5.8")
  test.equal((chosen("sglang", "nightly-dev", "2026-03-01")), "sglang 0.5.9")
  test.equal((chosen("trtllm", "gpt-oss-dev", "2025-08-20")), "trtllm 1.0.0rc3")
  test.equal((chosen("trtllm", "1.1.0-dev.2", "2025-09-20")), "trtllm 1.1.0rc5")
end)

test("the version of a container around the engine is none of it", function()
  local found, note = chosen("trtllm", "0.8.1.post2", "2025-10-30")
  test.equal(found, "trtllm 1.2.0rc1")
  test.equal(note, "engine version '0.8.1.post2': TensorRT-LLM 1.2.0rc1, the release of its date")
  found, note = chosen("trtllm", "0.5.1-rc0.pre3", "")
  test.equal(found, "trtllm 1.3.0")
  test.check(note:find("the newest that is known", 1, true), note)
end)

test("without version and date it is the newest that is known, and a newer one than that is said", function()
  local found, note = chosen("vllm", "", "")
  test.equal(found, "vllm 0.24.0")
  test.equal(note, "engine version not stated: vLLM 0.24.0, the newest that is known")
  found, note = chosen("vllm", "0.99", "")
  test.equal(found, "vllm 0.99")
  test.check(note:find("newer than the rules that are known", 1, true), note)
end)

test("an engine that is not known is an error that names those that are", function()
  test.raises("lmdeploy", function() chosen("lmdeploy", "1.0", "") end)
end)

-- Options ----------------------------------------------------------------------------------------------------------

test("options of a row are those of the scenario's engine", function()
  local found = keys { options = 'max_num_seqs=64;enable_prefix_caching=false;async_scheduling=true;'
    .. 'compilation_config={"cudagraph_mode":"FULL_DECODE_ONLY","max_cudagraph_capture_size":48}' }
  test.equal(found.engine[1], "vllm 0.15.1")
  test.equal(found.engine.max_num_seqs, 64)
  test.equal(found.engine.enable_prefix_caching, false)
  test.equal(found.engine.async_scheduling, true)
  test.equal(found.engine["compilation_config.cudagraph_mode"], "FULL_DECODE_ONLY")
  found = keys { engine = "trtllm", engine_version = "1.2.0rc2",
    options = "max_batch_size=32;kv_cache_config.dtype=fp8;cuda_graph_config.batch_sizes=[1,2,4]" }
  test.equal(found.engine.max_batch_size, 32)
  test.equal(found.engine["kv_cache_config.dtype"], "fp8")
  test.equal(table.concat(found.engine["cuda_graph_config.batch_sizes"], " "), "1 2 4")
end)

test("widths and the format of weights are columns of a row, not its options", function()
  for _, row in ipairs { { options = "tensor_parallel_size=8;pipeline_parallel_size=1;data_parallel_size=2;"
    .. "enable_expert_parallel=true;quantization=fp8;max_num_seqs=3" },
    { engine = "sglang", engine_version = "0.5.9", options = "tp_size=8;dp_size=2;enable_dp_attention=true;ep_size=4;"
      .. "quantization=fp8;max_running_requests=3" },
    { engine = "trtllm", engine_version = "1.2.0rc2",
      options = "tp_size=8;ep_size=4;enable_attention_dp=true;max_batch_size=3" } } do
    local found = keys(row)
    local left = {}
    for name in pairs(found.engine) do left[#left + 1] = name ~= 1 and name or nil end
    test.equal(#left, 1, row.options)
    test.check(({ max_num_seqs = 1, max_running_requests = 1, max_batch_size = 1 })[left[1]], left[1])
  end
end)

test("data-parallel copies that are engines of their own are counted", function()
  test.equal(keys({ engine = "sglang", engine_version = "0.5.9", options = "tp_size=8;dp_size=2" }).copies, 2)
  test.equal(keys({ engine = "sglang", engine_version = "0.5.9",
    options = "tp_size=8;dp_size=2;enable_dp_attention=true" }).copies, 1)
end)

test("drafts are those of the options", function()
  local found = keys { family = "deepseek-v3", engine = "sglang", engine_version = "0.5.9",
    options = "speculative_algorithm=EAGLE;speculative_num_steps=3;speculative_eagle_topk=1;"
      .. "speculative_num_draft_tokens=4" }
  test.equal(found.speculation.speculator.draft_tokens, 3)
  test.equal(found.speculation.drafter, "mtp")
  found = keys { engine = "trtllm", engine_version = "1.2.0rc2",
    options = "speculative_config.decoding_type=MTP;speculative_config.num_nextn_predict_layers=2" }
  test.equal(found.speculation.speculator.draft_tokens, 2)
  test.equal(keys({}).speculation, nil)
end)

test("the environment is read as the engine reads it; what it does not know is said", function()
  local found, told = keys { engine = "sglang", engine_version = "0.5.9", options = "tp_size=1",
    env = "SGLANG_ENABLE_JIT_DEEPGEMM=false;SGLANG_NO_SUCH=1;NCCL_MNNVL_ENABLE=1" }
  test.equal(found.engine.SGLANG_ENABLE_JIT_DEEPGEMM, "false")
  local text = table.concat(told, "\n")
  test.check(text:find("SGLANG_NO_SUCH: a variable that is not known here", 1, true), text)
  test.check(text:find("variables without effect here: NCCL_MNNVL_ENABLE", 1, true), text)
end)

test("an option that the release does not have, or that is none, is told", function()
  local function told(row)
    local _, list = keys(row)
    return table.concat(list, "\n")
  end
  local has = test.has
  has(told { options = "max_num_sequences=4" }, "not read: max_num_sequences")
  has(told { options = "max_num_seqs=many" }, "not read: max_num_seqs")
  has(told { engine = "sglang", engine_version = "0.4.6", options = "moe_a2a_backend=deepep" },
    "moe_a2a_backend: SGLang 0.4.6 does not have it (since 0.5.0rc0)")
end)

test("a launch command says the same, and starts the engine that the row names", function()
  local found = keys({ server_command = "vllm serve x --max-num-seqs 64 -tp 4" }, { older = true })
  test.equal(found.engine[1], "vllm 0.15.1")
  test.equal(found.engine.max_num_seqs, 64)
  test.equal(found.engine.tensor_parallel_size, nil)
  test.raises("the command starts sglang, and the engine that is stated is vllm", function()
    keys({ server_command = "python -m sglang.launch_server --model-path x" }, { older = true })
  end)
end)

test("split engines have options of their own, without their roles", function()
  local row = { mode = "pd", widths = "P:1,1,1 D:1,1,1", workers = "P:1 D:1", engine = "sglang",
    engine_version = "0.5.9", options = "P: max_running_requests=4;disaggregation_mode=prefill D: "
      .. "max_running_requests=64;disaggregation_mode=decode" }
  local asked = question(row)
  for i, seats in ipairs { 4, 64 } do
    local found, told = engine.of(asked, asked.parts[i], (engine.chosen(asked)), "constant")
    test.equal(found.engine.max_running_requests, seats)
    test.equal(found.engine.disaggregation_mode, nil)
    test.check(not table.concat(told, "\n"):find("both parts", 1, true), table.concat(told, "\n"))
  end
end)

test("a run that printed accepted drafts and whose command asks for none gets the fewest that allow them", function()
  local row = { engine = "sglang", engine_version = "0.5.9", family = "deepseek-v3", accept_length = 3.48,
    widths_tp_dp_moetp_moeep = "8,1,8,1", server_command = "sglang serve --model-path deepseek-ai/DeepSeek-V3 --tp 8" }
  local found, told = keys(row, { older = true })
  test.equal(found.speculation.speculator.draft_tokens, 3)
  local said = table.concat(told, "\n")
  test.check(said:find("3 drafts, the fewest that allow it", 1, true), "%s", said)
  row.accept_length = ""
  test.equal(keys(row, { older = true }).speculation, nil)
end)

test.finish()
