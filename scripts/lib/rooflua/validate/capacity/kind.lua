-- Measured start-ups of engines as a kind of set (validate/harness.lua): one case per row, the tokens of its KV cache,
-- its weights, and whether it starts.
local cells = require "rooflua.validate.columns"
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local json = require "rooflua.json"
local rows = require "rooflua.validate.capacity.rows"
local setup = require "rooflua.validate.capacity.setup"
local totals = require "rooflua.validate.capacity.totals"

local what = "measured start-ups"
local capacity = { name = "capacity", what = what, columns = rows.required, reads = rows.reads,
  joins = "folder" }

local gib = 2 ^ 30

function capacity.refusals()
  return { parameters = what .. " have no settings besides those of their rows", steps = what .. " run no step",
    tables = what .. " use no kernel tables", intervals = what .. " have none",
    page = what .. " have no page; --json has all figures" }
end

local Run = {}
Run.__index = Run

function capacity.open(options)
  local run = { path = options.path, wide = options.wide, only = "case", cases = cells.read_all(options, rows) }
  run.ids = cells.ids(run.cases)
  return setmetatable(run, Run)
end

local function part_of(found, name)
  for _, each in ipairs(found.parts) do
    if each.name == name then return each.bytes / gib end
  end
end

function Run:case(i)
  local case = self.cases[i]
  if case.problem then core.fail("%s", case.problem) end
  local found = setup.answer(case, case.path:match "^(.*/)" or "")
  return { tokens = found.tokens, prints_capacity = found.prints_capacity ~= false,
    concurrency = found.concurrency, kv_gib = found.kv_bytes / gib,
    weights_gib = part_of(found, "weights"), activation_gib = part_of(found, "activations"),
    nontorch_gib = part_of(found, "non-torch"), graph_gib = part_of(found, "graphs"), starts = found.starts,
    reason = found.reason }
end

function Run:take(i, found, problem)
  local case = self.cases[i]
  return { case = case, found = found, problem = problem, errors = totals.errors(case, found) }
end

-- Results ------------------------------------------------------------------------------------------------------------

local function case_document(answer)
  local case = answer.case
  return { case_id = case.id, model = case.model, engine = case.engine, release = case.release, kind = case.kind,
    scored = case.is_scored, errors = answer.errors, simulated = answer.found, measured = case.measured,
    problem = answer.problem }
end

local function figure(name, within, metric)
  metric = metric or name
  return { name .. ": median", metric .. ".median" }, { within[1], metric .. "." .. within[2] },
    { "rows", metric .. ".rows", "count" }
end

--- Columns of errors of groups.
local shown = {}
local function show(...)
  for _, each in ipairs { ... } do shown[#shown + 1] = each end
end
show(figure("tokens", { "within 5 %", "within_5" }))
show(figure("KV GiB", { "within 5 %", "within_5" }, "kv_gib"))
show(figure("weights", { "within 3 %", "within_3" }))
show({ "starts: yes", "starts.yes" }, { "no", "starts.no" }, { "rows", "starts.rows", "count" })
for _, each in ipairs(totals.differences) do
  show({ each.name .. ": median GiB", each.name .. ".median", "%.2f" }, { "rows", each.name .. ".rows", "count" })
end
show(figure("identity", { "within 1 %", "within_1" }))

--- Columns of single start-ups.
local shown_of_case = { { "tokens", "found.tokens", "%.0f" }, { "printed", "measured.kv_tokens", "%.0f" },
  { "at once", "found.concurrency", "%.2f" }, { "printed", "measured.max_concurrency", "%.2f" } }
for _, each in ipairs { { "KV GiB", "kv_gib" }, { "weights", "weights_gib" }, { "activations", "activation_gib" } } do
  shown_of_case[#shown_of_case + 1] = { each[1], "found." .. each[2], "%.2f" }
  shown_of_case[#shown_of_case + 1] = { "printed", "measured." .. each[2], "%.2f" }
end
shown_of_case[#shown_of_case + 1] = { "starts", "starts", "text" }
shown_of_case[#shown_of_case + 1] = { "did", "measured.starts", "text" }
shown_of_case[#shown_of_case + 1] = { "error", "size" }

local function size_of(answer) return answer.errors.tokens or answer.errors.kv_gib end

local function case_rows(answers, wide)
  local list = {}
  for _, answer in ipairs(answers) do
    local id, is_scored, found = answer.case.id, answer.case.is_scored, answer.found
    if found and (is_scored or wide) then
      list[#list + 1] = { is_scored and id or "(" .. id .. ")", { found = found, measured = answer.case.measured,
        starts = found.starts and "yes" or "no", size = size_of(answer) } }
    end
  end
  return errors.rows({ "case" }, shown_of_case, list)
end

--- The start-ups with the largest errors of tokens or bytes; no printed values.
local function worst_rows(scored)
  local list = errors.worst(scored, size_of, function(answer) return answer.case.id end, 10)
  for i, answer in ipairs(list) do
    local case = answer.case
    list[i] = { case.id, ("%s %s"):format(tostring(case.engine), tostring(case.release)), { size = size_of(answer) } }
  end
  return errors.rows({ "case", "engine" }, { { "error %", "size" } }, list)
end

local groups = { { "engine", function(answer) return answer.case.engine or "unknown" end },
  { "kind", function(answer) return answer.case.kind end },
  { "version", function(answer) return totals.band(answer.case) or "unknown" end } }

--- @return table {parts, document, ran}
function Run:finish(answers)
  local scored = errors.filtered(answers, function(answer) return answer.case.is_scored end)
  local ran, list = 0, json.array {}
  for i, answer in ipairs(answers) do
    list[i], ran = case_document(answer), ran + (answer.found and 1 or 0)
  end
  local of = errors.document(scored, groups, totals.of)
  return { document = { capacity = of, cases = list }, ran = ran, parts = {
    ("%s: %d start-ups, %d of them scored, %d could not be simulated"):format(self.path, #answers, #scored,
      #answers - ran), "Errors in percent. Rows of one model, GPU and engine have the weight of one together. A row "
      .. "that cannot be simulated has an error of 100 % in tokens and weights, and says no.",
    { rows = errors.rows({ "" }, shown, errors.lines(of, { { "engine" }, { "kind" }, { "version" } })), left = 1,
      record = "Errors by engine, kind and release, in percent" },
    { rows = case_rows(answers, self.wide), left = 1 },
    { rows = worst_rows(scored), left = 2, record = "The ten worst", hidden = true } } }
end

return capacity
