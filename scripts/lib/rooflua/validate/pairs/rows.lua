-- Pairs of measured runs that differ in one thing. They stand in a CSV beside that of the runs: pair, baseline and
-- treatment (names of runs), lever ("option: before -> after"), direction (up, down, flat), clear (yes: 10 % and more).
-- More columns: kind, engine, judge (throughput or e2e: what the direction is of), gain_total_tok_per_s and change_e2e
-- (treatment / baseline - 1), scored (no: left out). Rows of closed loops whose settings are known make pairs, too.
local columns = require "rooflua.validate.columns"
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local score = require "rooflua.validate.pairs.score"

local rows = {}

local directions = { "up", "down", "flat" }

local function case_of(pair)
  if not core.is_among(pair.direction, directions) then
    core.fail("%s: direction: %s", pair.where, core.unknown_name("direction", pair.direction, directions))
  end
  if pair.judge == "" then pair.judge = "throughput" end
  if not score.judges[pair.judge] then
    core.fail("%s: judge: %s", pair.where, core.unknown_name("figure", pair.judge, core.sorted_keys(score.judges)))
  end
  pair.gain = pair.gain_total_tok_per_s
  if pair.judge == "e2e" then pair.gain = pair.change_e2e and -pair.change_e2e end
  pair.lever = pair.lever:match "^(.-)%s*:" or pair.lever
  if pair.kind == "" then pair.kind = "flag" end
end

local csv = columns.of({ what = "pairs of measured runs", manual = "docs/VALIDATION.md", id = "pair", unique = true,
  empty = "", case = case_of }, {
  { names = "pair", type = "text", required = true, tells = true, own = true },
  { names = "baseline treatment lever", type = "text", required = true, tells = true, filled = true },
  { names = "direction", type = "lower", required = true, tells = true, filled = true },
  { names = "clear", type = "answer", required = true, tells = true },
  { names = "kind engine judge", type = "lower" },
  { names = "scored", type = "answer" },
  { names = "gain_total_tok_per_s change_e2e", type = "number", unit = "1" },
})

rows.reads = csv.reads

--- Files of pairs in a folder.
---@param folder string with a slash after it
function rows.files(folder)
  local out = {}
  for _, name in ipairs(native.list_folder(folder, ".csv")) do
    local path = folder .. name .. (name:find "%.csv$" and "" or ".csv")
    if csv.reads(path) then out[#out + 1] = path end
  end
  return out
end

--- The pairs that stand beside runs, those that are scored. Runs that repeat one command are noise and no pairs.
---@param folder string with a slash after it
---@return table[] pairs
---@return table<string, boolean> names of the runs that they need
function rows.beside(folder)
  local out, needed = {}, {}
  for _, path in ipairs(rows.files(folder)) do
    for _, pair in ipairs((csv.read(path))) do
      if pair.problem then core.fail("%s", pair.problem) end
      if pair.scored ~= "no" and pair.kind ~= "repeat" then
        out[#out + 1] = pair
        needed[pair.baseline], needed[pair.treatment] = true, true
      end
    end
  end
  return out, needed
end

-- Pairs that rows make ---------------------------------------------------------------------------------------------

--- What two rows of closed loops may differ in, and what else may then differ.
local levers = { { "system" }, { "widths" }, { "format" }, { "engine", version = true } }
local same = { "family", "system", "engine", "format", "widths", "isl", "osl", "clients", "version", "speculation" }

local function key_of(question, lever)
  local parts = {}
  for _, name in ipairs(same) do
    if name ~= lever[1] and not lever[name] then parts[#parts + 1] = tostring(question[name]) end
  end
  return table.concat(parts, "\0")
end

--- Pairs of questions of one kind of engine, whose settings are those of the run, and that differ in one of `levers`.
---@param questions table[] of closed loops
function rows.made(questions)
  local out = {}
  for _, lever in ipairs(levers) do
    local groups = {}
    for _, question in ipairs(questions) do
      if question.config == "exact" and question.mode == "agg" and question.measured and question.measured.tpot then
        local key = key_of(question, lever)
        groups[key] = groups[key] or {}
        for _, other in ipairs(groups[key]) do
          if other[lever[1]] ~= question[lever[1]] then
            out[#out + 1] = { id = other.id .. ">" .. question.id, baseline = other.id, treatment = question.id,
              lever = lever[1], kind = "made", judge = "e2e",
              engine = lever[1] == "engine" and other.engine .. ">" .. question.engine or question.engine }
          end
        end
        table.insert(groups[key], question)
      end
    end
  end
  return out
end

return rows
