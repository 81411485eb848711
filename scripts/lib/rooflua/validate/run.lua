-- Simulates one case with one step model and compares the result with the measurement.
local core = require "rooflua.base.core"
local cost = require "rooflua.cost"
local beliefs = require "rooflua.validate.beliefs"
local engines = require "rooflua.validate.engines"
local interval = require "rooflua.intervals.table_errors"
local kinds = require "rooflua.intervals.kinds"
local ledger = require "rooflua.border.ledger"
local measured = require "rooflua.validate.measured"
local names = require "rooflua.validate.names"
local precision = require "rooflua.validate.precision"
local question = require "rooflua.validate.question"
local sampling = require "rooflua.validate.sampling"
local Prepared = require "rooflua.machine.prepared"
local Reader = require "rooflua.scenario.reader"
local response = require "rooflua.validate.response"
local score = require "rooflua.validate.score"
local statistics = require "rooflua.base.statistics"
local serve = require "rooflua.serve"
local spec = require "rooflua.spec"
local widths = require "rooflua.validate.widths"
local widths_of_kinds = require "rooflua.intervals.widths"

local run = {}

-- Serving runs ---------------------------------------------------------------------------------------

--- The simulated figures of the requests that are scored.
local function simulated_requests(columns, requests)
  local out = {}
  for i, ttft_s in ipairs(columns.ttfts) do
    if columns.errors[i] ~= "" then
      core.fail("request %d of the simulation failed: %s", i - 1, columns.errors[i])
    end
    if not requests or requests[i].scored then
      out[#out + 1] = { ttft_s = ttft_s, e2e_s = columns.e2els[i], output_tokens = columns.output_lens[i] }
    end
  end
  return out
end

local function scored(requests)
  local out = {}
  for _, each in ipairs(requests) do
    if each.scored then out[#out + 1] = each end
  end
  return out
end

--- Figures that the columns or the row of a case state, and figures that follow from them.
local function stated_figures(case, figures)
  local out, settings = {}, case.settings
  for name, value in pairs(figures) do out[name] = value end
  local batch, output = settings.batch or settings.clients, settings.output_tokens
  if out.output_tokens_per_s then
    out.throughput = out.output_tokens_per_s
  elseif out.batch_latency then
    out.throughput = batch * output / out.batch_latency
    out.e2e_mean = out.batch_latency
  elseif settings.clients and out.e2e_mean then
    out.throughput = batch * output / out.e2e_mean
  end
  return out
end

--- @param twist table? of interval.replicate
local function simulate(case, facts, about, steps, database, twist)
  local given, requests = question.serve(case, facts, about.engine, about.hardware, steps, database)
  if twist then
    given.corrections = { twist.correction }
    given.frontend.base_s = given.frontend.base_s * twist.frontend
    question.set_budget(given, case, facts, twist.budget)
  end
  local result = serve.run(given, { requests = true })
  local figures = score.figures(simulated_requests(result.requests, requests))
  figures.throughput = result.summary.output_tokens_per_s
  figures.step_time = figures.tpot_mean
  return figures, result.summary.evidence
end

--- The measured figures, of the same kind as the simulated ones.
local function measured_figures(case, facts)
  if facts.requests then return score.figures(scored(facts.requests)) end
  return facts.stated and stated_figures(case, facts.figures) or facts.figures
end

-- Engine steps ------------------------------------------------------------------------------------------

--- The batch of a recorded step. Contexts of decodes are not recorded: half of the output is taken. The context of a
--- prefill is the rest of the mean prompt.
local function batch_of(step, input, output)
  local prefills = {}
  local tokens = step.prefills > 0 and math.max(1, math.floor(step.prefill_tokens / step.prefills)) or 0
  for i = 1, step.prefills do
    prefills[i] = { new_tokens = tokens, context_tokens = math.max(0, math.floor(input - tokens)) }
  end
  return cost.batch { prefills = prefills, decodes = step.decodes,
    decode_context_tokens = math.floor(step.decodes * (input + output / 2)) }
end

local function price_all(bound, list, input, output, factor)
  local shares, times, total_s = {}, {}, 0
  for i, step in ipairs(list) do
    step.batch = step.batch or batch_of(step, input, output)
    cost.reset()
    times[i] = bound:time(step.batch)
    cost.settle(times[i])
    times[i] = times[i] * factor
    for name, share in pairs(cost.shares()) do shares[name] = (shares[name] or 0) + share * times[i] end
    total_s = total_s + times[i]
  end
  for name, seconds in pairs(shares) do shares[name] = seconds / total_s end
  return times, shares
end

--- The step model of a case by itself, bound to its deployment.
local function bound_steps(case, facts, about, steps, database)
  local settings, stated = facts.settings, case.settings
  local deployment = question.deployment(case, facts, about.engine, about.hardware)
  deployment.max_num_seqs = settings.max_num_seqs or stated.max_num_seqs
  deployment.max_num_batched_tokens = settings.max_num_batched_tokens or stated.max_num_batched_tokens
  return Prepared.steps(Prepared.of(Reader.new "validate", {
    model = case.model, hardware = about.hardware, mfu = database, steps = steps,
    async_depth = question.async_depth(case, about.engine), deployment = deployment,
  }))
end

local function price_steps(case, facts, about, steps, database, twist)
  local settings, stated = facts.settings, case.settings
  local input, output = settings.input_mean or stated.prompt_tokens, settings.output_len or stated.output_tokens
  if not input or not output then
    core.fail("%s: workload: mean prompt and output lengths of these steps are not stated (in=N out=N)", case.where)
  end
  local bound = bound_steps(case, facts, about, steps, database)
  return ledger.with_corrections(twist and { twist.correction } or {}, price_all, bound, facts.steps, input, output,
    twist and twist.step or 1)
end

-- Both kinds of cases ----------------------------------------------------------------------------------------

local facts_of = setmetatable({}, { __mode = "k" })

local function facts(case, all)
  facts_of[case] = facts_of[case] or measured.of(case, all)
  return facts_of[case]
end

--- Frees the data of a case. Simulations hold memory that Lua's collector does not count, so it is started here.
function run.forget(case)
  local known = facts_of[case]
  facts_of[case] = nil
  if known and (known.requests or known.row) then collectgarbage() end
end

--- Hardware, model, engine and formats of a case; an error with the reason if one of them is not known.
function run.describe(case, overrides)
  if case.problem then core.fail("%s", case.problem) end
  local hardware, model = names.hardware(case.gpu), spec.model(case.model)
  local refused = widths.refusal(case.widths, model)
  if refused then core.fail("%s: workload: %s", case.where, refused) end
  return { hardware = hardware, model = model, engine = engines.of(case.engine, overrides, hardware),
    weights = case.weights, kv = case.kv, precision = precision.label(case.weights or model.weight_dtype, case.kv) }
end

--- Simulated and measured figures of one simulation, and their errors.
local function answer(case, known, about, steps, database, twist)
  local out = {}
  if known.steps then
    local measured_s = {}
    for i, step in ipairs(known.steps) do measured_s[i] = step.time_s end
    local times, evidence = price_steps(case, known, about, steps, database, twist)
    out.errors, out.evidence = score.steps(times, measured_s), evidence
    out.simulated, out.measured = { step_time = statistics.mean(times) }, { step_time = statistics.mean(measured_s) }
    return out
  end
  out.measured = measured_figures(case, known)
  out.simulated, out.evidence = simulate(case, known, about, steps, database, twist)
  out.errors = score.errors(out.simulated, out.measured)
  return out
end

--- Figures of replicates, each simulated: what few replicates and priced steps take.
local function simulated_one_by_one(case, known, about, steps, database, twists)
  local out = {}
  for number, twist in ipairs(twists) do
    out[number] = answer(case, known, about, steps, database, twist)
    collectgarbage() -- simulations hold memory that Lua's collector does not count
  end
  return out
end

--- Figures of replicates, read between a few simulations (validate/response.lua).
local function simulated_between(case, known, about, steps, database, twists)
  if question.states_budget(case, known) then
    for _, twist in ipairs(twists) do twist.budget = nil end
  end
  local bound = bound_steps(case, known, about, steps, database)
  local of = { frontend_s = question.frontend_s(case, about.engine), closed_loop = case.settings.clients ~= nil }
  function of.explain(batch)
    return cost.explain(function() return bound:time(cost.batch(batch)) end).rows
  end
  local figures = response.figures(twists, function(twist)
    local found = simulate(case, known, about, steps, database, twist)
    collectgarbage()
    return found
  end, of)
  local out, measured_values = {}, measured_figures(case, known)
  for number, each in ipairs(figures) do out[number] = { simulated = each, measured = measured_values } end
  return out
end

--- Intervals of the errors, from options.intervals replicates.
--- @param own table figures of the run itself
local function intervals(case, known, about, steps, database, options, own)
  local setting, twists, replicates = interval.setting(database, about, options.interval or {}), {}, {}
  for number = 1, options.intervals do twists[number] = interval.replicate(number, setting) end
  local few = known.steps or options.intervals <= 2 * response.nodes + 1
  local found = (few and simulated_one_by_one or simulated_between)(case, known, about, steps, database, twists)
  for number, each in ipairs(found) do
    local errors = known.steps and each.errors or score.errors(each.simulated, each.measured, score.spread)
    errors.step_time_median = nil
    replicates[number] = { errors = errors, simulated = each.simulated }
  end
  local out = interval.of(replicates)
  if case.settings.clients and not known.steps and setting.discrepancy then
    local kind = { engine = kinds.engine_of(about.engine.scheduler) or about.engine.scheduler,
      class = kinds.class_of(about.model, case.widths), architecture = about.hardware.architecture }
    interval.widen(out, own, widths_of_kinds.of(kind, nil, kinds.basis_of(own.evidence or {})))
  end
  return out, setting.discrepancy
end

--- @param about table from run.describe
--- @param belief table from validate/beliefs.lua
--- @param options table {tables = folder, scratch, parameters = of the step model, all = cases, intervals = number of
---   replicates, interval = {discrepancy, settings}: false leaves a term out}
--- @return table {errors, simulated, measured, evidence, tables, intervals, discrepancy}
function run.case(case, about, belief, options)
  local known = facts(case, options.all)
  local database, text = beliefs.tables(belief, options, about, case)
  local drawn = sampling.parameters(case.sampling, about.model, about.engine, belief.plain_sampling)
  local steps = beliefs.steps(belief, core.copy(engines.host(about.engine), drawn), options.parameters)
  local out = answer(case, known, about, steps, database)
  if next(out.errors) == nil then
    core.fail("%s: nothing to compare: no figure in `measured` or the file that a simulation has too", case.where)
  end
  out.tables = text
  if options.intervals > 0 then
    out.intervals, out.discrepancy = intervals(case, known, about, steps, database, options, out)
  end
  return out
end

return run
