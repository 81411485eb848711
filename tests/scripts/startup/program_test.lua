-- The option --from of the program, and the command files.
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local printed = dofile "tests/scripts/printed.lua"
local wordings = dofile "tests/scripts/startup/wordings.lua"

local run, json_of, has = test.run, test.json_of, test.has
local vllm = test.file("vllm.log", wordings.text(wordings.list[3], wordings.figures))
local served = test.file("served.lua", [[return { rooflua = 1, seed = 1, model = "qwen3-8b", hardware = "h200-sxm",
  workload = require "workloads.poisson" { rate_per_s = 4, num_requests = 20, prompt_tokens = 200,
    output_tokens = 20 } }]])

test("capacity has the ledger of the start and what the log says beside it", function()
  local text, status = run("capacity", "--from", vllm, "--hardware", "h100-sxm")
  test.equal(status, 0)
  has(text, "llama-3.1-8b on h100-sxm, vllm 0.10.2, tp 1", "believed and seen in " .. vllm, "weights", "KV tokens",
    "451,744", "vllm.log:6")
  local command = run("capacity", "--command", "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 4096 "
    .. "--gpu-memory-utilization 0.9 --tensor-parallel-size 1", "--engine", "vllm 0.10.2", "--hardware", "h100-sxm")
  test.equal(text:match "GPU KV cache size: [^\n]*", command:match "GPU KV cache size: [^\n]*")
  local document = json_of("capacity", "--from", vllm, "--hardware", "h100-sxm", "--json", "-")
  test.equal(document.startup.seen.kv_tokens, 451744)
  test.equal(document.startup.sources[1].form, "log")
  test.equal(document.startup.believed.kv_tokens, document.kv_tokens)
end)

test("step, check and run take the start, with and without a scenario", function()
  has(run("step", "--from", vllm, "--hardware", "h100-sxm", "--decode", "2000x8"),
    "meta-llama/Llama-3.1-8B-Instruct on h100-sxm, vllm 0.10.2")
  has(run("check", "--from", vllm, "--hardware", "h100-sxm"), "ok (1 variant, kind serve)", "no load is stated")
  local checked = json_of("check", "--from", vllm, "--hardware", "h100-sxm", "--json", "-")
  test.equal(checked.scenarios[1].startup.seen.kv_tokens, 451744)
  local alone = json_of("run", "--from", vllm, "--hardware", "h100-sxm", "--quiet", "--json", "-")
  test.equal(alone.variants[1].summary.requests, 200)
  test.equal(alone.startup.seen.release, "0.10.2")
  for _, line in ipairs { { served, "--from", vllm }, { "--from", vllm, served }, { "--from", served, vllm } } do
    local beside = json_of("run", "--quiet", "--json", "-", unpack(line))
    test.equal(beside.variants[1].summary.requests, 20)
    test.equal(beside.startup.seen.kv_tokens, 451744)
  end
end)

test("a page names the files and the GPU, and says which load nothing states", function()
  local page = test.file("page.html", "")
  local _, status = run("run", "--from", vllm, "--hardware", "h100-sxm", "--quiet", "--html", page)
  test.equal(status, 0)
  local file = assert(io.open(page))
  has(file:read "*a", "--hardware h100-sxm", "--from " .. vllm, "no load is stated")
  file:close()
end)

test("a benchmark's load replaces the one that a start has by default", function()
  local text = run("run", "--from", vllm, "--hardware", "h100-sxm", "--bench", "vllm bench serve --dataset-name random "
    .. "--num-prompts 10 --random-input-len 100 --random-output-len 10 --request-rate 5")
  has(text, "10 of 10 completed")
  test.check(not text:find "no load is stated", "the default load is named")
end)

test("new, plan and upgrade take the start", function()
  local path = test.file("started.lua")
  has(run("new", path, "--from", vllm, "--hardware", "h100-sxm"), "wrote ")
  local handle = io.open(path)
  has(handle:read "*a", 'model = "meta-llama/Llama-3.1-8B-Instruct"', '"vllm 0.10.2"', "max_model_len = 4096")
  handle:close()
  has(run("plan", "--from", vllm, "--workload", "200+20", "--rate", "1", "--slo", "ttft_p99=1s", "--gpus", "h100-sxm:2",
    "--emit", "-"), "meta-llama/Llama-3.1-8B-Instruct", "vllm 0.10.2")
  has(run("upgrade", "--from", vllm, "--hardware", "h100-sxm", "--to", "vllm 0.24"), "vllm 0.10.2 -> vllm 0.24",
    "options as before")
  has(run("upgrade", "--command", "vllm serve meta-llama/Llama-3.1-8B-Instruct", "--hardware", "h100-sxm", "--from",
    "vllm 0.10.2", "--to", "vllm 0.24"), "vllm 0.10.2 -> vllm 0.24")
end)

test("advise, check-run and emulate take the start", function()
  local slo = { "--slo", "ttft_p99=10s" }
  has(run("advise", "--from", vllm, "--hardware", "h100-sxm", "--workload", "200+20", "--rate", "1", unpack(slo)),
    "met as it is")
  has(run("advise", "--from", vllm, unpack(slo)), "no line names the GPU; say it: --hardware")
  local result = test.file("bench.json", "")
  run("run", served, "--from", vllm, "--quiet", "--requests", result)
  has(run("check-run", result, "--from", vllm, "--hardware", "h100-sxm"), "plausible: ")
  has(run("emulate"), "emulate: scenario is missing: A Lua file that returns a scenario, or --from LOG")
  local log = test.file("again.log", "")
  has(run("emulate", "--from", vllm, "--hardware", "h100-sxm", "--host", "203.0.113.1", "--startup-log", log),
    "203.0.113.1")
end)

test("what is missing, or said twice, is an error that names it", function()
  for _, each in ipairs {
    { { "capacity", "--from", vllm }, "no line names the GPU; say it: --hardware", 1 },
    { { "capacity", "--from", vllm, "--hardware", "h100", "--command", "vllm serve m" }, "--from", 2 },
    { { "capacity", "--from", vllm, "--hardware", "h100", "--tp", "2" }, "--tp: is said by --from", 2 },
    { { "capacity", "--model", "llama-3.1-8b" }, "--hardware is missing", 2 },
    { { "run" }, "scenario is missing", 2 }, { { "check" }, "scenario is missing", 2 },
    { { "run", served, "--hardware", "h100" }, "--hardware: is said by", 2 },
    { { "run", "--from", vllm, "absent.log", "--hardware", "h100" }, "absent.log", 1 },
    { { "run", "--from", served, served, vllm }, "are scenarios; give one of them", 2 },
    { { "upgrade", "--from", vllm, "--command", "vllm serve m", "--hardware", "h100", "--to", "vllm 0.24" },
      "--command and files of --from", 1 },
  } do
    local text, status = run(unpack(each[1]))
    has(text, each[2])
    test.equal(status, each[3], text)
  end
end)

test("documents are what docs/schema says", function()
  local function checked(schema, document)
    printed.check_schema(schema, test.file(schema .. ".json", json.encode(document)))
  end
  for _, each in ipairs { { "--hardware", "h100-sxm" }, { "--hardware", "l4" } } do
    checked("startup", json_of("capacity", "--from", vllm, "--json", "-", unpack(each)).startup)
  end
  checked("result", json_of("run", served, "--from", vllm, "--quiet", "--json", "-"))
  checked("check", json_of("check", "--from", vllm, "--hardware", "h100-sxm", "--json", "-"))
  checked("files", json_of("files", vllm, "README.md", "absent", served, "--json", "-"))
end)

test("a log that ends in an error is explained by the ledger", function()
  local path = test.file("failed.log", "INFO 03-25 21:32:20 [api_server.py:1043] vLLM API server version 0.8.5\n"
    .. "INFO 03-25 21:32:21 [cli.py:1] non-default args: {'model': 'meta-llama/Llama-3.1-8B-Instruct'}\n"
    .. "ERROR 03-25 21:32:50 [core.py:396] ValueError: To serve at least one request with the models's max seq len "
    .. "(131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (4.60 GiB).\n")
  local text, status = run("capacity", "--from", path, "--hardware", "l4")
  test.equal(status, 1)
  has(text, "the start ended in an error at " .. path .. ":3: ValueError: To serve", "the ledger: it would not start: ",
    "max_model_len 131,072 needs 16.00 GiB")
  has(run("capacity", "--from", path, "--hardware", "h200-sxm"), "the ledger: it would start; look for other processes")
end)

test("files says what each file is, what was read and what not", function()
  local result = test.file("bench.csv", "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n0,10,5,0.1,0.5\n")
  local manifest = test.file("deployment.yaml", "apiVersion: v1\nkind: Service\nother: 7\n")
  local start = wordings.text(wordings.list[3], wordings.figures)
  local log = test.file("more.log", (start:gsub("%(APIServer pid=1%) INFO:     App", "nonsense\n%0")))
  local text, status = run("files", log, result, manifest, "--verbose", "--unread")
  test.equal(status, 0)
  has(text, "start-up log of vLLM (--from)", "1 not understood", "not understood: nonsense",
    "tokens of the KV cache: GPU KV cache size: 451,744 tokens", "result: ", "1 request",
    "a manifest of Kubernetes (--from)")
  test.check(not text:find "sk%-secret", "a secret is shown")
  local document = json_of("files", log, "--json", "-")
  test.equal(document.files[1].form, "log")
  test.equal(document.files[1].unread[1].text, "nonsense")
  local _, unknown = run("files", test.file("x.txt", "hello\n"))
  test.equal(unknown, 1)
end)

test.finish()
