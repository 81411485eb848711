-- What of links, their paths and nodes changes nothing in a scenario.
local core = require "rooflua.base.core"
local paths = require "rooflua.serving.links"

local unused_links = {}

local function group(given)
  return type(given) == "table" and core.plain(given) or {}
end

--- Names that a path lists, as a set.
local function names_of(path)
  local out = {}
  for _, name in ipairs(group(path)) do
    if type(name) == "string" then out[name] = true end
  end
  return out
end

--- Whether a prefill and a decode replica share a node.
local function meet_on_a_node(replicas)
  local roles = {}
  for _, each in ipairs(group(replicas)) do
    local own = group(each)
    if own.node ~= nil and own.role then
      roles[own.node] = roles[own.node] or {}
      roles[own.node][own.role] = true
    end
  end
  for _, found in pairs(roles) do
    if found.prefill and found.decode then return true end
  end
  return false
end

--- Whether a link of nodes is among these names.
local function has_link_of_nodes(links, names)
  for name in pairs(names) do
    local link = group(links[name])
    if links[name] ~= nil and (link.per == nil or link.per == "node") then return true end
  end
  return false
end

--- Names of the links that content of stores takes, as a set; and whether a store is one of a node.
local function of_stores(given)
  local out, of_node = {}, false
  for _, each in ipairs(group(group(given.tiers).stores)) do
    local store = group(each)
    if paths.is_to_host(store) then out[paths.to_host] = true end
    for _, path in ipairs { group(store.read), group(store.write), group(store.peers) } do
      for name in pairs(names_of(path)) do out[name] = true end
    end
    of_node = of_node or store.per == "node"
  end
  return out, of_node
end

--- Adds peers of stores where there is one replica.
local function add_peers(given, out)
  if given.replicas ~= nil and given.replicas ~= 1 then return end
  for i, each in ipairs(group(group(given.tiers).stores)) do
    if group(each).peers ~= nil then
      out[#out + 1] = { ("tiers.stores[%d].peers"):format(i), "there is one replica" }
    end
  end
end

--- Adds {key path, why} of links that no transfer takes, of links within a node where no KV stays on one, of nodes that
--- decide nothing, and of peers that there are none of.
---@param no_kv string? why no KV is sent
function unused_links.add(given, no_kv, out)
  local links, network = group(given.links), group(given.network)
  local path, within = names_of(network.path), names_of(network.within)
  local stores, store_of_node = of_stores(given)
  local meet = meet_on_a_node(given.replicas)
  for name in core.sorted_pairs(links) do
    if not stores[name] and (no_kv or not path[name] and not within[name]) then
      local why = given.tiers == nil and (no_kv or "network.path does not name it")
        or no_kv and "no store names it" or "neither network.path nor a store names it"
      out[#out + 1] = { "links." .. tostring(name), why }
    end
  end
  if next(within) and not no_kv and not meet then
    out[#out + 1] = { "network.within", "no prefill replica is on the node of a decode replica" }
  end
  add_peers(given, out)
  if has_link_of_nodes(links, path) or has_link_of_nodes(links, stores) or store_of_node or next(within) and meet then
    return
  end
  for i, each in ipairs(group(given.replicas)) do
    if group(each).node ~= nil then
      out[#out + 1] = { ("replicas[%d].node"):format(i), next(path) and "no link on network.path is of nodes"
        or next(stores) and "no link of a store is of nodes" or "nothing goes over links" }
    end
  end
end

return unused_links
