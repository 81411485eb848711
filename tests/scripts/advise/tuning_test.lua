-- Advice against measured tuning: of the changes that advice would try first, and that a page of measurements tried
-- from the same settings under the same load, most have to have helped.
local test = dofile "tests/scripts/harness.lua"
local client_rows = require "rooflua.validate.closed_loops.rows"
local deployment = require "rooflua.advise.deployment"
local moves = require "rooflua.advise.moves"
local native = require "rooflua.native"
local opening = require "rooflua.runs.opening"
local search = require "rooflua.advise.search"
local setup = require "rooflua.validate.closed_loops.setup"
local step_model = require "rooflua.validate.step_model"
local trials = require "rooflua.advise.trials"

local least_gain = 0.03 -- of a change that is proposed: smaller ones are none
local least_helped = 0.75

local widths = { ["deployment.tp"] = "tp", ["deployment.pp"] = "pp", ["deployment.dp"] = "dp" }

--- What the pairs call an option.
local function lever_of(move)
  return widths[move.key] or (move.set:gsub("^%-+", ""):gsub("_", "-"):gsub("^ep%-size$", "ep"))
end

--- Pairs of one option each by the row that they begin from, and these rows in their order.
local function pairs_by_row(path)
  local out, order = {}, {}
  for _, pair in ipairs((native.csv_read(path))) do
    if pair.kind == "flag" and pair.scored == "yes" then
      if not out[pair.baseline] then out[pair.baseline], order[#order + 1] = {}, pair.baseline end
      table.insert(out[pair.baseline], pair)
    end
  end
  return out, order
end

--- Every change from the settings of a row, the best first, and the speed as it is.
local function changes_from(question, row, gpus, steps, folder)
  local load = setup.scenario(question, steps, { seed = 0, requests_per_client = 0, modelled = 0, folder = folder })
  local opened = opening.table({ hardware = question.system, workload = load.workload, seed = 0 },
    { command = { text = row.server_command, engine = row.engine .. " " .. row.engine_version } })
  local given = trials.plain((opening.variant(opened, 1)))
  local base = deployment.of(opened.reader, given, {})
  if base.problem then error(base.problem, 0) end
  local found = search.run { reader = opened.reader, given = given, gpus = math.max(gpus, base.gpus), jobs = 1,
    limit_s = 30,
    limits = { { metric = "output_tokens_per_s", min = 1e9 } }, only_singles = true,
    moves = moves.of(opened.reader, given, { replica = base.replica, gpus = math.max(gpus, base.gpus),
      is_command = true }), is_late = function() return false end }
  return found.singles, found.base.verdict.metrics.output_tokens_per_s
end

test("three of four changes that are proposed and were measured helped", function()
  local path = test.shared "truth/tuning/develop.csv"
  local folder = path:match "^(.*/)"
  local by_row, order = pairs_by_row(folder .. "pairs_develop.csv")
  local rows, questions = {}, {}
  for _, row in ipairs((native.csv_read(path))) do rows[row.question] = row end
  for _, question in ipairs(client_rows.read(path)) do questions[question.id] = question end
  local steps, helped, count, left_out = step_model.of({ "kernels" }, nil), 0, 0, 0
  for _, id in ipairs(order) do
    local gpus = 1
    for _, pair in ipairs(by_row[id]) do gpus = math.max(gpus, tonumber(pair.treatment_gpus)) end
    local ok, singles, speed = pcall(changes_from, questions[id], rows[id], gpus, steps, folder)
    if not ok then left_out = left_out + 1 end
    for _, each in ipairs(ok and singles or {}) do
      local move, gain = each.moves[1], (each.verdict.metrics.output_tokens_per_s or 0) / speed - 1
      for _, pair in ipairs(by_row[id]) do
        local lever, after = pair.lever:match "^(%S+): .* %-> (.*)$"
        if gain > least_gain and lever == lever_of(move) and after == tostring(move.after) then
          count, helped = count + 1, helped + (pair.direction == "up" and 1 or 0)
          print(("%s, %s: %s=%s: %+.1f %% simulated, %+.1f %% measured"):format(rows[id].page, rows[id].load, move.set,
            after, 100 * gain, 100 * tonumber(pair.gain_total_tok_per_s)))
        end
      end
    end
  end
  print(("%d of %d measured changes that are proposed helped; %d rows were not read"):format(helped, count, left_out))
  test.check(count >= 10, "too few: %d", count)
  test.check(helped >= least_helped * count, "%d of %d", helped, count)
end)

test.finish()
