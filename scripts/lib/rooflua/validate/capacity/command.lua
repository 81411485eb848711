-- `rooflua validate FILE.csv` for measured start-ups of engines: one case per row, the tokens of its KV cache, its
-- weights, and whether it starts. The program asks for each case in a process of its own (validate/command.lua).
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local rows = require "rooflua.validate.capacity.rows"
local setup = require "rooflua.validate.capacity.setup"
local totals = require "rooflua.validate.capacity.totals"

local capacity = {}

local current
local gib = 2 ^ 30

--- Whether this module reads a file.
capacity.reads = rows.is_file

local function check_options(options)
  if #(options.set or {}) > 0 then core.fail "--set: measured start-ups have no settings beside those of their rows" end
  if #(options.steps or {}) > 0 then core.fail "--steps: measured start-ups run no step" end
  if (options.tables or "") ~= "" then core.fail "--tables: measured start-ups use no kernel tables" end
  if (options.intervals or 0) > 0 then core.fail "--intervals: measured start-ups have none" end
  if options.page then core.fail "--html: measured start-ups have no page; --json has all figures" end
end

--- @param options table as of validate.open; `folder` is the file
--- @return table {cases = how many}
function capacity.open(options)
  check_options(options)
  local all, selected = rows.read(options.folder), {}
  for _, case in ipairs(all) do
    if (options.only or "") == "" or case.id:find(options.only, 1, true) then selected[#selected + 1] = case end
  end
  if #selected == 0 then core.fail("--only: no case of %d has '%s' in its case", #all, options.only) end
  current = { path = options.folder, folder = options.folder:match "^(.*/)" or "", cases = selected, answers = {},
    wide = options.wide }
  return { cases = #selected, tables = "" }
end

--- The first line of an error, without the place in a script.
local function problem_text(problem) return (tostring(problem):gsub("%s*\n.*", "")) end

local function part_of(found, name)
  for _, each in ipairs(found.parts) do
    if each.name == name then return each.bytes / gib end
  end
end

--- Simulates case number i.
function capacity.case(i)
  local case = current.cases[i]
  if case.problem then return { problem = case.problem } end
  local ok, found = pcall(setup.answer, case, current.folder)
  if not ok then return { problem = problem_text(found) } end
  return { tokens = found.tokens, prints_capacity = found.prints_capacity ~= false,
    concurrency = found.concurrency, kv_gib = found.kv_bytes / gib,
    weights_gib = part_of(found, "weights"), activation_gib = part_of(found, "activations"),
    nontorch_gib = part_of(found, "non-torch"), graph_gib = part_of(found, "graphs"), starts = found.starts,
    reason = found.reason }
end

--- Takes the result of case() in another process, or the reason why there is none.
function capacity.take(i, found, problem)
  local case = current.cases[i]
  local answer = { case = case }
  current.answers[i] = answer
  found = found or {}
  answer.problem = problem and problem ~= "" and problem or found.problem
  answer.found = not answer.problem and found or nil
  answer.errors = totals.errors(case, answer.found)
  return { id = case.id }
end

-- Results ------------------------------------------------------------------------------------------------------------

local function scored()
  local out = {}
  for _, answer in ipairs(current.answers) do
    if answer.case.is_scored then out[#out + 1] = answer end
  end
  return out
end

local function document(answers)
  local out = { schema = 1, kind = "validation", cases = json.array {}, capacity = {
    all = totals.of(answers), engine = totals.by(answers, function(case) return case.engine end),
    kind = totals.by(answers, function(case) return case.kind end), version = totals.by(answers, totals.band) } }
  for i, answer in ipairs(current.answers) do
    local case = answer.case
    out.cases[i] = { case_id = case.id, model = case.model, engine = case.engine, release = case.release,
      kind = case.kind, scored = case.is_scored, errors = answer.errors, simulated = answer.found,
      measured = case.measured, problem = answer.problem }
  end
  return out
end

local function number(value, form) return value and form:format(value) or "" end
local function percent(value) return value and ("%.1f"):format(value * 100) or "" end

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

local function case_rows()
  local out = { { "case", "tokens", "printed", "at once", "printed", "KV GiB", "printed", "weights", "printed",
    "activations", "printed", "starts", "did", "error" } }
  for _, answer in ipairs(current.answers) do
    local found, measured, errors = answer.found, answer.case.measured, answer.errors
    if found and (answer.case.is_scored or current.wide) then
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

local function report(of, count)
  local failed, answers = {}, current.answers
  for _, answer in ipairs(answers) do
    if answer.problem then failed[#failed + 1] = answer.case.id .. ": " .. answer.problem end
  end
  local parts = { ("%s: %d start-ups, %d of them scored, %d could not be simulated"):format(current.path, #answers,
    count, #failed), "Errors in percent. Rows of one model, GPU and engine have the weight of one together. A row that "
    .. "cannot be simulated has an error of 100 % in tokens and weights, and says no.",
    columns.after(1, total_rows(of)), columns.after(1, case_rows()) }
  if #failed > 0 then parts[#parts + 1] = "Could not be simulated\n" .. table.concat(failed, "\n") end
  return table.concat(parts, "\n\n")
end

--- @return table {text, document, ran}
function capacity.finish()
  local answers, ran = scored(), 0
  for _, answer in ipairs(current.answers) do ran = ran + (answer.found and 1 or 0) end
  local out = document(answers)
  return { text = report(out.capacity, #answers), document = out, ran = ran }
end

--- Runs a whole file at once, for tests and scripts.
function capacity.run(options)
  local opened = capacity.open(options)
  for i = 1, opened.cases do capacity.take(i, capacity.case(i)) end
  return capacity.finish()
end

return capacity
