-- The two sides of a question: a scenario, or an engine that a launch command starts, on the release before and after.
local choice = require "rooflua.engines.choice"
local command = require "rooflua.applied.command"
local core = require "rooflua.base.core"
local launch = require "rooflua.applied.launch"
local native = require "rooflua.native"
local opening = require "rooflua.runs.opening"
local options = require "rooflua.upgrade.options"
local Reader = require "rooflua.scenario.reader"
local rules = require "rooflua.upgrade.rules"
local trials = require "rooflua.advise.trials"

local sides = {}
local fail = core.fail

local function text_of(chosen) return chosen.engine.name .. " " .. chosen.release end

--- The key `engine` of a scenario with these options.
local function engine_key(chosen, stated)
  local out = { text_of(chosen) }
  for name, value in pairs(stated) do out[name] = value end
  return out
end

local function finished(side)
  side.decided = rules.of_scenario(side.given, side.file)
  side.text = text_of(side.chosen)
  return side
end

--- Both sides of a scenario of kind serve, and what became of its options.
local function of_scenario(given, to)
  local opened = opening.file(given.scenario, { set = given.set, seed = given.seed })
  if opened.kind ~= "serve" then
    fail("%s: upgrade needs a scenario of kind \"serve\", found %q", opened.reader.file, opened.kind)
  end
  if #opened.variants ~= 1 then
    fail("%s: vary: upgrade needs one variant, found %d; take vary and sweep out of a copy of the file",
      opened.reader.file, #opened.variants)
  end
  local scenario = trials.plain((opening.variant(opened, 1)))
  if type(scenario.replicas) == "table" then
    fail("%s: replicas: upgrade asks about one kind of engine, and this is a list", opened.reader.file)
  end
  if scenario.engine == nil then
    fail("%s: engine: it states none; say from which release: --set 'engine=\"vllm 0.24\"'", opened.reader.file)
  end
  local from = opened.reader:at("engine", choice.of, scenario.engine)
  local before = { chosen = from, given = scenario, file = given.scenario }
  local kept, list = options.of(from, to, scenario, Reader.new(given.scenario))
  local after = { chosen = to, file = given.scenario,
    given = core.copy(scenario, { engine = engine_key(to, kept) }) }
  return finished(before), finished(after), { list = list }
end

--- The scenario of a command's deployment, with what runs it.
local function scenario_of(deployment, given, workload)
  local keys, told = command.keys(deployment, {})
  keys.model = launch.model_of(deployment, given.model)
  local out = { rooflua = 1, kind = "serve", hardware = given.hardware, workload = workload, seed = given.seed or 1 }
  for key, value in pairs(keys) do out[key] = value end
  return opening.with_sets(Reader.new "upgrade", out, given.set), told
end

--- Whether what --from names are files of a start, and not a release.
local function has_files(given)
  return given.from ~= nil and (#given.from > 1 or native.file_exists(given.from[1]))
end

--- The words after --from as a list; scripts may give one text.
local function with_list(given)
  if type(given.from) ~= "string" then return given end
  return core.copy(given, { from = { given.from } })
end

--- Both sides of a launch command, or of files of a start.
local function of_command(given, to, workload)
  local is_read = has_files(given)
  local deployment = is_read and launch.deployment { from = given.from }
    or command.read(given.command, { engine = given.from and given.from[1] })
  if is_read then given = core.copy(given, { hardware = launch.hardware({ from = given.from }, given.hardware) }) end
  if not deployment.is_stated then
    fail "upgrade: --from: from which release? The command does not say it: --from \"vllm 0.24\""
  end
  local from = { engine = deployment.engine, release = deployment.release, note = deployment.note,
    options = deployment.options }
  local scenario, told = scenario_of(deployment, given, workload)
  local kept, list = options.of(from, to, scenario, Reader.new "upgrade")
  local mended = core.copy(deployment, { engine = to.engine, release = to.release, note = to.note, options = kept,
    told = {}, others = {} })
  local text, file = command.write(mended)
  local after_given, told_after = scenario_of(mended, given, workload)
  return finished { chosen = from, given = scenario, file = "upgrade", told = told },
    finished { chosen = to, given = after_given, file = "upgrade", told = told_after },
    { list = list, command = text, file = file }
end

--- {before, after}, each {chosen, given, file, decided, text, told}, and {list, command, file} of the options.
---@param given table {scenario, command, hardware, model, from, to, set, seed}
---@param workload table? of a launch command
function sides.of(given, workload)
  given = with_list(given)
  local to = choice.of(given.to)
  if given.scenario then
    if given.command then fail "upgrade: a scenario and --command: give one of them" end
    for _, name in ipairs { "hardware", "model", "from" } do
      if given[name] then fail("upgrade: --%s is said by %s; change it with --set", name, given.scenario) end
    end
    return of_scenario(given, to)
  end
  if has_files(given) then
    if given.command then fail "upgrade: --command and files of --from: give one of them" end
    return of_command(given, to, workload)
  end
  if not given.command then
    local from = given.from and given.from[1]
    if from and from:find "[./]%a" then fail("upgrade: --from %s: there is no such file", from) end
    fail "upgrade: needs a scenario, or --command \"vllm serve ...\" --hardware GPU, or --from LOG"
  end
  if not given.hardware then fail "upgrade: --hardware: on which GPU does the command run?" end
  return of_command(given, to, workload)
end

return sides
