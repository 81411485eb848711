-- Notes of a result: sentences that a reader needs beside the figures. They stand under a report, on its page and
-- as `notes` in its document.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local json = require "rooflua.json"

local notes = {}

--- Each of the sentences once, in the order of their first appearance; nil where there are none.
local function distinct(sentences)
  local list, known = json.array {}, {}
  for _, sentence in ipairs(sentences) do
    if sentence ~= "" and not known[sentence] then
      known[sentence] = true
      list[#list + 1] = sentence
    end
  end
  return #list > 0 and list or nil
end

--- Notes of one run.
--- @param prepared table[] what scenario.prepare() made, one per replica
--- @param evidence table share of time per kind of evidence
function notes.of(prepared, evidence)
  local sentences = {}
  if (evidence.modelled or 0) > 0 then
    for i, each in ipairs(prepared) do sentences[i] = each.hardware.fit_note end
  end
  return distinct(sentences)
end

--- Notes of a simulation: {run, replicas = {{prepared}}}.
function notes.of_run(state)
  local prepared = {}
  for i, replica in ipairs(state.replicas) do prepared[i] = replica.prepared end
  return notes.of(prepared, native.serve_summary(state.run).evidence)
end

--- Notes of many runs together.
function notes.of_runs(runs)
  local sentences = {}
  for _, run in ipairs(runs) do
    for _, sentence in ipairs(core.plain(run.notes or {})) do sentences[#sentences + 1] = sentence end
  end
  return distinct(sentences)
end

return notes
