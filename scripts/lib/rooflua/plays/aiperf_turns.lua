-- Conversations of AIPerf's multi_turn, one per line: {session_id, turns = {{text, delay, output_length}, ...}}. Their
-- prompts are texts, so they are refused by name.
-- @source ai-dynamo/aiperf, dataset/loader/models (MultiTurn, SingleTurn)
local core = require "rooflua.base.core"

local aiperf_turns = {}

function aiperf_turns.tells(document)
  return type(document) == "table" and type(document.turns) == "table" and "aiperf_multi_turn" or nil
end

function aiperf_turns.plays(path, documents)
  core.fail("%s:%d: turns: AIPerf's multi_turn states prompts by their texts, whose tokens are not known here; write a "
    .. "row per turn: session_id, input_length, output_length, delay, hash_ids", path, documents[1].line)
end

return aiperf_turns
