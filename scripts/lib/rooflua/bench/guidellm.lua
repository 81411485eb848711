-- `guidellm benchmark` of releases before 0.7. Flags and keys of --data: guidellm's README and docs/datasets; profiles:
-- its docs, "benchmark"; all of them beside those of later releases: docs/guides/v0.7.0_migration_guide.md.
local core = require "rooflua.base.core"
local flags = require "rooflua.bench.flags"
local json = require "rooflua.json"
local loads = require "rooflua.bench.loads"
local native = require "rooflua.native"

local guidellm = {}

local keys = core.set { "prompt_tokens", "prompt_tokens_stdev", "prompt_tokens_min", "prompt_tokens_max",
  "output_tokens", "output_tokens_stdev", "output_tokens_min", "output_tokens_max", "samples", "source", "type",
  "turns", "prefix_tokens", "prefix_count", "prefix_buckets", "kind" }

--- One bucket of prefixes, as the keys beside it say it.
local function add_bucket(out, buckets)
  if type(buckets) ~= "table" or type(buckets[1]) ~= "table" or #buckets > 1 then
    core.fail "--bench: --data: prefix_buckets: one bucket is read: give others as a workload of the scenario"
  end
  for key, value in core.sorted_pairs(core.plain(buckets[1])) do
    if key ~= "prefix_tokens" and key ~= "prefix_count" and key ~= "bucket_weight" then
      core.fail("--bench: --data: prefix_buckets: %s", core.unknown_name("key", tostring(key), { "prefix_tokens",
        "prefix_count", "bucket_weight" }))
    end
    out[key] = value
  end
end

--- Checked lengths: {prompt_tokens = 512, ...}.
function guidellm.checked(found)
  local out = {}
  for key, value in pairs(found) do out[key] = tonumber(value) or value end
  for _, key in ipairs(core.sorted_keys(out)) do
    if not keys[key] then core.fail("--bench: --data: %s", core.unknown_name("key", key, core.sorted_keys(keys))) end
  end
  if out.prefix_buckets then add_bucket(out, out.prefix_buckets) end
  for key, value in pairs(out) do
    if key:find "tokens" and (type(value) ~= "number" or not (value >= 0 and value < 2 ^ 31)) then
      core.fail("--bench: --data: %s: expected tokens, found %s", key, core.describe(value))
    end
  end
  for _, key in ipairs { "prompt_tokens", "output_tokens" } do
    if type(out[key]) ~= "number" then core.fail("--bench: --data: needs %s=TOKENS", key) end
  end
  return out
end

--- {prompt_tokens = 512, ...} of "prompt_tokens=512,output_tokens=128" or of JSON.
local function data_of(text)
  local ok, found = pcall(json.decode, text)
  if ok and type(found) == "table" then return guidellm.checked(core.plain(found)) end
  local out = {}
  for part in text:gmatch "[^,]+" do
    local key, value = part:match "^%s*([%w_]+)%s*=%s*(.-)%s*$"
    if not key then loads.refuse_dataset(native.printable(text)) end
    out[key] = value
  end
  return guidellm.checked(out)
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

local function check_kind(kind)
  if not kind then core.fail("--bench: --rate-type (--profile): which load? Say %s", core.join(kinds, ", ")) end
  if kind == "sweep" then
    core.fail "--bench: --rate-type sweep is many loads: give one of them, as in --rate-type constant --rate 4"
  end
  if kind == "replay" then core.fail "--bench: --profile replay: the times of a trace: give it as workloads.trace" end
  if not core.is_among(kind, kinds) then
    core.fail("--bench: --rate-type: %s", core.unknown_name("value", kind, kinds))
  end
end

--- Sets how many requests there are, and the stages of several rates.
local function set_counts(own, kind, is_open, about, told)
  for i = 1, math.max(1, #own.rates) do
    if kind == "concurrent" then about.clients = own.rates[i] elseif is_open then about.rate_per_s = own.rates[i] end
    about.count = loads.count({ count = own.counts and own.counts[i] or own.count, duration_s = own.duration_s,
      rate_per_s = about.rate_per_s, otherwise = math.max(100, 10 * (about.clients or 1)) }, told)
    if #own.rates > 1 then
      about.stages = about.stages or {}
      about.stages[i] = loads.stage_of(about)
    end
  end
end

--- A workload.
---@param own table {kind, rates, data, count, counts = one for each rate, duration_s, most_in_flight}
function guidellm.load(own, told)
  local kind, data, rate = own.kind, own.data, own.rates[1]
  check_kind(kind)
  local is_open = kind == "constant" or kind == "poisson" or kind == "async"
  if (is_open or kind == "concurrent") and not rate then core.fail("--bench: --rate: %s needs one above 0", kind) end
  if not is_open and kind ~= "concurrent" and #own.rates > 1 then core.fail("--bench: --rate: %s takes one", kind) end
  local about = { prompt_tokens = length_of(data, "prompt_tokens"), output_tokens = length_of(data, "output_tokens"),
    even = kind == "constant" or kind == "async", rate_per_s = is_open and rate or nil,
    most_in_flight = own.most_in_flight }
  if kind == "synchronous" then about.clients = 1 end
  if kind == "throughput" then about.rate_per_s, about.most_in_flight = math.huge, own.most_in_flight or rate end
  set_counts(own, kind, is_open, about, told)
  if (data.prefix_tokens or 0) > 0 then
    about.groups, about.prefix_tokens = data.prefix_count or 1, data.prefix_tokens
    about.prompts_per_group = math.max(1, math.ceil(about.count / about.groups))
  end
  if (data.turns or 1) ~= 1 then
    about.turns, about.conversations = data.turns, math.max(1, math.ceil(about.count / data.turns))
    if about.groups and about.groups >= about.conversations then -- each conversation has its own
      about.groups, about.private_tokens, about.prefix_tokens = 1, about.prefix_tokens, 0
    end
  end
  return loads.of(about, told)
end

return core.copy(guidellm, {
  title = "guidellm benchmark",
  starts = { "guidellm benchmark run", "guidellm benchmark", "python -m guidellm benchmark" },
  aliases = flags.aliases "profile=rate-type max-duration=max-seconds",
  flags = flags.of { text = "rate-type rate data request-type", number = "max-seconds", whole = "max-requests" },
  lost = flags.of { value = "scenario config c data-samples data-preprocessors rampup warmup cooldown warmup-percent "
    .. "cooldown-percent max-errors max-error-rate max-global-error-rate stop-over-saturated over-saturation "
    .. "data-preprocessors-kwargs", switch = "detect-saturation default-over-saturation" },
  without_effect = flags.of {
    value = "target model backend backend-type backend-args backend-kwargs processor processor-args data-args "
      .. "data-sampler data-column-mapper data-finalizer data-num-workers dataloader-kwargs data-request-formatter "
      .. "data-collator request-formatter-kwargs output-path output-extras output-dir random-seed sample-requests "
      .. "label l output-sampling",
    values = "outputs output-formats",
    switch = "disable-progress disable-console-outputs disable-console disable-console-interactive "
      .. "display-scheduler-stats prefer-response-metrics" },
  workload = function(values, told)
    loads.check_answers("--request-type", values["request-type"])
    check_kind(values["rate-type"])
    if not values.data then
      core.fail "--bench: --data: which lengths? As in --data prompt_tokens=512,output_tokens=128"
    end
    return guidellm.load({ kind = values["rate-type"], rates = rates_of(values.rate or ""),
      data = data_of(values.data), count = values["max-requests"], duration_s = values["max-seconds"] }, told)
  end,
})
