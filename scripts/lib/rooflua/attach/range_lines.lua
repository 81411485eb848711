-- A load over time as lines of a scenario: an interval a line, and above them the file and the series that each of
-- their values came from.
local native = require "rooflua.native"
local quoting = require "rooflua.text.quoting"
local stamps = require "rooflua.ranges.stamps"

local range_lines = {}

local number = native.number_text

local function comment(text) return "-- " .. quoting.line(native.printable(text)) end

--- What values are made of: the key, in words, and quantities of which the first that the range has counts.
local made_of = {
  { "rate_per_s", "requests that ended, by %s", { "finished", "requests", "e2e_s", "prompt_length", "output_length" } },
  { "rate_per_s", "and how many more run: %s", { "running" } },
  { "rate_per_s", "or wait: %s", { "waiting" } },
  { "prompt_tokens", "%s", { "prompt_length", "prompt_tokens" } },
  { "output_tokens", "%s", { "output_length", "output_tokens" } },
  { "shared_frac", "%s", { "prefix_hits" } },
}

local function source_lines(of, has_shares)
  local lines = {}
  for _, each in ipairs(made_of) do
    for _, quantity in ipairs(each[3]) do
      if of.sources[quantity] and (each[1] ~= "shared_frac" or has_shares) then
        lines[#lines + 1] = "    " .. comment(each[1] .. ": " .. each[2]:format(of.sources[quantity]))
        break
      end
    end
  end
  return lines
end

local function spread_line(load, of, key, quantity)
  if load[key .. "_sigma"] == 0 then return nil end
  local most = load["most_" .. key .. "_tokens"]
  return ("    %s_sigma = %.3g,%s %s"):format(key, load[key .. "_sigma"],
    most and (" most_%s_tokens = %d,"):format(key, most) or "", comment("buckets of " .. of.sources[quantity]))
end

local interval_line = "      { duration_s = %s, rate_per_s = %s, prompt_tokens = %s, output_tokens = %s%s }, %s"

--- The lines of `workload = ...`.
---@param run table a measured run of ranges/run.lua
function range_lines.of(run)
  local of, load = run.range, run.load
  local lines = { ("  workload = require \"workloads.piecewise\" { %s"):format(comment(run.path .. ", " .. run.how)) }
  for _, line in ipairs(source_lines(of, load.intervals[1].shared_frac ~= nil)) do lines[#lines + 1] = line end
  lines[#lines + 1] = spread_line(load, of, "prompt", "prompt_length")
  lines[#lines + 1] = spread_line(load, of, "output", "output_length")
  lines[#lines + 1] = "    intervals = {"
  for i, each in ipairs(load.intervals) do
    local own = of.intervals[i]
    local shared = each.shared_frac and ", shared_frac = " .. number(each.shared_frac) or ""
    local when = of.has_dates and stamps.text(own.start_s) .. " UTC, " or ""
    lines[#lines + 1] = interval_line:format(number(each.duration_s), number(each.rate_per_s),
      number(each.prompt_tokens), number(each.output_tokens), shared,
      comment(("%s%g requests"):format(when, own.arrivals)))
  end
  lines[#lines + 1] = "    },"
  lines[#lines + 1] = "  },"
  return lines
end

return range_lines
