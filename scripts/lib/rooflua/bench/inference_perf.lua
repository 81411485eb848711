-- The configuration of inference-perf as a workload: one set of prompts, and stages that follow each other. Keys and
-- defaults: kubernetes-sigs/inference-perf, inference_perf/config (7de5ef2b); what it sends: datagen,
-- loadgen/load_generator.py.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"
local keys = require "rooflua.bench.inference_perf_keys"
local loads = require "rooflua.bench.loads"
local media = require "rooflua.bench.inference_perf_media"

local inference_perf = {}
local fail = core.fail
local section, whole, length_of = keys.section, keys.whole, keys.length

local prefixes = keys.of { read = "num_groups num_unique_system_prompts num_prompts_per_group "
  .. "num_users_per_system_prompt system_prompt_len question_len output_len question_distribution "
  .. "output_distribution enable_multi_turn_chat", none = "seed", refused = "multimodal" }
local conversation = keys.of { none = "seed", read = "num_conversations shared_system_prompt_len "
  .. "dynamic_system_prompt_len turns_per_conversation input_tokens_per_turn output_tokens_per_turn "
  .. "tool_call_latency_sec max_model_len" }
local of_trace = keys.of { read = "file format" }
local of_stage = { concurrent = keys.of { read = "num_requests concurrency_level", lost = "rate duration" },
  constant = keys.of { read = "rate duration", refused = "num_requests concurrency_level" } }
of_stage.poisson, of_stage.trace_replay = of_stage.constant, of_stage.constant
local top = keys.of { none = "tokenizer metrics report storage", lost = "circuit_breakers" }
top.load = keys.of { read = "type interval stages num_workers worker_max_concurrency trace", refused = "sweep",
  none = "worker_max_tcp_connections base_seed", lost = "circuit_breakers request_timeout lora_traffic_split" }
top.data = keys.of { read = "type input_distribution output_distribution shared_prefix conversation_replay multimodal "
  .. "trace", none = "path corpus_file_path use_chat_template", refused = "otel_trace_replay weka_trace_replay "
  .. "visionarena" }
top.api = keys.of { none = "type streaming headers slo_unit slo_tpot_header slo_ttft_header", lost = "response_format" }
top.server = keys.of { read = "ignore_eos", none = "type model_name base_url api_key cert_path key_path" }

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

--- The first turns of chats of a file that is elsewhere.
function data_of.shareGPT(own, _, about)
  about.prompt_tokens, about.output_tokens = loads.sharegpt(own.told)
end

--- Conversations of one stage; of one turn each they are prompts that begin alike.
function data_of.conversation_replay(own, data, about, wanted)
  local path = "data.conversation_replay"
  local map = section(own, data.conversation_replay, path, conversation)
  local function length(name, default)
    return (length_of(own, map[name] or default, path .. "." .. name))
  end
  about.turns = length("turns_per_conversation", 1)
  about.prompt_tokens, about.output_tokens = length("input_tokens_per_turn", 512), length("output_tokens_per_turn", 256)
  about.prefix_tokens = whole(path, map, "shared_system_prompt_len", 0) or 8359
  about.groups, about.prompts_per_group = 1, whole(path, map, "num_conversations", 1) or 200
  local document = map.dynamic_system_prompt_len and length "dynamic_system_prompt_len" or 0
  if about.turns == 1 and document == 0 then
    about.turns = nil
    return
  end
  local number = tonumber(wanted) or not wanted and #about.stages == 1 and 1
  local stage = about.stages[number]
  if not stage then
    fail("load.stages: %d stages of conversations: name one by its number, as in FILE#%d", #about.stages,
      #about.stages)
  end
  about.stages, about.clients, about.count = nil, stage.clients, stage.requests
  about.conversations, about.private_tokens = about.prompts_per_group, document
  about.pause_s = map.tool_call_latency_sec and length "tool_call_latency_sec" or nil
  about.max_context_tokens = whole(path, map, "max_model_len", 1)
end

--- The recorded requests of a file, at their times.
local function of_recording(own, load, data)
  local times, prompts = load.trace or {}, data.trace or load.trace or {}
  times, prompts = section(own, times, "load.trace", of_trace), section(own, prompts, "data.trace", of_trace)
  if times.file ~= prompts.file then fail "data.trace.file: lengths of another file than load.trace are not read" end
  return loads.trace(times.file, "load.trace.file", { format = "azure" })
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
---@param wanted string? number of a stage
---@return table workload
function inference_perf.workload(document, told, wanted)
  local own = { lost = {}, unknown = {}, told = told }
  local all = section(own, document, nil, top)
  local load, data = all.load or {}, all.data or {}
  load.type = load.type or "constant"
  if load.type == "trace_session_replay" then
    fail "load.type: trace_session_replay: sessions of a recording, which is not read: give them as a workload"
  end
  if not of_stage[load.type] then
    fail("load.type: expected constant, poisson, concurrent or trace_replay, found %s", core.describe(load.type))
  end
  local is_recording = load.type == "trace_replay"
  if not is_recording and not data_of[data.type] then
    fail("data.type: expected %s, found %s: its lengths are not in the file",
      core.join(core.sorted_keys(data_of), ", "), core.describe(data.type))
  end
  if wanted and data.type ~= "conversation_replay" then
    fail("#%s: only a list of rows or stages of conversations has numbers", wanted)
  end
  local about = { arrivals = load.type == "poisson" and "poisson" or "constant",
    gap_s = fields.number("load", load, "interval") or 1 }
  local images
  if not is_recording then
    add_stages(own, load, about)
    data_of[data.type](own, data, about, wanted)
    images = data.multimodal and media.of(own, data.multimodal)
  end
  if all.server and all.server.ignore_eos == false then table.insert(own.lost, "server.ignore_eos: false") end
  loads.tell(told, "not followed, and changes the load", own.lost)
  loads.tell(told, "not known, and nothing follows from it", own.unknown)
  told[#told + 1] = about.told
  if is_recording then return of_recording(own, load, data) end
  return loads.with_images(loads.of(about, told), images)
end

return inference_perf
