-- A step, a typical one or one that a replica began at some time: its operations by time, and each under the roofline
-- of this GPU.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local live = require "rooflua.serving.live"
local opening = require "rooflua.runs.opening"
local open_hardware = require("rooflua.spec").hardware
local units = require "rooflua.text.units"

local step = { title = "A step", kinds = { serve = true }, parts = "^%d+@[%d.e+-]+$" }

function step.plan(opened, which)
  if #opened.all > 1 or opening.variant(opened, 1).hardware == nil then return nil end
  return which and {} or { runs = true, explain = true }
end

--- What a part of the view is called: the step of a replica that began then.
function step.part_of(each) return ("%d@%.17g"):format(each.replica, each.start_s) end

--- A step of a second run, priced operation by operation, and what it computed.
local function found_step(opened, which)
  local replica, start = which:match "^(%d+)@(.*)$"
  local number, start_s = tonumber(replica), tonumber(start)
  local simulation = live.open((opening.variant(opened, 1)))
  if not start_s then core.fail("there is no step '%s'", which) end
  simulation:run_until(start_s)
  repeat
    local last = simulation:last_step(number)
    if last and last.start_s >= start_s then
      if last.start_s > start_s then break end
      local priced = simulation:explain(number)
      simulation:close()
      for _, row in ipairs(priced.rows) do row.time_s = row.time_s * (row.count or 1) end -- as documents have it
      local prompts = last.prefills > 0 and (", %s of %s tokens"):format(units.counted(last.prefills, "prompt"),
        units.grouped(last.prefill_tokens)) or ""
      return priced, ("A step of replica %d from %.6f s, %s: %s%s"):format(number, start_s,
        units.text(last.end_s - last.start_s, "s"), units.counted(last.decodes, "decode"), prompts)
    end
  until not simulation:step(1)
  return core.fail("no step of replica %d began at %s s", number, start)
end

--- Where a point lies: what the bandwidth allows at its intensity, and what it reaches, both in TFLOP/s.
local function point_of(row, hardware)
  if not (row.flop and row.flop > 0 and row.bytes and row.bytes > 0 and row.time_s > 0) then return nil end
  local runs = row.count or 1
  return { x = row.flop / row.bytes * hardware.memory_bytes_per_s / 1e12, y = row.flop * runs / row.time_s / 1e12,
    note = ("%s, %s: %s, %s"):format(row.name, row.shape or "", row.evidence, row.note or "") }
end

local function roofline_of(rows, hardware)
  local by_evidence, order = {}, {}
  for _, row in ipairs(rows) do
    local point = point_of(row, hardware)
    if point and not by_evidence[row.evidence] then
      by_evidence[row.evidence] = { name = row.evidence, points = json.array {} }
      order[#order + 1] = by_evidence[row.evidence]
    end
    if point then table.insert(by_evidence[row.evidence].points, point) end
  end
  if #order == 0 then return nil end
  local limits = json.array {}
  for dtype, peak in pairs(hardware.peak_flop_per_s) do limits[#limits + 1] = { value = peak / 1e12, label = dtype } end
  table.sort(limits, function(a, b) return a.value < b.value end)
  return { kind = "scatter", title = "Under the roofline", diagonal = true, limits = limits, series = json.array(order),
    x = { label = "what the bandwidth allows", unit = "TFLOP/s", log = true },
    y = { label = "what the operation reaches", unit = "TFLOP/s", log = true } }
end

local function bars_of(rows)
  local bars = json.array {}
  for i, row in ipairs(rows) do
    bars[i] = { name = ("%s  %s"):format(row.name, row.shape or ""), values = json.array { 1e6 * row.time_s } }
  end
  return { kind = "bar", title = "Operations by time", x = { label = "time", unit = "us" },
    segments = json.array { "" }, bars = bars }
end

function step.described(opened, documents, _, which)
  local explain, heading
  if which then explain, heading = found_step(opened, which) else explain = documents[1].explain end
  if type(explain) ~= "table" then return {} end
  local rows = {}
  for i, row in ipairs(explain.rows) do rows[i] = row end
  table.sort(rows, function(a, b)
    if a.time_s ~= b.time_s then return a.time_s > b.time_s end
    return a.name < b.name
  end)
  local head = { "operation", "shape", "runs", "bound", "rests on", "time us", "note" }
  local cells = json.array { json.array(head) }
  for i, row in ipairs(rows) do
    cells[i + 1] = json.array { row.name, row.shape or "", tostring(row.count or 1), row.bound or "", row.evidence,
      ("%.4g"):format(1e6 * row.time_s), row.note or "" }
  end
  local given = opening.variant(opened, 1)
  local hardware = type(given.hardware) == "string" and open_hardware(given.hardware) or given.hardware
  return { { heading = heading or "A typical step: " .. units.text(explain.time_s, "s"), folded = "Every operation",
    charts = json.array { roofline_of(rows, hardware), bars_of(rows) }, tables = json.array { cells } } }
end

return step
