-- `rooflua validate PATH`: the sets of measured runs of a file or folder. The program opens them, asks for each case in
-- a process of its own, and takes the results.
local harness = require "rooflua.validate.harness"

local validate = {}

--- The kinds of sets, in the order in which they are asked for a file: those known by their columns, then cases.csv.
local kinds = {
  require "rooflua.validate.speculation.kind",
  require "rooflua.validate.capacity.kind",
  require "rooflua.validate.upgrades.kind",
  require "rooflua.validate.clusters.kind",
  require "rooflua.validate.closed_loops.kind",
  require "rooflua.validate.folder",
}

--- What the program has open: one run per process.
local session

--- @param options table as of harness.open
--- @return table {cases = how many}
function validate.open(options)
  session = harness.open(options, kinds)
  return { cases = session.cases }
end

function validate.case(i, scratch) return session:case(i, scratch) end
function validate.take(i, found, problem) return session:take(i, found, problem) end
function validate.finish() return session:finish() end

--- Runs everything at once, for tests and scripts.
--- @param options table as of harness.open
--- @return table {text, document, ran, page}
function validate.run(options) return harness.run(options, kinds) end

return validate
