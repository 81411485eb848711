-- Scenes of clients and faults: what scenes.lua has of them.
local clients = {}

--- A replica that is short of seats, so that requests wait.
function clients.scenes(served)
  return { function(one) return served { client = one, deployment = { max_num_seqs = 4, kv_blocks = 900 } } end }
end

--- Three replicas, one of which is lost again and again.
local function losing(served, faults, client)
  return served { client = client, faults = faults, replicas = 3, router = "least_outstanding" }
end

--- Prefill and decode split, over one of two links.
local function behind_link(served, faults)
  return served { faults = faults, links = { nic = { bytes_per_s = 2e9 }, other = { bytes_per_s = 1e9 } },
    network = { path = { "nic", "other" } },
    replicas = { { role = "prefill", node = 1 }, { role = "decode", node = 2 } } }
end

function clients.faults(served)
  return { function(one) return losing(served, one) end }
end

--- Values to try of parameters, and others that they need.
function clients.declare(effects, served)
  local retries = { first_token_s = 0, total_s = 1, retries = 4, delay_s = 0.1, factor = 3, most_s = 0.5, jitter = 0.2 }
  for _, name in ipairs { "retries", "delay_s", "factor", "most_s", "jitter", "total_s" } do
    effects.needs["clients.impatient." .. name] = retries
  end
  effects.needs["clients.impatient"] = { first_token_s = 0.5 }
  effects.needs["clients.openai"] = { timeout_s = 0.7, max_retries = 6, max_delay_s = 1 }
  effects.values["clients.openai.max_delay_s"] = { 0.2 }
  effects.own["clients.migrating"] = { function(one)
    return losing(served, require "faults.exponential" { mtbf_s = 0.5, repair_s = 0.05 }, one)
  end }
  effects.values["clients.migrating.max_tokens"] = { 100, 1000 }
  local list = { { time_s = 0.4, replica = 2, repair_s = 1 }, { time_s = 0.6, replica = 1, factor = 3, for_s = 1 } }
  effects.needs["faults.scripted"] = { list = list, detect_s = 0.4 }
  effects.values["faults.scripted.list"] = { { list[1] }, { list[2] } }
  effects.needs["faults.exponential"] = { mtbf_s = 0.5, repair_s = 0.1, detect_s = 0.05 }
  effects.own["faults.links"] = { function(one) return behind_link(served, one) end }
  effects.needs["faults.links"] = { every_s = 0.5, for_s = 0.4, timeout_s = 0.1 }
  effects.needs["faults.links.link"] = { every_s = 0.5, for_s = 0.4, factor = 0.3 } -- two that stand still are alike
  effects.values["faults.links.link"] = { "other" }
  effects.values["faults.links.kv_load_failure_policy"] = { "recompute" }
  for _, name in ipairs { "timeout_s", "kv_load_failure_policy" } do
    effects.own["faults.scripted." .. name] = effects.own["faults.links"]
    effects.needs["faults.scripted." .. name] = { timeout_s = 0.1,
      list = { { time_s = 0.3, link = "nic", factor = 0, for_s = 1 } } }
  end
  effects.needs["faults.stragglers"] = { share = 0.3, every_s = 0.1, for_s = 0.2 }
end

return clients
