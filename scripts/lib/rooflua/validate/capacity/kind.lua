-- Measured start-ups of engines as a kind of set (validate/harness.lua): one case per row, the tokens of its KV cache,
-- its weights, and whether it starts.
local columns = require "rooflua.text.columns"
local cells = require "rooflua.validate.columns"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local rows = require "rooflua.validate.capacity.rows"
local setup = require "rooflua.validate.capacity.setup"
local totals = require "rooflua.validate.capacity.totals"
local units = require "rooflua.text.units"

local what = "measured start-ups"
local capacity = { name = "capacity", what = what, columns = rows.required, reads = rows.reads }

local gib = 2 ^ 30

function capacity.refusals()
  return { parameters = what .. " have no settings besides those of their rows", steps = what .. " run no step",
    tables = what .. " use no kernel tables", intervals = what .. " have none",
    page = what .. " have no page; --json has all figures" }
end

local Run = {}
Run.__index = Run

function capacity.open(options)
  local run = { path = options.path, folder = options.path:match "^(.*/)" or "", wide = options.wide, only = "case",
    cases = rows.read(options.path) }
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
  local found = setup.answer(case, self.folder)
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

local function scored_of(answers)
  local out = {}
  for _, answer in ipairs(answers) do
    if answer.case.is_scored then out[#out + 1] = answer end
  end
  return out
end

local function case_document(answer)
  local case = answer.case
  return { case_id = case.id, model = case.model, engine = case.engine, release = case.release, kind = case.kind,
    scored = case.is_scored, errors = answer.errors, simulated = answer.found, measured = case.measured,
    problem = answer.problem }
end

local function number(value, form) return value and form:format(value) or "" end
local percent = units.in_percent

local function total_row(name, of)
  return { name, percent(of.tokens.median), percent(of.tokens.within_5), ("%d"):format(of.tokens.rows),
    percent(of.kv_gib.median), percent(of.kv_gib.within_5), ("%d"):format(of.kv_gib.rows),
    percent(of.weights.median), percent(of.weights.within_3), ("%d"):format(of.weights.rows),
    percent(of.starts.yes), percent(of.starts.no), ("%d"):format(of.starts.rows),
    number(of.activations.median, "%.2f"), ("%d"):format(of.activations.rows), percent(of.identity.median),
    percent(of.identity.within_1), ("%d"):format(of.identity.rows) }
end

local function total_rows(of)
  local out = { { "", "tokens: median", "within 5 %", "rows", "KV GiB: median", "within 5 %", "rows",
    "weights: median", "within 3 %", "rows", "starts: yes", "no", "rows",
    "activations: median GiB", "rows", "identity: median", "within 1 %", "rows" }, total_row("all", of.all) }
  for _, by in ipairs { "engine", "kind", "version" } do
    for _, name in ipairs(core.sorted_keys(of[by])) do out[#out + 1] = total_row(name, of[by][name]) end
  end
  return out
end

local function case_rows(answers, wide)
  local out = { { "case", "tokens", "printed", "at once", "printed", "KV GiB", "printed", "weights", "printed",
    "activations", "printed", "starts", "did", "error" } }
  for _, answer in ipairs(answers) do
    local found, measured, errors = answer.found, answer.case.measured, answer.errors
    if found and (answer.case.is_scored or wide) then
      local id = answer.case.id
      out[#out + 1] = { answer.case.is_scored and id or "(" .. id .. ")",
        number(found.tokens, "%.0f"), number(measured.kv_tokens, "%.0f"),
        number(found.concurrency, "%.2f"), number(measured.max_concurrency, "%.2f"),
        number(found.kv_gib, "%.2f"), number(measured.kv_gib, "%.2f"),
        number(found.weights_gib, "%.2f"), number(measured.weights_gib, "%.2f"),
        number(found.activation_gib, "%.2f"), number(measured.activation_gib, "%.2f"),
        found.starts and "yes" or "no", measured.starts or "", percent(errors.tokens or errors.kv_gib) }
    end
  end
  return out
end

--- The start-ups with the largest errors of tokens or bytes; no printed values.
local function worst_rows(scored)
  local list, out = {}, { { "case", "engine", "error %" } }
  for _, answer in ipairs(scored) do
    local size = answer.errors.tokens or answer.errors.kv_gib
    if size then list[#list + 1] = { size = size, case = answer.case } end
  end
  table.sort(list, function(a, b) return a.size > b.size or a.size == b.size and a.case.id < b.case.id end)
  for i = 1, math.min(10, #list) do
    local case = list[i].case
    out[#out + 1] = { case.id, ("%s %s"):format(tostring(case.engine), tostring(case.release)), percent(list[i].size) }
  end
  return out
end

--- @return table {text, document, ran, record}
function Run:finish(answers)
  local scored, ran, list = scored_of(answers), 0, json.array {}
  for i, answer in ipairs(answers) do
    list[i], ran = case_document(answer), ran + (answer.found and 1 or 0)
  end
  local of = { all = totals.of(scored), engine = totals.by(scored, function(case) return case.engine end),
    kind = totals.by(scored, function(case) return case.kind end), version = totals.by(scored, totals.band) }
  local parts = { ("%s: %d start-ups, %d of them scored, %d could not be simulated"):format(self.path, #answers,
    #scored, #answers - ran), "Errors in percent. Rows of one model, GPU and engine have the weight of one together. A "
    .. "row that cannot be simulated has an error of 100 % in tokens and weights, and says no.",
    columns.after(1, total_rows(of)), columns.after(1, case_rows(answers, self.wide)) }
  return { text = table.concat(parts, "\n\n"), document = { capacity = of, cases = list }, ran = ran,
    record = { { title = "Errors by engine, kind and release, in percent", rows = total_rows(of) },
      { title = "The ten worst", rows = worst_rows(scored), left = 2 } } }
end

return capacity
