-- Errors of many cases by group (engine, precision, GPU, kind of run), and by model, GPU, tp and engine. Every case
-- has the same weight.
local core = require "rooflua.base.core"
local score = require "rooflua.validate.score"

local totals = {}

--- The group of a case, such as "vLLM 16 bit on h100-sxm, serving".
function totals.group_of(case, about)
  local kind = "serving"
  if case.settings.batch then kind = "static batches" elseif case.settings.clients then kind = "closed loop" end
  if case.rating == "A" and not case.settings.batch then kind = "engine steps" end
  local engine = about.engine.family
  if about.engine.generation then engine = engine .. " " .. about.engine.generation end
  return ("%s %s on %s, %s"):format(engine, about.precision, about.hardware.name, kind)
end

--- All groups that a case belongs to.
local function groups_of(result)
  local about = result.about
  return { "all", result.group, "model " .. about.model.name, "gpu " .. about.hardware.name,
    "tp " .. about.tp, "engine " .. about.engine.name }
end

--- @return table {group = {found, ...}} of the cases that ran
local function members_of(results, belief)
  local members = {}
  for _, result in ipairs(results) do
    local found = result.beliefs[belief]
    if found and found.errors then
      for _, group in ipairs(groups_of(result)) do
        members[group] = members[group] or {}
        table.insert(members[group], found)
      end
    end
  end
  return members
end

--- @param results table cases with {about, group, beliefs = {name = {errors}}}
--- @param belief string
--- @return table {group = {metric = {mean_abs_error, median_abs_error, worst_abs_error, cases, evidence}}}
--- @return table {group = {cases = how many ran, evidence = {name = share}, tables = {name = cases}}}
function totals.of(results, belief)
  local out, groups = {}, {}
  for group, list in pairs(members_of(results, belief)) do
    out[group], groups[group] = {}, { cases = #list, evidence = score.evidence(list), tables = {} }
    for _, metric in ipairs(score.metrics) do out[group][metric] = score.total(list, metric) end
    local counts = groups[group].tables
    for _, found in ipairs(list) do counts[found.tables] = (counts[found.tables] or 0) + 1 end
  end
  return out, groups
end

--- Names of groups that start with a prefix, sorted.
function totals.names(of, prefix)
  local out = {}
  for _, name in ipairs(core.sorted_keys(of)) do
    if name:sub(1, #prefix) == prefix then out[#out + 1] = name end
  end
  return out
end

--- Every group in the order of a report.
function totals.order(of)
  local out = {}
  for _, prefix in ipairs { "vLLM", "TensorRT", "model ", "gpu ", "tp ", "engine ", "all" } do
    for _, name in ipairs(totals.names(of, prefix)) do out[#out + 1] = name end
  end
  return out
end

return totals
