-- `rooflua trace`: a profiler's trace of an engine's steps against the prices of the same steps.
local batches = require "rooflua.profile.batches"
local capture = require "rooflua.profile.capture"
local causes = require "rooflua.profile.causes"
local core = require "rooflua.base.core"
local document = require "rooflua.profile.document"
local expected = require "rooflua.profile.expected"
local measured = require "rooflua.profile.measured"
local native = require "rooflua.native"
local notes = require "rooflua.machine.notes"
local opening = require "rooflua.runs.opening"
local prices = require "rooflua.machine.prices"
local pricer = require "rooflua.program.pricer"
local rows_of = require "rooflua.profile.rows"
local spec = require "rooflua.spec"
local steps_of = require "rooflua.profile.steps"
local text = require "rooflua.profile.text"
local units = require "rooflua.text.units"

local command = {}

local any_batch = { { decodes = 1, decode_context_tokens = 1 } }

--- {reader, prepared, bound} of the scenario, or of the launch command on a GPU.
local function engine_of(given)
  local how = { set = given.set, command = given.command }
  local opened
  if given.scenario then
    if given.hardware then core.fail("trace: --hardware is said by %s; change it with --set", given.scenario) end
    opened = opening.file(given.scenario, how)
  else
    how.file = "trace"
    opened = opening.table({ kind = "price", hardware = given.hardware, price = any_batch }, how)
  end
  if #opened.variants ~= 1 then
    opened.reader:fail("vary", "gives %d variants, and a trace is of one: take vary out with --set", #opened.variants)
  end
  local scenario = opening.variant(opened, 1)
  local prepared, bound = pricer.engine(opened.reader, opened.kind, scenario)
  return { reader = opened.reader, prepared = prepared, bound = bound }
end

--- Gives each step its batch; those whose range does not say one are left out.
--- @return table[] steps, table notes
local function with_batches(list, given)
  local told, out, why = {}, {}, nil
  local stated = given.batch and batches.stated(given.batch)
  for _, step in ipairs(list) do
    if stated then
      batches.check(stated, step)
      step.batch = stated
    else
      local own, problem = batches.of_range(step.found, given.context)
      step.batch = own
      why = why or problem and ("step %d%s %s"):format(step.number, step.label and (" ('%s')"):format(step.label) or "",
        problem)
    end
    if step.batch then out[#out + 1] = step end
  end
  if #out == 0 then
    core.fail("trace: %s; or say what every step computes: --decode CTXxCOUNT, --prefill CTX+NEW", why)
  end
  if #out < #list then
    told[#told + 1] = ("%s of %d left out: %s"):format(units.counted(#list - #out, "step"), #list, why)
  end
  return out, told
end

--- Steps with prompts and steps of decodes alone are not averaged: of both, the kind of which there are more.
local function of_one_kind(list, told, is_asked)
  local with, without = {}, {}
  for _, step in ipairs(list) do
    local side = step.batch.prompts > 0 and with or without
    side[#side + 1] = step
  end
  if is_asked or #with == 0 or #without == 0 then return list end
  local kept, left = without, with
  if #with > #without then kept, left = with, without end
  told[#told + 1] = ("%s %s left out; --steps names them"):format(units.counted(#left, "step"),
    left == with and "with prompts" or "of decodes alone")
  return kept
end

--- Prices each different batch once.
local function price(list, engine)
  local known, layers = {}, engine.prepared.model.layers
  local hardware = engine.prepared.hardware
  for _, step in ipairs(list) do
    local one = known[step.batch.key]
    if not one then
      local priced = prices.price_batch(engine.prepared, engine.bound, batches.made(step.batch))
      local of = expected.of(priced, hardware)
      one = { priced = priced, expected = of, sequence = expected.sequence(of, layers) }
      known[step.batch.key] = one
    end
    step.expected, step.sequence, step.priced = one.expected, one.sequence, one.priced
  end
end

--- The rank whose steps are compared: the slowest; with a line for each.
local function rank_of(ranks, known, given)
  local lines, best = {}, nil
  for i, rank in ipairs(ranks) do
    local all, how = steps_of.of(rank, known)
    local list = steps_of.asked(all, given.steps)
    local sum = 0
    for _, step in ipairs(list) do sum = sum + (step.end_ns - step.start_ns) * 1e-9 end
    lines[i] = { label = rank.label, file = rank.file.file, device = rank.device, steps = #all,
      step_s = sum / #list, is_shown = false }
    if not best or lines[i].step_s > lines[best.i].step_s then best = { i = i, rank = rank, list = list, how = how } end
  end
  lines[best.i].is_shown = true
  return best, lines
end

local function told_of(told, ranks, best, engine, hardware)
  for _, rank in ipairs(ranks) do
    for _, note in ipairs(rank.file.notes) do told[#told + 1] = ("%s: %s"):format(rank.file.file, note) end
  end
  if best.how == "repeats" then
    told[#told + 1] = "no range names the steps; they were found where the sequence of kernels repeats"
  elseif best.how == "whole" then
    told[#told + 1] = "no range names steps and no kernel repeats: the whole trace is taken for one step"
  end
  for _, note in ipairs(notes.of { engine.prepared } or {}) do told[#told + 1] = note end
  local gpu = best.rank.file.gpu
  local is_known, recorded = pcall(spec.hardware, gpu)
  if gpu ~= "" and not (is_known and recorded.name == hardware.name) then
    told[#told + 1] = ("the trace was recorded on %s, the tables are those of %s"):format(gpu, hardware.name)
  end
end

local least_frac = 0.5 -- of a model's GEMMs that a step of it has

--- Says that the steps have few of the model's GEMMs: a trace of another model, or of parts of steps. Their kernels are
--- then no operations of the step, and none counts as named.
local function tell_of_other(told, steps, operations, model)
  local runs, wanted, found = {}, 0, 0
  for _, each in ipairs(operations) do runs[each.name] = each.runs end
  for _, step in ipairs(steps) do
    for _, each in ipairs(step.expected.list) do
      if each.class == "gemm" then
        wanted, found = wanted + each.count, found + math.min(each.count, runs[each.name] or 0)
      end
    end
  end
  if found >= least_frac * wanted then return end
  for _, step in ipairs(steps) do step.named_ns = 0 end
  told[#told + 1] = ("a step has %s of the GEMMs of %s (%s of %s): the trace is of another model, or these are no "
    .. "whole steps; names of operations say little then"):format(units.percent(found / wanted), model,
    units.significant(found / #steps, 3), units.grouped(math.floor(wanted / #steps + 0.5)))
end

local function placed_kernels(found)
  local out = {}
  for _, sum in pairs(found.operations) do
    for name in pairs(sum.by_kernel) do out[name] = true end
  end
  return out
end

local function release_of(engine)
  local chosen = engine.prepared.engine
  if not chosen then return nil end
  return ("%s %s"):format(chosen.engine.name, chosen.release)
end

--- The document of the answer, and what tables are made of.
---@param given table {files, scenario, command, hardware, set, steps, batch, context}, or {engine} in place of a
--- scenario: {prepared, bound}
function command.answer(given)
  local engine = given.engine or engine_of(given)
  local chosen, hardware = engine.prepared.engine, engine.prepared.hardware
  local known = rows_of.of(chosen and chosen.engine, chosen and chosen.release)
  local ranks = capture.open(given.files)
  local best, lines = rank_of(ranks, known, given)
  local list, told = with_batches(best.list, given)
  list = of_one_kind(list, told, given.steps ~= nil)
  price(list, engine)
  local found = measured.of(best.rank, list, known)
  local operations, absent = document.operations(list, found)
  local host_s = 0
  for _, step in ipairs(list) do host_s = host_s + step.expected.host_s / #list end
  local about = { operations = operations, found = found, steps = #list, host_s = host_s,
    idle_s = (found.gaps_ns + found.between_ns) * 1e-9 / #list, architecture = hardware.architecture,
    graphs_unused = causes.graphs_unused(list), placed = placed_kernels(found) }
  local listed = causes.of(about)
  told_of(told, ranks, best, engine, hardware)
  tell_of_other(told, list, operations, engine.prepared.model.name)
  local answer = document.of { files = given.files, gpu = best.rank.file.gpu, hardware = hardware.name,
    model = engine.prepared.model.name, engine = release_of(engine), how = best.how, ranks = lines, steps = list,
    found = found, operations = operations, absent = absent, causes = listed, host_s = host_s, notes = told }
  return answer, { engine = engine, operations = operations, steps = list, gpu = best.rank.file.gpu }
end

--- What was written of the kernels.
local function told_of_tables(tables)
  local out = ("%s: %s"):format(tables.folder, units.counted(#tables.written, "table"))
  if #tables.left_out == 0 then return out end
  return out .. "; no table has rows of " .. core.join(tables.left_out, ", ")
end

--- What the program calls: {text, document, page, written}.
---@param given table {files, scenario, command, hardware, set, steps, batch, context, page, data}
function command.run(given)
  local answer, about = command.answer(given)
  local written
  if given.data then
    written = require("rooflua.profile.tables").of(about, given)
    answer.tables = written.tables
    answer.notes[#answer.notes + 1] = told_of_tables(written.tables)
  end
  return { text = native.printable(text.of(answer)), document = answer,
    page = given.page and require("rooflua.profile.page").of(answer) or nil, written = written and written.files }
end

return command
