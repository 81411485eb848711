-- Many runs on a page: differences over seeds, metrics against what a sweep varied, searches.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local parts = require "rooflua.explore.page.parts"
local searched = require "rooflua.explore.page.searched"
local swept = require "rooflua.explore.page.swept"
local texts = require "rooflua.explore.text"

local page = {}
local array = json.array

local function over_seeds(results)
  if #results < 4 or not results[1].parameters or results[1].parameters.seed == nil then return nil end
  local rows, baseline, seeds = texts.over_seeds_rows(results)
  if not rows then return nil end
  return { heading = "Differences over seeds", tables = array { parts.table_of(rows) },
    note = ("Means over %d seeds of the differences from %s, seed by seed with the same random numbers, and their "
      .. "95 %% intervals (Student's t). \"not clear\": the interval holds 0. Intervals say how much seeds matter, "
      .. "not how right the model is."):format(seeds, baseline) }
end

--- {sections, has_baseline, own = {{name, unit}}} of the results of a scenario. about = {kind, own = its own metrics by
--- name, missing = {{name, parameters, why}} of variants without a result, is_sample}. `is_sample`: the results are
--- points of a `sweep`, so none of them is a baseline.
function page.of(results, about)
  local sections, own, kind, is_sample = array {}, array {}, about.kind, about.is_sample
  for _, name in ipairs(core.sorted_keys(about.own)) do own[#own + 1] = { name = name, unit = about.own[name].unit } end
  if #results == 0 or kind ~= "serve" and kind ~= "search" then
    return { sections = sections, has_baseline = true, own = own }
  end
  if kind == "search" then return { sections = searched.sections(results), has_baseline = false, own = own } end
  if not is_sample then sections[1] = over_seeds(results) end
  local has_baseline = not is_sample and #sections == 0
  sections[#sections + 1] = swept.section(results, about.missing, about.own)
  return { sections = sections, has_baseline = has_baseline, own = own }
end

return page
