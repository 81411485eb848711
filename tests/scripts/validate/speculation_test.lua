-- `rooflua validate FILE.csv` with measured runs of speculative decoding: which files, rows, scenarios and scores.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local chunks = require "rooflua.sandbox.chunks"
local policy = rooflua.policy

local validate = chunks.require "rooflua.validate.command"
local rows = chunks.require "rooflua.validate.speculation.rows"
local setup = chunks.require "rooflua.validate.speculation.setup"
local totals = chunks.require "rooflua.validate.speculation.totals"

local header = "case_id,model,gpu,tp,weights,kv_dtype,engine,drafter,k,acceptance,load,concurrency_or_rate,requests,"
  .. "prompt_tokens,output_tokens,max_model_len,max_num_seqs,max_num_batched_tokens,memory_utilization,kv_blocks,"
  .. "prefix_caching,async_depth,graph_max_tokens,output_tok_s,ttft_mean_ms,tpot_mean_ms\n"

local function closed(id, k, rates, throughput)
  return ('%s,meta-llama/Llama-3.1-8B-Instruct,H200-SXM,1,bf16,bf16,vLLM 0.22.0,%s,%d,%s,"closed loop, rate inf",2,8,'
    .. '"uniform integers 100..120 (ran: 110)","uniform integers 20..30, ignore_eos",512,64,8192 (default),0.9,,off,2,'
    .. "512,%g,30,7\n"):format(id, k > 0 and "eagle3 some/head draft_tp 1" or "none", k, rates, throughput)
end

local function rated(id, k, rates)
  return ('%s,meta-llama/Llama-3.1-8B-Instruct,H100-SXM-80GB (GKE),1,bf16,bf16,vLLM 0.11.0,%s,%d,%s,'
    .. '"constant rate, 60 s stage 1 of 7; cap 4 workers x 2 in flight",40/s,30,'
    .. '"128 system (2 distinct) + 64 question (4 distinct), asked in turn; tokenised mean 203.1","64, ignore_eos",512,'
    .. "128,8192 (default),0.9,,on,1,512,2000,27,8\n"):format(id, k > 0 and "eagle3 some/head draft_tp 1" or "none", k,
    rates)
end

local function file(...) return test.file("measured.csv", header .. table.concat({ ... })) end

local function run(path, options)
  options = options or {}
  return validate.run { folder = path, only = options.only, steps = options.steps, set = options.set }
end

test("a file with drafters, drafts and acceptance is one of speculation", function()
  test.check(rows.reads(file(closed("a", 0, "", 100))))
  test.check(not rows.reads(test.file("other.csv", "question,family\n1,x\n")))
  test.check(not rows.reads "nowhere.csv")
end)

test("rows are read with their remarks", function()
  local list = rows.read(file(closed("a", 3, "0.5|0.3|0.1", 100), rated("b", 0, "")))
  local a, b = list[1], list[2]
  test.equal(a.problem, nil)
  test.equal(a.k, 3)
  test.equal(a.rates[2], 0.3)
  test.equal(a.prompt.max, 120)
  test.equal(a.load.clients, 2)
  test.equal(a.max_num_batched_tokens, 8192)
  test.near(a.measured.tpot, 7e-3, 1e-12)
  test.equal(b.problem, nil)
  test.equal(b.load.rate_per_s, 40)
  test.equal(b.load.in_flight, 8)
  test.equal(b.prompt, 203)
  test.equal(b.sharing.systems, 2)
  test.equal(b.sharing.questions, 4)
  test.check(b.prefix_caching)
end)

test("a row that is not understood says why, and the others run", function()
  local list = rows.read(file(closed("a", 3, "0.5|0.3", 100), closed("b", 1, "x", 100), closed("c", 0, "", 100)))
  test.check(list[1].problem:find("expected 3 rates, one for each draft, found 2", 1, true), list[1].problem)
  test.check(list[2].problem:find("acceptance: expected numbers between |, found 'x'", 1, true), list[2].problem)
  test.equal(list[3].problem, nil)
  test.raises("missing: case_id", function() rows.read(test.file("few.csv", "drafter,k,acceptance\n1,2,3\n")) end)
end)

local steps = require "steps.kernels" {}

test("a case is a scenario with the run's own acceptance", function()
  local case = rows.read(file(closed("a", 3, "0.5|0.3|0.1", 100)))[1]
  local scenario = setup.scenario(case, steps, setup.options)
  local speculation = scenario.speculation
  test.equal(policy.parameters(speculation.speculator).draft_tokens, 3)
  test.equal(policy.parameters(speculation.acceptance).rates[3], 0.1)
  test.equal(speculation.drafter.name, "eagle")
  test.equal(policy.parameters(scenario.steps).largest_graph, 512)
  test.equal(scenario.async_depth, 2)
  local plain = setup.scenario(rows.read(file(closed("a", 0, "", 100)))[1], steps, setup.options)
  test.equal(plain.speculation, nil)
end)

test("a case has the formats of its row, and its whole prompt", function()
  local function own(name, value)
    local line = closed("a", 0, "", 100)
    return rows.read(file((line:gsub(name, value, 1))))[1]
  end
  local case = rows.read(file(closed("a", 0, "", 100)))[1]
  test.equal(setup.scenario(case, steps, setup.options).deployment.weights, "bf16")
  case = own("bf16,bf16", "fp8,fp8")
  test.equal(setup.scenario(case, steps, setup.options).deployment.weights, "fp8")
  test.equal(setup.scenario(case, steps, setup.options).deployment.kv, "fp8")
  test.check(own("bf16,bf16", "fp8,").problem:find("kv_dtype: expected a number format", 1, true))
end)

test("prompts of a client's first stage were never asked before", function()
  local text = rated("b", 0, "")
  local later = rows.read(file(text))[1]
  local first = rows.read(file((text:gsub("stage 1 of 7", "stage 0 of 7"))))[1]
  test.equal(setup.lead_in(later), 4)
  test.equal(setup.lead_in(first), 0)
end)

test("logits are sorted where the file says so and the release does", function()
  local case = rows.read(file(rated("b", 4, "0.1|0|0|0")))[1]
  test.equal(policy.parameters(setup.scenario(case, steps, setup.options).steps).sorted_logit_s, 0)
  case.sampling = "filtered"
  test.at_least(policy.parameters(setup.scenario(case, steps, setup.options).steps).sorted_logit_s, 1e-10)
end)

test("scores are means over the cases of a model; orders are those of throughput", function()
  local path = file(closed("a", 0, "", 100), closed("b", 2, "0.9|0.8", 150), rated("c", 0, ""), rated("d", 2, "0.1|0"))
  local found = run(path)
  test.equal(found.ran, 4, found.text)
  local of = found.document.speculation["llama-3.1-8b"]
  test.equal(of.tpot.cases, 4)
  test.check(of.tpot.mean > 0 and of.ttft.mean > 0 and of.throughput.mean > 0)
  test.equal(found.document.speculation.order, 1, "with such acceptance two drafts are faster")
  test.check(found.text:find("0 2", 1, true), found.text)
  local other = run(file(closed("a", 0, "", 150), closed("b", 2, "0.9|0.8", 100)))
  test.equal(other.document.speculation.order, 0)
end)

test("orders compare only runs of one model under one number of clients", function()
  local function answer(model, clients, k, measured, simulated)
    return { model = model, errors = {}, simulated = { throughput = simulated },
      case = { k = k, load = { clients = clients }, measured = { throughput = measured } } }
  end
  local list = totals.orders { answer("m", 1, 0, 1, 1), answer("m", 1, 3, 2, 0.5), answer("m", 2, 0, 1, 1),
    answer("n", 1, 3, 1, 1) }
  test.equal(#list, 1)
  test.equal(list[1][3], "0 3")
  test.equal(list[1][4], "3 0")
end)

test("--set reaches the step model, the drafter and the set-up; unknown names are refused", function()
  local path = file(closed("b", 2, "0.9|0.8", 150))
  local plain = run(path).document.cases[1].simulated.tpot
  local slower = run(path, { set = { "drafter.pass_s=0.01" } }).document.cases[1].simulated.tpot
  test.at_least(slower, plain + 0.005)
  local dearer = run(path, { set = { "sampler_s=0.01" } }).document.cases[1].simulated.tpot
  test.at_least(dearer, plain + 0.003)
  test.raises("did you mean 'spread'", function() run(path, { set = { "speculation.sprad=1" } }) end)
  test.raises("one step model", function() run(path, { steps = { "kernels", "infersim" } }) end)
end)

test.finish()
