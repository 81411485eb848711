-- Launch commands as people write them: how flags may be spelled, what is refused, and that nothing is executed.
local test = dofile "tests/scripts/harness.lua"
local command = require "rooflua.applied.command"
local json = require "rooflua.json"

local function read(text, about) return command.read(text, about) end
local function option(text, name, about) return read(text, about).options[name] end
local function told(text, about) return table.concat(select(2, command.keys(read(text, about))), "\n") end
local function refuses(part, text, about) test.raises(part, function() read(text, about) end) end

test("a flag may be spelled as the engines' parsers take it", function()
  for _, words in ipairs { "--max-num-seqs 64", "--max-num-seqs=64", "--max_num_seqs 64", "--max-num-seqs '64'",
    "--max-num-se 64", '--max-num-seqs "64"', "\\\n  --max-num-seqs \\\n 64 # seats",
    "--max-num-seqs 64 --max-num-seqs 64" } do
    test.equal(option("vllm serve m " .. words, "max_num_seqs"), 64, words)
  end
  test.equal(option("vllm serve m -tp 4", "tensor_parallel_size"), 4)
  test.equal(option("sglang serve --model m --tp 4", "tp_size"), 4)
  test.equal(option("python3 -m sglang.launch_server --model-path m --tensor-parallel-size=4", "tp_size"), 4)
  test.equal(option("trtllm-serve serve m --tp_size 4", "tp_size"), 4)
  test.equal(option("trtllm-serve m --tensor_parallel_size 4", "tp_size"), 4)
  test.equal(option("vllm serve m --max-model-len 32k", "max_model_len"), 32000)
  test.equal(option("vllm serve m --max-model-len 32K", "max_model_len"), 32768)
  test.equal(option("vllm serve m --max-model-len auto", "max_model_len"), nil)
  test.equal(option("vllm serve m --no-enable-prefix-caching", "enable_prefix_caching"), false)
  test.equal(option("vllm serve m --enable-chunked-prefill False", "enable_chunked_prefill"), false)
  test.equal(option("vllm serve m -O3", "optimization_level"), "3")
end)

test("JSON, its dotted parts and a flag of its own are one option", function()
  for _, words in ipairs { "--compilation-config.max_cudagraph_capture_size 256", "--max-cudagraph-capture-size 256",
    "-cc.max_cudagraph_capture_size=256", [[--compilation-config '{"max_cudagraph_capture_size": 256}']] } do
    test.equal(option("vllm serve m " .. words, "max_cudagraph_capture_size"), 256, words)
  end
  local found = read [[vllm serve m --compilation-config '{"cudagraph_mode":"NONE","pass_config":{"a.b":[1,2]}}'
    ]]
  test.equal(found.options["compilation_config.cudagraph_mode"], "NONE")
  test.equal(found.options.compilation_config, '{"pass_config":{"a.b":[1,2]}}')
  found = read "vllm serve m --speculative-config.method mtp --speculative-config.num_speculative_tokens 2"
  local keys = command.keys(found)
  test.equal(keys.speculation.drafter, "mtp")
  test.equal(keys.speculation.speculator.draft_tokens, 2)
  test.equal(option("vllm serve m --limit-mm-per-prompt image=2,video=1", "limit_mm_per_prompt"),
    '{"image":2,"video":1}')
  test.equal(option([[vllm serve m --override-generation-config.temperature 0]], "override_generation_config"),
    '{"temperature":0}')
end)

test("the command is found after an interpreter, a path, variables, a container and lines of a script", function()
  for _, text in ipairs { "vllm serve m", "/opt/venv/bin/vllm serve m", "exec vllm serve m", "nohup vllm serve m",
    "python -m vllm.entrypoints.openai.api_server --model m",
    "/usr/bin/python3.12 -m vllm.entrypoints.openai.api_server --model m",
    "CUDA_VISIBLE_DEVICES=0,1 vllm serve m", "env A=b vllm serve m",
    "#!/bin/bash\nset -euo pipefail\nM=m\nvllm serve $M\n",
    "export A=1\nvllm serve \\\n m", "docker run --gpus all -e A=1 vllm/vllm-openai:v0.19.0 --model m",
    "vllm serve ${M:-m}", "vllm serve --model m", "(on two nodes) vllm serve m", "vllm serve m (as published)" } do
    local found = read(text)
    test.equal(found.engine.name .. " " .. found.model, "vllm m", text)
  end
  test.equal(read("docker run vllm/vllm-openai:v0.19.0 --model m").release, "0.19.0")
  test.equal(read("docker run lmsysorg/sglang:v0.5.9-cu126 sglang serve --model m").release, "0.5.9")
  local container = told "docker run -e SECRET=xyz vllm/vllm-openai:v0.19.0 --model m"
  test.check(not container:find("xyz", 1, true), "a secret is told")
end)

test("the release is that of --engine, or the newest, which is told", function()
  test.equal(read("vllm serve m", { engine = "vllm 0.12" }).release, "0.12")
  test.check(told("vllm serve m"):find "the newest release that was read in whole: none is stated")
  test.check(not told("vllm serve m", { engine = "vllm 0.12" }):find "newest", "told though it is stated")
  refuses("the command starts vllm, and the engine that is stated is sglang", "vllm serve m",
    { engine = "sglang 0.5.9" })
  refuses("--async-scheduling: vLLM 0.9.2 does not have it (since 0.10)", "vllm serve m --async-scheduling",
    { engine = "vllm 0.9.2" })
end)

test("every flag is modelled, without effect, noted, or unknown with its neighbours", function()
  local keys, sentences = command.keys(read
    "vllm serve m --trust-remote-code --host 0.0.0.0 --enable-dbo --dtype auto")
  test.equal(keys.engine.enable_dbo, true)
  test.equal(#sentences, 1)
  local choice = require "rooflua.engines.choice"
  local chosen = choice.of(keys.engine)
  test.equal(table.concat(chosen.notes, "\n"),
    "--enable-dbo: two batches that overlap are not modelled\nno effect here: --dtype, --host, --trust-remote-code")
  refuses("--max-nums-seq: vLLM has no such flag; did you mean --max-num-seqs", "vllm serve m --max-nums-seq 3")
  refuses("--max-num: fits several flags of vLLM: --max-num-batched-tokens, --max-num-", "vllm serve m --max-num 3")
  test.check(told("VLLM_ATTENTION_BACKNED=FA vllm serve m"):find("did you mean VLLM_ATTENTION_BACKEND?", 1, true),
    "no neighbour")
  test.check(told("CUDA_VISIBLE_DEVICES=1 vllm serve m"):find "variables without effect here: CUDA_VISIBLE_DEVICES")
  test.check(told [[vllm serve m --kv-transfer-config '{"kv_role":"kv_producer"}']]:find "%-%-kv%-transfer%-config: ")
  test.check(told("sglang serve --model m --speculative-algorithm OTHER"):find "not modelled")
end)

test("SGLang's ranks without divided attention are engines of their own", function()
  local keys = command.keys(read "sglang serve --model m --dp 4 --tp 2")
  test.equal(keys.replicas, 4)
  test.equal(keys.engine.dp_size, nil)
  keys = command.keys(read "sglang serve --model m --dp 4 --tp 8 --enable-dp-attention")
  test.equal(keys.replicas, nil)
  test.equal(keys.engine.dp_size, 4)
end)

test("TensorRT-LLM's YAML file is read: its values win, null says none, unknown keys are refused", function()
  test.needs_yaml()
  local function with(text, flags)
    return read("trtllm-serve m " .. (flags or "") .. " --extra_llm_api_options a/x.yml",
      { files = { ["a/x.yml"] = text } })
  end
  local found = with [[
kv_cache_config:
  dtype: fp8
  free_gpu_memory_fraction: 0.8
  enable_block_reuse: no
cuda_graph_config: null
moe_config: {backend: TRTLLM, use_low_precision_moe_combine: true}
moe_expert_parallel_size: 4
]]
  test.equal(found.options["kv_cache_config.dtype"], "fp8")
  test.equal(found.options["kv_cache_config.enable_block_reuse"], false)
  test.equal(found.options["cuda_graph_config.max_batch_size"], 0)
  test.equal(found.options.ep_size, 4)
  test.equal(found.options["moe_config.backend"], "TRTLLM")
  test.equal(found.options.moe_config, '{"use_low_precision_moe_combine":true}')
  found = with("max_batch_size: 8\n", "--max_batch_size 16")
  test.equal(found.options.max_batch_size, 8)
  test.equal(found.told[1], "max_batch_size: 8 of the file holds, not 16 of the flag")
  test.raises("a/x.yml: kv_cache_config.dtyp: TensorRT-LLM has no such option; did you mean kv_cache_config.dtype",
    function() with "kv_cache_config:\n  dtyp: fp8\n" end)
  for text, problem in pairs { ["a: [1"] = "a/x.yml:", ["a: &x 1"] = "anchor", ["a: *x"] = "",
    ["- 1"] = "expected keys",
    ["max_batch_size: [1]"] = "expected a whole number", ["max_batch_size: 1\nmax_batch_size: 2"] = "occurs twice",
    ["a: !!python/object 1"] = "a tag is not read here", ["---\na: 1\n---\nb: 1"] = "a second document",
    [("a:\n"):rep(1) .. ("["):rep(1000)] = "a/x.yml:" } do
    test.raises(problem, function() with(text) end)
  end
  test.raises("there is no such file", function() read "trtllm-serve m --config /nowhere/x.yml" end)
end)

test("a file that lines above the command write is read as it would be written", function()
  test.needs_yaml()
  for _, text in ipairs { "cat > ./x.yml <<EOF\nkv_cache_config:\n  dtype: fp8\nEOF\ntrtllm-serve m --config x.yml",
    "cat <<'EOF' > x.yml\nkv_cache_config: {dtype: fp8}\nEOF\n\ntrtllm-serve m --extra_llm_api_options ./x.yml",
    "printf '%s' 'kv_cache_config:\n  dtype: fp8\n' > x.yml\nexec trtllm-serve \\\n  m --config x.yml" } do
    test.equal(option(text, "kv_cache_config.dtype"), "fp8", text)
  end
  refuses("a variable in a here document", "cat > x.yml <<EOF\na: $B\nEOF\ntrtllm-serve m --config x.yml")
  refuses("the here document has no end EOF", "cat > x.yml <<EOF\na: 1\ntrtllm-serve m")
  refuses("a here document that is not written to one file", "cat <<EOF\na\nEOF\ntrtllm-serve m")
end)

test("a configuration file of vLLM holds flags; those of the command must not contradict it", function()
  test.needs_yaml()
  local files = { ["c.yaml"] = "max-num-seqs: 32\nenable-prefix-caching: false\ntrust-remote-code: true\n" }
  test.equal(option("vllm serve m --config c.yaml", "max_num_seqs", { files = files }), 32)
  test.equal(option("vllm serve m --config c.yaml", "trust_remote_code", { files = files }), true)
end)

test("nothing is executed, and what a shell would do is refused by name", function()
  local mark = test.folder() .. "/touched"
  for text, part in pairs {
    ["vllm serve $(touch " .. mark .. ")"] = "a command substitution $(...)",
    ["vllm serve `touch " .. mark .. "`"] = "a command substitution `...`",
    ['vllm serve "$(touch ' .. mark .. ')"'] = "a command substitution $(...)",
    ["vllm serve m; touch " .. mark] = "a second command behind ;",
    ["vllm serve m | tee " .. mark] = "a pipe |",
    ["vllm serve m && touch " .. mark] = "the operator &",
    ["vllm serve m > " .. mark] = "a redirection >",
    ["vllm serve m < " .. mark] = "a redirection <",
    ["vllm serve m\ntouch " .. mark] = 'a second command, "touch"',
    ["vllm serve <(touch " .. mark .. ")"] = "a redirection <",
    ["vllm serve $MODEL"] = "the variable MODEL is not set here: write its value",
    ['vllm serve "${MODEL:?the model}"'] = "the variable MODEL is not set here",
    ["vllm serve ${A[0]}"] = "an expansion ${...}",
    ["vllm serve $1"] = "the parameter $1",
    ["vllm serve {a,b}"] = "braces outside of quotes",
    ["vllm serve $'a'"] = "a quotation $'...'",
  } do
    refuses(part, text)
  end
  test.equal(io.open(mark), nil, "a command was executed")
end)

test("hostile commands are refused by a sentence", function()
  refuses("the quote ' is not closed", "vllm serve 'm")
  refuses('the quote " is not closed', 'vllm serve "m')
  refuses("a backslash ends the command", "vllm serve m \\")
  refuses("a space stands after the backslash", "vllm serve m \\ \n --tp 2")
  refuses("a word of more than 131072 bytes", "vllm serve " .. ("a"):rep(2 ^ 20))
  refuses("at most", "vllm serve m " .. ("--host a "):rep(2 ^ 19))
  refuses("the command has a zero byte", "vllm serve m\0n")
  refuses("the command is empty", " \n # only a remark")
  refuses("starts no engine that is known (python -m sglang.launch_server, trtllm-serve, vllm serve)", "ls -la")
  refuses("--max-num-seqs: is stated twice, as 3 and as 4", "vllm serve m --max-num-seqs 3 --max-num-seqs 4")
  refuses("--enable-prefix-caching: is stated twice, as true and as false",
    "vllm serve m --enable-prefix-caching --no-enable-prefix-caching")
  refuses("the model is stated twice", "sglang serve --model a --model-path b")
  refuses('"n": a word that belongs to no flag', "vllm serve m n")
  refuses("--max-num-seqs: expected a value after it", "vllm serve m --max-num-seqs")
  refuses("--max-num-seqs: expected a value after it", "vllm serve m --max-num-seqs --host a")
  refuses('--max-num-seqs: expected a whole number, found text "abc"', "vllm serve m --max-num-seqs abc")
  refuses("expected a whole number", "vllm serve m --max-num-seqs 1.5")
  refuses("expected a whole number", "vllm serve m --max-num-seqs 0x10")
  refuses("expected a whole number", "vllm serve m --max-num-seqs 99999999999999999999")
  refuses("--max-num-seqs: expected", "vllm serve m --max-num-seqs -1")
  refuses("--gpu-memory-utilization: expected", "vllm serve m --gpu-memory-utilization 7")
  refuses("expected a number", "vllm serve m --gpu-memory-utilization nan")
  refuses("--kv-cache-dtype: unknown value 'fp9'; did you mean", "vllm serve m --kv-cache-dtype fp9")
  refuses("expected JSON", "vllm serve m --speculative-config {method:mtp}")
  refuses("speculative_config.num_speculative_tokens: expected a whole number",
    [[vllm serve m --speculative-config '{"num_speculative_tokens":{"a":1}}']])
  refuses("nested more than", "vllm serve m --compilation-config '" .. ('{"a":'):rep(60) .. "1" .. ("}"):rep(60) .. "'")
  local long = ("--host a "):rep(1000)
  test.equal(option("vllm serve m " .. long, "host"), "a")
end)

test("the words of a command do not depend on the folder: no name of a file is put in for a *", function()
  test.equal(option("vllm serve m --host *", "host"), "*")
  test.equal(option("vllm serve m --download-dir ~/x", "download_dir"), "~/x")
end)

test("what is written reads as the same: quoted words, environment, YAML", function()
  local found = read [[VLLM_ATTENTION_BACKEND='a b' vllm serve "it's" --served-model-name x '$y' \
    --hf-overrides '{"a":"b c"}']]
  local text = command.write(found)
  test.equal(json.encode(read(text).options), json.encode(found.options))
  test.equal(read(text).model, "it's")
end)

test.finish()
