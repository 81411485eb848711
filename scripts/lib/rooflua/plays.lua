--- Files of plays: sessions whose requests wait for each other (docs/AGENTS.md).
local core = require "rooflua.base.core"
local file = require "rooflua.plays.file"
local weka = require "rooflua.plays.weka"

local plays = {}

--- Opens a file of plays; its format is recognised by its content. What is returned is plain state that can be copied.
--- @param path string beside the scenario or in the working directory
--- @param hash_block_tokens integer? tokens of an id in hash_ids, for formats that do not say; 512 if nil
--- @param limit integer? only the first so many plays; 0 or nil: all
function plays.open(path, hash_block_tokens, limit)
  return file.open(path, hash_block_tokens or 512, limit or 0)
end

--- The next play of an opened file: {name, rows, start_s}; nil at its end. Rows have the fields of a workload's rows,
--- and start_s and end_s where the recording has them.
function plays.next(opened) return file.next(core.table(opened, "plays.next: opened")) end

--- A Weka file begins again with its first play, whose contents are others than before; an error for other formats.
function plays.again(opened) return file.again(core.table(opened, "plays.again: opened")) end

--- What a workload yields of a play: its name and its rows, without the times of the recording.
function plays.sent(play) return file.sent(core.table(play, "plays.sent: play")) end

--- A sentence on what was read so far: plays, requests, blocks, and what a cache without end has of them.
function plays.note(opened) return file.note(core.table(opened, "plays.note: opened")) end

--- A play as a line of a Weka file, with nominal times; rooflua.json writes it.
--- @param block_tokens integer? 64 if nil
function plays.document(play, block_tokens)
  core.table(core.table(play, "plays.document: play").rows, "plays.document: play.rows")
  return weka.document(play, core.whole(block_tokens or 64, "plays.document: block_tokens", 1))
end

return plays
