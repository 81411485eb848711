-- Help texts, made from the stubs in scripts/meta and from the declarations of policies.
local native = require "rooflua.native"
local capabilities = require "rooflua.plan.capabilities"
local core = require "rooflua.base.core"
local declarations = require "rooflua.measure.declared"
local engines = require "rooflua.help.engines"
local glossary = require "rooflua.help.glossary"
local manual = require "rooflua.help.scenario"
local policy = require "rooflua.policy"
local units = require "rooflua.text.units"

local help = {}

local function stub_names() return native.list_folder(native.home .. "/scripts/meta", ".lua") end

--- The parts of one stub: {doc = {...}, entries = {{name, signature, doc, fields}}}, in order.
local function read_stub(module)
  local text = native.read_file(native.home .. "/scripts/meta/" .. module .. ".lua")
  if not text then return nil end
  local stub, comment = { entries = {} }, {}
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
    local said = line:match "^%-%-%-%s?(.*)$"
    if said and not said:find "^@meta" then
      comment[#comment + 1] = said
    else
      local name, arguments = line:match "^function ([%w_.:]+)(%b())"
      if name then
        stub.entries[#stub.entries + 1] = { name = name, signature = name .. arguments,
          doc = comment }
      else
        local class
        for _, each in ipairs(comment) do class = class or each:match "^@class ([%w_.]+)" end
        if class then
          stub.entries[#stub.entries + 1] = { name = class, class = true, doc = comment }
        end
      end
      comment = {}
    end
  end
  return stub
end
help.read_stub = read_stub

--- "@param m number rows" as "  m number   rows".
local function entry_text(entry, stub)
  local lines = { entry.signature or entry.name }
  for _, line in ipairs(entry.doc) do
    local tag, rest = line:match "^@(%w+)%s*(.*)$"
    if tag == "param" or tag == "field" then
      lines[#lines + 1] = "  " .. rest
    elseif tag == "return" then
      lines[#lines + 1] = "  -> " .. rest
    elseif not tag then
      lines[#lines + 1] = "  " .. line
    end
  end
  local class = entry.class and stub and entry.name:match "[^.]+$"
  if class then
    for _, each in ipairs(stub.entries) do
      if each.signature and each.name:match("^" .. class .. "[.:]") then
        lines[#lines + 1] = "  " .. each.signature .. (each.doc[1] and "  " .. each.doc[1] or "")
      end
    end
  end
  return core.join(lines, "\n")
end

local function module_text(module, stub)
  local lines = {}
  for _, entry in ipairs(stub.entries) do
    if entry.class and entry.name == "rooflua." .. module or entry.name == module then
      lines[#lines + 1] = entry_text(entry)
    end
  end
  lines[#lines + 1] = ""
  for _, entry in ipairs(stub.entries) do
    if entry.signature then lines[#lines + 1] = "  " .. entry.signature end
  end
  return core.join(lines, "\n")
end

local function value_text(value)
  if type(value) == "string" then return '"' .. value .. '"' end
  if type(value) == "number" then return native.number_text(value) end
  if type(value) == "table" then return policy.is_instance(value) and tostring(value) or "{...}" end
  return tostring(value)
end

--- The declaration of a policy as text.
local function policy_text(value)
  local about = policy.describe(value)
  local lines = { about.name .. ": " .. about.doc }
  if about.source then lines[#lines + 1] = "  source: " .. about.source end
  if about.signals then
    lines[#lines + 1] = "  reads: " .. (#about.signals > 0 and core.join(about.signals, ", ") or "nothing")
  end
  local current = policy.is_instance(value) and policy.parameters(value) or {}
  for _, name in ipairs(core.sorted_keys(about.params)) do
    local declared = about.params[name]
    local shown = current[name]
    if shown == nil then shown = declared.default end
    local unit = declared.unit and declared.unit ~= "1" and " " .. declared.unit or ""
    lines[#lines + 1] = "  " .. name .. " = " .. value_text(shown) .. unit
    lines[#lines + 1] = "      " .. declared.doc
    if declared.values then
      local names = {}
      for i, each in ipairs(declared.values) do names[i] = value_text(each) end
      lines[#lines + 1] = "      one of " .. core.join(names, ", ")
    end
    if declared.source then lines[#lines + 1] = "      source: " .. declared.source end
  end
  for _, name in ipairs(core.sorted_keys(about.presets)) do
    lines[#lines + 1] = "  preset " .. name
  end
  return core.join(lines, "\n")
end

--- The name of a function of the library, such as "cost.gemm", found by searching the modules for it.
local function name_of(call)
  for _, module in ipairs(stub_names()) do
    local ok, functions = pcall(require, module == "rooflua" and "rooflua" or "rooflua." .. module)
    if ok and type(functions) == "table" then
      for _, key in ipairs(core.sorted_keys(core.plain(functions))) do
        if core.plain(functions)[key] == call then return module .. "." .. key end
      end
    end
  end
end

--- Names of the results of a library function, from its stub: {"time_s", "bound"}.
function help.returns(call)
  local name, out = name_of(call), {}
  if not name then return out end
  for _, entry in ipairs(read_stub(name:match "^[^.]+").entries) do
    if entry.name == name then
      for _, line in ipairs(entry.doc) do
        local rest = line:match "^@return%s+%S+%s*(.*)$"
        if rest then out[#out + 1] = rest:match "^[%w_]+" or "" end
      end
    end
  end
  return out
end

--- The signature of a library function, such as "cost.gemm(db, m, k, n, dtype)"; nil for any other function.
function help.signature(call)
  local name = name_of(call)
  if not name then return nil end
  for _, entry in ipairs(read_stub(name:match "^[^.]+").entries) do
    if entry.name == name then return entry.signature end
  end
  return name .. "(...)"
end

local kinds = require("rooflua.policy.kinds").folders()

local function find_policy(topic)
  local chunks = require "rooflua.sandbox.chunks"
  for _, kind in ipairs(kinds) do
    for _, name in ipairs(native.list_folder(native.home .. "/scripts/" .. kind, ".lua")) do
      if topic == kind .. "." .. name or topic == name then
        local class = chunks.require(kind .. "." .. name)
        if policy.is_class(class) then return class end
      end
    end
    if topic:sub(1, #kind + 1) == kind .. "." then -- of the user, in a folder of this name
      local class = require("rooflua.sandbox.named_policies").class(kind, topic)
      if class then return class end
    end
  end
end

--- The policies of a kind with a line each: what `rooflua list KIND` prints, and where more is said.
local function kind_text(topic)
  local lines = { ("%s: rooflua help %s.NAME says more on one"):format(topic, topic) }
  local chunks = require "rooflua.sandbox.chunks"
  for _, name in ipairs(native.list_folder(native.home .. "/scripts/" .. topic, ".lua")) do
    local class = chunks.require(topic .. "." .. name)
    if policy.is_class(class) then lines[#lines + 1] = ("  %-22s %s"):format(name, policy.definition(class).doc) end
  end
  return core.join(lines, "\n")
end

--- GPUs or models by name.
local function names_text(topic)
  local names = topic == "hardware" and native.list_hardware() or native.list_models()
  return ("%s: %s"):format(topic, core.join(names, ", "))
end

--- A model as `rooflua help NAME` shows it.
local function model_text(asked, model)
  local lines = { ("%s: a model%s"):format(model.name, asked ~= model.name and ", by another name of it" or "") }
  local function add(word, format, ...) lines[#lines + 1] = ("  %-11s "):format(word) .. format:format(...) end
  add("parameters", "%.4g billion, %.4g billion of them act on a token", model:parameters() / 1e9,
    model:active_parameters() / 1e9)
  add("shape", "%d layers, hidden size %d, %d heads, %d KV heads, vocabulary %d", model.layers, model.hidden_size,
    model.heads, model.kv_heads, model.vocab_size)
  add("context", "%s tokens", units.grouped(model.max_model_len))
  local weights = model.asked_format ~= "" and model.asked_format or model.weight_dtype
  add("weights", "%s under this name", tostring(weights))
  lines[#lines + 1] = "other names: rooflua list models --aliases"
  return core.join(lines, "\n")
end

--- A GPU as `rooflua help NAME` shows it.
local function gpu_text(asked, gpu)
  local lines = { ("%s: a GPU%s"):format(gpu.name, asked ~= gpu.name and ", by another name of it" or "") }
  local function add(word, text) lines[#lines + 1] = ("  %-11s "):format(word) .. text end
  add("memory", ("%s, read at %s"):format(units.text(gpu.memory_bytes, "B"),
    units.text(gpu.memory_bytes_per_s, "B/s")))
  local peaks = {}
  for dtype, peak in core.sorted_pairs(gpu.peak_flop_per_s) do
    peaks[#peaks + 1] = dtype .. " " .. units.text(peak, "flop/s")
  end
  add("peak", core.join(peaks, ", "))
  add("kind", gpu.architecture)
  if gpu.tables_from ~= "" then add("tables of", tostring(gpu.tables_from)) end
  lines[#lines + 1] = "measured rows and other names: rooflua list hardware"
  return core.join(lines, "\n")
end

--- A model or a GPU by any of its names; nil where the topic names none.
local function named_text(topic)
  if native.file_exists(topic) then return nil end
  local spec = require "rooflua.spec"
  local is_model, model = pcall(spec.model, topic)
  if is_model then return model_text(topic, model) end
  local is_gpu, gpu = pcall(spec.hardware, topic)
  return is_gpu and gpu_text(topic, gpu) or nil
end

--- The policies of a plan, kind by kind.
local function plan_text()
  local lines = { "Policies of a plan (rooflua help KIND lists them); capabilities says what a generator may use:" }
  for _, kind in ipairs { "candidates", "objectives", "strategies", "power" } do
    lines[#lines + 1] = ("  %-12s %s"):format(kind, core.join(native.list_folder(native.home .. "/scripts/" .. kind,
      ".lua"), ", "))
  end
  return core.join(lines, "\n")
end

--- The engines with a line each: what `rooflua list engines` prints, and where more is said.
local function engines_text()
  local lines = { "engines: rooflua help engines.NAME has the options, rooflua help \"NAME RELEASE on GPU\" values" }
  for _, each in ipairs(engines.list()) do lines[#lines + 1] = ("  %-22s %s"):format(each.name, each.doc) end
  return core.join(lines, "\n")
end

--- What follows the text of a module.
local behind_module = { plan = plan_text, engines = engines_text }

--- The text of a topic that is a key of a scenario ("vary"), a kind ("workloads"), or both ("steps", "hardware").
local function kind_or_key(topic)
  local parts = {}
  if manual.is_key(topic) then parts[1] = "scenario." .. manual.help("scenario." .. topic) end
  if core.is_among(topic, kinds) then parts[#parts + 1] = kind_text(topic) end
  if topic == "hardware" or topic == "models" then parts[#parts + 1] = names_text(topic) end
  return #parts > 0 and core.join(parts, "\n\n") or nil
end

--- The text of a module, from its stub, and what follows it.
local function text_of_module(module)
  local more = behind_module[module]
  local text = module_text(module, read_stub(module))
  return more and text .. "\n\n" .. more() or text
end

--- All topics of help.
function help.topics()
  local known = manual.topics()
  known[#known + 1] = "capabilities"
  for _, kind in ipairs(kinds) do known[#known + 1] = kind end
  for _, topic in ipairs(declarations.topics()) do known[#known + 1] = topic end
  for _, topic in ipairs(engines.topics()) do known[#known + 1] = topic end
  for _, topic in ipairs(glossary.topics()) do known[#known + 1] = topic end
  for _, module in ipairs(stub_names()) do
    known[#known + 1] = module
    for _, entry in ipairs(read_stub(module).entries) do known[#known + 1] = entry.name end
  end
  for _, kind in ipairs(kinds) do
    for _, name in ipairs(native.list_folder(native.home .. "/scripts/" .. kind, ".lua")) do
      known[#known + 1] = kind .. "." .. name
    end
  end
  return known
end

--- The class of an object of the engine, such as "Database", or "Live" of a simulation.
function help.class_of(value)
  if type(value) == "userdata" then
    local class = core.class_name(value)
    return class and class:gsub("^rooflua%.", "")
  end
  if type(value) == "table" and require("rooflua.serving.live").is_live(value) then return "Live" end
end

local function object_topic(value)
  local class = help.class_of(value)
  if class or type(value) ~= "table" then return class end
  for _, module in ipairs(stub_names()) do
    local loaded = package.loaded[module == "rooflua" and module or "rooflua." .. module]
    if loaded ~= nil and rawequal(core.plain(value), core.plain(loaded)) then return module end
  end
end

--- The error for a topic that is unknown: those that end with it, else similar ones, each once, and where to look.
local function unknown_topic(topic, commands)
  local known, seen, longer = {}, {}, {}
  for _, list in ipairs { commands, help.topics() } do
    for _, each in ipairs(list) do
      if not seen[each] then known[#known + 1], seen[each] = each, true end
      if each:sub(-#topic - 1) == "." .. topic then longer[#longer + 1] = "'" .. each .. "'" end
    end
  end
  local near = #longer > 0
    and ("unknown topic '%s'; did you mean %s? (%d names are known)"):format(topic, core.join(longer, ", "), #known)
    or native.unknown_name("topic", topic, known):gsub(" %(known:.*", "")
  return ("%s; modules: %s; policies: %s"):format(near, core.join(stub_names(), ", "), core.join(kinds, ", "))
end

--- The text of a word of the glossary, and of topics that end with it; nil for others.
local function word_text(topic)
  local text, longer = glossary.help(topic), {}
  if not text then return nil end
  for _, each in ipairs(help.topics()) do
    if each:sub(-#topic - 1) == "." .. topic then longer[#longer + 1] = each end
  end
  return text .. (#longer > 0 and "\nsee also " .. core.join(longer, ", ") or "")
end

--- The text for a topic: a module, a function, a class, a policy, or one of their values.
---@param topic any
---@param commands string[]? names that an error suggests, too
function help.text(topic, commands)
  if type(topic) == "function" then
    topic = name_of(topic) or require("rooflua.serving.live").method_name(topic)
      or core.fail "help: this function is not of the library"
  end
  if policy.is_class(topic) or policy.is_instance(topic) then return policy_text(topic) end
  if topic == nil or topic == "" then
    return "help \"cost\", \"cost.gemm\", \"Database:gemm\", \"steps.kernels\", \"scenario\"\nmodules: "
      .. core.join(stub_names(), ", ")
  end
  local object = object_topic(topic)
  if object then return help.text(object) end
  if type(topic) ~= "string" then
    core.fail("help: expected a name, a function or a policy, found %s", core.describe(topic))
  end
  topic = topic:gsub("^rooflua%.", ""):gsub("^db:", "Database:")
  if topic == "capabilities" then return capabilities.text() end
  if topic == "mfu.model" then return require("rooflua.text.constants").text() end
  local said = manual.help(topic) or engines.help(topic)
    or topic ~= "metrics" and core.is_among(topic, kinds) and kind_or_key(topic) or declarations.help(topic)
  if said then return said end
  for _, module in ipairs(stub_names()) do
    local stub = read_stub(module)
    if topic == module then return text_of_module(module) end
    for _, entry in ipairs(stub.entries) do
      if entry.name == topic or entry.name == "rooflua." .. topic or
        entry.name:gsub(":", ".") == topic then
        return entry_text(entry, stub)
      end
    end
  end
  local of_kind = kind_or_key(topic)
  if of_kind then return of_kind end
  local class, part = find_policy(topic), declarations.part_help(topic)
  if class then return policy_text(class) .. (part and "\n\n" .. part or "") end
  local named = part or word_text(topic) or named_text(topic)
  if named then return named end
  return core.fail("help: %s", unknown_topic(topic, commands or {}))
end

--- What the library says beside a command of the same name, as the module `plan` has; nil if nothing.
---@param topic string
function help.beside(topic)
  if not core.is_among(topic, stub_names()) then return nil end
  return ("In scripts, require \"rooflua.%s\":\n"):format(topic) .. text_of_module(topic)
end

--- The text for a topic on the command line, of which an error also suggests commands.
---@param topic string
---@param commands string[]
function help.of_topic(topic, commands) return help.text(topic, commands) end

return help
