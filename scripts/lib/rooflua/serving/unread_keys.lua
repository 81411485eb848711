-- The keys of a scenario that nothing reads, and parameters of policies that change nothing, as a list of {path, why,
-- what}. They are no errors, because `--set kind=` or another list of replicas may need them.
local core = require "rooflua.base.core"
local encoders = require "rooflua.serving.encoders" -- whose embeddings go over the network
local idle = require "rooflua.scenario.idle"
local schema = require "rooflua.scenario.schema"
local unused_links = require "rooflua.serving.unused_links"

local unread_keys = {}

--- Whether every replica of a list says this key itself.
local function all_replicas_say(replicas, key)
  if type(replicas) ~= "table" or #core.plain(replicas) == 0 then return false end
  for _, each in ipairs(core.plain(replicas)) do
    if type(each) ~= "table" or core.plain(each)[key] == nil then return false end
  end
  return true
end

local function has_roles(replicas)
  if type(replicas) ~= "table" then return false end
  for _, each in ipairs(core.plain(replicas)) do
    local role = type(each) == "table" and core.plain(each).role
    if role and role ~= "both" then return true end
  end
  return false
end

local no_kv_sent = "no replica has the role prefill or decode, so no KV is sent"

--- Why nothing reads a key of the top in a scenario of this kind; nil where something does.
local function unread_because(given, kind, entry)
  if not entry.kinds[kind] then return ('kind "%s" does not read it'):format(kind) end
  local is_of_split = entry.name == "network" or entry.name == "disaggregation"
  local sends = has_roles(given.replicas) or entry.name == "network" and encoders.are_in(given.replicas)
  if is_of_split and not sends then return no_kv_sent end
  if schema.entry("replicas[]." .. entry.name) and all_replicas_say(given.replicas, entry.name) then
    return "every entry of `replicas` has its own"
  end
end

function unread_keys.of(given, kind)
  local out = {}
  for _, entry in ipairs(schema.fields()) do
    local value, why = given[entry.name], nil
    if value ~= nil then why = unread_because(given, kind, entry) end
    if why then
      out[#out + 1] = { entry.name, why }
    elseif value ~= nil and entry.fields and type(value) == "table" and entry.type == "table" and not entry.named then
      for _, field in ipairs(entry.fields) do
        if core.plain(value)[field.name] ~= nil and not field.kinds[kind] then
          out[#out + 1] = { field.path, ('kind "%s" does not read it'):format(kind) }
        end
      end
    end
  end
  if schema.entry("links").kinds[kind] then
    local sends = has_roles(given.replicas) or encoders.are_in(given.replicas)
    unused_links.add(given, not sends and no_kv_sent or nil, out)
  end
  for _, each in ipairs(idle.of(given)) do out[#out + 1] = each end
  return out
end

return unread_keys
