-- What a running server says of itself: vllm:cache_config_info of /metrics, SGLang's /get_server_info, /v1/models, and
-- the plan that vLLM keeps of an earlier start. Each is a record as log.lua gives it.
local core = require "rooflua.base.core"
local catalogue = require "rooflua.engines.catalogue"
local json = require "rooflua.json"
local secrets = require "rooflua.startup.secrets"

local servers = {}

local gib = 2 ^ 30

local function fresh(form, engine, file)
  return { form = form, engine = engine, file = file, facts = {}, named = {}, is_named = {}, warnings = {}, told = {},
    read = {}, unread = {}, count = 0, understood = 0, not_understood = 0, later = 0 }
end

local function put(record, name, value, rank, line)
  record.facts[name] = record.facts[name] or {}
  record.facts[name][rank or ""] = { value = value, line = line }
end

local function name_option(record, name, value, line)
  if value == json.null or value == nil or record.is_named[name] then return end
  if secrets.is_named(name) then value = secrets.mask end
  record.is_named[name] = true
  local is_text = type(value) == "string" or type(value) == "boolean"
  record.named[#record.named + 1] = { name, is_text and tostring(value) or json.encode(value), line = line }
end

local function whole(value)
  local number = tonumber(value)
  return number and number % 1 == 0 and number >= 0 and number < 2 ^ 53 and number or nil
end

-- /metrics ------------------------------------------------------------------------------------------------------------

local sample = "^vllm:cache_config_info(%b{})%s+[%d.eE+]+"

--- Labels of the sample that are options of vLLM. Source: vllm/v1/metrics/loggers.py, log_metrics_info: the fields of
--- vllm/config/cache.py.
local of_labels = { "block_size", "gpu_memory_utilization", "enable_prefix_caching", "num_gpu_blocks_override",
  "cpu_offload_gb", "swap_space", "kv_cache_memory_bytes" }

function servers.tells_metrics(text) return ("\n" .. text):find "\nvllm:cache_config_info{" ~= nil end

local function read_sample(record, text, number)
  local labels = {}
  for name, value in text:gmatch '([%a_][%w_]*)="([^"\\]*)"' do labels[name] = value end
  local rank = labels.engine and "engine " .. labels.engine or ""
  for name, fact in pairs { num_gpu_blocks = "kv_blocks", block_size = "block_size", kv_cache_size_tokens = "kv_tokens" } do
    local value = whole(labels[name])
    if value then put(record, fact, value, rank, number) end
  end
  local concurrency = tonumber(labels.kv_cache_max_concurrency)
  if concurrency then put(record, "concurrency", concurrency, rank, number) end
  if labels.cache_dtype and labels.cache_dtype ~= "auto" then
    name_option(record, "kv_cache_dtype", labels.cache_dtype, number)
  end
  for _, name in ipairs(of_labels) do
    local value = labels[name]
    if value and value ~= "None" then
      value = ({ True = "true", False = "false" })[value] or value
      name_option(record, name, value, number)
    end
  end
end

function servers.metrics(file, text)
  local record, number = fresh("metrics", catalogue.of "vllm", file), 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    local labels = line:match(sample)
    if labels then
      read_sample(record, labels, number)
      record.understood = record.understood + 1
      record.read[#record.read + 1] = { line = number, means = "the KV cache of a running vLLM",
        text = line:sub(1, 200) }
    elseif line ~= "" and line:sub(1, 1) ~= "#" then
      local model = line:match '^vllm:num_requests_running{[^}]*model_name="([^"\\]+)"'
      if model then put(record, "model", model, "", number) end
      record.later = record.later + 1
    end
  end
  record.count = number - 1
  return record
end

-- JSON ----------------------------------------------------------------------------------------------------------------

local function is_text(value) return type(value) == "string" and value ~= "" end

--- Members of SGLang's answer that are no options of its command. Source: python/sglang/srt/entrypoints/http_server.py,
--- get_server_info: the fields of ServerArgs, of the scheduler, internal_states and version.
local function read_server_info(record, document)
  for name, value in core.sorted_pairs(document) do
    if name == "version" then
      if is_text(value) then put(record, "release", value) end
    elseif name == "internal_states" or name == "status" then
      record.later = record.later + 1
    elseif name == "max_total_num_tokens" then
      if whole(value) then put(record, "kv_tokens", value) end
    elseif name == "max_req_input_len" then
      record.later = record.later + 1
    else
      name_option(record, name, value)
    end
  end
  local states = type(document.internal_states) == "table" and document.internal_states or {}
  for i, state in ipairs(states) do
    local memory = type(state) == "table" and type(state.memory_usage) == "table" and state.memory_usage or {}
    local rank = ("DP%d"):format(i - 1)
    for name, fact in pairs { weight = "weights_gib", kvcache = "kv_gib", cuda_graph = "graphs_gib",
      graph = "graphs_gib" } do
      if type(memory[name]) == "number" then put(record, fact, memory[name], rank) end
    end
    if whole(memory.token_capacity) then put(record, "kv_tokens", memory.token_capacity, rank) end
    if type(state) == "table" and whole(state.effective_max_running_requests_per_dp) then
      put(record, "running_requests", state.effective_max_running_requests_per_dp, rank)
    end
  end
  record.is_whole = true
end

local function read_plan(record, document)
  put(record, "kv_gib", document.kv_cache_memory_bytes / gib)
  if type(document.free_memory_baseline) == "number" then put(record, "free_gib", document.free_memory_baseline / gib) end
end

local function read_models(record, document)
  local first = document.data[1]
  put(record, "model", is_text(first.root) and first.root or first.id)
  if whole(first.max_model_len) then put(record, "max_model_len", first.max_model_len) end
end

--- Documents: {form, what, engine or a function of the document, tells, read}.
local documents = {
  { form = "server_info", engine = "sglang", means = "/get_server_info of SGLang", read = read_server_info,
    tells = function(d) return is_text(d.model_path) and (d.mem_fraction_static ~= nil or d.internal_states ~= nil) end },
  { form = "startup_plan", engine = "vllm", means = "the plan that vLLM keeps of an earlier start", read = read_plan,
    tells = function(d) return type(d.kv_cache_memory_bytes) == "number" and is_text(d.fingerprint) end },
  { form = "models", engine = "vllm", means = "/v1/models of vLLM", read = read_models,
    tells = function(d)
      local first = d.object == "list" and type(d.data) == "table" and d.data[1]
      return type(first) == "table" and first.owned_by == "vllm" and is_text(first.id)
    end },
}

--- The record of a document; nil where it is none of these.
function servers.document(file, document)
  if type(document) ~= "table" then return nil end
  for _, each in ipairs(documents) do
    if each.tells(document) then
      local record = fresh(each.form, catalogue.of(each.engine), file)
      each.read(record, document)
      record.count, record.understood = 1, 1
      record.read[1] = { line = 1, means = each.means, text = "" }
      return record
    end
  end
end

return servers
