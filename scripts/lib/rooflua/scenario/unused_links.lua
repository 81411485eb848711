-- What of links, their paths and nodes changes nothing in a scenario.
local core = require "rooflua.base.core"

local unused_links = {}

local function group(given)
  return type(given) == "table" and core.plain(given) or {}
end

--- Names that a path lists, as a set.
local function names_of(path)
  local out = {}
  for _, name in ipairs(group(path)) do out[name] = true end
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

--- Whether a link of nodes is on the path.
local function has_link_of_nodes(links, path)
  for name in pairs(path) do
    local link = group(links[name])
    if link.per == nil or link.per == "node" then return true end
  end
  return false
end

--- Adds {key path, why} of links that no transfer takes, of links within a node where no KV stays on one, and of nodes
--- that decide nothing.
---@param no_kv string? why no KV is sent
function unused_links.add(given, no_kv, out)
  local links, network = group(given.links), group(given.network)
  local path, within = names_of(network.path), names_of(network.within)
  local meet = meet_on_a_node(given.replicas)
  for name in core.sorted_pairs(links) do
    if no_kv or not path[name] and not within[name] then
      out[#out + 1] = { "links." .. tostring(name), no_kv or "network.path does not name it" }
    end
  end
  if next(within) and not no_kv and not meet then
    out[#out + 1] = { "network.within", "no prefill replica is on the node of a decode replica" }
  end
  if has_link_of_nodes(links, path) or next(within) and meet then return end
  for i, each in ipairs(group(given.replicas)) do
    if group(each).node ~= nil then
      out[#out + 1] = { ("replicas[%d].node"):format(i), next(path) and "no link on network.path is of nodes"
        or "nothing goes over links" }
    end
  end
end

return unused_links
