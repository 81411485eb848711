-- `rooflua new NAME --as FORM`, and --from with what it writes.
local test = dofile "tests/scripts/harness.lua"

local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir " .. folder)

local run = test.run

local function tokens_of(...)
  return test.json_of("capacity", "--json", "-", ...).kv_tokens
end

local command = "VLLM_SERVER_DEV_MODE=1 vllm serve Qwen/Qwen3-8B -tp 2 --max-num-seqs 99 --max-model-len 9000"
local endings = { kubernetes = ".yaml", lws = ".yaml", kserve = ".yaml", dynamo = ".yaml", helm = ".yaml",
  compose = ".yaml", slurm = ".sh" }

test("every form that new writes is taken by capacity, check and new, and means the command", function()
  test.needs_yaml()
  local expected = tokens_of("--command", command, "--engine", "vllm 0.24.0", "--hardware", "h200-sxm")
  for form, ending in pairs(endings) do
    local path = folder .. "/" .. form
    local text, status = run("new", path, "--as", form, "--command", command, "--engine", "vllm 0.24.0", "--hardware",
      "h200-sxm")
    test.equal(status, 0, text)
    test.has(text, "wrote " .. path .. ending)
    test.equal(tokens_of("--from", path .. ending), expected, form)
    test.has(run("check", "--from", path .. ending), "ok (1 variant, kind serve)")
    test.has(run("files", path .. ending), "(--from)", ", 0 not understood", "vllm serve")
    test.has(run("new", path, "--as", form, "--command", command), "is there already")
  end
  test.has(run("new", folder .. "/back", "--from", folder .. "/kubernetes.yaml"), "wrote " .. folder .. "/back.lua")
  test.has(run("check", folder .. "/back.lua"), "ok (4 variants, kind serve)")
end)

test("a scenario with roles is written, and read with its roles", function()
  test.needs_yaml()
  local scenario = test.file("split.lua", [[return { rooflua = 1, seed = 1, model = "qwen3-8b", hardware = "h200-sxm",
    router = require "routers.dynamo_kv" {}, replicas = {
      { role = "prefill", count = 2, engine = { "vllm 0.24.0", max_num_seqs = 8 } },
      { role = "decode", count = 3, engine = "vllm 0.24.0", deployment = { tp = 2 } } },
    workload = require "workloads.poisson" { rate_per_s = 4, num_requests = 20, prompt_tokens = 200,
      output_tokens = 20 } }]])
  for _, form in ipairs { "dynamo", "kubernetes" } do
    local path = folder .. "/split_" .. form
    local text, status = run("new", path, "--as", form, "--from", scenario)
    test.equal(status, 0, text)
    test.has(run("check", "--from", path .. ".yaml"), "prefill 2 x tp 1", "decode 3 x tp 2", " = 8 GPUs",
      "2 x prefill, 1 GPU each", "3 x decode, 2 GPUs each")
  end
  test.has(run("check", "--from", folder .. "/split_dynamo.yaml"), "router dynamo_kv with its defaults")
end)

test("what cannot be written or read is an error that says why", function()
  test.needs_yaml()
  local function fails(part, ...)
    local text, status = run(...)
    test.has(text, part)
    test.check(status ~= 0, "status 0: %s", text)
  end
  local wide = "vllm serve Qwen/Qwen3-32B -tp 8 -pp 2"
  fails("what?", "new", folder .. "/x", "--as", "compose")
  fails("an engine stays on one node", "new", folder .. "/x", "--as", "compose", "--command", wide)
  fails("--kind", "new", folder .. "/x", "--as", "compose", "--kind", "plan", "--command", command)
  fails("unknown value 'nomad'", "new", folder .. "/x", "--as", "nomad", "--command", command)
  fails("--from FILE", "capacity", "--hardware", "h200-sxm", "--command", "services:\n  a:\n    image: vllm\n")
end)

os.execute("rm -r " .. folder)
test.finish()
