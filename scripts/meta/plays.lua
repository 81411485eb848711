---@meta rooflua.plays
--- Files of plays: sessions whose requests wait for each other (docs/AGENTS.md).
---@class rooflua.plays
local plays = {}

--- Opens a file of plays; its format is recognised by its content. What is returned is plain state that can be copied.
---@param path string beside the scenario or in the working directory
---@param hash_block_tokens integer? tokens of an id in hash_ids, for formats that do not say; 512 if nil
---@param limit integer? only the first so many plays; 0 or nil: all
---@return table opened
function plays.open(path, hash_block_tokens, limit) end

--- The next play of an opened file; nil at its end. Rows have start_s and end_s where the recording has them.
---@param opened table
---@return table? play {name, rows, start_s}
function plays.next(opened) end

--- A Weka file begins again with its first play, whose contents are others than before; an error for other formats.
---@param opened table
function plays.again(opened) end

--- What a workload yields of a play: its name and its rows, without the times of the recording.
---@param play table
---@return table
function plays.sent(play) end

--- A sentence on what was read so far: plays, requests, blocks, and what a cache without end has of them.
---@param opened table
---@return string
function plays.note(opened) end

--- A play as a line of a Weka file, with nominal times; rooflua.json writes it.
---@param play table {name, rows}
---@param block_tokens integer? 64 if nil
---@return table
function plays.document(play, block_tokens) end

return plays
