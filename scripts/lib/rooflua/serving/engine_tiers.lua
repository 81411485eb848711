-- Which tiers a scenario has: those of its key `tiers`, or those that options of its engines stand for.
local core = require "rooflua.base.core"
local engine_tiers = require "rooflua.applied.tiers"
local json = require "rooflua.json"
local policy = require "rooflua.policy"

local chosen = {}

--- Tiers as a text: equal ones are equal.
local function text_of(own)
  return json.encode { policy = own.policy.name, parameters = policy.parameters(own.policy), stores = own.stores,
    overlap = own.overlap }
end

--- Adds sentences to the notes on a replica's engine.
function chosen.tell(replica, sentences)
  if #sentences == 0 then return end
  local notes, seen = core.copy(replica.prepared.engine_notes), {}
  for _, each in ipairs(notes) do seen[each] = true end
  for _, each in ipairs(sentences) do
    if not seen[each] then notes[#notes + 1] = each end
  end
  replica.prepared.engine_notes = notes
end

--- The key `tiers`, of the scenario or of its engines; nil where neither says any.
---@param list table of replicas.of
function chosen.chosen(reader, given, list)
  local out, text, place
  for i, replica in ipairs(list) do
    local prepared = replica.prepared
    if replica.config.role ~= "decode" and (replica.rank or 1) == 1 then
      local own, sentences, names = engine_tiers.of(reader, prepared.served, prepared.model, replica.deployment,
        replica.config)
      if own and given ~= nil then
        reader:fail("engine", "%s: the scenario states tiers as well; give one of them", names)
      end
      local now = own and text_of(own) or ""
      if place and now ~= text then
        reader:fail("engine", "options of replica %d and replica %d keep KV in different stores; say `tiers`", place, i)
      end
      if own and given == nil then
        sentences = core.copy(sentences)
        table.insert(sentences, 1, ("%s: KV is kept in %s; tiers.%s"):format(names, engine_tiers.text(
          engine_tiers.rows(own.stores, prepared.model, replica.deployment, nil, own.policy.chunk_tokens)),
          own.policy.name))
      end
      chosen.tell(replica, sentences)
      out, text, place = own, now, i
    end
  end
  if given ~= nil then return given end
  return out
end

return chosen
