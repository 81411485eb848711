-- `rooflua plan`: the options become a scenario of kind "plan", or a file has it; the answer becomes text, a document,
-- a page and files.
local native = require "rooflua.native"
local against_load = require "rooflua.plan.against_load"
local artefacts = require "rooflua.plan.artefacts"
local axes = require "rooflua.plan.axes"
local core = require "rooflua.base.core"
local front = require "rooflua.plan.front"
local json = require "rooflua.json"
local opening = require "rooflua.runs.opening"
local options = require "rooflua.plan.options"
local page = require "rooflua.plan.page"
local run = require "rooflua.plan.run"
local spec = require "rooflua.spec"
local tables = require "rooflua.plan.tables"

local command = {}

-- The options of a question, in the order in which one of them is refused beside a file.
local of_question = { "command", "from", "model", "engine", "workload", "rate", "clients", "slo", "gpus", "peak" }

-- The key that --set changes in place of an option; of others it is plan.NAME. Lists have to be changed in the file.
local key_of = { model = "model", engine = "engine", workload = "workload", rate = "plan.load.rate_per_s",
  clients = "plan.load.clients", peak = "plan.load.peak", slo = "plan.slo.METRIC", split = "plan.candidates.split" }
local lists = core.set { "gpus", "autoscaler", "command", "from" }
for _, each in ipairs(axes.options()) do
  of_question[#of_question + 1], lists[each.key] = each.key, not each.is_flag
end
for _, name in ipairs { "candidates", "objective", "strategy", "power", "autoscaler", "confidence", "survive",
  "replicates", "requests", "horizon_s", "ranks", "buy" } do
  of_question[#of_question + 1] = name
end

--- Refuses an option that the file answers.
local function check_beside(given)
  for _, name in ipairs(of_question) do
    if given[name] ~= nil then
      core.fail("plan: the question is in %s; leave out --%s, or change it %s", given.scenario,
        (name:gsub("_s$", ""):gsub("_", "-")),
        lists[name] and "in the file" or ("with --set %s=..."):format(key_of[name] or "plan." .. name))
    end
  end
end

--- The scenario that is asked for, opened, and its text.
local function opened_of(given)
  local set = {}
  if given.scenario and given.users then set[#set + 1] = ("users=%d"):format(given.users) end
  if given.scenario and given.bench then set[#set + 1] = "bench=" .. given.bench end
  for _, each in ipairs(given.set or {}) do set[#set + 1] = each end
  local more = { set = set, seed = given.seed, file = given.scenario or "plan", path = given.scenario }
  if given.scenario then
    if native.file_exists(given.scenario) then check_beside(given) end
    local opened = opening.file(given.scenario, more)
    if opened.kind ~= "plan" then
      core.fail("%s: kind: expected \"plan\", found \"%s\"; `rooflua run` runs other kinds", given.scenario,
        opened.kind)
    end
    return opened
  end
  local scenario, told = options.scenario(given)
  local opened = opening.table(options.table(scenario), more)
  opened.reader.shared.told = told
  return opened, options.text(scenario, told)
end

local function status_of(plan) return #plan.ranks > 0 and 0 or 1 end

--- What the program calls: {text, document, page, files, scenario, status}. page: the description of plan/page.lua.
function command.run(given)
  if given.verify then return require("rooflua.plan.verify").run(given) end
  local opened, scenario = opened_of(given)
  if given.emit then
    if not scenario then core.fail("plan: --emit: the scenario is %s already", given.scenario) end
    return { scenario = scenario, status = 0 }
  end
  if #opened.variants ~= 1 then
    core.fail("%s: vary: a plan has one question here; `rooflua run` answers one per variant", opened.reader.file)
  end
  local variant = opening.variant(opened, 1)
  local watts = options.watts(given.watts, function(name) return spec.hardware(name).name end)
  local done = opened.reader:at("", run.all, opened.reader, variant, { jobs = given.jobs,
    progress = given.progress or nil, watts = watts, results = given.results, also = given.also,
    strict = given.strict, tells_partial = true })
  run.report(done)
  local text = done.text
  if given.all then text = text .. "\n" .. tables.all(done) end
  if given.why then text = text .. "\n" .. tables.why(done, given.why) end
  if given.front and #done.plan.ranks > 0 and not done.plan.stopped then
    local points = front.points(done.question, done.plan)
    text, done.document.front = text .. "\n" .. front.text(points), json.array(points)
  end
  local files = given.files and json.array(done.plan.stopped and {} or artefacts.files(done)) or nil
  local shown = given.page and page.of(done, text, against_load.of(done.question, done.plan)) or nil
  return { text = text, page = shown, document = done.document, files = files, status = status_of(done.plan),
    scenario = scenario, reused = done.question.book and done.question.book.reused or nil }
end

return command
