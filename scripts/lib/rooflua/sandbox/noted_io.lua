-- The functions with which a trusted script reads files. Each file that is read is noted, because results depend on it
-- (scenario/run_hash.lua).
local files = require "rooflua.sandbox.files"
local io, dofile, loadfile = io, dofile, loadfile

local function noted(call, reads)
  return function(path, ...)
    if type(path) == "string" and reads(...) then files.note(path) end
    return call(path, ...)
  end
end

local function always() return true end
local function reads_only(mode) return mode == nil or type(mode) == "string" and mode:sub(1, 1) == "r" end

local out = { dofile = noted(dofile, always), loadfile = noted(loadfile, always), io = {} }
for name, value in next, io do out.io[name] = value end
out.io.open, out.io.lines, out.io.input = noted(io.open, reads_only), noted(io.lines, always), noted(io.input, always)

return out
