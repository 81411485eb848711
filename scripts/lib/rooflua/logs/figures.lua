-- What a start-up log says of a deployment: the ledger's numbers (applied/ledger.lua) by name, and what went wrong.
local application = require "rooflua.applied.application"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local python = require "rooflua.logs.python"
local release = require "rooflua.engines.release"

local figures = {}

local dtypes = { bf16 = "bfloat16", fp16 = "float16", fp32 = "float32" }

--- Durations that nothing of a deployment says: bytes of weights read in a second, and seconds of other steps.
local pace = { weight_bytes_per_s = 2e9, begin_s = 2, compile_s = 20, profile_s = 4, capture_s = 10, serve_s = 2 }

--- "Qwen3MoeForCausalLM" of "qwen3_moe", the word of config.json (model_type); nil where it is not known.
local function class_of(model)
  if model.family == "" then return nil end
  return python.class(model.family:gsub("_text$", "") .. "ForCausalLM")
end

--- Options that the deployment names, by name: those of `engine`, and those whose keys the scenario states.
function figures.stated(found, given, chosen)
  local resolved, out = found.facts.resolved, core.copy(chosen.options)
  for name, value in pairs(resolved.stated or {}) do
    local option = resolved.engine.option[name]
    local is_named = option and option.key and application.stated_at(given, option.key) ~= nil
    if out[name] == nil and is_named and release.holds(option, resolved.release) then out[name] = value end
  end
  local deployment = type(given.deployment) == "table" and core.plain(given.deployment) or {}
  for _, option in ipairs(resolved.engine.options) do
    if release.holds(option, resolved.release) and out[option.name] == nil then
      if option.key == "deployment.ep" and option.type == "switch" and (deployment.ep or 1) > 1 then
        out[option.name] = true
      elseif option.key == "deployment.kv" and deployment.kv ~= nil then
        out[option.name] = resolved.engine.kv_names[deployment.kv]
      end
    end
  end
  return out
end

local function parts_of(found)
  local out = {}
  for _, each in ipairs(found.parts) do out[each.name] = each.bytes end
  return out
end

--- Why it does not start, as names of which one is true.
local function add_errors(out, found)
  local is_unspoken = found.lacks_experts or found.lacks == "kernels"
  out.starts, out.error_unspoken = found.starts, is_unspoken
  if found.starts or is_unspoken then return end
  out.oom = found.lacks == "memory" and out.weights + out.runtime >= out.total
  out.error_memory = found.lacks == "memory" and not out.oom
  for _, name in ipairs { "length", "scheduler", "seats" } do out["error_" .. name] = found.lacks == name end
end

--- What PyTorch says where weights do not fit: whole layers are loaded until one does not.
local function add_out_of_memory(out, model)
  local layer = out.weights / model.layers
  out.free_last = (out.total - out.runtime) % layer
  out.tried = layer
end

--- Figures by name; bytes are of one GPU, that with the least room.
--- @param found table of ledger.of
--- @param given table the scenario, or what `rooflua capacity` is asked
--- @param stated table of figures.stated
function figures.of(found, given, stated)
  local facts, parts = found.facts, parts_of(found)
  local model, engine = facts.model, facts.engine
  local out = { release = facts.release:gsub("^(%d+%.%d+)$", "%1.0"), engine = engine.name, layers = model.layers,
    model = type(given.model) == "string" and given.model or model.name, class = class_of(model),
    dtype = dtypes[model.dtype] or model.dtype, kv_format = facts.counts.kv, weight_format = facts.counts.weights,
    total = facts.hardware.usable_memory_bytes, budget = found.budget_bytes, share = facts.share,
    weights = parts.weights, activations = parts.activations or 0, runtime = parts["non-torch"],
    graph_bytes = parts.graphs or 0, captured = found.captured_bytes, state_bytes = parts.states or 0,
    kv = found.kv_bytes, cell = found.cell or 0,
    tokens = found.tokens, block_bytes = found.block_bytes, blocks = found.blocks,
    block_size = found.block_size, concurrency = found.concurrency,
    max_model_len = facts.max_model_len, longest = found.longest_tokens, request = found.request_bytes,
    state_blocks = found.state_blocks, running = found.running_requests, slots = found.slots,
    seats = facts.seats, step_tokens = facts.budget, chunk = facts.chunk, largest_graph = facts.largest_graph,
    graphs = not facts.eager, latent = model.mla ~= nil, prefix_caching = facts.prefix_caching,
    tp = facts.tp, pp = facts.pp, dp = facts.dp, ep = facts.ep, cp = facts.cp, dcp = facts.dcp,
    world = facts.tp * facts.pp * facts.cp, port = stated.port or engine.port,
    host = stated.host or catalogue.said(engine, "log").host }
  local served = stated.served_model_name
  out.served = type(served) == "table" and core.plain(served)[1] or served or out.model
  out.several = out.world > 1
  for name, value in pairs(pace) do out[name] = value end
  out.load_s = out.weights / pace.weight_bytes_per_s
  add_errors(out, found)
  add_out_of_memory(out, model)
  return out
end

return figures
