-- Keys of what goes from replica to replica: what effects_scenes.lua has of them.
local function apart(more)
  local out = { replicas = { { role = "prefill", count = 2, node = 1 }, { role = "decode", count = 2, node = 2 } } }
  for key, value in pairs(more) do out[key] = value end
  return out
end

--- Two links on the path, one of which several transfers fill.
local function over_links()
  return apart { network = { path = { "nic", "switch" } },
    links = { nic = { bytes_per_s = 2e9 }, switch = { bytes_per_s = 3e9, per = "cluster" },
      idle = { bytes_per_s = 1e8 } } }
end

return function(add, served)
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
    return served(apart { network = { path = { "nic" } }, links = { nic = { bytes_per_s = 1e8 } },
      replicas = { { role = "prefill", node = 1 }, { role = "decode", node = 2 }, { role = "prefill", node = 2 },
        { role = "decode", node = 1 } } })
  end, { ["links.nic.duplex"] = { false } })
end
