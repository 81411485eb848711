-- The configuration of inference-perf as a workload: one set of prompts, and stages that follow each other. Keys and
-- defaults: kubernetes-sigs/inference-perf, inference_perf/config; what it sends: datagen, loadgen/load_generator.py.
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local fields = require "rooflua.formats.fields"
local json = require "rooflua.json"
local loads = require "rooflua.bench.loads"

local inference_perf = {}
local fail = core.fail

--- What keys are: {name = "read" and so on, or what its own keys are}.
---     read; none: changes nothing; lost: changes the load, and is not followed; refused: is another load
local function keys(of)
  local out = {}
  for kind, names in pairs(of) do
    for name in names:gmatch "%S+" do out[name] = kind end
  end
  return out
end

local length = keys { read = "mean std_dev variance min max type", none = "total_count", lost = "skew" }
local prefixes = keys { read = "num_groups num_unique_system_prompts num_prompts_per_group "
  .. "num_users_per_system_prompt system_prompt_len question_len output_len question_distribution "
  .. "output_distribution enable_multi_turn_chat", none = "seed", refused = "multimodal" }
local of_stage = { concurrent = keys { read = "num_requests concurrency_level", lost = "rate duration" },
  constant = keys { read = "rate duration", refused = "num_requests concurrency_level" } }
of_stage.poisson = of_stage.constant
local top = keys { none = "tokenizer metrics report storage", lost = "circuit_breakers" }
top.load = keys { read = "type interval stages num_workers worker_max_concurrency", refused = "sweep trace",
  none = "worker_max_tcp_connections base_seed", lost = "circuit_breakers request_timeout lora_traffic_split" }
top.data = keys { read = "type input_distribution output_distribution shared_prefix", none = "path",
  refused = "multimodal trace" }
top.api = keys { none = "type streaming headers slo_unit slo_tpot_header slo_ttft_header", lost = "response_format" }
top.server = keys { read = "ignore_eos", none = "type model_name base_url api_key cert_path key_path" }

--- The map at a path, whose keys are checked; an empty one where it is missing.
local function section(own, map, path, known)
  if map == nil then return {} end
  if not documents.is_map(map) then fail("%s: expected keys with values, found %s", path, core.describe(map)) end
  local out = {}
  for key, value in core.sorted_pairs(core.plain(map)) do
    local name, kind = (path and path .. "." or "") .. tostring(key), known[key] or "unknown"
    if value ~= json.null then
      if kind == "refused" then fail("%s: such a load is not read: give it as a workload of the scenario", name) end
      if own[kind] then table.insert(own[kind], name) end
      out[key] = type(kind) == "table" and section(own, value, name, kind) or value
    end
  end
  return out
end

--- A whole number of a map; nil where it is not stated.
local function whole(path, map, key, least)
  return map[key] ~= nil and fields.whole(path, map, key, least) or nil
end

--- A length, its least and its greatest, of a number or of a map with a distribution.
local function length_of(own, given, path)
  if type(given) ~= "table" then given = { type = "fixed", mean = given } end
  local map, most = section(own, given, path, length), fields.most_tokens
  local kind, low, high = map.type or "normal", whole(path, map, "min", 0) or 10, whole(path, map, "max", 1) or 1024
  local mean = fields.number(path, map, "mean", most) or 512
  if kind == "fixed" then return math.floor(mean), math.floor(mean), math.floor(mean) end
  if low > high then fail("%s: min %d is above max %d", path, low, high) end
  if kind == "uniform" then return { distribution = "uniform", min = low, max = high }, low, high end
  if kind ~= "normal" then fail("%s: type: expected normal, uniform or fixed, found %s", path, core.describe(kind)) end
  if mean < low or mean > high then fail("%s: mean: expected a number from min %d to max %d", path, low, high) end
  local variance, deviation = fields.number(path, map, "variance"), fields.number(path, map, "std_dev", most)
  if variance and (deviation or 0) > 0 then fail("%s: states variance and std_dev: give one of them", path) end
  local out = loads.normal(mean, variance and math.sqrt(variance) or deviation or 200, low, high)
  if type(out) == "number" then return out, out, out end
  return out, low, high
end

--- What data.type says of the prompts.
local data_of = {}

function data_of.random(own, data, about)
  local path = "data.input_distribution"
  local least, greatest
  about.prompt_tokens, least, greatest = length_of(own, data.input_distribution or fail("%s: is missing", path), path)
  path = "data.output_distribution"
  about.output_tokens = length_of(own, data.output_distribution or fail("%s: is missing", path), path)
  return least, greatest
end

--- Each prompt is the beginning of one text.
function data_of.synthetic(own, data, about)
  local low, high = data_of.random(own, data, about)
  local shared, rest = math.max(0, math.min(low, high - 1)), about.prompt_tokens
  about.groups, about.prefix_tokens, about.prompts_per_group = 1, shared, low == high and 1 or about.most
  if low == high then
    about.prompt_tokens = rest - shared
  else
    about.prompt_tokens = core.copy(rest, { mean = rest.mean and rest.mean - shared, min = 1, max = high - shared })
    about.told = "--bench: data.type: synthetic: prompts are beginnings of one text; here they share the least "
      .. "length only"
  end
end

function data_of.shared_prefix(own, data, about)
  local path = "data.shared_prefix"
  local map = section(own, data.shared_prefix, path, prefixes)
  if map.enable_multi_turn_chat then
    fail("%s.enable_multi_turn_chat: give conversations as a workload of the scenario", path)
  end
  about.groups = whole(path, map, "num_groups", 1) or whole(path, map, "num_unique_system_prompts", 1) or 10
  about.prompts_per_group = whole(path, map, "num_prompts_per_group", 1)
    or whole(path, map, "num_users_per_system_prompt", 1) or 10
  about.prefix_tokens = length_of(own, map.system_prompt_len or 100, path .. ".system_prompt_len")
  if type(about.prefix_tokens) ~= "number" then
    fail("%s.system_prompt_len: prefixes of different lengths are not read: give a number", path)
  end
  about.prompt_tokens = length_of(own, map.question_distribution or map.question_len or 50, path .. ".question_len")
  about.output_tokens = length_of(own, map.output_distribution or map.output_len or 50, path .. ".output_len")
end

--- Adds the stages of a load, and the most requests of one.
local function add_stages(own, load, about)
  if type(load.stages) ~= "table" or #load.stages == 0 then fail "load.stages: expected a list with a stage or more" end
  about.stages, about.most = {}, 0
  for i, each in ipairs(load.stages) do
    local path = ("load.stages[%d]"):format(i)
    local stage = section(own, each, path, of_stage[load.type])
    local count, out
    if load.type == "concurrent" then
      count = fields.whole(path, stage, "num_requests", 1)
      out = { clients = fields.whole(path, stage, "concurrency_level", 1), requests = count }
    else
      out = { rate_per_s = fields.needed(path, stage, "rate", fields.most_rate),
        duration_s = fields.needed(path, stage, "duration") }
      count = math.floor(out.rate_per_s * out.duration_s + 1e-9)
    end
    if count < 1 or count > fields.most_requests then
      fail("%s: expected from 1 to %g requests, found %g", path, fields.most_requests, count)
    end
    about.stages[i], about.most = out, math.max(about.most, count)
  end
  local workers = whole("load", load, "num_workers", 0) or 0
  local each = whole("load", load, "worker_max_concurrency", 1)
  if load.type == "concurrent" then return end
  if workers > 0 then about.most_in_flight = workers * (each or 100) end
  if workers == 0 and each then table.insert(own.lost, "load.worker_max_concurrency") end
end

function inference_perf.tells(document) return document.load ~= nil and document.data ~= nil end

---@param told string[] sentences are added
---@return table workload
function inference_perf.workload(document, told)
  local own = { lost = {}, unknown = {} }
  local all = section(own, document, nil, top)
  local load, data = all.load or {}, all.data or {}
  load.type = load.type or "constant"
  if not of_stage[load.type] then
    fail("load.type: expected constant, poisson or concurrent, found %s", core.describe(load.type))
  end
  if not data_of[data.type] then
    fail("data.type: expected random, synthetic or shared_prefix, whose lengths are in the file, found %s",
      core.describe(data.type))
  end
  local about = { arrivals = load.type == "poisson" and "poisson" or "constant",
    gap_s = fields.number("load", load, "interval") or 1 }
  add_stages(own, load, about)
  data_of[data.type](own, data, about)
  if all.server and all.server.ignore_eos == false then table.insert(own.lost, "server.ignore_eos: false") end
  loads.tell(told, "not followed, and changes the load", own.lost)
  loads.tell(told, "not known, and nothing follows from it", own.unknown)
  told[#told + 1] = about.told
  return loads.of(about, told)
end

return inference_perf
