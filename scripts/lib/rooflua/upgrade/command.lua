-- `rooflua upgrade`: what another release of an engine changes of a deployment.
local asked_about = require "rooflua.advise.asked"
local document = require "rooflua.upgrade.document"
local effects = require "rooflua.upgrade.effects"
local figures = require "rooflua.upgrade.figures"
local native = require "rooflua.native"
local rules = require "rooflua.upgrade.rules"
local sides = require "rooflua.upgrade.sides"
local text = require "rooflua.upgrade.text"

local command = {}

local of_load = { "bench", "workload", "rate", "clients", "requests" }

--- The load that options of a launch command say; nil where none is asked about.
local function workload_of(given, told)
  local is_asked = false
  for _, name in ipairs(of_load) do
    if given[name] ~= nil then
      if given.scenario then
        error(("upgrade: --%s is said by %s; change it with --set"):format(name, given.scenario), 0)
      end
      is_asked = true
    end
  end
  return is_asked and asked_about.load(given, told) or nil
end

--- Sentences about both sides, each once.
local function told_of(told, asked)
  local out, seen = {}, {}
  local function add(sentence)
    if sentence and not seen[sentence] then seen[sentence], out[#out + 1] = true, sentence end
  end
  for _, each in ipairs(told) do add(each) end
  for _, side in ipairs { asked.before, asked.after } do
    add(side.chosen.note)
    for _, each in ipairs(side.told or {}) do add(each) end
  end
  return out
end

--- The answer about two sides: {asked, found, document}.
function command.answer(before, after, options, has_load, told)
  local asked = { before = before, after = after, options = options, has_load = has_load }
  asked.steps = figures.steps { figures.memory(before), figures.memory(after) }
  asked.figures = { figures.of(before, nil, asked.steps, has_load), figures.of(after, nil, asked.steps, has_load) }
  asked.told = told_of(told, asked)
  local found = effects.of(asked, rules.changed(before.decided, after.decided))
  return document.of(asked, found, rules.between(before.decided, after.decided))
end

--- What the program calls: {text, document, status, page}; status 1 where the engine does not start after.
---@param given table {scenario, command, hardware, model, from, to, workload, rate, clients, requests, set, seed,
--- page}
function command.run(given)
  local told = {}
  local workload = workload_of(given, told)
  local before, after, options = sides.of(given, workload)
  local answer = command.answer(before, after, options, workload ~= nil or given.scenario ~= nil, told)
  return { text = native.printable(text.of(answer)), document = answer, status = answer.starts and 0 or 1,
    page = given.page and require("rooflua.upgrade.page").of(answer) or nil }
end

return command
