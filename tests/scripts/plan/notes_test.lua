-- Evidence and notes of a plan: each rank says what its figures rest on, as `run` of its scenario would.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local artefacts = require "rooflua.plan.artefacts"
local basis = require "rooflua.plan.basis"
local deploy = require "rooflua.plan.deploy"
local json = require "rooflua.json"
local quoting = require "rooflua.text.quoting"
local runs = require "rooflua.sweep"
local tables = require "rooflua.plan.tables"

local function flat(text) return (text:gsub("%s+", " ")) end
local has = test.has

local kernels = { steps = require "steps.kernels" {} }

local function asked(more)
  local out = { requests = 100, load = { rate_per_s = 5 }, slo = { ttft_s_p99 = 2 }, candidates =
    require "candidates.ladder" { tp = { 1 }, max_num_seqs = { 32 }, max_num_batched_tokens = { 1024 } } }
  for key, value in pairs(more) do out[key] = value end
  return out
end

local function gpus(...)
  local out = {}
  for i, name in ipairs { ... } do out[i] = { name, most = 2, price_per_hour = i } end
  return out
end

--- A model whose file says something that its description leaves out.
local function noted_model()
  return test.file("config.json", [[{ "model_type": "qwen3", "hidden_size": 4096, "num_hidden_layers": 36,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288,
    "vocab_size": 151936, "max_position_embeddings": 40960, "torch_dtype": "bfloat16", "turtles_of_a_new_kind": 7 }]])
end

test("every rank has evidence and notes of a run of its scenario, in text, account, page and document", function()
  local with_notes = noted_model()
  local touched = { from = "llama-3.1-8b", notes = { { text = "its layers differ", touches = "linear" } } }
  local shares = 0
  for _, case in ipairs { { "llama-3.1-8b", { "h100-sxm", "mi300x", "l40s" } },
    { with_notes, { "h200-sxm", "b200" } }, { touched, { "h100-sxm" } } } do
    local top = { model = case[1], steps = kernels.steps }
    local done = setup.report(asked { gpus = gpus(unpack(case[2])) }, top)
    test.equal(#done.plan.ranks, #case[2])
    local document = json.decode(json.encode(done.document))
    local shown, text = flat(setup.page_text(done)), flat(done.text)
    for i, item in ipairs(done.plan.ranks) do
      local scenario = deploy.scenario(done.question, item.candidate, item.result.replicas, { requests = 100 })
      local run = runs.grid { scenario, seeds = { scenario.seed } }[1]
      local own, listed = document.ranks[i], {}
      for name, share in pairs(run.summary.evidence) do test.near(own.evidence[name], share, 1e-9, name) end
      test.equal(own.noted_frac, run.summary.noted_frac)
      shares = shares + (own.noted_frac or 0)
      for _, note in ipairs(own.notes) do listed[note] = true end
      local why = flat(tables.why(done, item.candidate.index))
      for _, note in ipairs(run.notes or {}) do
        test.check(listed[note], "rank %d does not tell: %s", i, note)
        has(text, flat(note))
        has(shown, flat(note))
        has(why, flat(note))
      end
      test.check(listed[require("rooflua.engines.choice").newest().note], "the engine is not told")
      has(text, "evidence: ")
    end
  end
  test.check(shares > 0.3, "notes touch %g of the time", shares)
end)

test("the README of a rank has its evidence and its notes", function()
  local done = setup.report(asked { gpus = gpus("h100-sxm", "rtx-4090") }, kernels)
  local files = {}
  for _, each in ipairs(artefacts.files(done)) do files[each.path] = each.text end
  for i, item in ipairs(done.plan.ranks) do
    local text = files[i .. "/README"]
    has(text, "\nevidence: " .. basis.evidence(item.result) .. "\n")
    for _, note in ipairs(done.document.ranks[i].notes) do has(text, "\nnote: " .. quoting.line(note) .. "\n") end
  end
  has(files["2/README"], "constants fitted on Hopper")
end)

test("a note of some ranks names them, and a note of all is printed once", function()
  local text = setup.report(asked { gpus = gpus("h100-sxm", "rtx-4090", "h200-sxm", "rtx-6000-ada"),
    ranks = 4 }, kernels).text
  has(text, "\nnote      ranks 2 and 4: modelled kernels: constants fitted on Hopper")
  local _, count = text:gsub("not stated", "")
  test.equal(count, 1)
end)

test("the engine is told where the question states none, and not where it states a release", function()
  local function notes_of(more, top)
    top = top or {}
    top.steps = kernels.steps
    return table.concat(setup.report(asked(more), top).document.ranks[1].notes, "; ")
  end
  local one = gpus "h100-sxm"
  has(notes_of { gpus = one }, ", not stated")
  has(notes_of({ gpus = one }, { engine = "sglang" }), "the newest release that was read in whole: none is stated")
  has(notes_of { gpus = one, candidates = require "candidates.listed" { list = { { engine = "trtllm", tp = 1 } } } },
    "none is stated")
  test.equal(notes_of({ gpus = one }, { engine = "vllm 0.24.0" }), "")
  test.equal(notes_of { gpus = one, engines = { vllm = "0.24.0" } }, "")
  has(notes_of { gpus = one, engines = { vllm = "99.0" } }, "is newer than the rules that are known")
end)

test("parameters of the workload that the plan sets itself are told as such", function()
  local workload = { prompt_tokens = 300, output_tokens = 20 }
  local function notes_of(more, plan)
    local own = {}
    for _, each in ipairs { workload, more } do
      for key, value in pairs(each) do own[key] = value end
    end
    local top = { steps = kernels.steps, workload = require "workloads.poisson" (own) }
    return table.concat(setup.searched(asked(plan or {}), top).question.notes, "; ")
  end
  test.check(not notes_of {}:find("nothing reads it", 1, true), "nothing is replaced")
  has(notes_of { rate_per_s = 40 }, "workload.rate_per_s: nothing reads it: plan.load.rate_per_s says it")
  has(notes_of { num_requests = 40 }, "workload.num_requests: nothing reads it: plan.requests, plan.horizon_s")
  local text = notes_of({ rate_per_s = 40 }, { load = "recorded" })
  test.check(not text:find("rate_per_s", 1, true), "%s", text)
end)

test("an answer without a rank tells the notes as well, also where nothing ran", function()
  local model = noted_model()
  for _, more in ipairs { { slo = { ttft_s_p99 = 1e-6 } }, { slo = { e2e_s_mean = 1e-3 } },
    { load = { rate_per_s = 1e6 } }, { candidates = require "candidates.ladder" { tp = { 16 } } } } do
    more.gpus = more.gpus or gpus "mi300x"
    local done = setup.report(asked(more), { model = model, steps = kernels.steps })
    test.equal(#done.plan.ranks, 0)
    has(flat(done.text), "turtles_of_a_new_kind")
    has(json.encode(done.document.notes), "turtles_of_a_new_kind")
    has(flat(done.text), "not stated")
  end
end)

test.finish()
