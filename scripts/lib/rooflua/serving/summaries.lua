-- What policies tell of a run: their method summary(), for reports and results.
local core = require "rooflua.base.core"
local answers = require "rooflua.border.answers"
local json = require "rooflua.json"

local summaries = {}

--- What summary() of one policy returned, as a copy: a table that a document can hold. nil where it has no such method.
local function summary_of(kind, instance)
  if instance == nil or type(instance.summary) ~= "function" then return nil end
  local value = instance:summary()
  if type(value) ~= "table" then
    answers.wrong(kind, instance, "summary", "summary() returned %s; expected a table", core.describe(value))
  end
  local ok, text = pcall(json.encode, value)
  if not ok then
    answers.wrong(kind, instance, "summary", "summary() returned what no document holds: %s",
      (tostring(text):gsub("^.*json%.encode: ", "")))
  end
  return json.decode(text)
end

--- One per replica, false where a replica's policy tells nothing; nil where none does.
local function of_each(kind, list, instance_of)
  local out, any = json.array {}, false
  for i, each in ipairs(list) do
    local summary = summary_of(kind, instance_of(each))
    out[i], any = summary or {}, any or summary ~= nil
  end
  return any and out or nil
end

--- {router = table, schedulers = {one per replica}, steps = {one per replica}} of a run's policies, as far as they
--- have the method; nil where none has.
---@param state table of a simulation (serving/live.lua)
function summaries.of(state)
  local out = { router = summary_of("router", state.router),
    schedulers = of_each("scheduler", state.replicas, function(each) return each.scheduler end),
    steps = of_each("step model", state.replicas, function(each) return each.steps.steps end) }
  return next(out) ~= nil and out or nil
end

return summaries
