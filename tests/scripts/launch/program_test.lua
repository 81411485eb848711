-- The option --command of the program: on step, check, run and new.
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"

local run, has = test.run, test.has

local served = [[return { rooflua = 1, seed = 1, model = "llama-3.1-8b", hardware = "h100-sxm", deployment = { tp = 1 },
  %s
  workload = require "workloads.poisson" { rate_per_s = 4, num_requests = 20, prompt_tokens = 200,
    output_tokens = 20 } }]]

local function scenario(more) return test.file("served.lua", served:format(more or "")) end

local vllm = "vllm serve Qwen/Qwen3-32B-FP8 --tensor-parallel-size 2 --max-num-seqs 16 --enable-lora "
  .. "--trust-remote-code"

test("step prices what a command starts, as the same options would", function()
  local text = run("step", "--command", vllm, "--engine", "vllm 0.19", "--hardware", "h100-sxm", "--decode", "2048x8")
  has(text, "Qwen/Qwen3-32B-FP8 on h100-sxm, vllm 0.19, tp 2, weights fp8_block, KV bf16")
  has(text, "--enable-lora: which adapters there are is not said")
  has(text, "no effect here: --trust-remote-code")
  local plain = run("step", "--model", "Qwen/Qwen3-32B-FP8", "--tp", "2", "--engine", "vllm 0.19", "--hardware",
    "h100-sxm", "--decode", "2048x8")
  test.equal(text:match "step: [^\n]*", plain:match "step: [^\n]*")
  test.check(not plain:find "LoRA", "a note without a command")
end)

test("capacity counts what a command starts, as the same options would", function()
  local text, status = run("capacity", "--command", vllm, "--engine", "vllm 0.19", "--hardware", "h100-sxm")
  test.equal(status, 0, text)
  has(text, "--enable-lora: which adapters there are is not said")
  local plain = run("capacity", "--model", "Qwen/Qwen3-32B-FP8", "--tp", "2", "--engine", "vllm 0.19", "--hardware",
    "h100-sxm", "--set", "engine.max_num_seqs=16")
  local size = "GPU KV cache size: [^\n]*\n[^\n]*"
  test.check(text:match(size), text)
  test.equal(text:match(size), plain:match(size))
  text, status = run("capacity", "--command", vllm, "--hardware", "h100-sxm", "--ep", "2")
  test.equal(status, 2)
  has(text, "--ep: is said by --command; leave it out")
  text, status = run("capacity", "--command", "vllm serve Qwen/Qwen3-32B", "--hardware", "l4")
  test.equal(status, 1, text)
  local notes = test.json_of("capacity", "--command", vllm, "--hardware", "h100-sxm", "--json", "-").notes
  has(table.concat(notes, "\n"), ", the newest release that was read in whole: none is stated")
end)

test("what the command says is not said again", function()
  for _, each in ipairs { { "--tp", "2" }, { "--weights", "fp8" }, { "--kv", "fp8" } } do
    local text, status = run("step", "--command", vllm, each[1], each[2], "--hardware", "h100-sxm", "--decode", "1x1")
    test.equal(status, 2)
    has(text, each[1] .. ": is said by --command; leave it out")
  end
  local text, status = run("step", "--hardware", "h100-sxm", "--decode", "1x1")
  test.equal(status, 2)
  has(text, "--model is required, or --command")
  text, status = run("check", scenario(), "--model", "qwen3-8b")
  test.equal(status, 2)
  has(text, "--model: replaces the model of --command, and there is none")
end)

test("a model that no file describes is told with what to give, and --model gives it", function()
  local text, status = run("step", "--command", "vllm serve someone/new-model", "--hardware", "h100-sxm",
    "--decode", "1x1")
  test.equal(status, 1)
  has(text, "the model 'someone/new-model' is not known: no shipped model has this name. Give its config.json: --model")
  text = run("step", "--command", "vllm serve /models/none", "--hardware", "h100-sxm", "--decode", "1x1")
  has(text, "there is no config.json at this place")
  text, status = run("step", "--command", "vllm serve someone/new-model", "--model",
    "tests/fixtures/models/hf/nemotron-3-nano-30b-a3b.json",
    "--hardware", "b200", "--decode", "1x1")
  test.equal(status, 0, text)
  has(text, "tests/fixtures/models/hf/nemotron-3-nano-30b-a3b.json in place of the command's someone/new-model")
  text = run("step", "--command", "sglang serve --tp 2", "--hardware", "h100-sxm", "--decode", "1x1")
  has(text, "names no model; give it: --model NAME")
end)

test("run beside a scenario has the command's model, engine and deployment, and its notes in every document", function()
  local path = test.folder() .. "/out.json"
  local text, status = run("run", scenario(), "--command", vllm, "--engine", "vllm 0.19", "--json", path, "--quiet")
  test.equal(status, 0, text)
  local document = json.decode(io.open(path):read "*a")
  local notes = table.concat(document.variants[1].notes, "\n")
  has(notes, "--enable-lora: which adapters there are is not said")
  local stated = run("run", scenario('engine = { "vllm 0.19", tensor_parallel_size = 2, max_num_seqs = 16 },')
    :gsub("served.lua", "served.lua"), "--set", "model=Qwen/Qwen3-32B-FP8", "--set", "deployment={}", "--quiet")
  local other = run("run", scenario(), "--command", vllm, "--engine", "vllm 0.19", "--quiet")
  local figures = "\n[^\n]*%d+%.%d+ [^\n]*\n"
  test.equal(other:match(figures), stated:match(figures))
end)

test("a scenario that says the same in another place is refused by both names", function()
  local text, status = run("run", scenario 'scheduler = require "schedulers.vllm_v1" { max_num_seqs = 8 },',
    "--command", vllm, "--quiet")
  test.equal(status, 1)
  has(text, "max_num_seqs: the scenario states scheduler.max_num_seqs as well")
  text = run("run", scenario 'vary = { model = { "qwen3-8b", "qwen3-32b" } },', "--command", vllm)
  has(text, "--command: has no effect: `vary` gives values of its own to model")
  text = run("run", scenario 'replicas = { { deployment = { tp = 4 } } },', "--command", vllm)
  has(text, "replicas[1].deployment is stated")
end)

test("check reads a command, and an option is changed by --set", function()
  local text, status = run("check", scenario(), "--command", vllm, "--set", "engine.max_num_seqs=4")
  test.equal(status, 0, text)
  has(text, "note  --enable-lora: which adapters there are is not said")
  text, status = run("check", scenario(), "--command", "vllm serve 'x")
  test.equal(status, 1)
  has(text, "error: --command: the quote ' is not closed")
end)

test("drafts of a command are drafts of the run; a scenario without them is told", function()
  local drafts = vllm .. [[ --speculative-config '{"method":"eagle3","model":"a/b","num_speculative_tokens":2}']]
  local text, status = run("run", scenario(), "--command", drafts, "--quiet", "--json", "-")
  test.equal(status, 0, text)
  has(text, '"tokens_per_round"')
  has(text, "a command does not say how many drafts are accepted")
  text = run("run", scenario [[speculation = { speculator = "fixed", acceptance = "constant", drafter = "free" },]],
    "--command", vllm, "--quiet", "--json", "-")
  has(text, "speculation of the scenario is left out: the command asks for no drafts")
  text = run("step", "--command", drafts, "--hardware", "h100-sxm", "--decode", "1x1")
  has(text, "drafts of the command are left out: kind \"price\" has none")
end)

test("new writes a scenario that runs, without what has no effect and without secrets", function()
  local path = test.folder() .. "/chat.lua"
  local text, status = run("new", path, "--command", vllm .. " --api-key topsecret", "--hardware", "h100-sxm",
    "--engine", "vllm 0.19")
  test.equal(status, 0, text)
  local written = io.open(path):read "*a"
  has(written, 'model = "Qwen/Qwen3-32B-FP8"')
  has(written, 'engine = { "vllm 0.19", max_num_seqs = 16, tensor_parallel_size = 2 }')
  has(written, "no effect here: --api-key, --trust-remote-code")
  test.check(not written:find("topsecret", 1, true), "a key is written")
  text, status = run("check", path)
  test.equal(status, 0, text)
  has(written, "--enable-lora: which adapters there")
  text, status = run("new", test.folder() .. "/b.lua", "--command", vllm)
  test.equal(status, 2)
  has(text, "needs --hardware")
  text, status = run("new", test.folder() .. "/c.lua", "--hardware", "h100-sxm")
  test.equal(status, 2)
  has(text, "--hardware: goes with --command")
  status = select(2, run("new", test.folder() .. "/d.lua", "--command", vllm, "--hardware", "h100-sxm",
    "--kind", "price"))
  test.equal(status, 2)
end)

test("new writes the adapters that a command names", function()
  local path = test.folder() .. "/adapters.lua"
  local text, status = run("new", path, "--hardware", "h100-sxm", "--engine", "vllm 0.19", "--command",
    vllm .. " --max-loras 2 --lora-modules a=/a b=/b c=/c")
  test.equal(status, 0, text)
  has(io.open(path):read "*a", "adapters = { count = 3, max_lora_rank = 16, max_loras = 2, rank = 16 },")
  text, status = run("check", path)
  test.equal(status, 0, text)
end)

test("new writes values that are texts of Lua whatever they hold", function()
  local path = test.folder() .. "/odd.lua"
  local text, status = run("new", path, "--hardware", "h100-sxm", "--command",
    [[vllm serve Qwen/Qwen3-8B --attention-backend ]] .. "'a\"b\\\nc]]' --hf-overrides '{\"x\":\"y\\\"z\"}'")
  test.equal(status, 0, text)
  text, status = run("check", path)
  test.equal(status, 0, text)
end)

test("the script starts the program of its own folder through a link to it", function()
  local root = test.folder() .. "/root"
  local links = test.folder() .. "/bin"
  local made = os.execute(("mkdir -p '%s/scripts' '%s/build/release/bin' '%s' && cp scripts/rooflua "
    .. "scripts/bootstrap.sh '%s/scripts/' && touch '%s/build/release/.built-rooflua' && "
    .. "printf '#!/bin/sh\\necho started \"$@\"\\n' > '%s/build/release/bin/rooflua' && "
    .. "chmod +x '%s/build/release/bin/rooflua' && ln -s '%s/scripts/rooflua' '%s/first' && ln -s first '%s/second'")
    :format(root, root, links, root, root, root, root, root, links, links))
  test.equal(made, 0)
  for _, name in ipairs { root .. "/scripts/rooflua", links .. "/first", links .. "/second" } do
    local pipe = assert(io.popen(("cd / && '%s' list models 2>&1"):format(name)))
    test.equal(pipe:read "a", "started list models\n", name)
    pipe:close()
  end
end)

test.finish()
