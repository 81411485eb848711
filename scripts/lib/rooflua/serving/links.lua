-- Links that transfers share, as the engine gets them (engine/serve/links).
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local schema = require "rooflua.scenario.schema"

local links = {}

--- The link between the GPUs of a replica and their host: what stores of a replica take that name no other.
links.to_host = "pcie"

--- Whether a store is one of a replica and names no links.
function links.is_to_host(store)
  return store.read == nil and store.write == nil and (store.per or "replica") == "replica"
end

--- The declared links, by name: a list of {name, bytes_per_s, alpha_s, per, duplex, streams}.
function links.of(reader, given)
  local out = {}
  for i, each in ipairs(schema.check_named(reader, "links", given)) do
    local inside = reader:child("links"):child(each.name)
    if each.group.bytes_per_s == nil then inside:fail("bytes_per_s", "is missing; for example 50e9") end
    if each.group.bytes_per_s == 0 then inside:fail("bytes_per_s", "found 0; a bandwidth above 0 is right") end
    if each.group.per == "cluster" and each.group.duplex ~= nil then
      inside:fail("duplex", "a link of the cluster is one wire; leave it out, or say per = \"node\"")
    end
    out[i] = core.copy(each.group, { name = each.name })
  end
  return out
end

--- Names of links, checked: the list `given` at a key.
---@param reader table at the group of the key
---@param declared table what links.of returned
function links.names(reader, key, given, declared)
  local names, known = {}, {}
  if given == nil then return {} end
  if type(given) ~= "table" then
    reader:fail(key, "expected a list of names of links, found %s", core.describe(given))
  end
  for i, each in ipairs(declared) do known[i] = each.name end
  for i, name in ipairs(core.plain(given)) do
    local where = ("%s[%d]"):format(key, i)
    if type(name) ~= "string" then
      reader:fail(where, "expected the name of a link, found %s", core.describe(name))
    end
    if not core.is_among(name, known) then
      reader:fail(where, "%s", #known == 0 and "there are no `links`" or native.unknown_name("link", name, known))
    end
    names[i] = name
  end
  if #names == 0 then reader:fail(key, "names no link; leave it out, or name one") end
  return names
end

--- A path of the network.
---@param key "path"|"within"
function links.path(reader, network, key, declared)
  return links.names(reader:child "network", key, network[key], declared)
end

return links
