-- A served scenario from its start to its end.
local native = require "rooflua.native"
local breakdown = require "rooflua.measure.breakdown"
local live = require "rooflua.serving.live"
local lookback = require "rooflua.measure.lookback"
local notes = require "rooflua.scenario.notes"
local told = require "rooflua.serving.told"

local whole = {}

local function outputs_of(options)
  local outputs = {}
  for _, key in ipairs { "requests_path", "trace_path", "progress", "why" } do outputs[key] = options[key] end
  outputs.sketch = options.sketch or options.explain or nil
  return outputs
end

--- One variant: {text = report, left_out, and what `options` asks for}. The program takes the summary itself
--- (native.serve_hand_over). A run that Ctrl-C or the time limit stopped has `partial` as well: what is known so far.
---@param options table requests_path, trace_path, progress, why, sketch, explain; document: the summary as a table
function whole.run(reader, given, options)
  local state = live.state(live.begin(reader, given, outputs_of(options)))
  local run = state.run
  local partial = native.serve_run_or_stop(run)
  native.serve_finish(run)
  local sketch, steps, of_steps = breakdown.note_share(state)
  local why_text, why = native.serve_why(run)
  if options.why and not (why or partial) then
    reader:fail("--why " .. options.why, "no such request; %d were sent", native.serve_totals(run).arrived)
  end
  local result = { kind = "serve", text = native.serve_hand_over(run), left_out = native.serve_left_out(run),
    partial = partial, why = why, why_text = why_text, summary = options.document and native.serve_document(run),
    notes = notes.of_run(state), policies = told.of(state) }
  if options.sketch then
    result.sketch, result.breakdown = sketch, of_steps or breakdown.of_steps(steps, state.replicas)
  end
  if options.explain then result.explained, result.explain_text = breakdown.typical(steps, state.replicas) end
  return result
end

--- One run of a script's table: {summary, totals, requests}. `keep_requests` keeps the times of every request.
function whole.result(given, keep_requests)
  local simulation = live.begin(live.reader(given), given, { keep_requests = keep_requests })
  simulation:run()
  return lookback.note(simulation:result(), "scenario", given)
end

return whole
