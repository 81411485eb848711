-- The answer of `rooflua upgrade` as a document.
local effects = require "rooflua.upgrade.effects"
local json = require "rooflua.json"
local levers = require "rooflua.intervals.levers"

local document = {}

--- The change of a figure as a part of it; nil where there is none to say.
function document.change(before, after)
  return type(before) == "number" and type(after) == "number" and before > 0 and after / before - 1 or nil
end

--- Whether a change counts as none.
---@param printed boolean whether the engine prints the figure at start-up
function document.is_none(change, printed)
  return math.abs(change) <= (printed and levers.printed_flat_frac or levers.flat_frac)
end

local function or_null(value)
  if value == nil then return json.null end
  return value
end

local function rule_of(rule, steps)
  local effect = rule.effect
  local out = { name = rule.called, before = or_null(rule.before), after = or_null(rule.after), unit = rule.unit,
    doc = rule.doc,     source = rule.source, source_before = rule.source_before, problem = rule.problem,
    effect = { memory = effect.memory, steps = json.array {}, load = effect.load, starts = effect.starts } }
  for i, each in ipairs(steps) do out.effect.steps[i] = effect.steps[each.name] or 0 end
  return out
end

local function sum_of(effect, steps)
  local out = { memory = effect.memory, steps = json.array {}, load = effect.load, starts = effect.starts }
  for i, each in ipairs(steps) do out.steps[i] = effect.steps[each.name] or 0 end
  return out
end

local function steps_of(asked)
  local out, a, b = json.array {}, asked.figures[1].steps, asked.figures[2].steps
  for i, each in ipairs(asked.steps) do
    out[i] = { name = each.name, before_s = or_null(a[i]), after_s = or_null(b[i]),
      change = document.change(a[i], b[i]) }
    if out[i].change then out[i].none = document.is_none(out[i].change, false) end
  end
  return out
end

local function load_of(asked)
  local a, b = asked.figures[1].load, asked.figures[2].load
  if not a then return nil end
  return { before = a, after = b }
end

--- The document.
---@param asked table {before, after, figures, steps, options, told}
---@param found table of effects.of
---@param between integer? rows that differ between the releases
function document.of(asked, found, between)
  local a, b = asked.figures[1], asked.figures[2]
  local out = { schema = "rooflua.upgrade/1", from = asked.before.text, to = asked.after.text,
    flags = json.array(asked.options.list), command = asked.options.command, file = asked.options.file,
    rules = json.array {}, without_effect = found.idle, rows_between = between,
    all = sum_of(found.whole, asked.steps), rest = sum_of(found.rest, asked.steps),
    capacity = { before = a.memory, after = b.memory }, steps = steps_of(asked), load = load_of(asked),
    starts = b.memory.starts == true, notes = json.array(asked.told) }
  for i, rule in ipairs(found.rules) do out.rules[i] = rule_of(rule, asked.steps) end
  out.steps_problem = b.steps.problem or a.steps.problem
  out.same = not effects.acts(found.whole)
  return out
end

return document
