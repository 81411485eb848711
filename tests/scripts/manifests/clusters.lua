-- Clusters at random that a form can hold, and what of them a file must say.
local catalogue = require "rooflua.engines.catalogue"
local cluster = require "rooflua.manifests.cluster"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local secrets = require "rooflua.text.secrets"
local drawn = dofile "tests/scripts/launch/drawn.lua"

local clusters = {}

local random = drawn.random
local gpus = { "h100-sxm", "h200-sxm", "b200", "l40s", "mi300x", "a100-sxm-80gb", false }
local one_machine = core.set { "kubernetes", "kserve", "compose" }
local routers = { dynamo = "dynamo_kv", kserve = "llm_d" }

--- What a drawn option may not be: a width, as GPUs follow from it; a role; a secret.
local function is_left_out(option)
  local name = (option.key or ""):match "^deployment%.(%a+)$"
  return name == "tp" or name == "pp" or name == "dp" or name == "ep" or option.name:find "^kv_transfer_config"
    or option.name == "disaggregation_mode" or option.encodes or secrets.is_named(option.name)
    or secrets.is_named((option.flag or ""):gsub("^%-%-", ""))
end

local function set_width(engine, options, width, value)
  for _, option in ipairs(engine.options) do
    if option.key == "deployment." .. width and option.flag and option.type == "integer" and value > 1 then
      options[option.name] = value
      return true
    end
  end
end

local function part_of(engine, version, model, gpu, role, is_wide)
  local out = drawn.drawn(engine, version, random(10) == 0 and 0.3 or 0.03)
  for _, option in ipairs(engine.options) do
    if is_left_out(option) then out.options[option.name] = nil end
  end
  set_width(engine, out.options, "tp", 2 ^ random(4))
  out.nodes = is_wide and random(3) == 0 and set_width(engine, out.options, "pp", 2) and 2 or 1
  out.model, out.gpu, out.role, out.count = model, gpu or nil, role, random(4) + 1
  out.gpus = cluster.gpus(out) / out.nodes
  return out
end

--- {parts, router, gpu} of a form.
function clusters.drawn(form)
  local engine = catalogue.of(({ "vllm", "sglang", "trtllm" })[random(3) + 1])
  local version = engine.releases[random(#engine.releases) + 1].name
  local model, gpu = drawn.names[random(#drawn.names) + 1], gpus[random(#gpus) + 1] or nil
  local parts, is_wide = {}, not one_machine[form]
  for _, role in ipairs(random(3) == 0 and { "prefill", "decode" } or { false }) do
    parts[#parts + 1] = part_of(engine, version, model, gpu, role or nil, is_wide)
  end
  return { parts = parts, gpu = gpu, router = routers[form] and random(2) == 0 and routers[form] or nil }
end

--- What two clusters have to have in common, as text.
function clusters.text(engines, router)
  local out = {}
  for i, each in ipairs(engines) do
    out[i] = json.encode { each.role or "both", each.engine.name, each.release, each.model, each.count, each.gpus,
      each.nodes, each.gpu or "no GPU", cluster.options_text(each.options) }
  end
  table.sort(out)
  return table.concat(out, "\n") .. "\nrouter " .. tostring(router)
end

return clusters
