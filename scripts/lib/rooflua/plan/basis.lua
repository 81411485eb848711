-- What the figures of a deployment rest on: its evidence, and the notes that `run` and `step` print for it.
local catalogue = require "rooflua.engines.catalogue"
local choice = require "rooflua.engines.choice"
local core = require "rooflua.base.core"
local levers = require "rooflua.intervals.levers"
local notes = require "rooflua.machine.notes"
local units = require "rooflua.text.units"

local basis = {}

--- Levers of a plan, and the members of a candidate that they are.
local told_apart = { hardware = "gpu", engine = "engine", tp = "tp", dp = "dp", pp = "pp", ep = "ep",
  weights = "weights", kv = "kv", max_num_seqs = "max_num_seqs", max_num_batched_tokens = "max_num_batched_tokens",
  speculation = "speculation", replicas = "replicas" }

--- "measured 8.9 %, interpolated 91.1 %; touched by notes 3.0 %".
---@param result table evidence, noted_frac
function basis.evidence(result)
  local text = units.evidence(result.evidence or {}, result.noted_frac)
  return text ~= "" and text or "nothing that is known"
end

--- Says which release of an engine is priced where the question states none.
local function engine_note(question, candidate)
  local stated = question.engine
  if stated and stated.engine.name == catalogue.of(candidate.engine).name then return stated.note end
  if question.engines[candidate.engine] then return nil end
  return choice.newest(candidate.names_engine and candidate.engine or nil).note
end

--- Notes that are known of a deployment that did not run.
local function without_run(question, candidate)
  return notes.of { { model = question.model, hardware = question.gpus[candidate.gpu].hardware } }
end

--- The notes of a deployment, each once.
---@param result table of evaluate.run
function basis.notes(question, candidate, result)
  local out, seen = {}, {}
  local function add(note)
    if note and not seen[note] then seen[note], out[#out + 1] = true, note end
  end
  add(engine_note(question, candidate))
  local list = result.notes or not result.evidence and without_run(question, candidate)
  for _, note in ipairs(core.plain(list or {})) do add(note) end
  return out
end

--- The deployments that an answer tells of: its ranks; without any those that were not sure, else those that missed
--- the SLO or do not count under --strict. Of a plan that ran nothing the first candidate, without a run.
local function told(found, plan)
  if #plan.ranks > 0 then return plan.ranks, true end
  if #plan.unsure > 0 then return plan.unsure end
  local out = {}
  for _, candidate in ipairs(found.left) do
    local best = candidate.result and (candidate.result.best or candidate.result.deployment)
    if best then out[#out + 1] = { candidate = candidate, result = best } end
  end
  if #out == 0 then out[1] = { candidate = found.candidates[1], result = {} } end
  return out
end

--- Notes of several deployments: {text, of = their numbers; nil where it is a note of all}.
---@param items table[] {candidate, result}
local function of_all(question, items)
  local out, by_text = {}, {}
  for i, item in ipairs(items) do
    for _, note in ipairs(basis.notes(question, item.candidate, item.result)) do
      if not by_text[note] then
        by_text[note] = { text = note, of = {} }
        out[#out + 1] = by_text[note]
      end
      table.insert(by_text[note].of, i)
    end
  end
  for _, each in ipairs(out) do
    if #each.of == #items then each.of = nil end
  end
  return out
end

--- "rank 2", "ranks 1 and 3", "ranks 1, 2 and 5".
local function ranks_text(list)
  if #list == 1 then return "rank " .. list[1] end
  return ("ranks %s and %d"):format(table.concat(list, ", ", 1, #list - 1), list[#list])
end

--- How often the direction of what tells the ranks apart was right; nil where nothing does. What one candidate states
--- and another one leaves to its engine is told apart, too.
local function directions_text(plan)
  local paths, first = {}, plan.ranks[1] and plan.ranks[1].candidate
  for i = 2, #plan.ranks do
    for path, name in pairs(told_apart) do
      local own = plan.ranks[i].candidate[name]
      if core.describe(own) ~= core.describe(first[name]) then paths[path] = true end
    end
  end
  return levers.text(levers.list(core.sorted_keys(paths)))
end

local unlike = 0.2 -- of the unsupported shares of two ranks

--- Says that the time of one rank is supported and that of another is not; nil where they are alike.
local function unlike_text(plan)
  local low, high
  for i, rank in ipairs(plan.ranks) do
    local share = rank.result.evidence and notes.unsupported(rank.result.evidence) + (rank.result.noted_frac or 0)
    if share then
      if not low or share < low[1] then low = { share, i } end
      if not high or share > high[1] then high = { share, i } end
    end
  end
  if not low or high[1] - low[1] < unlike then return nil end
  return ("unlike evidence: %.1f %% of the time of rank %d is unsupported, %.1f %% of rank %d; a difference between "
    .. "them may come from what they rest on"):format(100 * low[1], low[2], 100 * high[1], high[2])
end

--- The notes of an answer as sentences: of the question, then of its deployments. What concerns some ranks names them.
---@param only_common boolean? whether these are left out
function basis.sentences(question, found, plan, only_common)
  local out, seen = {}, {}
  local function add(note)
    if not seen[note] then seen[note], out[#out + 1] = true, note end
  end
  if plan.price_risk then
    add(("within the published prices %s may be cheaper; give your own with --gpus NAME:COUNT@PRICE"):format(
      plan.price_risk))
  end
  for _, note in ipairs(question.notes) do add(note) end
  local directions = directions_text(plan)
  if directions then add(directions) end
  local unlike_ranks = unlike_text(plan)
  if unlike_ranks then add(unlike_ranks) end
  local items, are_ranks = told(found, plan)
  for _, each in ipairs(of_all(question, items)) do
    if not (each.of and only_common) then
      add(each.of and are_ranks and ranks_text(each.of) .. ": " .. each.text or each.text)
    end
  end
  return out
end

return basis
