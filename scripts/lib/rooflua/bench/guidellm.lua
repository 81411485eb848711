-- `guidellm benchmark`. Flags and keys of --data: guidellm's README and docs/datasets; profiles: its docs, "benchmark".
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local loads = require "rooflua.bench.loads"
local native = require "rooflua.native"

local keys = core.set { "prompt_tokens", "prompt_tokens_stdev", "prompt_tokens_min", "prompt_tokens_max",
  "output_tokens", "output_tokens_stdev", "output_tokens_min", "output_tokens_max", "samples", "source", "type",
  "turns", "prefix_tokens", "prefix_count" }

--- {prompt_tokens = 512, ...} of "prompt_tokens=512,output_tokens=128" or of JSON.
local function data_of(text)
  local ok, found = pcall(json.decode, text)
  local out = {}
  if ok and type(found) == "table" then
    for key, value in pairs(core.plain(found)) do out[key] = tonumber(value) or value end
  else
    for part in text:gmatch "[^,]+" do
      local key, value = part:match "^%s*([%w_]+)%s*=%s*(.-)%s*$"
      if not key then loads.refuse_dataset(native.printable(text)) end
      out[key] = tonumber(value) or value
    end
  end
  for _, key in ipairs(core.sorted_keys(out)) do
    if not keys[key] then core.fail("--bench: --data: %s", core.unknown_name("key", key, core.sorted_keys(keys))) end
  end
  for _, key in ipairs { "prompt_tokens", "output_tokens" } do
    if type(out[key]) ~= "number" then core.fail("--bench: --data: needs %s=TOKENS", key) end
  end
  if (out.turns or 1) ~= 1 then core.fail "--bench: --data: turns: give conversations as a workload of the scenario" end
  return out
end

local function length_of(data, name)
  return loads.normal(data[name], data[name .. "_stdev"], data[name .. "_min"], data[name .. "_max"])
end

--- The rates of "4" or "4,8,16": each is a benchmark of its own, one after the other.
local function rates_of(text)
  local out = {}
  for part in text:gmatch "[^,]+" do
    local rate = tonumber(part)
    if not (rate and rate > 0 and rate < math.huge) then
      core.fail("--bench: --rate: expected numbers above 0, found '%s'", native.printable(text))
    end
    out[#out + 1] = rate
  end
  return out
end

local kinds = { "synchronous", "concurrent", "throughput", "constant", "poisson", "async" }

return {
  title = "guidellm benchmark",
  starts = { "guidellm benchmark run", "guidellm benchmark", "python -m guidellm benchmark" },
  aliases = { profile = "rate-type", ["max-duration"] = "max-seconds" },
  flags = { ["rate-type"] = "text", rate = "text", data = "text", ["max-seconds"] = "number",
    ["max-requests"] = "whole" },
  without_effect = { target = "value", model = "value", backend = "value", ["backend-type"] = "value",
    ["backend-args"] = "value", ["backend-kwargs"] = "value", processor = "value", ["processor-args"] = "value",
    ["data-args"] = "value", ["data-sampler"] = "value", ["output-path"] = "value", ["output-extras"] = "value",
    ["output-dir"] = "value", outputs = "values", ["random-seed"] = "value", ["warmup-percent"] = "value",
    ["cooldown-percent"] = "value", warmup = "value", cooldown = "value", ["disable-progress"] = "switch",
    ["disable-console-outputs"] = "switch", ["disable-console"] = "switch", ["display-scheduler-stats"] = "switch",
    ["request-type"] = "value" },
  workload = function(values, told)
    local kind = values["rate-type"]
    if not kind then
      core.fail("--bench: --rate-type (--profile): which load? Say %s", core.join(kinds, ", "))
    end
    if kind == "sweep" then
      core.fail "--bench: --rate-type sweep is many loads: give one of them, as in --rate-type constant --rate 4"
    end
    if not core.is_among(kind, kinds) then
      core.fail("--bench: --rate-type: %s", core.unknown_name("value", kind, kinds))
    end
    if not values.data then
      core.fail "--bench: --data: which lengths? As in --data prompt_tokens=512,output_tokens=128"
    end
    local data, rates = data_of(values.data), rates_of(values.rate or "")
    local rate = rates[1]
    local needs_rate = kind == "constant" or kind == "poisson" or kind == "async" or kind == "concurrent"
    if needs_rate and not rate then core.fail("--bench: --rate: %s needs one above 0", kind) end
    if not needs_rate and #rates > 1 then core.fail("--bench: --rate: %s takes one", kind) end
    local is_open = kind == "constant" or kind == "poisson" or kind == "async"
    local about = { prompt_tokens = length_of(data, "prompt_tokens"), output_tokens = length_of(data, "output_tokens"),
      even = kind == "constant" or kind == "async", rate_per_s = is_open and rate or nil }
    if kind == "synchronous" then about.clients = 1 end
    if kind == "throughput" then about.rate_per_s, about.most_in_flight = math.huge, rate end
    for i = 1, math.max(1, #rates) do
      if kind == "concurrent" then about.clients = rates[i] elseif is_open then about.rate_per_s = rates[i] end
      about.count = loads.count({ count = values["max-requests"], duration_s = values["max-seconds"],
        rate_per_s = about.rate_per_s, otherwise = math.max(100, 10 * (about.clients or 1)) }, told)
      if #rates > 1 then
        about.stages = about.stages or {}
        about.stages[i] = loads.stage_of(about)
      end
    end
    if (data.prefix_tokens or 0) > 0 then
      about.groups, about.prefix_tokens = data.prefix_count or 1, data.prefix_tokens
      about.prompts_per_group = math.max(1, math.ceil(about.count / about.groups))
    end
    return loads.of(about, told)
  end,
}
