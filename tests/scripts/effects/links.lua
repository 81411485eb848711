-- Keys of what goes from replica to replica: what scenes.lua has of them.
local function split(more)
  local out = { replicas = { { role = "prefill", count = 2, node = 1 }, { role = "decode", count = 2, node = 2 } } }
  for key, value in pairs(more) do out[key] = value end
  return out
end

--- Two links on the path, one of which several transfers fill.
local function over_links()
  return split { network = { path = { "nic", "switch" } },
    links = { nic = { bytes_per_s = 2e9 }, switch = { bytes_per_s = 3e9, per = "cluster" },
      idle = { bytes_per_s = 1e8 } } }
end

--- Conversations whose prompts decode replicas have cached from the second turn on.
local function conversations(decider)
  return split { router = "prefix_affinity", network = { bytes_per_s = 1e10 },
    replicas = { { role = "prefill" }, { role = "decode", count = 2 } },
    scheduler = require "schedulers.vllm_v1" { max_num_batched_tokens = 512 },
    disaggregation = { order = "decode_first", decider = decider },
    workload = require "workloads.conversations" { conversations = 10, clients = 6, num_requests = 50, turns = 4,
      private_tokens = 2500, prompt_tokens = { distribution = "uniform", min = 20, max = 1500 }, output_tokens = 20 } }
end

local links = {}

--- Scenes of a decider.
function links.deciders(served)
  return { function(one) return served(conversations(one)) end }
end

--- Values to try of parameters, and others that they need.
function links.declare(effects, priced)
  local function between(hardware, tp)
    return function(one)
      return priced { model = "llama-3.1-8b", hardware = hardware, deployment = { tp = tp }, corrections = { one } }
    end
  end
  effects.own["corrections.network"] = { between("h100-sxm", 16), between("gb10", 2) }
  effects.own["corrections.host_bus"] = { between("a40", 2), between("rtx-4090", 2) }
  effects.needs["candidates.ladder.prefill_tp"] = { split = "only", tp = { 2 } }
  effects.values["candidates.ladder.prefill_tp"] = { { 1 } }
  effects.values["candidates.ladder.prefill_dp"], effects.values["candidates.ladder.prefill_ep"] = { { 2 } }, { { 2 } }
  effects.values["deciders.uncached.uncached_tokens"] = { 1, 1000 }
  effects.values["deciders.prefill_load.prefill_busy_threshold"] = { 0, 0.1, 1e9 }
end

function links.add(add, served)
  add(function() return served(conversations()) end, { ["disaggregation.decider"] = { "isl_bounding" },
    ["disaggregation.order"] = { "prefill_first" }, ["disaggregation.push"] = { "chunks", "layers" } })
  add(function()
    return served(split { deployment = { kv_blocks = 450 }, disaggregation = {}, router = "least_outstanding" })
  end, { ["disaggregation.lease_s"] = { 0.01 } })
  add(function()
    return served { model = "deepseek-v3", deployment = { tp = 8 }, replicas = { { role = "prefill" },
      { role = "decode" } } }
  end, { ["network.copies"] = { "ranks" } })
  add(function() return served { replicas = { { role = "prefill" }, { role = "decode" } } } end,
    { ["network.alpha_s"] = { 0.01 }, ["network.bytes_per_s"] = { 1e9 }, ["network.bytes_per_token"] = { 1e6 } })
  add(function() return served(over_links()) end, {
    ["network.path"] = { { "switch" }, { "idle" } }, ["links.nic.bytes_per_s"] = { 1e8 },
    ["links.nic.alpha_s"] = { 0.01 }, ["links.nic.per"] = { "replica", "cluster" },
    ["links.nic.streams"] = { 1 } })
  add(function()
    local given = over_links()
    given.replicas = { { role = "prefill", node = 1 }, { role = "decode", node = 1 } }
    return served(given)
  end, { ["network.within"] = { { "idle" } } })
  add(function() -- KV leaves and enters each node
    return served(split { network = { path = { "nic" } }, links = { nic = { bytes_per_s = 1e8 } },
      replicas = { { role = "prefill", node = 1 }, { role = "decode", node = 2 }, { role = "prefill", node = 2 },
        { role = "decode", node = 1 } } })
  end, { ["links.nic.duplex"] = { false } })
end

return links
