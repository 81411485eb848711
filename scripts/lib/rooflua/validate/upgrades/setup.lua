-- A measured upgrade as two questions: the same deployment on the release before and on the one after.
local capacity = require "rooflua.serving.capacity"
local catalogue = require "rooflua.engines.catalogue"
local choice = require "rooflua.engines.choice"
local columns = require "rooflua.validate.columns"
local command = require "rooflua.applied.command"
local core = require "rooflua.base.core"
local joined = require "rooflua.validate.upgrades.joined"
local json = require "rooflua.json"
local launch = require "rooflua.applied.launch"
local loops = require "rooflua.validate.closed_loops.rows"
local loop_setup = require "rooflua.validate.closed_loops.setup"
local Reader = require "rooflua.scenario.reader"
local prose = require "rooflua.validate.upgrades.prose"
local release = require "rooflua.engines.release"
local spec = require "rooflua.spec"
local weights = require "rooflua.validate.closed_loops.weights"

local setup = {}

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

--- The release of a side, with what is switched behind it. A build without a day is from before the release that it is
--- upgraded to. An upgrade to an unknown release has no answer: that of the newest known one is no answer to it.
local function release_of(case, version, side)
  local about = catalogue.of(case.engine)
  local newest, parsed = catalogue.last(about), release.parse(version)
  local has_no_day, day = parsed and parsed.is_build and (parsed.day or "") == "", joined.day(side)
  if has_no_day and day then version, has_no_day = "nightly-" .. day, false end
  if has_no_day and version == case.version_before and release.parse(case.version_after) then
    version = "nightly before " .. case.version_after
  end
  if start_ups[case.figure] and case.which ~= "" then version = version .. " " .. case.which end -- "kv_tokens eager"
  local ok, chosen = pcall(choice.parse, case.engine .. " " .. version, true)
  local known = ok and release.parse(chosen.release)
  if not ok or has_no_day and version == case.version_after or not known.is_build
    and release.earlier(newest, chosen.release) then
    core.fail("%s: %s %s is no release that is known (up to %s)", case.where, case.engine, version, newest)
  end
  chosen.text = case.engine .. " " .. version
  return chosen
end

--- Whether every rule of an engine holds for both releases or for neither.
local function has_same_rules(engine, a, b)
  for _, list in ipairs { engine.rules, engine.implies or {}, engine.options } do
    for _, row in ipairs(list) do
      if release.holds(row, a) ~= release.holds(row, b) then return false end
    end
  end
  return true
end

--- The model of a row, by its name or without a remark in brackets, an owner and words of a format.
local function model_of(case)
  local bare = case.model:gsub("%s*%b()", "")
  local short = bare:gsub("^.*/", ""):gsub("%-[Aa][Ww][Qq].*$", ""):gsub("%-[Gg][Pp][Tt][Qq].*$", "")
  local problem
  local first = short:match "^%S+" or short -- "Qwen3.6-27B AutoRound int4"
  for _, name in ipairs { case.model, bare, short, (short:gsub("%-it$", "")), first } do
    local ok, found = pcall(spec.model, name)
    if ok then return found end
    problem = problem or found
  end
  return error(problem, 0)
end

local format_words = { { "nvfp4", "fp4" }, { "mxfp4", "mxfp4" }, { "fp4", "fp4" }, { "fp8", "fp8" }, { "int4", "int4" },
  { "w4a16", "int4" }, { "awq", "int4" }, { "gptq", "int4" } }

--- The word of a format in the name of a model; 16 bits where there is none.
local function format_of(text)
  for _, each in ipairs(format_words) do
    if text:lower():find(each[1], 1, true) then return each[2] end
  end
  return "bf16"
end

--- The key deployment.weights of the format that a name says; nil where it says none, or the model's own.
local function weights_of(case, model)
  local word = format_of(case.model)
  if word == "bf16" then return nil end
  local found = weights.of(model, word)
  return found == "int4" and "int4_group128" or found
end

--- Whether a column is a launch command.
local function is_command(text) return text:find "serve" ~= nil or text:find "launch" ~= nil end

--- The launch command of a row, which may say its options in other words; sentences about what it does not say.
local function command_of(case, model)
  if is_command(case.command) then return case.command, {} end
  local engine = catalogue.of(case.engine)
  local said, told = prose.read(engine, case.command)
  local tp, dp, ep = case.tp:match "^(%d+),?(%d*),?(%d*)$"
  local widths = { tp = tonumber(tp), dp = tonumber(dp), ep = tonumber(ep) }
  local options = core.copy(said.options)
  for name, key in pairs { tp = "deployment.tp", dp = "deployment.dp", ep = "deployment.ep" } do
    local value = name == "ep" and said.ep or widths[name]
    for _, option in ipairs(value and value > 1 and engine.options or {}) do
      if option.key == key and options[option.name] == nil then
        options[option.name] = option.type == "switch" and true or value
      end
    end
  end
  return command.write { engine = engine, release = case.release, model = model.name, options = options }, told
end

local function start_up(case, chosen)
  local gpu = case.gpu:gsub("%s*%b()", "")
  local model, reader = model_of(case), Reader.new "validate"
  local text, told = command_of(core.copy(case, { release = chosen.release }), model)
  local given = launch.capacity(reader, { hardware = spec.hardware(gpu) }, { text = text, model = model.name,
    engine = chosen.text })
  local format = weights_of(case, model)
  if format then given.deployment = core.copy(given.deployment, { weights = format }) end
  return start_ups[case.figure](capacity.of(given, reader)), told
end

-- Times -----------------------------------------------------------------------------------------------------------

--- Figures of a closed loop of so many clients that get so many tokens: {tpot_mean, ttft_mean, e2e_mean} in seconds.
local times = { tpot_ms = function(found) return found.tpot_mean end,
  ttft_ms = function(found) return found.ttft_mean end,
  decode_tok_s = function(found, load) return load.clients / found.tpot_mean end,
  wall_tok_s = function(found, load) return load.clients * load.osl / found.e2e_mean end,
  output_tok_s = function(found, load) return load.clients * load.osl / found.e2e_mean end,
  output_tok_s_gpu = function(found, load) return load.clients * load.osl / found.e2e_mean end,
  prefill_tok_s = function(found, load) return load.isl / found.ttft_mean end }

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

--- Lengths of requests whose lengths are not stated: those of `vllm bench serve`.
local unstated_isl, unstated_osl = 1024, 128

local function number(text) return text and tonumber((text:gsub(",", ""))) end

--- The load of a row: {isl, osl, clients}, of "closed loop 1024/1024, 4 clients", "1 client, bench.sh" and the figure's
--- own "C8"; and a sentence on what is assumed. nil where it is no closed loop.
local function load_of(case)
  local isl, osl = case.load:match "(%d+)/(%d+)"
  local clients = number(case.load:match "(%d+) clients?") or number(case.which:lower():match "%f[%w]c(%d+)%f[%W]")
  if not clients or case.load:find "trace" then return nil end
  local tokens = number(case.load:match "([%d,]+) output tokens")
  local out = { clients = clients, isl = number(isl) or unstated_isl, osl = number(osl) or tokens or unstated_osl }
  return out, not isl and ("lengths are not stated: %d+%d tokens"):format(out.isl, out.osl) or nil
end

--- family, system, format and mode of "family|gpu|engine|format|[agg|pd|]widths", else of the row's columns.
local function parts_of(case)
  local parts = {}
  for part in case.deployment:gmatch "[^|]+" do parts[#parts + 1] = part end
  if #parts < 5 then
    return { model_of(case).name, (case.gpu:gsub("%s*%b()", "")), case.engine, format_of(case.model), "agg" }
  end
  parts[5] = parts[5] == "pd" and "pd" or "agg"
  return parts
end

--- Whether a column is a list "name=value;name=value", of mode pd "P: .. D: ..".
local function is_list(text)
  return text:find "^P:" ~= nil or text:find "^[%w_.]+=[^ ]*;" ~= nil or text:find "^[%w_.]+=[^ ,;]*$" ~= nil
end

--- The options of a side as "name=value;..": those of a list as they stand, else what the words say.
local function options_of(case, is_before)
  if not is_list(case.command) then
    local said, told = prose.read(catalogue.of(case.engine), case.command)
    local out = {}
    for name, value in core.sorted_pairs(said.options) do out[#out + 1] = ("%s=%s"):format(name, tostring(value)) end
    return core.join(out, ";"), told, said.ep
  end
  return is_before and options_before(case) or case.command, {}
end

--- What clients of a closed loop send that no row describes. With lengths that are all the same every client would stay
--- in step with the others, which those of a benchmark with random lengths do not.
local undescribed = "requests=10 a client; lengths=[0.8 L, L]"

--- The question of a closed loop on one side.
local function question_of(case, chosen, load, is_before, setting)
  local both = joined.of(case, setting)
  local side = both and both[is_before and "before" or "after"]
  if side then return joined.question(side, case.id, chosen.release, case.where, loops), {} end
  local parts = parts_of(case)
  local options, told, ep = options_of(case, is_before)
  told[#told + 1] = "the client is not described: " .. undescribed
  local environment = {}
  for name, value in core.sorted_pairs(chosen.options) do
    if chosen.engine.option[name].variable then
      environment[#environment + 1] = name .. "=" .. value
    else
      options = options .. ";" .. name .. "=" .. tostring(value)
    end
  end
  local widths = case.tp:find "," and case.tp or ("%d,1,%d"):format(tonumber(case.tp) or 1, ep or 1)
  return columns.of_cells(loops, { question = case.id, family = parts[1], system = parts[2], engine = parts[3],
    format = parts[4], engine_version = chosen.release, mode = parts[5], widths = widths,
    workers = parts[5] == "pd" and "P:1 D:1" or "", isl = tostring(load.isl), osl = tostring(load.osl),
    clients = tostring(load.clients), ttft_ms = "1", tpot_ms = "1", options = options,
    client = undescribed, env = core.join(environment, ";") }, case.where), told
end

--- Simulated times of questions of this run; a row for each figure asks the same again.
local function simulated(case, chosen, load, is_before, options)
  local question, told = question_of(case, chosen, load, is_before, options)
  if question.problem then core.fail("%s", question.problem) end
  local key = json.encode { question.key, question.version, load, question.parts, question.command }
  local kept = options.kept
  kept[key] = kept[key] or loop_setup.answer(question, options.steps, options)
  for _, note in ipairs(kept[key].notes) do told[#told + 1] = note end
  return kept[key].simulated, told
end

local function time(case, chosen, options, is_before)
  local load, note = load_of(case)
  if not load then
    core.fail("%s: expected a load as 'closed loop 1024/1024, 4 clients', found '%s'", case.where, case.load)
  end
  local found, told = simulated(case, chosen, load, is_before, options)
  told[#told + 1] = note
  return times[case.figure](found, load), told
end

--- The simulated figure before and after: {before, after, told}. Where the same rules hold on both sides, with the same
--- switches, nothing changes, whatever the load: {before = 1, after = 1} of one that is not simulated.
---@param options table {steps, seed, seeds, requests_per_client, modelled, folder, kept = {}, loops = {}}
function setup.answer(case, options)
  local ask = start_ups[case.figure] and start_up or times[case.figure] and time
    or core.fail("%s: nothing simulates the figure '%s'", case.where, case.figure)
  local both = joined.of(case, options) or {}
  local from, to = release_of(case, case.version_before, both.before), release_of(case, case.version_after, both.after)
  local is_same = json.encode(from.options) == json.encode(to.options) and not case.same_settings:find "%->"
    and has_same_rules(from.engine, from.release, to.release)
  if is_same and ask == time and not load_of(case) then
    return { before = 1, after = 1, told = { "the same rules hold on both sides: nothing changes" } }
  end
  local out = { told = {} }
  if is_same then to = core.copy(to, { release = from.release }) end -- one question, asked once
  local before, told = ask(case, from, options, true)
  local after, more = ask(case, to, options, false)
  out.before, out.after = before, after
  local seen = {}
  for _, list in ipairs { { from.note, to.note }, told, more } do
    for _, each in pairs(list) do
      if not seen[each] then seen[each], out.told[#out.told + 1] = true, each end
    end
  end
  if before == nil or after == nil then core.fail("%s: no %s is simulated", case.where, case.figure) end
  return out
end

return setup
