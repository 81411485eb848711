-- A measured closed loop as a scenario: widths, split engines, formats of weights, the front end, what is assumed.
local test = dofile "tests/scripts/harness.lua"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local rows = require "rooflua.validate.closed_loops.rows"
local serve = require "rooflua.serve"
local setup = require "rooflua.validate.closed_loops.setup"
local spec = require "rooflua.spec"
local weights = require "rooflua.validate.closed_loops.weights"

local write = dofile "tests/scripts/validate/closed_loop_file.lua" (test)

local function steps() return policies.of(Reader.new "test", "steps", "kernels") end

local function question(row)
  local path = write { row }
  local found = rows.read(path)[1]
  test.equal(found.problem, nil)
  return found, path:match "^(.*/)"
end

local function scenario(row, seed)
  local asked, folder = question(row)
  return setup.scenario(asked, steps(), { seed = seed or 0, seeds = 1, requests_per_client = 0, folder = folder })
end

local function with(given, more)
  local out = {}
  for name, value in pairs(given) do out[name] = value end
  for name, value in pairs(more) do out[name] = value end
  return out
end

local function widths_text(deployment)
  return ("%d %d %d"):format(deployment.tp, deployment.dp or 1, deployment.ep or 1)
end

local llama = { mode = "pd", workers = "P:2 D:3", widths = "P:1,1,1 D:2,1,1", clients = 6, engine = "vllm" }
local deepseek = { family = "deepseek-v3", format = "fp8", engine = "sglang", engine_version = "0.5.9",
  system = "h200_sxm", widths = "8,1,8" }

-- Formats ----------------------------------------------------------------------------------------------------------

test("the format of a row is that of a release of the model; its own is not stated", function()
  for name, formats in pairs {
    ["deepseek-v3"] = { fp8 = "own", fp4 = "nvfp4", bf16 = "bf16" },      -- published in blocks of FP8 and in NVFP4
    ["qwen3-32b"] = { fp8 = "fp8_block", fp4 = "nvfp4", bf16 = "own" },   -- its FP8 release is in blocks
    ["llama-3.3-70b"] = { fp8 = "fp8", fp4 = "nvfp4", int4 = "int4", bf16 = "own" },
    ["gpt-oss-120b"] = { fp4 = "own", mxfp4 = "own", bf16 = "bf16" },
    ["kimi-k2.5"] = { int4 = "own", fp4 = "nvfp4" } } do
    local model = spec.model(name)
    for word, expected in pairs(formats) do
      test.equal(weights.of(model, word) or "own", expected, name .. " in " .. word)
    end
  end
  test.raises("format: unknown format 'fp6'", function() weights.of(spec.model "qwen3-32b", "fp6") end)
  test.equal(scenario(with(deepseek, { format = "fp4" })).deployment.weights, "nvfp4")
  test.equal(scenario(deepseek).deployment.weights, nil)
end)

-- Widths -----------------------------------------------------------------------------------------------------------

test("a model with experts has the widths of its row", function()
  test.equal(widths_text(scenario(deepseek).deployment), "8 1 8")
  test.equal(widths_text(scenario(with(deepseek, { widths = "8,1,1" })).deployment), "8 1 1")
  local ranks = { options = "tp_size=8;dp_size=8;enable_dp_attention=true;ep_size=8", widths = "1,8,8" }
  local given = scenario(with(deepseek, ranks))
  test.equal(widths_text(given.deployment), "1 8 8")
  test.equal(given.replicas, nil)
end)

test("data-parallel copies of a dense model are engines of their own", function()
  local given = scenario { widths = "2,4,1" }
  test.equal(widths_text(given.deployment), "2 1 1")
  test.equal(given.replicas, 4)
  test.equal(scenario({ widths = "2,1,1" }).replicas, nil)
  test.equal(scenario({ widths = "2,1,1", workers = 3 }).replicas, 3)
  given = scenario(with(llama, { widths = "P:1,2,1 D:1,4,1" }))
  test.equal(given.replicas[1].count .. " " .. given.replicas[2].count, "4 12")
end)

test("copies without attention of ranks are engines of their own, even with experts", function()
  local given = scenario(with(deepseek, { widths = "8,2,8", options = "tp_size=8;dp_size=2;ep_size=8" }))
  test.equal(widths_text(given.deployment), "8 1 8")
  test.equal(given.replicas, 2)
end)

test("whole experts of a model without experts are an error", function()
  test.raises("widths: ep of a model without experts", function() scenario { widths = "2,1,2" } end)
end)

test("classes tell dense models, experts that are divided or whole, ranks of attention, and engines apart", function()
  local function class(row)
    local asked, folder = question(row)
    return setup.class(asked, folder)
  end
  test.equal(class { widths = "2,1,1" }, "dense")
  test.equal(class(with(deepseek, { widths = "8,1,1" })), "moe-tp")
  test.equal(class(deepseek), "tep")
  test.equal(class(with(deepseek, { widths = "1,8,8" })), "dpa")
  test.equal(class(llama), "pd")
  test.equal(class { family = "no-such-model" }, nil)
end)

-- Split engines ----------------------------------------------------------------------------------------------------

test("split engines have a role, a number, widths and options each, and a network between them", function()
  local given = scenario(with(llama, { options = "P: max_num_seqs=3 D: max_num_seqs=17" }))
  local prefill, decode = given.replicas[1], given.replicas[2]
  test.equal(#given.replicas, 2)
  test.equal(prefill.role .. " " .. prefill.count .. ", " .. decode.role .. " " .. decode.count, "prefill 2, decode 3")
  test.equal(widths_text(prefill.deployment) .. ", " .. widths_text(decode.deployment), "1 1 1, 2 1 1")
  test.equal(prefill.engine.max_num_seqs .. " " .. decode.engine.max_num_seqs, "3 17")
  test.equal(given.deployment, nil)
  test.equal(given.engine, nil)
  test.equal(#serve.run(given).summary.replicas, 5)
end)

test("heads travel over a link per rank of the narrower side; every decode rank reads the whole latent", function()
  local function rate(row, widths)
    local given = scenario(with(row, { widths = widths, clients = 2 }))
    test.equal(given.network.path[1] .. given.links.wire.per, "wirereplica", "one wire a replica")
    return given.links.wire.bytes_per_s
  end
  local latent = { mode = "pd", workers = "P:1 D:1", family = "deepseek-v3", format = "fp8", engine = "sglang",
    engine_version = "0.5.9", system = "gb200" }
  local wide = with(llama, { workers = "P:8 D:1", system = "h100_sxm" })
  test.near(rate(with(llama, { workers = "P:1 D:1" }), "P:1,1,1 D:2,1,1"), 450e9, 1e-9, "inside one node")
  test.near(rate(wide, "P:1,1,1 D:2,1,1"), 50e9, 1e-9, "across the network")
  test.near(rate(wide, "P:2,1,1 D:4,1,1"), 100e9, 1e-9)
  test.near(rate(wide, "P:4,1,1 D:2,1,1"), 100e9, 1e-9)
  test.near(rate(latent, "P:8,1,8 D:8,1,8"), 900e9, 1e-9)
  test.near(rate(latent, "P:4,1,4 D:8,1,8"), 450e9, 1e-9)
  test.near(rate(latent, "P:8,1,8 D:4,1,4"), 900e9, 1e-9)
end)

test("handing a prompt over takes the time of its engine, and nothing else waits for it", function()
  local function alpha(engine, version)
    return scenario(with(llama, { engine = engine, engine_version = version })).network.alpha_s
  end
  test.near(alpha("vllm", "0.15.1"), 0.12, 1e-12)
  test.near(alpha("sglang", "0.5.9"), 0.12, 1e-12)
  test.near(alpha("trtllm", "1.2.0rc2"), 10e-6, 1e-12)
  local given = scenario(with(llama, { clients = 1 }))
  local function mean(name)
    local list, sum = serve.run(given, { requests = true }).requests[name], 0
    for _, value in ipairs(list) do sum = sum + value end
    return sum / #list
  end
  local ttft, e2e = mean "ttfts", mean "e2els"
  given.network = { alpha_s = given.network.alpha_s + 1, path = given.network.path }
  test.near(mean "ttfts" - ttft, 1, 1e-3)
  test.near(mean "e2els" - e2e, 1, 1e-3)
end)

test("only the engines that decode draft", function()
  local drafts = "speculative_algorithm=EAGLE;speculative_num_steps=2;speculative_eagle_topk=1;"
    .. "speculative_num_draft_tokens=3"
  local given = scenario(with(deepseek, { mode = "pd", widths = "P:8,1,8 D:8,1,8", workers = "P:1 D:1",
    options = "P: " .. drafts .. " D: " .. drafts }))
  test.equal(given.speculation.speculator.draft_tokens, 2)
  for _, each in ipairs(given.replicas) do test.equal(each.speculation, nil) end
end)

-- The client's side -------------------------------------------------------------------------------------------------

test("prompts that are sent as text cost the front end time by their tokens", function()
  local function token_s(client) return scenario({ client = client }).frontend.per_prompt_token_s end
  test.near(token_s "requests=10 a client", 5e-6, 1e-12)
  test.equal(token_s "", 0)
  test.at_least(scenario({}).frontend.base_s, 1e-3)
end)

test("DeepSeek's prompts are longer than a client of SGLang 0.5.10 and 0.5.11 counts, which has a broken tokenizer",
     function()
  local row = with(deepseek, { isl = 7140, client = "requests=10 a client; lengths=[0.8 L, L]" })
  local function prompts(version, more)
    local given, notes = scenario(with(row, with({ engine_version = version }, more or {})))
    return policy.parameters(given.workload).prompt_tokens.max, table.concat(notes, "\n")
  end
  for version, most in pairs { ["0.5.9"] = 7140, ["0.5.10"] = 35921, ["0.5.11"] = 35921, ["0.5.12"] = 7140 } do
    local found, notes = prompts(version)
    test.equal(found, most, version)
    test.equal(notes:find("5.03 times the tokens", 1, true) ~= nil, most > 7140, version)
  end
  test.equal(prompts("0.5.10", { family = "qwen3-235b-a22b", widths = "4,1,1" }), 7140, "another tokenizer")
  test.equal(prompts("0.19.0", { engine = "vllm" }), 7140, "another client")
end)

-- What is said -------------------------------------------------------------------------------------------------------

test("what is assumed is said", function()
  local function notes(row) return table.concat(select(2, scenario(row)), "\n") end
  local function says(part, row) test.check(notes(row):find(part, 1, true), "no '%s' in: %s", part, notes(row)) end
  says("engine version not stated: vLLM 0.11.0, the release of its date", { engine_version = "", date = "2025-11-03" })
  says("the client is not described", {})
  says("settings not stated: defaults of the release", { config = "none" })
  says("no option of it does: simulated without drafts", { speculation = "mtp" })
  test.equal(notes { config = "exact", client = "requests=10 a client; lengths=[0.8 L, L]" }, "")
end)

test("models and systems that are not known are errors by their names", function()
  test.raises("model not known: no-such-model", function() scenario { family = "no-such-model" } end)
  test.raises("system not known: tpu", function() scenario { system = "tpu" } end)
end)

test("an answer is the mean over seeds", function()
  local asked, folder = question { clients = 3, client = "requests=4 a client; lengths=[0.5 L, L]" }
  local function answer(seed, seeds)
    return setup.answer(asked, steps(), { seed = seed, seeds = seeds, requests_per_client = 0, folder = folder })
  end
  local one, two, both = answer(5, 1).simulated, answer(6, 1).simulated, answer(5, 2)
  test.check(one.ttft_mean ~= two.ttft_mean, "seeds change nothing")
  for name, value in pairs(both.simulated) do test.near(value, (one[name] + two[name]) / 2, 1e-12, name) end
  test.near(both.output_tokens, 15, 1e-12)
  test.equal(both.drafts, false)
end)

test("a request that the engine refuses is the problem of its question", function()
  local asked, folder = question { isl = 5000, options = "max_model_len=4000" }
  test.raises("a request is refused:", function()
    setup.answer(asked, steps(), { seed = 0, seeds = 1, requests_per_client = 0, folder = folder })
  end)
end)

test.finish()
