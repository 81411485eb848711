-- A range as a measured run: its means, and a load whose rate and lengths change by interval.
local core = require "rooflua.base.core"
local piecewise = require "workloads.piecewise"
local range = require "rooflua.ranges.range"
local spread = require "rooflua.ranges.spread"
local stamps = require "rooflua.ranges.stamps"

local run = {}
local fail = core.fail

local least_hit_frac = 0.01 -- of prompts, below which nothing is said to be shared
local least_of_all = 1 -- token of a length
local most_requests, most_tokens, most_days = 1e7, 2147483647, 100

--- The load: {intervals = {{duration_s, rate_per_s, prompt_tokens, output_tokens, shared_frac}}, prompt_sigma, ...}.
local function load_of(of)
  local out, all = { intervals = {} }, of.figures
  local function spread_of(name)
    local list = {}
    for i, each in ipairs(of.intervals) do list[i] = each.sums[name] or {} end
    return spread.of(of.sums[name], list)
  end
  local prompt, output = spread_of "prompt_length", spread_of "output_length"
  local shares = (all.hit_frac or 0) > least_hit_frac
  for i, each in ipairs(of.intervals) do
    out.intervals[i] = { duration_s = each.stop_s - each.start_s, rate_per_s = each.rate_per_s,
      prompt_tokens = math.max(least_of_all, each.prompt_tokens or all.prompt_tokens),
      output_tokens = math.max(least_of_all, each.output_tokens or all.output_tokens),
      shared_frac = shares and (each.hit_frac or all.hit_frac) or nil }
  end
  out.prompt_sigma, out.most_prompt_tokens = prompt and prompt.sigma or 0, prompt and prompt.most
  out.output_sigma, out.most_output_tokens = output and output.sigma or 0, output and output.most
  return out, prompt ~= nil and output ~= nil, shares
end

local function check(of)
  local days = (of.stop_s - of.start_s) / 86400
  if days > most_days then
    fail("%s: the range lasts %.4g days, and the clock shows at most %d; is one of its times wrong?", of.name, days,
      most_days)
  end
  if of.count < 1 then fail("%s: no data: no request ended in the range", of.name) end
  if of.arrivals < 1 then fail("%s: no data: no request came in the range", of.name) end
  if of.count > most_requests then
    fail("%s: more than %g requests ended; ask for a shorter range", of.name, most_requests)
  end
  for _, name in ipairs { "prompt_tokens", "output_tokens" } do
    local mean = of.figures[name]
    if not mean then
      fail("%s: no series says how long %s are: query vllm:%s_total, or that of another engine", of.name,
        name == "prompt_tokens" and "prompts" or "answers",
        name == "prompt_tokens" and "prompt_tokens" or "generation_tokens")
    end
    if not (mean >= 0 and mean <= most_tokens) then
      fail("%s: %s: %g tokens of a request: expected 0 to %d", of.name, name, mean, most_tokens)
    end
  end
end

--- How the load is described.
local function how_of(of)
  local seconds = of.stop_s - of.start_s
  return ("a load of %d intervals, %g requests/s on average%s"):format(#of.intervals,
    tonumber(("%.4g"):format(of.arrivals / seconds)),
    of.has_dates and (", %s to %s UTC"):format(stamps.text(of.start_s), stamps.text(of.stop_s)) or "")
end

--- The run that formats/measured_runs.lua makes ready.
---@param of table of range.of
---@param what string what its file is
function run.of(of, what)
  check(of)
  local all, seconds = of.figures, of.stop_s - of.start_s
  local load, is_spread, shares = load_of(of)
  local notes = { "times are the server's" }
  for _, note in ipairs(of.notes) do notes[#notes + 1] = note end
  if not is_spread then notes[#notes + 1] = "how lengths are spread is not known: those of an interval are alike" end
  if shares then
    notes[#notes + 1] = ("%.0f %% of the prompt tokens were in the prefix cache: prompts begin alike by as much")
      :format(100 * all.hit_frac)
  end
  if not of.sums.tpot_s and of.sums.itl_s then
    notes[#notes + 1] = "its TPOT is the mean gap between tokens, in which a request weighs as many tokens as it has"
  end
  local metrics = { ttft_s_mean = all.ttft_s and all.ttft_s.mean, tpot_s_mean = all.tpot_s and all.tpot_s.mean,
    e2e_s_mean = all.e2e_s and all.e2e_s.mean }
  for name, value in pairs(metrics) do
    if value == 0 then metrics[name] = nil end
  end
  return { notes = notes, metrics = metrics, count = math.max(1, math.floor(of.count + 0.5)), failed = of.failed,
    prompt_tokens = all.prompt_tokens, output_tokens = all.output_tokens, rate_per_s = of.arrivals / seconds,
    duration_s = seconds, output_tokens_per_s = all.output_tokens_per_s, range = core.copy(of, { how = how_of(of) }),
    load = load, tool = what }
end

--- The runs of one file.
function run.read(path, text, what) return { run.of(range.of { { path = path, text = text } }, what) } end

--- The workload that has the run's rates and lengths.
function run.workload(of) return piecewise(of.load) end

return run
