-- Errors of measured closed loops by hand: of a question, by deployment, by group, and what is left out.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local totals = require "rooflua.validate.closed_loops.totals"

--- A question of a deployment, measured in seconds.
local function question(key, more)
  local out = { key = key, id = key, engine = "vllm", system = "b200_sxm", format = "fp8", speculation = "none",
    config = "exact", saturated = "", warmup = "", measured = { ttft = 0.5, tpot = 0.01 } }
  for name, value in pairs(more or {}) do out[name] = value end
  return out
end

--- An answer whose errors are known.
local function answer(key, tpot, ttft, more)
  local out = { question = question(key), class = "dense", architecture = "blackwell",
    errors = { tpot = tpot, ttft = ttft, e2e = 2 * tpot, tokens_per_s_per_gpu = -tpot } }
  for name, value in pairs(more or {}) do out[name] = value end
  return out
end

test("errors of a question: TPOT, TTFT, the end, and tokens per second and GPU", function()
  local asked = question "a"
  -- An answer of 101 tokens: measured 0.5 + 100 x 0.01 = 1.5 s, simulated 0.25 + 100 x 0.02 = 2.25 s.
  local errors = totals.errors(asked, { ttft = 0.25, tpot = 0.02 }, 101)
  test.near(errors.tpot, 1, 1e-12)
  test.near(errors.ttft, -0.5, 1e-12)
  test.near(errors.e2e, 0.5, 1e-12)
  test.near(errors.tokens_per_s_per_gpu, 1.5 / 2.25 - 1, 1e-12)
  test.equal(errors.ttft_unsaturated, nil)
  -- Half a token more is half a TPOT more on both sides.
  test.near(totals.errors(asked, { ttft = 0.25, tpot = 0.02 }, 101.5).e2e, 2.26 / 1.505 - 1, 1e-12)
end)

test("a row without TPOT has an error of TTFT alone, and a median is compared where nothing was warmed up", function()
  local asked = question("a", { measured = { ttft = 0.5 } })
  local errors = totals.errors(asked, { ttft = 0.25, tpot = 0.02 }, 101)
  test.near(errors.ttft, -0.5, 1e-12)
  test.check(errors.tpot == nil and errors.e2e == nil and errors.tokens_per_s_per_gpu == nil, "nothing else")
  asked.measured = { ttft = 4, tpot = 0.01, ttft_p50 = 0.5 }
  local simulated = { ttft = 0.7, ttft_p50 = 0.6, tpot = 0.02 }
  test.near(totals.errors(asked, simulated, 101).ttft_unsaturated, 0.2, 1e-12)
  simulated.waits = true
  test.equal(totals.errors(asked, simulated, 101).ttft_unsaturated, nil, "clients that wait for seats")
end)

test("makespan and tokens per second are compared where a row has them", function()
  local asked = question("a", { measured = { ttft = 0.5, tpot = 0.01, makespan_s = 10, total_tokens_per_s = 400 } })
  local simulated = { ttft = 0.5, tpot = 0.01, makespan_s = 11, total_tokens_per_s = 300 }
  local found = totals.errors(asked, simulated, 101)
  test.near(found.makespan_s, 0.1, 1e-12)
  test.near(found.total_tokens_per_s, -0.25, 1e-12)
  local of = totals.of { answer("a", 0, 0, { errors = found }), answer("b", 0, 0) }
  test.near(of.total_tokens_per_s.mean, 0.25, 1e-12)
  test.equal(of.makespan_s.questions, 1)
  test.equal(totals.of({ answer("b", 0, 0) }).makespan_s, nil)
end)

test("TTFT counts apart where the row is warm and not saturated", function()
  for _, each in ipairs { { "no", "yes", true }, { "yes", "yes" }, { "no", "no" }, { "no", "unknown" }, { "", "yes" },
    { "no", "" } } do
    local errors = totals.errors(question("a", { saturated = each[1], warmup = each[2] }), { ttft = 1, tpot = 1 }, 2)
    test.equal(errors.ttft_unsaturated, each[3] and errors.ttft or nil, each[1] .. " " .. each[2])
  end
end)

test("a deployment's error is the mean over its questions; deployments have the same weight, or that of a root",
     function()
  local of = totals.of { answer("a", 0.1, 1), answer("a", -0.3, -1), answer("a", 0.2, 1), answer("a", -0.2, 1),
    answer("b", 0.5, 0.5) }
  test.near(of.tpot.mean_over_deployments, (0.2 + 0.5) / 2, 1e-12)
  test.near(of.tpot.weighted, (2 * 0.2 + 1 * 0.5) / 3, 1e-12)   -- roots of 4 and 1
  test.near(of.tpot.mean, 1.3 / 5, 1e-12)
  test.near(of.tpot.median, 0.2, 1e-12)
  test.near(of.tpot.signed_median, 0.1, 1e-12)
  test.equal(of.tpot.questions, 5)
  test.equal(of.deployments, 2)
  test.near(of.e2e.mean_over_deployments, 0.7, 1e-12)
  test.near(of.ttft.mean_over_deployments, 0.75, 1e-12)
  test.near(of.tokens_per_s_per_gpu.signed_median, -0.1, 1e-12)
end)

test("half as much and twice as much are the same distance by logarithms", function()
  local of = totals.of { answer("a", 1, 0), answer("b", -0.5, 0) }
  test.near(of.tpot.exp_mean_log, 1, 1e-12)
  test.near(of.tpot.mean, 0.75, 1e-12)
  of = totals.of { answer("a", 0.25, 0), answer("b", 0, 0) }
  test.near(of.tpot.exp_mean_log, math.sqrt(1.25) - 1, 1e-12)
end)

test("TTFT of unsaturated rows has its own questions and deployments", function()
  local answers = { answer("a", 0, 0.9), answer("b", 0, 0.3), answer("b", 0, 0.8) }
  answers[2].errors.ttft_unsaturated = 0.3
  local of = totals.of(answers)
  test.equal(of.ttft_unsaturated.questions, 1)
  test.near(of.ttft_unsaturated.mean_over_deployments, 0.3, 1e-12)
  test.equal(of.ttft.questions, 3)
  test.equal(totals.of({ answers[1] }).ttft_unsaturated.mean_over_deployments, nil)
end)

test("the document has groups of every kind, and coverage", function()
  local answers = { answer("a", 0.1, 1), answer("b", -0.5, -0.5, { class = "moe-tp",
    question = question("b", { engine = "sglang", config = "none", speculation = "unknown", format = "fp4" }) }),
    answer("c", 0.3, 0, { architecture = "hopper", drafts = true,
      question = question("c", { speculation = "", system = "h100_sxm" }) }),
    { question = question "d", refused = "because", class = "dense" } }
  local document = totals.document(answers)
  test.equal(table.concat(core.sorted_keys(document), " "),
    "all architecture class config coverage engine format gpu speculation")
  test.equal(table.concat(core.sorted_keys(document.class), " "), "dense dpa moe-tp pd tep")
  test.equal(table.concat(core.sorted_keys(document.all), " "),
    "deployments e2e tokens_per_s_per_gpu tpot ttft ttft_unsaturated")
  test.equal(table.concat(core.sorted_keys(document.all.tpot), " "),
    "exp_mean_log mean mean_over_deployments median questions signed_median weighted")
  test.equal(document.class.dense.tpot.questions, 2)
  test.equal(document.class.pd.deployments, 0)
  test.equal(document.class.pd.tpot.mean, nil)
  test.equal(document.engine.vllm.deployments, 2)
  test.equal(document.engine.sglang.tpot.mean, 0.5)
  test.equal(document.architecture.hopper.tpot.mean, 0.3)
  test.equal(document.config.none.tpot.mean, 0.5)
  test.equal(document.speculation.none.tpot.mean, 0.1)
  test.equal(document.speculation.mtp.tpot.mean, 0.3, "nobody says so, and its options draft")
  test.equal(document.speculation.unknown.tpot.mean, 0.5)
  test.equal(document.gpu.h100_sxm.deployments, 1)
  test.equal(document.format.fp4.deployments, 1)
end)

test("what did not run is missing from coverage; what a file does not score is no question", function()
  local document = totals.document { answer("a", 0.1, 1), { question = question "a", refused = "because" },
    { question = question "b", refused = "because" }, { question = question "c", left_out = "images" },
    { question = question "a", left_out = "a copy" }, { question = { id = "no key" }, refused = "broken row" } }
  local coverage = document.coverage
  test.equal(coverage.questions, 4)
  test.equal(coverage.left_out, 2)
  test.equal(coverage.deployments, 2, "one with nothing but rows that are left out is none")
  test.near(coverage.questions_frac, 1 / 4, 1e-12)
  test.near(coverage.deployments_frac, 1 / 2, 1e-12)
  test.equal(coverage.refused.because, 2)
  test.equal(coverage.refused["broken row"], 1)
  local none = totals.document({ { question = question "c", left_out = "images" } }).coverage
  test.equal(none.questions_frac .. " " .. none.deployments_frac .. " " .. none.questions, "0 0 0")
end)

test("evidence is a mean over the questions that ran", function()
  local found = totals.evidence { { evidence = { measured = 1 } }, { evidence = { measured = 0.5, modelled = 0.5 } },
    {} }
  test.near(found.measured, 0.75, 1e-12)
  test.near(found.modelled, 0.25, 1e-12)
end)

test.finish()
