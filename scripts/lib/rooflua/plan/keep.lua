-- Runs of a plan that a file of results keeps, so that a plan that was stopped goes on. A piece of work has the name of
-- its content: the question without what only orders deployments (prices, objective, confidence), and what the piece is
-- asked. So another price or objective runs only what was not run before.
local axes = require "rooflua.plan.axes"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local run_hash = require "rooflua.runs.hash"

local keep = {}

--- Keys of `plan` that no simulation reads, and the day, which a piece of it names itself.
local only_orders = { "objective", "confidence", "ranks", "replicates", "power", "strategy", "candidates", "engines",
  "buy", "day" }

--- The scenario without what only orders deployments.
local function simulated(given)
  local out, plan, gpus = {}, {}, {}
  for key, value in pairs(given) do out[key] = value end
  for key, value in pairs(core.plain(given.plan)) do plan[key] = value end
  for _, key in ipairs(only_orders) do plan[key] = nil end
  for i, each in ipairs(core.plain(plan.gpus)) do
    gpus[i] = {}
    for key, value in pairs(type(each) == "table" and core.plain(each) or { each }) do gpus[i][key] = value end
    gpus[i].price_per_hour = nil
  end
  plan.gpus, out.plan = gpus, plan
  return out
end

--- The book of a plan's runs: {results, also, hasher, content, set}; nil without a file.
---@param how table results, also
---@param seeks string? what the objective looks for: the largest load has other runs than the fewest replicas
function keep.book(reader, given, how, seeks)
  if not how.results or how.results == "" then return nil end
  local path = chunks.scenario_file()
  local kept = simulated(given)
  local hasher = run_hash.of_scenario { given = kept, path = path }
  local content = hasher:of(kept, "runs of a plan" .. (seeks and ", largest " .. seeks or ""))
  local title = (given.title or "") ~= "" and given.title .. " (plan)" or "plan"
  return { results = how.results, also = how.also, hasher = hasher, content = content, asked = 0, reused = 0,
    set = { hash = content, title = title, file = reader.file } }
end

local fields = axes.fields { "set", "least", "most", "guess" }

--- What a simulation reads of a candidate.
function keep.candidate(candidate)
  local out = {}
  for _, key in ipairs(fields) do out[key] = candidate[key] end
  return out
end

--- Names rows of run_many, and adds to its options where they are kept.
---@param contents fun(i: integer): table what piece i is asked
function keep.add(book, rows, options, title, contents)
  for i, row in ipairs(rows) do
    row.run_hash = book.hasher:of_piece(book.content, title, contents(i))
    row.position = book.asked + i - 1
  end
  book.asked = book.asked + #rows
  options.results, options.also, options.told = book.results, book.also, book.told
  book.told = true
  options.set = { hash = book.set.hash, title = book.set.title, total = book.asked, file = book.set.file }
end

return keep
