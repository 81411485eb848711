-- --strict of plans: deployments that rest on too little do not count, as a run of them would fail.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local json = require "rooflua.json"
local native = require "rooflua.native"
local opening = require "rooflua.runs.opening"
local run = require "rooflua.plan.run"

local has = test.has

local kernels = { steps = require "steps.kernels" {} }

--- A plan over a GPU with tables and a cheaper one without; percent: of --strict.
local function answer(percent, more, top)
  local plan = { requests = 100, load = { rate_per_s = 5 }, slo = { ttft_s_p99 = 2 },
    gpus = { { "h100-sxm", most = 2, price_per_hour = 3 }, { "gb10", most = 2, price_per_hour = 2 } },
    candidates = require "candidates.ladder" { tp = { 1, 2 }, max_num_seqs = { 32 },
      max_num_batched_tokens = { 1024 } } }
  for key, value in pairs(more or {}) do plan[key] = value end
  local opened = opening.table(setup.scenario(plan, top or kernels), {})
  return run.report(run.all(opened.reader, opened.given, { jobs = 1, strict = percent }))
end

--- Percent of the time of a deployment that is unsupported, by candidate.
local function doubt_of(done)
  local out = {}
  for _, each in ipairs(done.found.left) do
    local evidence = each.result and each.result.deployment and each.result.deployment.evidence
    if evidence then
      out[each.index] = 100 * ((evidence.extrapolated or 0) + (evidence.stand_in or 0) + (evidence.modelled or 0)
        + (evidence.assumed or 0))
    end
  end
  return out
end

local function names_of(done)
  local out = {}
  for i, each in ipairs(done.plan.ranks) do out[i] = each.candidate.name end
  return table.concat(out, "; ")
end

test("without --strict nothing changes, and a limit that all deployments keep leaves the ranks as they are", function()
  local done, kept = answer(nil), answer(100)
  test.equal(names_of(kept), names_of(done))
  test.equal(done.document.strict, nil)
  test.equal(kept.document.strict.excluded, 0)
  has(kept.text, "strict    every deployment that meets the SLO counts")
end)

test("at every limit the ranks are those deployments whose run --strict lets pass, and the others are told", function()
  local doubts = doubt_of(answer(nil, { strategy = require "strategies.exhaustive" {} }))
  local limits, excluded, kept = {}, 0, 0
  for _, percent in pairs(doubts) do limits[#limits + 1] = percent * 1.001 end
  test.at_least(#limits, 3)
  for _, limit in ipairs(limits) do
    for _, strategy in ipairs { "exhaustive", "halving", "bounded" } do
      local done = answer(limit, { strategy = require("strategies." .. strategy) {} })
      for _, item in ipairs(done.plan.ranks) do
        local evidence = item.result.evidence
        test.equal(native.strict_problem(evidence, 0, limit), nil, item.candidate.name)
        kept = kept + 1
      end
      for _, each in ipairs(done.found.candidates) do
        if each.ended == "too doubtful" then
          excluded = excluded + 1
          test.check(doubts[each.index] > limit, "%s: %g %%, allowed %g", each.name, doubts[each.index], limit)
          has(each.problem, "of the time is extrapolated, stand_in, modelled or assumed (allowed: ")
        end
      end
    end
  end
  test.at_least(excluded, 3)
  test.at_least(kept, 3)
end)

test("plan.run takes the same limit", function()
  local plan = require("rooflua").plan
  local scenario = setup.scenario({ requests = 100, load = { rate_per_s = 5 }, slo = { ttft_s_p99 = 2 },
    gpus = { { "h100-sxm", most = 1, price_per_hour = 3 } } }, kernels)
  test.equal(#plan.run({ scenario }).ranks, 1)
  local document = plan.run { scenario, strict = 0 }
  test.equal(#document.ranks, 0)
  test.at_least(document.strict.excluded, 1)
  for _, wrong in ipairs { -1, 101, "x", 0 / 0 } do
    test.raises("plan.run: strict", function() plan.run { scenario, strict = wrong } end)
  end
end)

test("where no deployment counts the best of those left out is told in text, page and document", function()
  local done = answer(0)
  test.equal(#done.plan.ranks, 0)
  local own = json.decode(json.encode(done.document)).strict
  test.at_least(own.excluded, 2)
  test.equal(done.found.candidates[own.candidate].ended, "too doubtful")
  local function flat(text) return (text:gsub("%s+", " ")) end
  has(flat(done.text), "candidates do not count; the best of them: 1 x GB10")
  has(flat(done.text), own.problem)
  has(flat(setup.page_text(done)), own.problem)
  has(flat(done.text), "constants fitted on Hopper")
end)

test("a step model that records no evidence does not count, and notes of the model count as in a run", function()
  local silent = answer(99, nil, {})
  test.equal(#silent.plan.ranks, 0)
  has((silent.text:gsub("%s+", " ")), "100.00 % of the time is extrapolated, stand_in, modelled or assumed "
    .. "(allowed: 99 %)")
  has(native.strict_problem({}, 0, 100), "nothing is known of what the time rests on")
  local model = { from = "llama-3.1-8b", notes = { { text = "its layers differ", touches = "everything" } } }
  local top = { model = model, steps = kernels.steps }
  local h100 = { gpus = { { "h100-sxm", most = 1, price_per_hour = 3 } } }
  local free, touched = answer(30, h100), answer(30, h100, top)
  test.equal(#free.plan.ranks, 1)
  test.equal(#touched.plan.ranks, 0)
  has((touched.text:gsub("%s+", " ")), "or notes of the model touch it (allowed: 30 %)")
end)

test.finish()
