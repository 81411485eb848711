-- The steps of one second in the middle of a run: what each replica computed, and the requests that were there.
local json = require "rooflua.json"
local live = require "rooflua.serving.live"
local opening = require "rooflua.runs.opening"
local core = require "rooflua.base.core"
local step_view = require "rooflua.lab.views.step"
local units = require "rooflua.text.units"

local steps = { title = "One second", kinds = { serve = true } }

local most_replicas, most_requests, most_listed = 16, 40, 400
local parts_of_step = { "decodes", "prompts", "both" }
local parts_of_request = { "queue", "prefill", "decode" }

function steps.plan(opened) return #opened.all == 1 and { runs = true } or nil end

local function span(from_s, to_s, part, begin_s)
  return { from = 1e3 * math.max(from_s - begin_s, 0), to = 1e3 * (math.min(to_s, begin_s + 1) - begin_s), part = part }
end

--- Index of what a step computes.
local function part_of(step)
  if step.prefills == 0 then return 0 end
  return step.decodes == 0 and 1 or 2
end

local function replicas_of(list, begin_s)
  local rows, of = json.array {}, {}
  for _, step in ipairs(list) do
    local row = of[step.replica]
    if not row and #rows < most_replicas then
      row = { label = "replica " .. step.replica, note = "replica " .. step.replica, spans = json.array {}, steps = 0 }
      of[step.replica], rows[#rows + 1] = row, row
    end
    if row then
      local own = span(step.start_s, step.end_s, part_of(step), begin_s)
      own.open = "step/" .. step_view.part_of(step)
      own.note = ("%s: %d prompts of %d tokens, %d decodes"):format(units.text(step.end_s - step.start_s, "s"),
        step.prefills, step.prefill_tokens, step.decodes)
      row.spans[#row.spans + 1] = own
      row.steps = row.steps + 1
      row.note = ("replica %d, %d steps"):format(step.replica, row.steps)
    end
  end
  table.sort(rows, function(a, b) return #a.label < #b.label or #a.label == #b.label and a.label < b.label end)
  return rows
end

--- Requests that were alive in the second, those that came first first.
local function requests_of(simulation, begin_s)
  local rows, left = json.array {}, 0
  for _, request in ipairs(simulation:ended()) do
    local arrival_s = request.arrival_s
    local end_s = arrival_s + (request.e2e_s or request.ttft_s or request.queue_s or 0)
    if end_s > begin_s and arrival_s < begin_s + 1 then
      if #rows < most_requests then
        local scheduled_s = request.queue_s and arrival_s + request.queue_s or end_s
        local first_s = request.ttft_s and arrival_s + request.ttft_s or end_s
        rows[#rows + 1] = { label = tostring(request.id), open = "request/" .. request.id, arrival_s = arrival_s,
          note = ("request %d: %d prompt tokens, %d output tokens, %s"):format(request.id, request.prompt_tokens,
            request.output_tokens, request.outcome),
          spans = json.array { span(arrival_s, scheduled_s, 0, begin_s), span(scheduled_s, first_s, 1, begin_s),
            span(first_s, end_s, 2, begin_s) } }
      else
        left = left + 1
      end
    end
  end
  table.sort(rows, function(a, b) return a.arrival_s < b.arrival_s end)
  for _, row in ipairs(rows) do row.arrival_s = nil end
  return rows, left
end

local function table_of(list, begin_s)
  local out = json.array { json.array { "replica", "after ms", "time ms", "prompts", "prompt tokens", "decodes",
    "running", "waiting", "KV" } }
  for i = 1, math.min(#list, most_listed) do
    local step = list[i]
    local row = json.array { tostring(step.replica), ("%.1f"):format(1e3 * (step.start_s - begin_s)),
      ("%.2f"):format(1e3 * (step.end_s - step.start_s)) }
    for _, key in ipairs { "prefills", "prefill_tokens", "decodes", "running", "waiting" } do
      row[#row + 1] = ("%.0f"):format(step[key])
    end
    row[#row + 1] = ("%.1f %%"):format(100 * step.kv_used_frac)
    out[i + 1] = row
  end
  return out
end

local function gantt(title, names, rows)
  return { kind = "gantt", title = title, x = { label = "time", unit = "ms" }, segments = json.array(core.copy(names)),
    rows = rows }
end

function steps.described(opened, documents)
  local begin_s = math.max((documents[1].summary.duration_s or 0) / 2 - 0.5, 0)
  local simulation, list = live.open((opening.variant(opened, 1))), {}
  simulation:run_until(begin_s + 1)
  for _, step in ipairs(simulation:steps()) do
    if step.end_s > begin_s and step.start_s < begin_s + 1 then list[#list + 1] = step end
  end
  simulation:run()
  local requests, left = requests_of(simulation, begin_s)
  simulation:close()
  return { { heading = ("One second, from %s on: %d steps"):format(units.text(begin_s, "s"), #list),
    note = left > 0 and ("%d further requests are not drawn"):format(left) or nil,
    charts = json.array { gantt("What each replica computed", parts_of_step, replicas_of(list, begin_s)),
      #requests > 0 and gantt("Requests", parts_of_request, requests) or nil },
    folded = "Every step", tables = json.array { table_of(list, begin_s) } } }
end

return steps
