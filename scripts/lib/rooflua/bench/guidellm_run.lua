-- `guidellm run` of 0.7 and later, and its files: each part is a kind with attributes, "kind=concurrent,streams=8",
-- JSON or YAML. Source: guidellm 0.7.3, src/guidellm/benchmark/schemas and profiles, scheduler/constraints, cli/run.py.
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local flags = require "rooflua.bench.flags"
local guidellm = require "rooflua.bench.guidellm"
local json = require "rooflua.json"
local loads = require "rooflua.bench.loads"

local run = {}
local fail = core.fail

--- {kind = "concurrent", streams = "8"} of a text; attributes within others ("warmup.value=2") keep their whole name.
local function attributes_of(flag, text)
  local ok, found = pcall(json.decode, text)
  if ok and documents.is_map(found) then return core.plain(found) end
  local out, last = {}, nil
  for part in text:gmatch "[^,]+" do
    local key, value = part:match "^%s*([%w_.%-]+)%s*=%s*(.-)%s*$"
    if not key and not last then
      fail("--bench: --%s: expected kind=NAME,ATTRIBUTE=VALUE,... or JSON, found '%s'", flag, text)
    end
    if key then
      last = key:gsub("-", "_")
      out[last] = value
    else -- a list: streams=1,2,4
      out[last] = out[last] .. "," .. part
    end
  end
  return out
end

--- The numbers of one, of a list, or of "1,2,4".
local function numbers_of(name, value)
  local out = {}
  if value == nil then return out end
  if type(value) == "string" then
    local list = {}
    for part in value:gsub("[%[%]]", ""):gmatch "[^,]+" do list[#list + 1] = part end
    value = list
  end
  for i, each in ipairs(type(value) == "table" and value or { value }) do
    out[i] = tonumber(each)
    if not (out[i] and out[i] > 0 and out[i] < 1e9) then
      fail("--bench: %s: expected numbers above 0, found %s", name, core.describe(each))
    end
  end
  return out
end

local lost_of_profile = { "warmup", "cooldown", "rampup_duration", "time_scale" }
local constraints = core.set { "max_requests", "max_duration" }

--- Sets requests and seconds of the constraints; names of the others are added to `lost`.
local function set_constraints(own, list, lost)
  for i, each in ipairs(list) do
    if constraints[each.kind] then
      local name = each.kind == "max_requests" and "count" or "seconds"
      local values = numbers_of("constraints: " .. each.kind .. "." .. name, each[name])
      if name == "seconds" then own.duration_s = values[1] end
      if name == "count" then own.count, own.counts = values[1], #values > 1 and values or nil end
    else
      lost[#lost + 1] = "constraint " .. tostring(each.kind)
    end
  end
end

--- Runs that differ in one value each: {"profile.streams" = 8, "constraints[0].count" = 80}.
local function set_runs(own, runs, lost)
  local streams, counts = {}, {}
  for i, each in ipairs(runs) do
    if not documents.is_map(each) then fail("benchmarks[%d]: expected keys with values", i) end
    for key, value in core.sorted_pairs(core.plain(each)) do
      if key == "profile.streams" or key == "profile.rate" then
        for _, number in ipairs(numbers_of(key, value)) do streams[#streams + 1] = number end
      elseif key:find "^constraints%[%d+%]%.count$" then
        counts[#counts + 1] = numbers_of(key, value)[1]
      else
        lost[#lost + 1] = ("benchmarks[%d].%s"):format(i, key)
      end
    end
  end
  if #streams > 0 then own.rates = streams end
  if #counts > 0 then own.counts = counts end
end

--- A workload of {profile, data, constraints, runs}: tables of attributes.
function run.load(given, told)
  local profile, data, lost = given.profile, given.data, {}
  if not profile or not profile.kind then
    fail "--bench: --profile: without it guidellm sweeps over many loads: give one, as in kind=concurrent,streams=8"
  end
  if not data then
    fail "--bench: --data: which lengths? As in kind=synthetic_text,prompt_tokens=512,output_tokens=128"
  end
  if data.kind and data.kind ~= "synthetic_text" then
    loads.refuse_dataset(tostring(data.source or data.path or data.kind))
  end
  local own = { kind = profile.kind, data = guidellm.checked(data),
    rates = numbers_of("profile", profile.streams or profile.rate),
    most_in_flight = numbers_of("profile.max_concurrency", profile.max_concurrency)[1] }
  set_constraints(own, given.constraints or {}, lost)
  set_runs(own, given.runs or {}, lost)
  for _, name in ipairs(lost_of_profile) do
    for key in core.sorted_pairs(core.plain(profile)) do
      if tostring(key):match "^[^.]+" == name then lost[#lost + 1] = "profile." .. key end
    end
  end
  loads.tell(told, "not followed, and changes the load", lost)
  return guidellm.load(own, told)
end

--- Whether a document is a file of it: {spec = {profile, data}}.
function run.tells(document)
  return documents.is_map(document) and documents.is_map(document.spec) and document.spec.data ~= nil
end

local known = core.set { "profile", "data", "constraints", "backend", "tokenizer", "outputs", "metrics", "seed",
  "data_loader", "data_column_mapper", "data_preprocessors", "data_finalizer" }

--- The workload of a file.
function run.of_document(document, told)
  local spec, unread = document.spec, {}
  for key in core.sorted_pairs(core.plain(spec)) do
    if not known[key] then unread[#unread + 1] = "spec." .. tostring(key) end
  end
  loads.tell(told, "not known, and nothing follows from it", unread)
  local data = spec.data
  if not documents.is_map(data) then data = type(data) == "table" and data or {} end
  if #data > 1 then fail "spec.data: several datasets: give one of them" end
  local backend = documents.is_map(spec.backend) and spec.backend or {}
  loads.check_answers("backend.request_format", backend.request_format and tostring(backend.request_format))
  local one = documents.is_map(data) and data or data[1]
  for i, each in ipairs { one or false, spec.profile or false } do
    if not documents.is_map(each) then
      fail("spec.%s: expected a kind with its attributes", i == 1 and "data" or "profile")
    end
  end
  local list = spec.constraints
  if list ~= nil and (type(list) ~= "table" or documents.is_map(list)) then fail "spec.constraints: expected a list" end
  for i, each in ipairs(list or {}) do
    if not documents.is_map(each) then fail("spec.constraints[%d]: expected a kind with its attributes", i) end
  end
  local runs = document.benchmarks
  if runs ~= nil and (type(runs) ~= "table" or documents.is_map(runs)) then fail "benchmarks: expected a list" end
  return run.load({ profile = core.plain(spec.profile), data = core.plain(one), constraints = list, runs = runs }, told)
end

return core.copy(run, {
  title = "guidellm run",
  starts = { "guidellm run", "python -m guidellm run" },
  aliases = flags.aliases "c=config l=label scenario=config disable-progress=disable-console-interactive",
  flags = flags.of { text = "profile", list = "data constraint" },
  lost = flags.of { value = "config data-preprocessor data-loader", values = "override" },
  without_effect = flags.of { value = "label backend tokenizer data-column-mapper data-finalizer seed output metrics",
    switch = "disable-console disable-console-outputs disable-console-interactive" },
  workload = function(values, told)
    if values.data and #values.data > 1 then fail "--bench: --data: several datasets: give one of them" end
    local list = {}
    for i, each in ipairs(values.constraint or {}) do list[i] = attributes_of("constraint", each) end
    return run.load({ profile = values.profile and attributes_of("profile", values.profile),
      data = values.data and attributes_of("data", values.data[1]), constraints = list }, told)
  end,
})
