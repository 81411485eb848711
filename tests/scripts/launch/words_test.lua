-- Words of launch commands as each engine takes them: quantities, options that are gone, texts that are no command; and
-- the inputs of ../shared/repro that were read as something else.
local test = dofile "tests/scripts/harness.lua"
local capacity_of = require "rooflua.program.capacity"
local command = require "rooflua.applied.command"
local native = require "rooflua.native"
local rooflua = require "rooflua"

local function options_of(text, engine) return command.read(text, { engine = engine }).options end

local function refuses(expected, text, engine)
  test.raises(expected, function() command.read(text, { engine = engine }) end)
end

local function answer(hardware, text, engine, sets)
  return capacity_of.command({ hardware = hardware }, sets or {}, { text = text, engine = engine })
end

local vllm, sglang = "vllm serve Qwen/Qwen3-8B ", "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B "

test("quantities are read as the engine of the release reads them", function()
  for text, bytes in pairs { ["20G"] = 20 * 2 ^ 30, ["20g"] = 20e9, ["5.5g"] = 5.5e9, ["5368709120"] = 5 * 2 ^ 30 } do
    test.equal(options_of(vllm .. "--kv-cache-memory-bytes " .. text, "vllm 0.19").kv_cache_memory_bytes, bytes, text)
  end
  test.equal(options_of(vllm .. "--max-model-len 32K --max-num-batched-tokens 16k", "vllm 0.19").max_model_len, 32768)
  refuses("expected a whole number, found text \"5.5G\"", vllm .. "--kv-cache-memory-bytes 5.5G", "vllm 0.19")
  for text, tokens in pairs { ["32k"] = 32000, ["32K"] = 32000, ["32Ki"] = 32768, ["1M"] = 1e6, ["1Mi"] = 2 ^ 20 } do
    test.equal(options_of(sglang .. "--context-length " .. text, "sglang 0.5.12").context_length, tokens, text)
  end
  refuses("--context-length: expected a whole number", sglang .. "--context-length 32k", "sglang 0.5.9")
  refuses("--chunked-prefill-size: expected a whole number", sglang .. "--chunked-prefill-size 8k", "sglang 0.5.12")
end)

test("a variable that a release does not read any more is told of, and sets nothing", function()
  local text = "VLLM_ATTENTION_BACKEND=CUTLASS_MLA " .. vllm
  test.equal(options_of(text, "vllm 0.14").attention_backend or options_of(text, "vllm 0.14").VLLM_ATTENTION_BACKEND,
    "CUTLASS_MLA")
  local found = command.read(text, { engine = "vllm 0.28" })
  test.equal(found.options.VLLM_ATTENTION_BACKEND, nil)
  test.check(table.concat(found.told, "\n"):find(
    "VLLM_ATTENTION_BACKEND: vLLM 0.28 does not read it (gone since 0.15; see --attention-backend)", 1, true))
end)

test("a KV cache whose size is stated has that size, on every GPU and for every share", function()
  local found = answer("h100-sxm", vllm .. "--kv-cache-memory-bytes 5368709120 --max-model-len 32768", "vllm 0.19.0")
  test.equal(found.document.kv_tokens, 36400)
  test.equal(found.document.kv_bytes, 5 * 2 ^ 30)
  local other = answer("h100-sxm", vllm .. "--kv-cache-memory-bytes 5G --gpu-memory-utilization 0.5", "vllm 0.19.0")
  test.equal(other.document.kv_tokens, 36400)
  test.check(other.starts == false or other.document.max_concurrency > 0, "it has an answer")
  local much = answer("h100-sxm", vllm .. "--kv-cache-memory-bytes 80G", "vllm 0.19.0")
  test.check(not much.starts and much.text:find "need 97.49 GiB, and the GPU has 79.18", much.text)
end)

test("an option that is gone says since when, and what took its place", function()
  refuses("--enable-deepep-moe: SGLang 0.5.9 does not have it (gone since 0.5.3; see --moe-a2a-backend)",
    sglang .. "--enable-deepep-moe", "sglang 0.5.9")
  refuses("--enable-flashmla: SGLang 0.5.9 does not have it (gone since 0.4.7; see --attention-backend)",
    sglang .. "--enable-flashmla", "sglang 0.5.9")
  refuses("--disable-mla: SGLang 0.5.9 does not have it (gone since 0.4.7)", sglang .. "--disable-mla", "sglang 0.5.9")
  refuses("--max-seq-len-to-capture: vLLM 0.19 does not have it (gone since 0.12)",
    vllm .. "--max-seq-len-to-capture 4096", "vllm 0.19")
  local file = "cat > o.yaml <<'END'\npytorch_backend_config:\n  use_cuda_graph: true\n"
    .. "  cuda_graph_padding_enabled: true\n  enable_overlap_scheduler: true\nEND\n"
    .. "trtllm-serve Qwen/Qwen3-8B --extra_llm_api_options o.yaml"
  test.equal(options_of(file, "trtllm 0.18.2")["pytorch_backend_config.use_cuda_graph"], true)
  refuses("o.yaml: pytorch_backend_config.cuda_graph_padding_enabled: TensorRT-LLM 1.2.0 does not have it (gone since "
    .. "0.21.0)", file, "trtllm 1.2.0")
  refuses("o.yaml: pytorch_backend_config.use_cuda_graph: TensorRT-LLM 1.2.0 does not have it (gone since 0.21.0; see "
    .. "cuda_graph_config.max_batch_size)", (file:gsub("  [ce][^\n]*\n", "")), "trtllm 1.2.0")
end)

test("of two commands the one that starts no engine is named", function()
  refuses('a second command, "mkdir"', "mkdir -p logs\ntrtllm-serve Qwen/Qwen3-32B --tp_size 2")
  refuses('a second command, "source"', "source bin/activate\necho on\n" .. vllm)
  refuses('a second command, "touch"', vllm .. "\ntouch log")
  refuses('a second command, "vllm"', vllm .. "\n" .. vllm)
end)

test("a text that is no command of a shell is called what it is", function()
  local forms = { ["services:\n  engine:\n    image: vllm/vllm-openai:v0.24.0\n"] = "a compose file",
    ["# mine\nversion: '3'\nservices:\n  a:\n    command: x\n"] = "a compose file",
    ["vllm:\n  image: vllm/vllm-openai\n"] = "a compose file",
    ["---\napiVersion: apps/v1\nkind: Deployment\n"] = "a manifest of Kubernetes",
    ["FROM vllm/vllm-openai\nCMD [\"--model\", \"m\"]\n"] = "a Dockerfile",
    ["[Unit]\nDescription=x\n[Service]\nExecStart=/usr/bin/vllm serve m\n"] = "a unit of systemd",
    ["{\n  \"model\": \"m\"\n}\n"] = "a document of JSON" }
  for text, what in pairs(forms) do refuses("this is " .. what, text) end
  test.equal(command.read("vllm serve m --hf-overrides '{\n \"a\": 1}'").model, "m")
end)

test("a quantisation has the names of its engine", function()
  test.equal(options_of(vllm .. "--quantization auto_round", "vllm 0.22").quantization, "auto_round")
  test.equal(options_of(vllm .. "-q auto-round", "vllm 0.22").quantization, "auto-round")
  refuses("unknown value 'auto_round'; did you mean 'auto-round'", sglang .. "--quantization auto_round",
    "sglang 0.5.9")
end)

test("sampling without the model's own settings sorts nothing, and a step is shorter", function()
  local function tpot(flags, engine)
    local keys = command.keys(command.read(vllm .. flags, { engine = engine }))
    return rooflua.serve.run { model = keys.model, hardware = "h100-sxm", engine = keys.engine,
      workload = require "workloads.closed_loop" { clients = 64, num_requests = 64, prompt_tokens = 100,
        output_tokens = 10 } }.summary.tpot_s.mean
  end
  test.check(tpot("--generation-config vllm", "vllm 0.12") < 0.99 * tpot("", "vllm 0.12"), "0.12 sorts by default")
  test.equal(tpot("--generation-config vllm", "vllm 0.19"), tpot("", "vllm 0.19"))
  test.equal(tpot("--generation-config auto", "vllm 0.12"), tpot("", "vllm 0.12"))
end)

test("an engine without graphs waits for its host on every GPU", function()
  local function step_of(hardware, flags)
    local keys = command.keys(command.read("vllm serve openai/gpt-oss-120b " .. flags, { engine = "vllm 0.19" }))
    return rooflua.serve.run { model = keys.model, hardware = hardware, engine = keys.engine,
      workload = require "workloads.closed_loop" { clients = 1, num_requests = 1, prompt_tokens = 512,
        output_tokens = 20 } }.summary.tpot_s.mean
  end
  for _, hardware in ipairs { "gb10", "rtx-pro-6000", "h100-sxm" } do
    local eager = step_of(hardware, "--enforce-eager")
    test.check(eager > 1.4 * step_of(hardware, ""), hardware)
    if hardware == "gb10" then test.check(math.abs(eager / 38e-3 - 1) < 0.2, "38 ms were measured") end
  end
end)

test("vLLM before 0.8 cuts prompts where it is asked to, or where requests may be long", function()
  local function scheduler_of(flags, engine)
    local keys = command.keys(command.read("vllm serve " .. flags, { engine = engine }))
    local applied = require("rooflua.applied.application").of(require("rooflua.scenario.reader").new "scenario",
      { model = keys.model, hardware = "h100-sxm", engine = keys.engine }, true)
    local own = require("rooflua.policy").parameters(applied.given.scheduler)
    return applied.given.scheduler.name .. " " .. tostring(own.chunk_size)
  end
  local long, short = "meta-llama/Llama-3.1-8B-Instruct ", "Qwen/Qwen2.5-7B-Instruct --max-model-len 8192 "
  test.equal(scheduler_of(long .. "--enable-chunked-prefill --max-num-batched-tokens 512", "vllm 0.6.4"),
    "sarathi 512")
  test.equal(scheduler_of(short .. "--enable-chunked-prefill", "vllm 0.6.4"), "sarathi 512")
  test.equal(scheduler_of(short .. "--enable-chunked-prefill", "vllm 0.7.3"), "sarathi 2048")
  test.equal(scheduler_of(long, "vllm 0.7.3"), "sarathi 2048")
  test.equal(scheduler_of(long .. "--no-enable-chunked-prefill", "vllm 0.7.3"), "vllm_v0 nil")
  test.equal(scheduler_of(short, "vllm 0.7.3"), "vllm_v0 nil")
end)

test("a cache that does not fit has no negative size, and what would fit is said in the engine's words", function()
  local small = answer("l4", "vllm serve meta-llama/Llama-3.1-70B-Instruct", "vllm 0.19").text
  test.check(small:find "no KV cache: %d+%.%d+ GiB too little" and not small:find " %-%d", small)
  local divided = answer("h200-sxm", "python3 -m sglang.launch_server --model-path zai-org/GLM-5.2-FP8 --tp 8 --dp 8 "
    .. "--enable-dp-attention --moe-a2a-backend deepep --mem-fraction-static 0.5", "sglang 0.5.9")
  test.check(not divided.starts and not divided.text:find "tp 8%f[^%d]; it fits with tp 8", divided.text)
  if divided.document.fits and divided.document.fits.tp then
    test.check(divided.text:find("--tp-size " .. 8 * divided.document.fits.tp, 1, true), divided.text)
  end
end)

-- The inputs themselves -------------------------------------------------------------------------------------------

local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
local folder = "../shared/repro/"

--- What a script of the folder prints.
local function printed(name)
  local pipe = assert(io.popen(("d=$(mktemp -d); ln -s \"$(realpath %s)\" $d/rooflua; R=$(pwd); cd %s%s; "
    .. "ROOFLUA_HOME=$R PATH=$d:$PATH ROOFLUA=$d/rooflua sh %s 2>&1; rm -r $d"):format(program, folder,
    name:match "^(.*)/", name:match "[^/]*$")))
  local text = pipe:read "a" or ""
  pipe:close()
  return text
end

local inputs = {
  { "field4/auto_round.sh", "weights are in the format of the checkpoint", "unknown value" },
  { "field4/kv_bytes.sh", "KV cache 20.00 GiB.*GPU KV cache size: 36,400 tokens", "expected a whole number" },
  { "field4/yaml_and_scripts.sh", "cuda_graph_padding_enabled.*a second command, \"mkdir\".*this is a compose file",
    "no such option" },
  { "field4/hardware_name.sh", "rates.*rates", "unknown hardware" },
  { "field4/chunked_v0.sh", "", "prompts are not cut" },
  { "field4/eager_gb10.sh", "TPOT.*TPOT   ms  3%d", "TPOT   ms  4" },
  { "field4/mixed_without_layers.sh", "quantized_layers is missing", "KV cache" },
  { "field4/trt_declared_length.sh", "benchmarks declare the length of the answer", "" },
  { "attack4/sglang_deepep.sh", "ms  50.31.*ms  47.67.*ms  47.67", "deepep\n[^=]*ms  50.31" },
}

for _, each in ipairs(inputs) do
  test(each[1], function()
    if not native.file_exists(folder .. each[1]) then test.skip(folder .. each[1] .. " is not there") end
    local text = printed(each[1])
    test.check(text:find(each[2]), text)
    test.check(each[3] == "" or not text:find(each[3]), text)
  end)
end

test.finish()
