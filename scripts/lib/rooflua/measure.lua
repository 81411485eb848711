--- What was seen: summaries, comparisons, and why one request took as long as it did.
local native = require "rooflua.native"
local core = require "rooflua.core"
local json = require "rooflua.json"
local serve = require "rooflua.serve"

local measure = {}
local fail = core.fail

--- The summary of a run: a table with the names of `rooflua run --json`.
---@param run table a live simulation, or what serve.run gave
function measure.summary(run)
  core.table(run, "measure.summary")
  if serve.is_live(run) then return run:result().summary end
  if type(run.summary) ~= "table" then fail "measure.summary: expected a run, found a table without summary" end
  return run.summary
end

--- Where one request's time went, every picosecond under one heading: a report, and the same as a table.
--- The scenario is run again from its start with that request followed; same seed, same run.
---@param scenario table a scenario, or a live simulation made from one
---@param id integer the request, counted from 0 in order of arrival
function measure.why(scenario, id)
  core.whole(id, "measure.why: request")
  local run = serve.follow(scenario, id)
  local text, document = native.serve_why(run)
  if not text then fail("measure.why: request %d did not come to an end in this run", id) end
  return text, document
end

local compared = {
  { "requests_per_s" }, { "output_tokens_per_s" }, { "goodput_per_s" },
  { "ttft_s", "p50" }, { "ttft_s", "p99" }, { "tpot_s", "p50" }, { "tpot_s", "p99" },
  { "itl_s", "p99" }, { "e2e_s", "mean" }, { "queue_s", "mean" }, { "kv_used_frac_max" }, { "preemptions" },
}

local function figure(summary, path)
  local value = summary[path[1]]
  if path[2] then value = type(value) == "table" and value[path[2]] or nil end
  return type(value) == "number" and value or nil
end

--- Runs side by side: rows of {metric, value of run 1, value of run 2, ..., ratio of the last to the first}.
---@param runs table list of {name = run} pairs or runs
function measure.compare(runs)
  core.table(runs, "measure.compare")
  if #runs < 2 then fail "measure.compare: expected a list of at least two runs" end
  local header, summaries = { "metric" }, {}
  for i, run in ipairs(runs) do
    summaries[i] = measure.summary(run)
    header[i + 1] = type(run.name) == "string" and run.name or "run " .. i
  end
  header[#header + 1] = "ratio"
  local rows = { header }
  for _, path in ipairs(compared) do
    local row, first, last = { table.concat(path, " ") }, nil, nil
    for i, summary in ipairs(summaries) do
      last = figure(summary, path)
      if i == 1 then first = last end
      row[i + 1] = last or "-"
    end
    row[#row + 1] = first and last and first ~= 0 and last / first or "-"
    if first or last then rows[#rows + 1] = row end
  end
  return rows
end

--- Writes a run's summary as JSON. Trusted scripts only.
function measure.write(run, path)
  if not native.trusted then fail "measure.write: scenarios write nothing; use --json, or run trusted" end
  local file, problem = io.open(core.text(path, "measure.write: path"), "w")
  if not file then fail("measure.write: %s", problem) end
  file:write(json.encode(measure.summary(run)), "\n")
  file:close()
end

return measure
