-- The options of `rooflua plan` as a scenario: its table, and its text for --emit.
local native = require "rooflua.native"
local axes = require "rooflua.plan.axes"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local benched = require "rooflua.plan.options.benched"
local launched = require "rooflua.plan.options.launched"
local measured_load = require "rooflua.plan.measured_load"
local quoting = require "rooflua.text.quoting"
local tools = require "rooflua.formats.tools"

local options = {}

local fail = core.fail

--- A policy of the scenario that is built: {module, params}.
local function policy_node(module, params) return { module = module, params = params } end

-- Reading ---------------------------------------------------------------------------------------------------

local time_units = { us = 1e-6, ms = 1e-3, s = 1 }
local latencies = { ttft = true, tpot = true, itl = true, e2e = true, queue = true }

--- "ttft_p99" is "ttft_s_p99"; so is "tft_p99" nearer to it, for a suggestion.
local function metric_name(name)
  local first, rest = name:match "^(%a%w*)_(.+)$"
  if latencies[first] and not rest:find "^s_" and rest ~= "s" then return first .. "_s_" .. rest end
  local quantile = rest and rest:match "^p%d+$"
  return quantile and first .. "_s_" .. quantile or name
end

--- "500ms" as 0.5; a plain number stays as it is.
local function limit_of(text, value, is_latency)
  local number, unit = value:match "^([%d%.eE+-]+)%s*(%a*)$"
  number = tonumber(number)
  if not number or unit ~= "" and not time_units[unit] then
    fail("--slo %s: expected a number, of times with its unit, as in ttft_p99=500ms", text)
  end
  if is_latency and number <= 0 then fail("--slo %s: expected a time above 0", text) end
  if is_latency and unit == "" and number >= 10 then
    fail("--slo %s: %g seconds? Say %gms or %gs", text, number, number, number)
  end
  return number * (unit ~= "" and time_units[unit] or 1)
end

--- Limits of metrics, {ttft_s_p99 = 0.5}, of a list of texts "ttft_p99=500ms".
local function slo_of(list)
  local out = {}
  for _, text in ipairs(list) do
    local name, value = text:match "^%s*([%w_%.]+)%s*=%s*(.-)%s*$"
    if not name then fail("--slo %s: expected METRIC=LIMIT, as in ttft_p99=500ms", text) end
    local metric = metric_name((name:gsub("%.", "_")))
    if out[metric] then fail("--slo %s: %s has a limit already; give one of them", text, metric) end
    out[metric] = limit_of(text, value, metric:find "_s_" ~= nil)
  end
  return out
end

local function gpus_of(list)
  local out = {}
  for _, group in ipairs(list) do
    for text in group:gmatch "[^,]+" do
      local name, rest = text:match "^%s*([^:@]+)(.-)%s*$"
      rest = rest or text
      local count, price = rest:match "^:(%d+)@(.+)$"
      if not count then count, price = rest:match "^:(%d+)$", rest:match "^@(.+)$" end
      if not name or rest ~= "" and not (count or price) then
        fail("--gpus %s: expected NAME[:COUNT][@PRICE], as in h100-sxm:32@3.00", text)
      end
      if count and tonumber(count) < 1 then fail("--gpus %s: expected 1 GPU or more after the colon", text) end
      local dollars = price and tonumber((price:gsub("^%$", "")))
      if price and not (dollars and dollars >= 0 and dollars < math.huge) then
        fail("--gpus %s: expected a price per GPU and hour after @, found '%s'", text, price)
      end
      out[#out + 1] = { name, most = tonumber(count), price_per_hour = dollars }
    end
  end
  return out
end

local presets = { "chatbot", "content_generation", "multi_document", "summarization" }

--- Lengths that --workload names: {prompt_tokens, output_tokens}; nil where it is no lengths.
local function lengths_of(text)
  local prompt, output = text:gsub("[,_]", ""):match "^%s*(%d+)%s*%+%s*(%d+)%s*$"
  if not prompt then return nil end
  return { prompt_tokens = tonumber(prompt), output_tokens = tonumber(output) }
end

--- The workload, whether it is recorded, and the load that its file states.
local function workload_of(text, clients, users)
  local lengths = lengths_of(text)
  if lengths then
    local open = policy_node(clients and "workloads.closed_loop" or "workloads.poisson", lengths)
    return users and policy_node("workloads.users", { of = open }) or open
  end
  if core.is_among(text, presets) then
    local preset = policy_node("workloads.presets", { preset = text })
    if users then return policy_node("workloads.users", { of = preset }) end
    if not clients then return preset end
    local own = chunks.shipped "workloads.presets".lengths[text]
    return policy_node("workloads.closed_loop", { prompt_tokens = own[1], output_tokens = own[2] })
  end
  local path, run = tools.split(text)
  if native.file_exists(path) then
    local mean, stated = measured_load.of(text)
    if not mean then return policy_node("workloads.trace", { path = path, run = run }), true end
    return policy_node(stated.clients and "workloads.closed_loop" or "workloads.poisson", mean), false, stated
  end
  fail("--workload %s: expected PROMPT+ANSWER tokens as 2000+300, a preset or a trace file; %s", text,
    native.unknown_name("preset", text, presets))
end

options.slo = slo_of

--- A workload that --workload names with a load, as a policy: lengths, a preset or a file.
---@param text string
---@param about table {rate_per_s, clients, requests}; a recorded load has its own
function options.workload(text, about)
  local node, is_recorded, stated = workload_of(text, about.clients ~= nil)
  local own = stated or about
  if (is_recorded or stated) and (about.rate_per_s or about.clients) then
    fail "--workload: a file has its own load; --rate and --clients do not apply"
  end
  if not is_recorded then
    node.params = core.copy(node.params, { rate_per_s = own.rate_per_s, clients = own.clients,
      num_requests = about.requests })
  end
  return options.table(node)
end

local function load_of(given, is_recorded, stated)
  if is_recorded or stated then
    if given.rate or given.clients or given.users then
      fail "--workload: a trace has its own load; --peak multiplies it, --rate, --clients and --users do not apply"
    end
    if stated then return { rate_per_s = stated.rate_per_s, clients = stated.clients, peak = given.peak } end
    return given.peak and { peak = given.peak } or "recorded"
  end
  local sizes = {}
  for _, name in ipairs { "rate", "clients", "users" } do
    if given[name] then sizes[#sizes + 1] = "--" .. name end
  end
  if #sizes > 1 then fail("%s: give one of them", core.join(sizes, " and ")) end
  if #sizes == 0 then fail "--rate, --users or --clients: one of them says how large the load is" end
  return { rate_per_s = given.rate, clients = given.clients or given.users, peak = given.peak }
end

--- Values of an axis as numbers; its words stay.
local function numbers(list, axis)
  local out = {}
  for i, each in ipairs(list) do
    local value = tonumber(each)
    if axis.words and axis.words[each] then
      value = each
    elseif not value or value < axis.least or value % 1 ~= 0 then
      fail("%s %s: expected whole numbers from %d on", axis.option[1], each, axis.least)
    end
    out[i] = value
  end
  return out
end

--- Names of engines and, by name, their releases.
local function engines_of(list)
  local names, versions = {}, {}
  for i, each in ipairs(list) do
    local name, version = each:match "^([^=]+)=?(.*)$"
    if not catalogue.has(name or each) then
      fail("--engines %s: %s", each, native.unknown_name("engine", name or each, catalogue.names()))
    end
    if core.is_among(name, names) then
      fail("--engines %s: %s stands twice; a plan tries one release of an engine", each, name)
    end
    names[i] = name
    if version ~= "" then versions[name] = version end
  end
  return names, next(versions) and versions or nil
end

--- Parameters of the ladder that options set; nil where none does.
local function ladder_of(given)
  local out, versions = {}, nil
  for _, axis in ipairs(axes.rows(function(row) return row.option end)) do
    local values, name = given[axis.option_key], axis.parameter or axis.name
    if values and axis.type == "count" then
      out[name] = numbers(values, axis)
    elseif values and axis.type == "engine" then
      out[name], versions = engines_of(values)
    else
      out[name] = values
    end
  end
  for _, axis in ipairs(axes.rows(function(row) return row.of == "prefill" and row.option end)) do
    if given[axis.option_key] and not given.split then
      fail("plan: %s: is of deployments that --split tries", axis.option[1])
    end
  end
  return next(out) and out or nil, versions
end

local required = { { "model", "--model, --command or --from" }, { "workload", "--workload or --bench" },
  { "slo", "--slo" },
  { "gpus", "--gpus" } }
local example = "rooflua plan --model llama-3.1-8b --workload chatbot --rate 20 --slo ttft_p99=500ms --gpus h100@3.00"

local function check_required(given)
  local missing = {}
  for _, each in ipairs(required) do
    if given[each[1]] == nil then missing[#missing + 1] = each[2] end
  end
  if #missing > 0 then
    fail("plan: needs %s; for example: %s", core.join(missing, ", "), example)
  end
end

--- Parameters of the ladder that options set, and those that a command states.
local function with_command(ladder, command)
  return command.ladder and core.copy(ladder, command.ladder) or ladder
end

--- The scenario of the options, with policies as nodes, and sentences about what a launch command says besides.
function options.scenario(given)
  local command = (given.command or given.from) and launched.of(given) or {}
  local bench = given.bench and benched.of(given) or {}
  local told = bench.told and core.copy(command.told) or command.told
  for _, each in ipairs(bench.told or {}) do told[#told + 1] = each end
  given = core.copy(given, { model = command.model, gpus = command.gpus })
  check_required(core.copy(given, { workload = bench.workload }))
  local workload, is_recorded, stated = bench.workload, nil, nil
  if not workload then
    workload, is_recorded, stated = workload_of(given.workload, given.clients ~= nil, given.users ~= nil)
  end
  local ladder, versions = ladder_of(given)
  ladder = with_command(ladder, command)
  local plan = { load = bench.load or load_of(given, is_recorded, stated), slo = slo_of(given.slo),
    gpus = gpus_of(given.gpus), confidence = given.confidence, horizon_s = given.horizon_s, requests = given.requests,
    survive = given.survive, buy = given.buy, replicates = given.replicates, ranks = given.ranks, engines = versions,
    day = given.autoscaler and { autoscalers = given.autoscaler } or nil,
    objective = given.objective, strategy = given.strategy, power = given.power,
    candidates = given.candidates or ladder and policy_node("candidates.ladder", ladder) or nil }
  if given.candidates and ladder then
    fail "--candidates: another generator does not read --tp, --seats and the other axes; leave them out"
  end
  if given.engine and given.engines then
    fail "--engine and --engines: give one of them; --engines takes NAME=RELEASE"
  end
  return { rooflua = 1, kind = "plan", model = command.model or given.model, engine = command.engine or given.engine,
    seed = given.seed or 1, speculation = command.speculation, adapters = command.adapters, workload = workload,
    plan = plan }, told
end

-- The table and the text --------------------------------------------------------------------------------------

local function is_node(value) return type(value) == "table" and value.module ~= nil end

--- The table with policies in the place of nodes.
function options.table(value)
  if type(value) ~= "table" then return value end
  if is_node(value) then return chunks.require(value.module)(options.table(value.params)) end
  local out = {}
  for key, each in pairs(core.plain(value)) do out[key] = options.table(each) end
  return out
end

local order = { "rooflua", "kind", "model", "engine", "seed", "workload", "plan", "load", "slo", "gpus" }

local function keys_of(value)
  local out, seen = {}, {}
  for i = 1, #value do seen[i] = true end
  for _, key in ipairs(order) do
    if value[key] ~= nil then out[#out + 1], seen[key] = key, true end
  end
  for _, key in ipairs(core.sorted_keys(value)) do
    if not seen[key] then out[#out + 1] = key end
  end
  return out
end

--- A value as Lua; groups of the first two levels have a line per key.
local function lua_text(value, depth)
  if type(value) == "string" then return quoting.lua(value) end
  if type(value) == "number" then
    if value ~= value or math.abs(value) == math.huge then return value > 0 and "math.huge" or "-math.huge" end
    return ("%.15g"):format(value)
  end
  if type(value) ~= "table" then return tostring(value) end
  if is_node(value) then return ("require %s %s"):format(quoting.lua(value.module), lua_text(value.params, 9)) end
  value = core.plain(value)
  local parts = {}
  for i = 1, #value do parts[i] = lua_text(value[i], depth + 1) end
  for _, key in ipairs(keys_of(value)) do
    parts[#parts + 1] = ("%s = %s"):format(quoting.lua_key(key), lua_text(value[key], depth + 1))
  end
  if depth > 2 or #parts == 0 then return "{ " .. table.concat(parts, ", ") .. " }" end
  local pad = ("  "):rep(depth)
  return "{\n" .. pad .. table.concat(parts, ",\n" .. pad) .. ",\n" .. ("  "):rep(depth - 1) .. "}"
end

--- A table of plain values and nodes as Lua.
function options.lua_text(value) return lua_text(value, 1) end

--- The scenario as a file, with sentences as comments.
function options.text(scenario, told)
  local lines = { "-- Which GPUs, how many, at what cost: `rooflua run` or `rooflua plan` on this file answers." }
  for _, sentence in ipairs(told or {}) do lines[#lines + 1] = "-- Of the command: " .. quoting.line(sentence) end
  lines[#lines + 1] = "return " .. lua_text(scenario, 1) .. "\n"
  return table.concat(lines, "\n")
end

--- Watts by the name of a GPU, of --watts GPU=WATTS.
function options.watts(list, name_of)
  local out = {}
  for _, text in ipairs(list or {}) do
    local name, value = text:match "^([^=]+)=(.+)$"
    local watts = tonumber(value)
    if not name or not watts or not (watts > 0 and watts < 1e5) then
      fail("--watts %s: expected GPU=WATTS of one GPU, as in h100-sxm=520", text)
    end
    local known = name_of(name)
    if out[known] then fail("--watts %s: the watts of %s stand twice; give one of them", text, known) end
    out[known] = watts
  end
  return next(out) and out or nil
end

return options
