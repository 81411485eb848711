-- `rooflua lua run_name.lua SCENARIO SET`: the name of a scenario's runs in a file of results. SET is what an option
-- --set says, or "".
local keep = require "rooflua.plan.keep"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"

local opened = opening.file(arg[1], { set = arg[2] ~= "" and { arg[2] } or {} })
if opened.kind == "plan" then
  print(keep.book(opened.reader, (opening.variant(opened, 1)), { results = "none" }).content)
else
  print(kinds.hashes(opened).set.hash)
end
