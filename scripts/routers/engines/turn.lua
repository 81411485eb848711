--- Engines in turn, for routers that choose among the ranks of one engine. Ranks that step together are an engine.
--- Where all replicas step alone, they are taken as the ranks of one: copies of a dense model behind one front-end.
local turn = {}

--- The ranks among which a router chooses for the next request: those of one engine. Engines take turns in the order of
--- their first replicas.
--- @param state table a router; counts are kept in its field `turns`, apart for prompts and for decodes
--- @param replicas rooflua.Candidates
--- @return integer[] places in the list of replicas, at least one
--- @return integer engine what the counts of this engine may be kept by
function turn.next(state, replicas)
  local engines, places_of = {}, {}
  for i = 1, #replicas do
    local group = replicas[i].group
    if not places_of[group] then
      engines[#engines + 1], places_of[group] = group, {}
    end
    local places = places_of[group]
    places[#places + 1] = i
  end
  if #engines == #replicas then
    local all = {}
    for i = 1, #replicas do all[i] = i end
    return all, engines[1]
  end
  state.turns = state.turns or {}
  local passed = state.turns[engines[1]] or 0
  state.turns[engines[1]] = passed + 1
  local engine = engines[passed % #engines + 1]
  return places_of[engine], engine
end

return turn
