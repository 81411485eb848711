-- A measured upgrade as two questions: the same deployment on the release before and on the one after.
local capacity = require "rooflua.serving.capacity"
local catalogue = require "rooflua.engines.catalogue"
local columns = require "rooflua.validate.columns"
local core = require "rooflua.base.core"
local launch = require "rooflua.applied.launch"
local loops = require "rooflua.validate.closed_loops.rows"
local loop_setup = require "rooflua.validate.closed_loops.setup"
local native = require "rooflua.native"
local Reader = require "rooflua.scenario.reader"
local release = require "rooflua.engines.release"
local spec = require "rooflua.spec"

local setup = {}

--- The newest release before another one: "nightly before 0.21" is 0.20. A build without a day is from before the
--- release that it is upgraded to.
local function release_before(case, about, version)
  local later, found, parsed = version:match "before ([%d.]+)", nil, release.parse(version)
  local has_no_day = parsed and parsed.is_build and not parsed.day
  if has_no_day and version == case.version_before then later = case.version_after end
  for _, each in ipairs(later and about.releases or {}) do
    if release.earlier(each.name, later) then found = each.name end
  end
  return found
end

--- A release that the rules know. An upgrade to an unknown one has no answer: that of the newest known one is no answer
--- to it. A build of a day is the release of its day.
local function known_release(case, version)
  local about = catalogue.of(case.engine)
  version = release_before(case, about, version) or version
  local parsed, newest = release.parse(version), catalogue.last(about)
  local has_day = parsed and parsed.is_build and parsed.day and parsed.day ~= ""
  if not parsed or parsed.is_build and not has_day or not has_day and release.earlier(newest, version) then
    core.fail("%s: %s %s is no release that is known (up to %s)", case.where, case.engine, version, newest)
  end
  return version
end

-- Start-ups -------------------------------------------------------------------------------------------------------

local gib = 2 ^ 30

local function part_of(found, name)
  for _, each in ipairs(found.parts) do
    if each.name == name then return each.bytes / gib end
  end
end

local start_ups = { kv_tokens = function(found) return found.tokens end,
  kv_gib = function(found) return found.kv_bytes / gib end,
  max_concurrency = function(found) return found.concurrency end,
  graph_gib = function(found) return part_of(found, "graphs") end,
  starts = function(found) return found.starts and "yes" or "no" end }

--- The model of a row, by its name or without a remark in brackets, an owner and the word of a format.
local function model_of(case)
  local bare = case.model:gsub("%s*%b()", "")
  local short = bare:gsub("^.*/", ""):gsub("%-[Aa][Ww][Qq].*$", ""):gsub("%-[Gg][Pp][Tt][Qq].*$", "")
  local problem
  for _, name in ipairs { case.model, bare, short, (short:gsub("%-it$", "")) } do
    local ok, found = pcall(spec.model, name)
    if ok then return found end
    problem = problem or found
  end
  return error(problem, 0)
end

local function has_int4_words(text)
  text = text:lower()
  for _, word in ipairs { "awq", "gptq", "int4", "w4a16" } do
    if text:find(word, 1, true) then return true end
  end
end

--- The launch command of a row, which may state its flags alone: "--max-model-len 8192", "max_model_len 2048".
local function command_of(case, model)
  if case.command:find "serve" or case.command:find "launch" then return case.command end
  local flags = {}
  for name, value in case.command:gmatch "%-*([%a][%w_%-]+)[ =]([%d.]+)" do
    flags[#flags + 1] = ("--%s %s"):format(name:gsub("_", "-"), (value:gsub("%.$", "")))
  end
  return ("vllm serve %s %s"):format(model.name, table.concat(flags, " "))
end

local function start_up(case, version)
  local gpu = case.gpu:gsub("%s*%b()", "")
  local engine = case.engine .. " " .. known_release(case, version)
  local model, reader = model_of(case), Reader.new "validate"
  local given = launch.capacity(reader, { hardware = spec.hardware(gpu) },
    { text = command_of(case, model), engine = engine, model = model.name })
  local is_own = native.rank_counts(model, {}).weights:find "int4"
  if has_int4_words(case.model) and not is_own then
    given.deployment = core.copy(given.deployment, { weights = "int4_group128" })
  end
  return start_ups[case.figure](capacity.of(given, reader))
end

-- Times -----------------------------------------------------------------------------------------------------------

local times = { tpot_ms = "tpot_mean", ttft_ms = "ttft_mean" }

--- The options "name=value;.." of the side before. Those of the side after are stated, and of those that changed with
--- the release what they were: "no: block_size: 32 -> (default); ..".
local function options_before(case)
  local options = {}
  for each in case.command:gmatch "[^;]+" do options[#options + 1] = each end
  for each in case.same_settings:gsub("^no:", ""):gmatch "[^;]+" do
    local name, old = each:match "^%s*([%w_]+): (.-) %-> "
    if name then
      for i = #options, 1, -1 do
        if options[i]:match "^%s*([%w_]+)" == name then table.remove(options, i) end
      end
      if old ~= "(default)" then options[#options + 1] = name .. "=" .. old end
    end
  end
  return core.join(options, ";")
end

--- The question of a closed loop that a deployment "family|gpu|engine|format|[agg|pd|]widths" and a load describe.
local function question_of(case, version)
  local parts = {}
  for part in case.deployment:gmatch "[^|]+" do parts[#parts + 1] = part end
  local isl, osl, clients = case.load:match "(%d+)/(%d+), (%d+) clients"
  if #parts < 5 or not isl then
    core.fail("%s: expected a deployment as family|gpu|engine|format|widths and a load as 'closed loop 1024/1024, "
      .. "4 clients'; found '%s' and '%s'", case.where, case.deployment, case.load)
  end
  local mode = parts[5] == "pd" and "pd" or "agg"
  return columns.of_cells(loops, { question = case.id, family = parts[1], system = parts[2], engine = parts[3],
    format = parts[4], engine_version = known_release(case, version), mode = mode, widths = case.tp,
    workers = mode == "pd" and "P:1 D:1" or "", isl = isl, osl = osl, clients = clients, ttft_ms = "1", tpot_ms = "1",
    options = version == case.version_before and options_before(case) or case.command }, case.where)
end

local function time(case, version, options)
  local question = question_of(case, version)
  if question.problem then core.fail("%s", question.problem) end
  return loop_setup.answer(question, options.steps, options).simulated[times[case.figure]]
end

--- The simulated figure before and after.
---@param options table {steps, seed, seeds, requests_per_client, modelled, folder}
function setup.answer(case, options)
  local ask = start_ups[case.figure] and start_up or times[case.figure] and time
    or core.fail("%s: nothing simulates the figure '%s'", case.where, case.figure)
  local out = { before = ask(case, case.version_before, options), after = ask(case, case.version_after, options) }
  if out.before == nil or out.after == nil then core.fail("%s: no %s is simulated", case.where, case.figure) end
  return out
end

return setup
