---@meta rooflua.measure
---What was seen: summaries, comparisons, and where one request's time went.
---@class rooflua.measure
local measure = {}

---The summary of a run: the names of `rooflua run --json` (seconds, tokens, shares).
---@param run rooflua.Live|table a live simulation, or what serve.run gave
---@return table summary
function measure.summary(run) end

---Where one request's time went: every picosecond under one heading. Runs the scenario again from its start.
---@param scenario table|rooflua.Live
---@param id integer counted from 0 in order of arrival
---@return string report
---@return table document
function measure.why(scenario, id) end

---Runs side by side: rows of metric, one value per run, and the ratio of the last to the first.
---@param runs table[] at least two
---@return table[] rows the first is the header
function measure.compare(runs) end

---Writes a run's summary as JSON. Trusted scripts only.
---@param run rooflua.Live|table
---@param path string
function measure.write(run, path) end

return measure
