-- Runs of two files of results, compared: variants with the same parameters, seed by seed.
local differences = require "rooflua.explore.differences"
local core = require "rooflua.base.core"
local levers = require "rooflua.intervals.levers"
local metrics = require "rooflua.measure.metrics"
local paired = require "rooflua.explore.paired"
local statistics = require "rooflua.base.statistics"
local tables_text = require("rooflua.text.columns").values
local texts = require "rooflua.explore.text"

local stored = {}
local level = 0.95
local usual = { "ttft_s_p50", "ttft_s_p99", "tpot_s_p50", "tpot_s_p99", "e2e_s_mean", "output_tokens_per_s" }

local function by_name(runs)
  local out, groups = {}, #runs > 0 and paired.groups(runs) or {}
  for _, group in ipairs(groups) do out[group.name] = group end
  return out, groups
end

--- One metric of one variant in both files: a row of texts.compared_rows; nil where they share no seed.
local function compared(metric, a, b)
  local changes, before, after = {}, {}, {}
  for _, seed in ipairs(a.seeds) do
    local old = metrics.value(a.by_seed[seed], metric)
    local new = b.by_seed[seed] and metrics.value(b.by_seed[seed], metric)
    if old and new then changes[#changes + 1], before[#before + 1], after[#after + 1] = new - old, old, new end
  end
  if #changes == 0 then return nil end
  local mean, low, high = paired.interval(changes, level, "t")
  return { metric = metric, variant = a.name, baseline = statistics.mean(before), mean = statistics.mean(after),
    difference = mean, low = low, high = high, seeds = #changes, clear = low ~= nil and (low > 0 or high < 0) }
end

--- The text of `rooflua results diff`. options: files (their two names), metrics (none: the usual ones).
function stored.differences(first, second, options)
  local names = #options.metrics > 0 and metrics.list(options.metrics, "--metric") or usual
  local _, groups = by_name(first)
  local others, other_groups = by_name(second)
  local rows, alone, same, seen, changed = {}, {}, {}, {}, 0
  for _, group in ipairs(groups) do
    local other = others[group.name]
    seen[group.name] = true
    if not other then alone[#alone + 1] = group.name .. ": only in " .. options.files[1] end
    if other and differences.is_none(group, other) then same[#same + 1] = group.name end
    for _, metric in ipairs(other and names or {}) do
      local row = compared(metric, group, other)
      if row and row.difference ~= 0 then changed = changed + 1 end
      rows[#rows + 1] = row
    end
  end
  for _, group in ipairs(other_groups) do
    if not seen[group.name] then alone[#alone + 1] = group.name .. ": only in " .. options.files[2] end
  end
  local parts = { ("%s (baseline) and %s: %d of %d figures differ"):format(options.files[1], options.files[2], changed,
    #rows) }
  if #rows > 0 then parts[#parts + 1] = tables_text(texts.compared_rows(rows, level)) end
  if changed > 0 and #same > 0 then
    parts[#parts + 1] = ("no difference (%s, or inside the noise of seeds): %s"):format(levers.flat_text,
      core.join(same, "; "))
  end
  if #alone > 0 then parts[#parts + 1] = core.join(alone, "\n") end
  return table.concat(parts, "\n\n") .. "\n"
end

return stored
