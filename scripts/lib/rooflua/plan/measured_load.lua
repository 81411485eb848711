-- A result of vllm bench serve or SGLang's bench_serving as the load of a plan: where it has no times of single
-- requests, its mean lengths come at its rate or from its clients, as `rooflua calibrate` replays it.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local measured_runs = require "rooflua.formats.measured_runs"
local tools = require "rooflua.formats.tools"

local measured_load = {}
local fail = core.fail

--- Whether the text is such a result without times of single requests. With them it is a trace.
local function is_result(text)
  if not text:find "^[%s\30]*[{%[]" then return false end
  local has_totals = text:find('"mean_ttft_ms"', 1, true) or text:find('"total_input_tokens"', 1, true)
  return has_totals ~= nil and not text:find('"start_times"', 1, true)
end

local function mean(requests, field)
  local sum = 0
  for _, each in ipairs(requests) do sum = sum + each[field] end
  return math.max(1, math.floor(sum / #requests + 0.5))
end

--- The load that a file states; nil where the file is a trace, or no result.
--- @param name string the path; "bench.json#2" names one of several results
--- @return table? {prompt_tokens, output_tokens}
--- @return table? {rate_per_s, clients}
function measured_load.of(name)
  if not is_result(native.read_user_text((tools.split(name)))) then return nil end
  local runs = measured_runs.read_all(name)
  if #runs > 1 then
    fail("--workload %s: holds %d results; name one of them: %s#1 to %s#%d", name, #runs, name, name, #runs)
  end
  local run = runs[1]
  if run.rate_per_s and run.burstiness ~= 1 then
    fail("--workload %s: burstiness: a plan of its means has Poisson arrivals (1), found %g", name, run.burstiness)
  end
  if not run.rate_per_s and not run.clients then
    fail("--workload %s: all its requests were sent at once, which is no load to plan for; state one with lengths and "
      .. "a rate, as --workload %d+%d --rate 10", name, mean(run.requests, "prompt_tokens"),
      mean(run.requests, "output_tokens"))
  end
  return { prompt_tokens = mean(run.requests, "prompt_tokens"), output_tokens = mean(run.requests, "output_tokens") },
    { rate_per_s = run.rate_per_s, clients = not run.rate_per_s and run.clients or nil }
end

return measured_load
