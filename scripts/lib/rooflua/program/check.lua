--- `rooflua check`: finds what is wrong or doubtful in a scenario without running it.
local capacity_text = require "rooflua.serving.capacity_text"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local failures = require "rooflua.serving.failures"
local fits = require "rooflua.machine.fits"
local forecast = require "rooflua.runs.forecast"
local idle = require "rooflua.scenario.idle"
local json = require "rooflua.json"
local live = require "rooflua.serving.live"
local locate = require "rooflua.sandbox.locate"
local native = require "rooflua.native"
local notes = require "rooflua.machine.notes"
local opening = require "rooflua.runs.opening"
local planning = require "rooflua.plan.run"
local rules = require "rooflua.runs.rules"
local searching = require "rooflua.explore.searching"
local serving = require "rooflua.serving.pieces"
local shape = require "rooflua.scenario.shape"
local single = require "rooflua.runs.single"
local units = require "rooflua.text.units"
local unread_keys = require "rooflua.serving.unread_keys"

local check = {}

local evidence_names = require("rooflua.base.words").names "evidence"
local most_forecast = 24 -- variants whose batches are priced

-- Findings ----------------------------------------------------------------------------------------------

--- A list of findings without repetitions. `path` is the file of the scenario.
local function collector(path)
  local out, seen = { variant = "", raised = 0, errors = 0, warnings = 0, findings = json.array {}, told = {} }, {}
  function out.add(level, file, line, message)
    if level == "error" then out.raised = out.raised + 1 end
    local mark = (line or "") .. message
    if seen[mark] then
      seen[mark].variants[out.variant] = true
      return
    end
    seen[mark] = { level = level, file = file, line = line, message = message,
      variants = { [out.variant] = true } }
    out.findings[#out.findings + 1] = seen[mark]
    local count = level == "error" and "errors" or "warnings"
    out[count] = out[count] + 1
  end
  --- Adds a finding about a key path.
  function out.report(level, key, message, ...)
    local text = select("#", ...) > 0 and string.format(message, ...) or message
    out.add(level, path, locate.line(path, key), key .. ": " .. text)
  end
  --- Adds an error as it was raised: "file:line: message", "file: message" or "message".
  function out.caught(problem)
    if type(problem) ~= "string" then problem = "an error that is not text but " .. core.describe(problem) end
    local file, line, message = problem:match "^(%S[^:\n]*):(%d+): (.*)$"
    if not file then file, message = path, problem end
    if message:sub(1, #path + 2) == path .. ": " then message = message:sub(#path + 3) end
    out.add("error", file, tonumber(line) or locate.line(path, locate.path("", message)), message)
  end
  return out
end

-- Stages --------------------------------------------------------------------------------------------------

local function shares_text(shares)
  local text = units.evidence(shares, shares[forecast.noted])
  return text ~= "" and text or "nothing is priced"
end

--- False where the longest request does not fit into the KV cache.
local function check_lengths(replica, figures, out)
  local context = replica.config.max_model_len
  if context and figures.longest > context then
    local model = replica.prepared.model
    local says = replica.is_cut and "the KV cache holds"
      or context == model.max_model_len and model.name .. "'s max_model_len" or "deployment.max_model_len"
    out.report("warning", "workload.prompt_tokens",
      "of the first %d requests the longest has %d tokens, more than %s, %d", figures.count, figures.longest, says,
      context)
  end
  local capacity = math.max(0, (replica.config.kv_blocks - replica.config.seat_blocks) * replica.config.block_size)
  local longest = math.min(figures.longest, context or figures.longest) -- answers are cut
  if longest > capacity then
    out.report("error", "workload.prompt_tokens",
      "a request of %d tokens does not fit into a KV cache of %d tokens", longest, capacity)
    return false
  end
  return true
end

local function check_load(prepared, figures, rates, out)
  for _, replica in ipairs(prepared.replicas) do
    if replica.config.role ~= "both" then return end
  end
  local most_per_s = 0
  for _, each in ipairs(rates) do most_per_s = most_per_s + each.most_per_s end
  if figures.rate_per_s and figures.rate_per_s > 1.3 * most_per_s then
    out.report("warning", "workload.rate_per_s",
      "%.3g requests/s come, about %.2g can be served: the queue grows as long as the run lasts",
      figures.rate_per_s, most_per_s)
  end
end

--- Reports kinds of work that the tables have no row for.
local function check_tables(prepared, rates, out)
  local database = prepared.replicas[1].prepared.mfu
  if #database:tables() == 0 then return end
  local modelled = {}
  for _, each in ipairs(rates) do
    for kind in pairs(each.ops.modelled or {}) do
      if kind ~= "elementwise" then modelled[kind] = true end
    end
  end
  local names = core.sorted_keys(modelled)
  if #names > 0 then
    out.report("warning", "mfu", "the tables have nothing for %s: it is modelled", table.concat(names, ", "))
  end
end

--- Reports what is doubtful in what the scenario states of an engine.
local function check_doubts(replica, out)
  for _, each in ipairs(replica.doubts) do out.report("warning", each.key, "%s", each.text) end
end

--- Notes of the models and GPUs that a run would have.
local function tell(out, list)
  for _, note in ipairs(list or {}) do out.told[note] = true end
end

local trial_steps = 8 -- of a simulation, in which router, scheduler and workload are called

--- Runs the first steps of a simulation, so that each policy answers once.
---@param out table? gets the requests that fail in them
local function try_policies(reader, given, out)
  local simulation = live.begin(reader, given, {})
  local goes_on = simulation:step(trial_steps)
  local state = live.state(simulation)
  local level = not goes_on and failures.are_all(state) and "error" or "warning"
  for _, sentence in ipairs(out and failures.of(state) or {}) do
    out.report(level, "workload", "in the first steps %s", sentence)
  end
  simulation:close()
end

--- Shares of evidence of one variant of kind "serve".
---@param is_one_of_many boolean? whether it is a run of a search or plan: their loads vary
local function forecast_serve(reader, given, out, is_one_of_many)
  local prepared = serving.check(reader, given)
  local bound = {}
  for i, replica in ipairs(prepared.replicas) do
    bound[i] = replica.prepared
    if replica.rank == 1 then
      tell(out, { fits.seat_note(replica) })
      if given.engine ~= nil then tell(out, { capacity_text.of_prepared(replica.prepared) }) end
      check_doubts(replica, out)
    end
  end
  tell(out, { capacity_text.split(prepared.replicas) })
  tell(out, notes.of(bound))
  local requests = reader:at("workload", forecast.requests, prepared.workload, prepared.streams,
    prepared.replicas[1].prepared.model)
  for _, line in ipairs(native.left_out_lines { requests }) do out.report("warning", "workload", "%s", line) end
  tell(out, requests.notes)
  for _, each in ipairs(idle.of(given, requests.seen)) do out.report("warning", each[1], "%s: %s", each[3], each[2]) end
  local figures = forecast.figures(requests)
  if figures.count == 0 then
    try_policies(reader, given, not is_one_of_many and out or nil)
    return {}
  end
  local seconds, rates = {}, {}
  for i, replica in ipairs(prepared.replicas) do
    if i == 1 and not check_lengths(replica, figures, out) then return {} end
    local share = figures.rate_per_s and figures.rate_per_s / #prepared.replicas
    local one = i > 4 and rates[1] or reader:at("steps", forecast.of_replica, replica, figures, share)
    rates[i] = one
    for name, value in pairs(one.seconds) do seconds[name] = (seconds[name] or 0) + value end
  end
  if not is_one_of_many then check_load(prepared, figures, rates, out) end
  if not out.is_plan then check_tables(prepared, rates, out) end
  try_policies(reader, given, not is_one_of_many and out or nil)
  return forecast.shares(seconds)
end

--- Findings of one run of many, kept apart: they hold if this run is the one that counts.
local function apart()
  local out = { told = {}, list = {}, errors = 0 }
  function out.report(...)
    out.list[#out.list + 1] = { ... }
    if ... == "error" then out.errors = out.errors + 1 end
  end
  --- Hands them to another collector.
  ---@param level string? in place of "error"
  function out.hand_to(other, level)
    for _, each in ipairs(out.list) do
      other.report(each[1] == "error" and level or each[1], unpack(each, 2, table.maxn(each)))
    end
    for note in pairs(out.told) do other.told[note] = true end
  end
  return out
end

--- Shares of evidence of the first run of a search that is right. Where none is, what is wrong with the first holds.
local function forecast_search(reader, list, out)
  local first, problem
  for i = 1, math.min(#list, most_forecast) do
    local own = apart()
    local ok, shares = pcall(forecast_serve, reader, list[i], own, true)
    if not ok and chunks.is_spent(shares) then error(shares, 0) end
    if ok and own.errors == 0 then
      own.hand_to(out)
      return shares
    end
    if i == 1 then first, problem = own, not ok and shares or nil end
  end
  first.hand_to(out)
  if problem then error(problem, 0) end
  return {}
end

--- Forecasts of the deployments with which a plan begins. What keeps one of them from serving is no mistake, because
--- the plan tries others.
local function forecast_plan(reader, asked, name, out, forecasts)
  tell(out, asked.notes)
  for i, each in ipairs(reader:at("plan", planning.first, asked)) do
    if i > most_forecast then return end
    local own = apart()
    own.is_plan = true
    local shares = forecast_serve(reader, each.scenario, own, true)
    own.hand_to(out, "warning")
    forecasts[#forecasts + 1] = { name = name == "" and each.name or name .. ", " .. each.name, evidence = shares }
  end
end

--- Adds forecasts of one variant.
local function forecast_variant(opened, name, given, out, forecasts)
  local reader = opened.reader
  if opened.kind == "plan" then
    return forecast_plan(reader, reader:at("plan", planning.check, reader, given), name, out, forecasts)
  end
  local function add(shares) forecasts[#forecasts + 1] = { name = name, evidence = shares } end
  if opened.kind == "serve" then return add(forecast_serve(reader, given, out)) end
  if opened.kind == "search" then
    return add(forecast_search(reader, reader:at("search", searching.check, reader, given, given.search), out))
  end
  local result = single.run(opened.kind, reader, given, { operations = false })
  for _, problem in ipairs(result.problems or {}) do out.report("warning", "price", "%s", problem) end
  tell(out, result.told)
  local shares = core.copy(result.evidence)
  shares[forecast.noted] = result.noted_frac
  add(shares)
end

--- "modelled 86.2 to 100.0 %, assumed 0.0 to 13.8 %" over many variants.
local function ranges_text(forecasts)
  local parts = {}
  for _, name in ipairs(evidence_names) do
    local low, high = 1, 0
    for _, each in ipairs(forecasts) do
      local share = each.evidence[name] or 0
      low, high = math.min(low, share), math.max(high, share)
    end
    if high > 0 then parts[#parts + 1] = string.format("%s %.1f to %.1f %%", name, 100 * low, 100 * high) end
  end
  return table.concat(parts, ", ")
end

local function note_forecasts(out, forecasts)
  local same = true
  for _, each in ipairs(forecasts) do
    same = same and shares_text(each.evidence) == shares_text(forecasts[1].evidence)
  end
  if not same and #forecasts > 6 then
    out.notes[1] = "forecast  " .. ranges_text(forecasts)
    return
  end
  for i, each in ipairs(forecasts) do
    if i == 1 or not same then
      local name = (same or each.name == "") and "" or each.name .. ": "
      out.notes[#out.notes + 1] = "forecast  " .. name .. shares_text(each.evidence)
    end
  end
end

--- A finding that does not hold in every variant names those in which it holds.
local function name_variants(out, count)
  for _, finding in ipairs(out.findings) do
    local names = core.sorted_keys(finding.variants)
    if names[1] ~= "" and #names < count then
      finding.message = finding.message .. " (" .. table.concat(names, "; ", 1, math.min(#names, 3))
        .. (#names > 3 and "; ..." or "") .. ")"
    end
    finding.variants = nil
  end
end

local function check_variants(opened, out)
  local forecasts = json.array {}
  for index, variant in ipairs(opened.variants) do
    out.variant = variant.name
    local ok, given = pcall(opening.variant, opened, index)
    if not ok then
      out.caught(given)
    else
      local before = out.raised
      rules.apply(given, out.report)
      for _, each in ipairs(unread_keys.of(given, opened.kind)) do
        out.report("warning", each[1], "%s: %s", each[3] or "nothing reads it", each[2])
      end
      if out.raised == before and index <= most_forecast then
        local fine, problem = pcall(forecast_variant, opened, variant.name, given, out, forecasts)
        if not fine then out.caught(problem) end
        if not fine and chunks.is_spent(problem) then break end -- the rest would end the same way
      end
    end
  end
  return forecasts
end

local function checked(path, load, sets, command)
  local out = collector(path)
  out.notes = json.array {}
  local result = { file = path, kind = "", variants = 0, forecast = json.array {} }
  local loaded, returned = pcall(load, path)
  if not loaded then
    out.caught(returned)
  elseif type(returned) ~= "table" then
    out.caught("expected the file to return a table, found " .. core.describe(returned))
  else
    local finished, problem = pcall(chunks.bounded, path, function()
      local opened, found = pcall(opening.table, shape.known_keys(returned, out.caught),
        { file = path, set = sets, command = command })
      if not opened then return out.caught(found) end
      result.kind, result.variants = found.kind, #found.variants
      if found.reader.shared.startup then
        local ledger = require "rooflua.program.capacity"
        result.startup = ledger.beside(found.reader, (opening.variant(found, 1)))
      end
      result.forecast = check_variants(found, out)
    end)
    if not finished then out.caught(problem) end
    note_forecasts(out, result.forecast)
    for _, sentence in ipairs(chunks.nearer()) do out.told[sentence] = true end
    for _, note in ipairs(core.sorted_keys(out.told)) do out.notes[#out.notes + 1] = "note  " .. note end
  end
  name_variants(out, result.variants)
  for _, key in ipairs { "errors", "warnings", "findings", "notes" } do result[key] = out[key] end
  return result
end

--- {file, kind, variants, errors, warnings, findings = {{level, file, line, message}}, forecast, notes, startup}
---@param path string
---@param sets string[]? "key=value" of the command line
---@param command table? a launch command or files {text or from, engine, model}, as opening.table takes it
function check.file(path, sets, command) return checked(path, chunks.load_scenario, sets, command) end

--- The same of a table, where files of a start say the rest.
function check.table(given, sets, command)
  return checked(command.from[1], function() return given end, sets, command)
end

return check
