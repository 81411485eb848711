-- Parameters of policies that a scenario states and that change nothing where they stand. A parameter declares its
-- cases as data:
--
--     half_life_s = { default = 0, ..., idle = { { fair = { "global", "round_robin" } }, { "one tenant" } } }
--
-- A case holds if all of it does: values of other parameters of the policy (one, or a list of them; { above = x } a
-- number above x, { other_than = x } anything else), and facts of the scenario or of its requests, by their names.
-- `why` is a reason in words. A case that holds of nothing else, { why = ... }, always holds.
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"

local idle = {}

-- Facts ---------------------------------------------------------------------------------------------------------------

--- Whether requests differ in a field: a table that gets each, {on_done, count, first, differs, all}.
local Seen = {}
Seen.__index = Seen
local fields = { "class", "tenant", "program", "session", "priority" }

function idle.seen() return setmetatable({ count = 0, first = {}, differs = {} }, Seen) end

--- What such a table does with a request that ended, or that was drawn.
function Seen:on_done(request)
  self.count = self.count + 1
  for _, field in ipairs(fields) do
    local value = request[field] or field == "class" and 0 or field == "priority" and 0 or "none"
    if self.count == 1 then self.first[field] = value end
    if value ~= self.first[field] then self.differs[field] = true end
  end
end

--- Whether every entry of `replicas`, or the scenario's own deployment, has this key at 1 or not at all.
local function is_one(key)
  local function one(deployment)
    if deployment == nil then return true end
    local value = type(deployment) == "table" and core.plain(deployment)[key]
    return type(deployment) == "table" and (value == nil or value == 0 or value == 1)
  end
  return function(given)
    if not one(given.deployment) then return false end
    local list = type(given.replicas) == "table" and core.plain(given.replicas) or {}
    for _, each in ipairs(list) do
      if type(each) ~= "table" or not one(core.plain(each).deployment) then return false end
    end
    return true
  end
end

--- Whether no request can have what only some workloads of the program give: mix, in this key of its parts.
local function gives_no(key)
  local function lacks(value)
    if type(value) ~= "table" then return true end
    if policy.is_instance(value) then
      if chunks.is_own_class(policy.class_of(value)) then return false end
      value = policy.parameters(value)
    end
    for name, each in pairs(core.plain(value)) do
      if name == key or not lacks(each) then return false end
    end
    return true
  end
  return function(given) return policy.is_instance(given.workload) and lacks(given.workload) end
end

local function one(field) return function(_, seen) return seen and seen.count > 0 and not seen.differs[field] end end

local facts = {
  ["one class"] = { one "class", "requests are of one class" },
  ["one tenant"] = { one "tenant", "requests are of one tenant" },
  ["one program"] = { one "program", "requests are of one program" },
  ["one session"] = { one "session", "requests are of one session, or of none" },
  ["one priority"] = { one "priority", "requests have one priority" },
  ["no deadlines"] = { gives_no "deadline_s", "no request has a deadline" },
  ["no predictions"] = { gives_no "predicted_output_tokens", "the workload predicts no answers" },
  ["no speculation"] = { function(given) return given.speculation == nil end, "the scenario does not speculate" },
  ["one rank"] = { is_one "dp", "deployment.dp is 1" },
  ["one GPU"] = { is_one "tp", "deployment.tp is 1" },
  ["no expert GPUs"] = { is_one "expert_gpus", "there are no deployment.expert_gpus" },
}

-- Cases ---------------------------------------------------------------------------------------------------------------

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  a, b = core.plain(a), core.plain(b)
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

--- Whether a parameter has the value of a case.
local function has(value, expected)
  if type(expected) ~= "table" then return value == expected end
  if expected.above then return type(value) == "number" and value > expected.above end
  if expected.other_than ~= nil then return not same(value, expected.other_than) end
  if type(value) == "table" then return same(value, expected) end
  return core.is_among(value, expected)
end

local function shown(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) == "table" then return next(core.plain(value)) and "what it is" or "{}" end
  return tostring(value)
end

--- Why a case holds: a text; nil where it does not.
local function holds(case, values, given, seen)
  local parts = {}
  for _, name in ipairs(case) do
    local fact = facts[name]
    if not fact[1](given, seen) then return nil end
    local of_all = fact[2]:find "^requests " and (seen.drawn and ("the first %d "):format(seen.count) or "all ") or ""
    parts[#parts + 1] = of_all .. fact[2]
  end
  for _, name in ipairs(core.sorted_keys(case)) do
    if type(name) == "string" and name ~= "why" then
      if not has(values[name], case[name]) then return nil end
      parts[#parts + 1] = name .. " is " .. shown(values[name])
    end
  end
  local where = table.concat(parts, ", and ")
  return case.why and (where ~= "" and where .. ": " .. case.why or case.why) or where
end

--- The cases of a parameter as a list.
local function cases_of(declared)
  local list = core.plain(declared).idle
  if list == nil then return {} end
  list = core.plain(list)
  return type(list[1]) == "table" and list or { list }
end

--- Why a stated parameter of a policy changes nothing; nil where it may.
function idle.why(instance, name, given, seen)
  local values = policy.parameters(instance)
  for _, case in ipairs(cases_of(policy.definition(instance).params[name])) do
    local why = holds(core.plain(case), values, given, seen)
    if why then return why end
  end
end

-- A scenario's policies -----------------------------------------------------------------------------------------------

local left_out = { vary = true, sweep = true, price = true, static = true }
local most_deep, most_listed = 8, 1000

--- Calls visit(instance, path) for every policy that a value has.
local function each_policy(value, path, depth, visit)
  if type(value) ~= "table" or depth > most_deep or policy.is_class(value) then return end
  local is_instance = policy.is_instance(value)
  if is_instance then visit(value, path) end
  local inside = is_instance and policy.parameters(value) or core.plain(value)
  if #inside > most_listed then return end
  for _, key in ipairs(core.sorted_keys(inside)) do
    local place = type(key) == "number" and ("%s[%d]"):format(path, key)
      or path == "" and tostring(key) or path .. "." .. tostring(key)
    if depth > 0 or not left_out[key] then each_policy(inside[key], place, depth + 1, visit) end
  end
end

--- What a scenario states and does not read: a list of {path, why, what}, as serving/unread_keys.lua has it.
---@param seen table? of its requests (idle.seen)
function idle.of(given, seen)
  local out = {}
  each_policy(given, "", 0, function(instance, path)
    for _, name in ipairs(core.sorted_keys(policy.parameters(instance))) do
      local is_said, by_preset = policy.is_given(instance, name)
      local why = is_said and not by_preset and idle.why(instance, name, given, seen)
      if why then out[#out + 1] = { path .. "." .. name, why, "it has no effect here" } end
    end
  end)
  return out
end

--- Whether what is idle depends on the requests of a run.
function idle.asks(given)
  local found = false
  each_policy(given, "", 0, function(instance)
    local params = policy.definition(instance).params
    for name in pairs(policy.parameters(instance)) do
      local is_said, by_preset = policy.is_given(instance, name)
      for _, case in ipairs(is_said and not by_preset and cases_of(params[name]) or {}) do
        for _, fact in ipairs(core.plain(case)) do found = found or fact:find "^one [^rG]" ~= nil end
      end
    end
  end)
  return found
end

--- Whether a name in a case is a fact.
function idle.is_fact(name) return facts[name] ~= nil end

return idle
