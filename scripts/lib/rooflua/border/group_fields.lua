-- What a scheduler reads of the ranks that step together: fields of its replica. A replica alone is the only rank of
-- its group, and its group has planned nothing.

local function is_waiting(v) return v.waiting + v.prefilling > 0 and 1 or 0 end
local function is_decoding(v) return v.decodes > 0 and 1 or 0 end
local function is_open(v) return (v.max_num_seqs == 0 or v.seats < v.max_num_seqs) and 1 or 0 end

-- By name: a function of the engine's view of the replica, whose `group` is null for a replica alone.
return {
  group_ranks = function(v) return v.group ~= nil and v.group.ranks or 1 end,
  group_steps = function(v) return v.group ~= nil and v.group.steps or 0 end,
  group_prompt_ranks = function(v) return v.group ~= nil and v.group.prompt_ranks or is_waiting(v) end,
  group_decode_ranks = function(v) return v.group ~= nil and v.group.decode_ranks or is_decoding(v) end,
  group_open_ranks = function(v) return v.group ~= nil and v.group.open_ranks or is_open(v) end,
  group_tokens = function(v) return v.group ~= nil and v.group.tokens or 0 end,
  group_max_tokens = function(v) return v.group ~= nil and v.group.max_tokens or 0 end,
}
