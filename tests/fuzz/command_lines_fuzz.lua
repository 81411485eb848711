-- Command lines with faults: words that are wrong, missing, repeated, swapped, cut or not text. The program does what
-- it is asked or refuses in words: no crash, no internal error, no hang, no status that is not documented.
local fuzzer = dofile "tests/fuzz/fuzzer.lua"
local program = dofile "tests/fuzz/program.lua" (fuzzer)

local files = {
  ["serve.lua"] = [[return { rooflua = 1, title = "t", model = "llama-3.1-8b", hardware = "h200",
    workload = require "workloads.poisson" { rate_per_s = 20, num_requests = 12, prompt_tokens = 64,
      output_tokens = 4 },
    vary = { ["scheduler.max_num_seqs"] = { 2, 8 } } }]],
  ["one.lua"] = [[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h200",
    workload = require "workloads.poisson" { rate_per_s = 20, num_requests = 12, prompt_tokens = 64,
      output_tokens = 4 } }]],
  ["price.lua"] = [[return { kind = "price", model = "llama-3.1-8b", hardware = "h200",
    price = { { decodes = 4, decode_context_tokens = 400 } } }]],
  ["search.lua"] = [[return { kind = "search", model = "llama-3.1-8b", hardware = "h200",
    workload = require "workloads.poisson" { num_requests = 6, prompt_tokens = 16, output_tokens = 2 },
    search = { slo = { ttft_s_p99 = 1 }, min = 1, max = 4, tolerance = 0.5, checks = 0 } }]],
  ["broken.lua"] = "return { model = ",
  ["measured.csv"] = "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n0,64,4,0.02,0.06\n0.1,64,4,0.02,0.06\n",
  ["a.json"] = '{"schema": 1, "variants": []}', ["b.json"] = '{"schema": 1, "variants": [1]}',
  ["cases.csv"] = "case_id,rating,dataset,file,selector,model,gpu,tp,precision,engine,workload,metrics,measured,notes\n"
    .. "a,C,own,a.csv,row,llama-3.1-8b,H100,1,bf16,vLLM 0.15.1,closed loop c=2 in=20 out=4,x,e2e_ms=40,\n",
  ["a.csv"] = "a,b\n1,2\n",
}

-- Every command with its options. What makes a run longer has small numbers here.
local lines = {
  { "run", "serve.lua", "--quiet", "--jobs", "2", "--json", "out.json", "--seed", "3" },
  { "run", "one.lua", "--requests", "r.csv", "--trace", "t.json", "--html", "p.html", "--why", "3", "--explain" },
  { "run", "one.lua", "--set", "deployment.tp=2", "--set", "workload.rate_per_s=5", "--strict=5", "--timeout", "1" },
  { "run", "price.lua", "--results", "x.sqlite", "--json", "-", "--no-jit" },
  { "run", "search.lua", "--jobs", "2", "--quiet", "--trusted" },
  { "step", "--model", "llama-3.1-8b", "--hardware", "h100", "--decode", "2000x16,30x2", "--prefill", "0+512" },
  { "step", "--model", "qwen3-30b-a3b", "--hardware", "h200", "--tp", "2", "--decode", "100x4", "--explain", "--set",
    "weights=fp8", "--steps", "roofline_v2:reviewed", "--json", "s.json" },
  { "step", "--command", "vllm serve Qwen/Qwen3-8B --max-num-seqs 8 --trust-remote-code", "--engine", "vllm 0.19",
    "--hardware", "h100", "--decode", "100x4" },
  { "run", "one.lua", "--command", "sglang serve --model meta-llama/Llama-3.1-8B --tp 2 --dp 2", "--quiet" },
  { "check", "serve.lua", "broken.lua", "--set", "seed=3", "--json", "c.json" },
  { "calibrate", "one.lua", "--measured", "measured.csv", "--params", "frontend.base_s", "--evaluations", "3",
    "--quiet", "--objective", "median" },
  { "advise", "one.lua", "--slo", "ttft_p99=1s,tpot_mean=1ms", "--limit", "2", "--gpus", "2", "--json", "a.json" },
  { "upgrade", "--command", "vllm serve Qwen/Qwen3-8B --max-num-seqs 8", "--hardware", "h100", "--from", "vllm 0.19",
    "--to", "vllm 0.24", "--bench", "vllm bench serve --num-prompts 8", "--json", "a.json" },
  { "advise", "--command", "vllm serve Qwen/Qwen3-8B", "--hardware", "h100", "--workload", "100+10", "--clients", "4",
    "--requests", "8", "--slo", "e2e_mean=1s" },
  { "check-run", "measured.csv", "one.lua", "--set", "seed=3", "--json", "r.json" },
  { "validate", ".", "--only", "a", "--steps", "kernels", "--set", "engine.seats=4", "--json", "v.json" },
  { "data", "list" }, { "data", "describe", "h200-sxm" }, { "data", "verify", "." },
  { "data", "import", ".", "--layout", "infersim", "--gpu", "h100", "--to", "tables" },
  { "data", "compare", "h20", "h200-sxm" }, { "data", "add", ".", "--to", "tables", "--name", "mine" },
  { "diff", "a.json", "b.json", "--tolerance", "0.1" },
  { "list", "models" }, { "list", "schedulers" }, { "help", "schedulers.vllm_v1" }, { "help", "run" },
  { "new", "fresh" }, { "new", "said", "--hardware", "h100", "--command", "trtllm-serve Qwen/Qwen3-8B --tp_size 2" },
  { "capacity", "--hardware", "h100", "--command", "vllm serve Qwen/Qwen3-8B -tp 2 --kv-cache-dtype fp8" },
  { "repl", "one.lua" }, { "lua", "one.lua" }, { "--version" }, { "--help" },
}

local options, pool = {}, {}
for _, line in ipairs(lines) do
  for _, word in ipairs(line) do
    local list = word:sub(1, 2) == "--" and options or pool
    list[#list + 1] = word
  end
end

local odd = { "", "-", "--", "---", "=", "--=", "-1", "0", "1e999", "nan", "inf", "1.5", "2147483648", "0x10", "x",
  "a b", "a=b", "=b", "a=", "a.b.c=d", "steps.=1", ".=1", "vary=[1]", 'vary={"seed":[1,2]}',
    'price=[{"decodes":1}]', "[", "{",
  "\255\254", "\226\130", "\27[31m", "'", '"', "\\", "$(x)", "%s%n", "..", "../..", ".", "/", "/dev/null",
  "no/such/file",
  ("x"):rep(3000), "1x1", "1+1", "-5+3", "0+0", "1x-1", "5x999999999999", "kernels:nonsense", "llama-3.1-8b", "h20",
  "model=3", "hardware=", "kind=price", "replicas=0", "deployment.tp=3", "deployment.kv_blocks=1", "async_depth=7" }

--- Options whose number is how much is done: they keep their small ones.
local long = { ["--evaluations"] = true, ["--intervals"] = true, ["--jobs"] = true, ["--timeout"] = true }

local function position(random, words)
  local at = random:whole(1, #words)
  if long[words[at - 1]] then return nil end
  return at
end

local faults = {
  function(random, words, at) words[at] = random:pick(odd) end,
  function(random, words, at) words[at] = random:damaged(words[at]) end,
  function(_, words, at) table.remove(words, at) end,
  function(_, words, at) table.insert(words, at, words[at]) end,
  function(random, words, at) table.insert(words, at, random:pick(odd)) end,
  function(random, words, at) table.insert(words, at + 1, random:pick(options)) end,
  function(random, words, at) words[at] = random:pick(pool) end,
  function(random, words, at) words[at] = random:pick(options) end,
  function(random, words, at)
    local other = random:whole(1, #words)
    words[at], words[other] = words[other], words[at]
  end,
  function(random, words, at)
    if words[at]:sub(1, 2) == "--" then words[at] = words[at] .. "=" .. random:pick(odd) end
  end,
}

--- Whether a line would run for long because it was asked to.
local function is_long(words)
  for i, word in ipairs(words) do
    local name = word:match "^(%-%-%a+)"
    local value = tonumber(word:match "^%-%-%a+=(.*)$" or words[i + 1] or "")
    if name == "--evaluations" and value ~= 3 then return true end
    if name == "--intervals" and value ~= 0 then return true end
    if name == "--jobs" and value and value > 8 then return true end
  end
  return false
end

fuzzer.main(function(random, folder)
  folder = folder .. "/command_lines" -- its own, because the program may have written anything into it
  os.execute(("rm -rf '%s' && mkdir '%s'"):format(folder, folder))
  for name, content in pairs(files) do fuzzer.write(folder .. "/" .. name, content) end
  local words = {}
  for i, word in ipairs(random:pick(lines)) do words[i] = word end
  for _ = 1, random:whole(1, 3) do
    local at = #words > 0 and position(random, words)
    if at then random:pick(faults)(random, words, at) end
  end
  if is_long(words) then return end
  program.run(words, folder)
end)
