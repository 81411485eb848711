-- Measured upgrades as a kind of set (validate/harness.lua): one case per figure, before and after a change of release.
--
--     direction   up, down or flat: 3 %, of what is printed at start-up 0.5 %; of starts whether both answers are right
--     tokens      |ln(simulated change / measured change)| of KV tokens, not of patched releases: other code decides it
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local json = require "rooflua.json"
local cells = require "rooflua.validate.columns"
local levers = require "rooflua.intervals.levers"
local rows = require "rooflua.validate.upgrades.rows"
local setup = require "rooflua.validate.upgrades.setup"
local statistics = require "rooflua.base.statistics"
local step_model = require "rooflua.validate.step_model"

local what = "measured upgrades"
local upgrades = { name = "upgrades", what = what, columns = rows.required, reads = rows.reads, joins = "folder",
  lists_problems = true }

function upgrades.refusals(options)
  return { tables = what .. " use the shipped tables", steps = step_model.refusal(options.steps, what),
    page = what .. " have no page; --json has all figures", intervals = what .. " have none",
    wide = what .. " report every figure as it is" }
end

local Run = {}
Run.__index = Run

function upgrades.open(options)
  local run = { path = options.path, cases = cells.read_all(options, rows), only = "id",
    options = { kept = {}, loops = {}, seed = 0, seeds = 1, requests_per_client = 0, modelled = 0,
      folder = (options.path:match "^(.*/)" or ""), steps = step_model.of(options.steps, options.parameters) } }
  for i, case in ipairs(run.cases) do -- "as above": the command of the row before that says one of this deployment
    for j = i - 1, 1, -1 do
      if not case.command:lower():find "^as above" then break end
      if run.cases[j].deployment == case.deployment then case.command = run.cases[j].command end
    end
  end
  run.ids = cells.ids(run.cases)
  return setmetatable(run, Run)
end

function Run:case(i)
  local case = self.cases[i]
  if case.problem then core.fail("%s", case.problem) end
  if not case.is_pair then core.fail("%s: before and after are no two figures", case.where) end
  return setup.answer(case, self.options)
end

local function direction_of(figure, before, after)
  local flat, change = figure:find "^kv_" and levers.printed_flat_frac or levers.flat_frac, after / before - 1
  return change > flat and "up" or change < -flat and "down" or "flat"
end

function Run:take(i, found, problem)
  local case = self.cases[i]
  local out = { case = case, found = found, problem = problem }
  if not found then return out end
  if case.direction == "starts" then
    out.is_right = tostring(case.before):find("^" .. found.before) ~= nil
      and tostring(case.after):find("^" .. found.after) ~= nil
    return out
  end
  out.answer = direction_of(case.figure, found.before, found.after)
  out.is_right = out.answer == case.direction
  if case.figure == "kv_tokens" and not case.is_patched and found.before > 0 and found.after > 0 then
    out.tokens = math.abs(math.log(found.after / found.before / (case.after / case.before)))
  end
  return out
end

-- Results ------------------------------------------------------------------------------------------------------------

local function share(list, ok) return #list > 0 and #errors.filtered(list, ok) / #list or nil end
local function is_right(answer) return answer.is_right end

--- {direction, moved: {direction, rows}, tokens: {median, within_5, rows}, rows} of the answers that count.
local function of(answers)
  local moved, tokens = errors.filtered(answers, function(each) return each.case.direction ~= "flat" end), {}
  for _, each in ipairs(answers) do tokens[#tokens + 1] = each.tokens end
  return { direction = share(answers, is_right), rows = #answers,
    moved = { direction = share(moved, is_right), rows = #moved },
    tokens = { median = statistics.median(tokens), rows = #tokens,
      within_5 = share(tokens, function(error) return error <= 0.05 end) } }
end

local kinds = { { "engine", function(answer) return answer.case.engine end, "engine " },
  { "figure", function(answer) return answer.case.figure end, "figure " } }
local shown = { { "figures", "rows", "count" }, { "right direction", "direction" },
  { "that moved", "moved.rows", "count" }, { "right", "moved.direction" }, { "KV tokens: median", "tokens.median" },
  { "within 5 %", "tokens.within_5" }, { "rows", "tokens.rows", "count" } }

local function wrong_rows(answers)
  local out = { { "figure", "deployment", "releases", "was", "answer" } }
  for _, each in ipairs(answers) do
    local case = each.case
    if not each.is_right and #out <= 10 and not each.problem then
      out[#out + 1] = { case.figure, case.deployment, case.version_before .. " > " .. case.version_after,
        case.direction, each.answer or "starts" }
    end
  end
  return out
end

local function problem_rows(answers)
  local reasons, counts, first = errors.reasons(answers, function(answer)
    return answer.problem and answer.problem:gsub("^[^%s:]+:%d+: ", "") or nil
  end)
  local out = { { "figures", "reason", "first" } }
  for i, reason in ipairs(reasons) do out[i + 1] = { ("%d"):format(counts[reason]), reason, first[reason].case.id } end
  return out
end

--- @return table {parts, document, ran}
function Run:finish(answers)
  local counted = errors.filtered(answers, function(answer) return answer.case.counts ~= false end)
  local ran, list = 0, json.array {}
  for i, each in ipairs(answers) do
    ran = ran + (each.found and 1 or 0)
    list[i] = { id = each.case.id, deployment = each.case.deployment, figure = each.case.figure,
      counts = each.case.counts ~= false, told = each.found and json.array(each.found.told) or nil,
      simulated = each.found and { before = each.found.before, after = each.found.after } or nil,
      right = each.is_right, problem = each.problem }
  end
  local document = errors.document(counted, kinds, of)
  return { ran = ran, document = { upgrades = document, cases = list }, parts = {
    ("%s: %d figures, %d of them count, %d ran"):format(self.path, #answers, #counted, ran),
    "The share of right directions in percent; a figure that does not run is wrong. Of a patched release the KV tokens "
      .. "alone count.",
    { rows = errors.rows({ "" }, shown, errors.lines(document, { { "engine", "engine " }, { "figure", "figure " } })),
      left = 1, record = "Directions of upgrades, in percent" },
    { title = "Wrong directions, the first ten", rows = wrong_rows(counted), left = 5,
      record = "Wrong directions, the first ten" },
    { title = "Did not run", rows = problem_rows(counted), left = 3 } } }
end

return upgrades
