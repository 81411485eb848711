-- Measured upgrades: which files and rows, both sides, directions, and releases that nobody knows.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"

local validate = chunks.require "rooflua.validate.command"
local rows = chunks.require "rooflua.validate.upgrades.rows"

local header = "id,deployment,model,gpu,tp,engine,version_before,version_after,command,load,figure,before,after,"
  .. "direction,patched,scored\n"

local function start(id, figure, before, after, direction, more)
  local own = { releases = "0.20.0,0.21.0", patched = "no", command = "vllm serve Qwen/Qwen3-8B" }
  for name, value in pairs(more or {}) do own[name] = value end
  return ("%s,one,qwen3-8b,h100-sxm,1,vllm,%s,%s,start-up,%s,%s,%s,%s,%s,yes\n"):format(id, own.releases, own.command,
    figure, before, after, direction, own.patched)
end

local function time(id, clients, direction)
  return ('%s,llama-3.1-8b|h100_sxm|vllm|bf16|1,llama-3.1-8b,h100_sxm,"1,1,1",vllm,0.15.1,0.15.1,max_num_seqs=8,'
    .. '"closed loop 200/20, %d clients",tpot_ms,5,5,%s,no,yes\n'):format(id, clients, direction)
end

local function run(...)
  return validate.run { folder = test.file("upgrades.csv", header .. table.concat { ... }) }
end

test("a file with a figure before and after and two releases is one of upgrades", function()
  test.check(rows.reads(test.file("a.csv", header)))
  test.check(not rows.reads(test.file("b.csv", "figure,before\n1,2\n")))
end)

test("both sides of a start-up are simulated, and the direction is that of 0.5 %", function()
  local of = run(start("same", "kv_tokens", 100, 100, "flat", { releases = "0.20.0,0.20.0" }),
    start("wrong", "kv_tokens", 100, 120, "up", { releases = "0.20.0,0.20.0" }),
    start("starts", "starts", "yes", "yes", "starts")).document
  local all = of.upgrades.all
  test.equal(all.rows, 3)
  test.near(all.direction, 2 / 3, 1e-12)
  test.equal(all.moved.rows, 2, "the one that moved, and the start")
  test.equal(all.tokens.rows, 2)
  test.near(all.tokens.median, math.log(1.2) / 2, 1e-12)
  test.equal(of.upgrades.figure.starts.direction, 1)
  test.check(of.cases[1].simulated.before > 1000, "tokens of the cache")
end)

test("times are those of a closed loop of the deployment", function()
  local of = run(time("a", 2, "flat")).document
  test.equal(of.upgrades.figure.tpot_ms.direction, 1)
  test.check(table.concat(of.cases[1].told, "; "):find("lengths=[0.8 L, L]", 1, true), "clients do not stay in step")
  local before_s = of.cases[1].simulated.before
  test.check(before_s > 0.001 and before_s < 0.1, "%g s", before_s)
end)

test("each side has its own options; a build without a day is from before the release", function()
  local columns = header:gsub("\n", ",same_settings\n")
  local function row(before, settings)
    return ('a,llama-3.1-8b|h100_sxm|vllm|bf16|1,llama-3.1-8b,h100_sxm,"1,1,1",vllm,%s,0.15.1,max_num_seqs=1,'
      .. '"closed loop 200/20, 8 clients",ttft_ms,9,5,down,no,yes,%s\n'):format(before, settings)
  end
  local function answer(...)
    local case = validate.run { folder = test.file("upgrades.csv", columns .. row(...)) }.document.cases[1]
    test.check(case.simulated, case.problem)
    return case.simulated
  end
  local same = answer("0.15.1", "")
  local other = answer("nightly-5b8c30d6", "no: max_num_seqs: 64 -> 1; seed: (default) -> 1")
  test.equal(same.before, same.after)
  test.equal(other.after, same.after)
  test.check(other.before < 0.5 * other.after, "64 seats before, and 1 after")
end)

test("a release with a variant is that of its switch; words are read for what they say, the others are told", function()
  local list = run(start("a", "kv_tokens", 1, 2, "up", { releases = "0.22 (estimate on),0.22 (VLLM_MEMORY_PROFILER_"
    .. "ESTIMATE_CUDAGRAPHS=0)", command = '"start.sh, GPU_UTIL=0.80, fp8 KV, MAX_MODEL_LEN=8192 SPEED=fast"' }),
    start("b", "kv_tokens", 1, 2, "up", { releases = "0.22,0.22",
      command = "vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 0.8 --kv-cache-dtype fp8 --max-model-len 8192" }))
    .document.cases
  test.check(list[1].simulated, list[1].problem)
  test.check(list[1].right)
  test.equal(list[1].simulated.before, list[2].simulated.before)
  local told = table.concat(list[1].told, "\n")
  test.check(told:find("not read: start.sh", 1, true) and told:find("not read: SPEED=fast", 1, true), told)
  test.equal(told:find("GPU_UTIL", 1, true), nil)
end)

local function speed(id, figure, releases, command, load)
  return ('%s,two,Qwen3-8B,h100-sxm,1,vllm,%s,"%s","%s",%s,5,5,flat,no,yes\n'):format(id, releases, command, load,
    figure)
end

test("tokens per second are those of a closed loop; as above is the command of the row before", function()
  local words = "vLLM, tp 1, fp8 KV, max_num_seqs 2, prefix cache"
  local list = run(speed("a", "decode_tok_s C2", "0.22.0,0.22.0", words, "4 output tokens"),
    speed("b", "tpot_ms C2", "0.22.0,0.22.0", "as above", "4 output tokens")).document.cases
  test.check(list[1].simulated and list[2].simulated, list[1].problem or list[2].problem)
  test.equal(table.concat(list[1].told, "; "):find("not read", 1, true), nil)
  test.near(list[1].simulated.before, 2 / list[2].simulated.before, 1e-9, "clients over the time of a token")
end)

test("the same rules on both sides change nothing, whatever the load; another load is refused elsewhere", function()
  local list = run(speed("a", "tpot_ms c2", "0.29.1 nightly (2026-09-07),0.29.0", "TP1", "agentic traces"),
    speed("b", "tpot_ms c2", "0.28.0,0.29.0", "TP1", "agentic traces")).document.cases
  test.check(list[1].right, list[1].problem)
  test.check(list[2].problem:find("expected a load as", 1, true), list[2].problem)
end)

test("an unknown release is said, and is wrong; so is a figure that nothing simulates", function()
  local done = run(start("new", "kv_tokens", 1, 2, "up", { releases = "0.20.0,7.0.0" }),
    start("odd", "smell", 1, 2, "up"), start("fine", "kv_tokens", 1, 1, "flat", { releases = "0.20.0,0.20.0" }))
  test.near(done.document.upgrades.all.direction, 1 / 3, 1e-12)
  test.check(done.text:find("vllm 7.0.0 is no release that is known", 1, true), done.text)
  test.check(done.text:find("nothing simulates the figure 'smell'", 1, true), done.text)
end)

test("of a patched release the KV tokens alone count", function()
  local of = run(start("a", "kv_gib", 1, 2, "up", { patched = "yes (a series)" }),
    start("b", "kv_tokens", 1, 2, "up", { patched = "yes (a series)" })).document.upgrades.all
  test.equal(of.rows, 1)
  test.equal(of.tokens.rows, 0, "how far they change is that of other code")
end)

test.finish()
