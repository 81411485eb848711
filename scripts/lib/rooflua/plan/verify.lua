-- `rooflua plan --verify result.json plan.json`: what the benchmark measured against what was predicted for it.
local native = require "rooflua.native"
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local verify = {}

--- Figures of a result of vllm bench serve: name, unit in seconds or 1.
local figures = { ttft_s_mean = { "mean_ttft_ms", 1e-3 }, ttft_s_p50 = { "median_ttft_ms", 1e-3 },
  ttft_s_p99 = { "p99_ttft_ms", 1e-3 }, tpot_s_mean = { "mean_tpot_ms", 1e-3 },
  tpot_s_p50 = { "median_tpot_ms", 1e-3 }, tpot_s_p99 = { "p99_tpot_ms", 1e-3 },
  output_tokens_per_s = { "output_throughput", 1 }, requests_per_s = { "request_throughput", 1 } }

local function read(path)
  local text, problem = native.read_file(path)
  if not text then core.fail("plan: --verify: %s", problem) end
  local ok, value = pcall(json.decode, text)
  if not ok or type(value) ~= "table" then core.fail("%s: is no JSON document: %s", path, tostring(value)) end
  return value
end

local function rank_of(document, path, rank)
  if document.schema ~= "rooflua.plan/1" then core.fail("%s: is no plan.json of `rooflua plan --write`", path) end
  local own = document.ranks and document.ranks[rank]
  if not own or not own.bench then
    core.fail("%s: rank %d has no prediction of a benchmark; `rooflua plan --write` makes one", path, rank)
  end
  return own
end

local most_off = 0.05 -- of mean lengths, which are drawn

--- Mean lengths of a result: {prompt_tokens_mean, output_tokens_mean}, as far as it says them.
local function lengths_of(measured)
  local out, count = {}, measured.completed or measured.num_prompts
  for name, key in pairs { prompt_tokens_mean = "total_input_tokens", output_tokens_mean = "total_output_tokens" } do
    local sum = measured[key]
    if type(sum) == "number" and type(count) == "number" and count > 0 then out[name] = sum / count end
  end
  return out
end

--- The load of a result in words.
local function load_text(measured)
  local lengths, parts = lengths_of(measured), {}
  local function add(format, value)
    if type(value) == "number" and value < math.huge then
      parts[#parts + 1] = format:format(units.significant(value, 4))
    end
  end
  add("%s requests", measured.completed or measured.num_prompts)
  add("%s tokens of a prompt", lengths.prompt_tokens_mean)
  add("%s of an answer", lengths.output_tokens_mean)
  add("%s requests/s", measured.request_rate)
  add("%s at once", measured.max_concurrency)
  return core.join(parts, ", ")
end

--- Settings of the benchmark that the result states otherwise than bench.sh: percentiles depend on the number of
--- requests, and all figures on the rate.
local function differences(asked, measured)
  local out, lengths = {}, lengths_of(measured)
  for _, each in ipairs { { "prompt_tokens_mean", "tokens of a prompt" }, { "output_tokens_mean",
    "tokens of an answer" } } do
    local here, there = asked[each[1]], lengths[each[1]]
    if here and there and math.abs(there - here) > most_off * here then
      out[#out + 1] = ("%s %s on average, and the plan has %s"):format(units.significant(there, 4), each[2],
        units.significant(here, 4))
    end
  end
  for _, each in ipairs { { "num_prompts", "requests" }, { "request_rate", "requests/s" },
    { "max_concurrency", "requests at once" } } do
    local key, unit = each[1], each[2]
    local here, there = asked[key], measured[key]
    if there == "inf" then there = math.huge end
    if type(here) == "number" and type(there) == "number" and math.abs(there - here) > 0.01 * here then
      out[#out + 1] = ("%s %s, and bench.sh asks for %s"):format(units.significant(there, 6), unit,
        units.significant(here, 6))
    end
  end
  return out
end

--- {text, document, status}: status 1 if a figure lies outside of its interval.
function verify.run(given)
  if not given.scenario then core.fail "plan: --verify RESULT needs a plan.json: rooflua plan --verify R P" end
  local measured, rank = read(given.verify), given.why or 1
  local own = rank_of(read(given.scenario), given.scenario, rank)
  local rows, list, outside = { { "figure", "predicted", "90 % from", "to", "measured", "" } }, json.array {}, 0
  for _, name in ipairs(core.sorted_keys(own.bench)) do
    local about, expected = figures[name], own.bench[name]
    local value = about and type(measured[about[1]]) == "number" and measured[about[1]] * about[2]
    if value then
      local inside = value >= expected.low and value <= expected.high
      outside = outside + (inside and 0 or 1)
      rows[#rows + 1] = { name, words.value(name, expected.value), words.value(name, expected.low),
        words.value(name, expected.high), words.value(name, value), inside and "inside" or "OUTSIDE" }
      list[#list + 1] = { metric = name, predicted = expected.value, low = expected.low, high = expected.high,
        measured = value, inside = inside }
    end
  end
  if #list == 0 then
    core.fail("%s: has none of the figures of vllm bench serve --save-result (mean_ttft_ms, ...)", given.verify)
  end
  local other = differences(own.bench_asked or {}, measured)
  local text = ("rank %d: %s\nmeasured: %s\n\n%s\n%d of %d figures lie inside of their intervals\n"):format(rank,
    own.name, load_text(measured), columns.values(rows), #list - outside, #list)
  for _, each in ipairs(other) do
    text = text .. ("%s: has %s: the intervals are those of another benchmark\n"):format(given.verify, each)
  end
  if outside > 0 then
    text = text .. ("rooflua calibrate DIR/%d/scenario.lua --measured %s fits the model to this run; DIR is the folder "
      .. "that plan --write made\n"):format(rank, given.verify)
  end
  return { text = text, document = { schema = "rooflua.plan.verify/1", rank = rank, figures = list, outside = outside,
      differences = #other > 0 and json.array(other) or nil },
    status = outside > 0 and 1 or 0 }
end

return verify
