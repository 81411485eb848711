-- What each changed rule does: the mean of what it alone adds to the release before, and of what the release after
-- lacks where it alone is put back. Of two rules that act together each has half of that.
local figures = require "rooflua.upgrade.figures"
local rules = require "rooflua.upgrade.rules"

local effects = {}

local of_memory = { "kv_tokens", "kv_bytes", "max_concurrency", "max_num_seqs", "max_num_batched_tokens",
  "max_model_len", "block_size" }

--- after - before of every figure that both have; those that are equal are left out. {memory, steps, load, starts}.
---@param steps table[] of figures.steps
function effects.between(before, after, steps)
  local out = { memory = {}, steps = {}, load = {} }
  local function put(group, name, a, b)
    if type(a) == "number" and type(b) == "number" and a ~= b then out[group][name] = b - a end
  end
  if not before.memory.problem and not after.memory.problem then
    for _, name in ipairs(of_memory) do put("memory", name, before.memory[name], after.memory[name]) end
    if before.memory.starts ~= after.memory.starts then
      out.starts = { before = before.memory.starts, after = after.memory.starts }
    end
  end
  for i, each in ipairs(steps) do put("steps", each.name, before.steps[i], after.steps[i]) end
  local a, b = before.load and before.load.metrics, after.load and after.load.metrics
  for _, name in ipairs(a and b and figures.shown or {}) do put("load", name, a[name], b[name]) end
  return out
end

--- Whether something changes at all.
function effects.acts(effect)
  return next(effect.memory) ~= nil or next(effect.steps) ~= nil or next(effect.load) ~= nil or effect.starts ~= nil
end

--- Adds a part of an effect to a sum of them.
local function add(sum, effect, part)
  for _, group in ipairs { "memory", "steps", "load" } do
    for name, value in pairs(effect[group]) do
      local before = sum[group][name] or 0
      local both = before + part * value
      sum[group][name] = math.abs(both) > 1e-12 * math.max(math.abs(before), math.abs(value)) and both or nil
    end
  end
  sum.starts = sum.starts or effect.starts
end

--- The effect of one rule; whether it acts on one of the sides, of which the effects may cancel out; and why it cannot
--- be changed alone, where it cannot on either side.
local function effect_of(asked, name)
  local sides, sum, known = { asked.before, asked.after }, { memory = {}, steps = {}, load = {} }, {}
  local problem
  for i, side in ipairs(sides) do
    local other = sides[3 - i]
    local found = figures.of(side, rules.exchanged(side.decided, other.decided, { name }), asked.steps, asked.has_load)
    if found.memory.problem or found.steps.problem then
      problem = found.memory.problem or found.steps.problem
    elseif i == 1 then
      known[#known + 1] = effects.between(asked.figures[1], found, asked.steps)
    else
      known[#known + 1] = effects.between(found, asked.figures[2], asked.steps)
    end
  end
  local acts = false
  for _, effect in ipairs(known) do
    add(sum, effect, 1 / #known)
    acts = acts or effects.acts(effect)
  end
  return sum, acts, #known == 0 and problem or nil
end

--- Adds `effect` to each rule of a list, and returns those that act, how many do not, and what all of them together
--- leave of the whole difference.
---@param asked table {before, after: sides with `decided`, figures = {before, after}, steps, has_load}
---@param changed table[] of rules.changed
function effects.of(asked, changed)
  local out = { rules = {}, idle = 0, whole = effects.between(asked.figures[1], asked.figures[2], asked.steps),
    rest = effects.between(asked.figures[1], asked.figures[2], asked.steps) }
  for _, rule in ipairs(changed) do
    local acts
    rule.effect, acts, rule.problem = effect_of(asked, rule.name)
    if acts or rule.problem then
      out.rules[#out.rules + 1] = rule
      add(out.rest, rule.effect, -1)
    else
      out.idle = out.idle + 1
    end
  end
  return out
end

return effects
