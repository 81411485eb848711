--- Engines in turn, for routers that choose among the ranks of one engine. Ranks that step together are an engine.
--- Where all replicas step alone, they are taken as the ranks of one: copies of a dense model behind one front-end.
local members = require "routers.gateways.members"
local turn = {}

--- The engines of a list of replicas, and the places of their ranks. It is looked at once for all requests
--- that may choose from the same replicas.
local function look(replicas)
  local engines, places_of, all = {}, {}, {}
  for i = 1, #replicas do
    local group = replicas[i].group
    if not places_of[group] then
      engines[#engines + 1], places_of[group] = group, {}
    end
    local places = places_of[group]
    places[#places + 1] = i
    all[i] = i
  end
  return { count = #replicas, engines = engines, places_of = places_of, all = #engines == #replicas and all }
end

--- The ranks among which a router chooses for the next request: those of one engine. Engines take turns in the order of
--- their first replicas.
--- @param state table a router; counts are kept in its field `turns`, apart for prompts and for decodes
--- @param replicas rooflua.Candidates
--- @return integer[] places in the list of replicas, at least one
--- @return integer engine what the counts of this engine may be kept by
function turn.next(state, replicas)
  local first = members.key(replicas)
  state.seen = state.seen or {}
  local seen = state.seen[first]
  if not seen then
    seen = look(replicas)
    state.seen[first] = seen
  end
  if seen.all then return seen.all, first end
  state.turns = state.turns or {}
  local passed = state.turns[first] or 0
  state.turns[first] = passed + 1
  local engine = seen.engines[passed % #seen.engines + 1]
  return seen.places_of[engine], engine
end

return turn
