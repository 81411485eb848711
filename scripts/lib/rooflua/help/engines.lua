-- Engines for people: `list engines`, `help engines.vllm`, `help "sglang 0.5.9"` and `help "sglang 0.5.9 on b200"`.
local native = require "rooflua.native"
local application = require "rooflua.applied.application"
local catalogue = require "rooflua.engines.catalogue"
local choice = require "rooflua.engines.choice"
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local implications = require "rooflua.engines.implications"
local release = require "rooflua.engines.release"
local settings = require "rooflua.engines.settings"
local values = require "rooflua.engines.values"

local manual = {}

--- One line for each engine: {name, doc}.
function manual.list()
  local out = {}
  for i, name in ipairs(catalogue.names()) do
    local engine = catalogue.of(name)
    local others = engine.aliases and "; also " .. engine.aliases[1] or ""
    local last, whole = catalogue.last(engine), catalogue.newest(engine)
    local read = last ~= whole and (", read in whole to %s"):format(whole) or ""
    out[i] = { name = name, doc = ("%s, rules from %s to %s%s%s"):format(engine.title, engine.releases[1].name, last,
      read, others) }
  end
  return out
end

local function value_text(value)
  if type(value) == "function" then return "computed" end
  if type(value) == "number" then return value == math.huge and "no limit" or native.number_text(value) end
  if type(value) == "table" then
    local parts = {}
    for i, each in ipairs(value) do parts[i] = value_text(each) end
    return core.join(parts, " ")
  end
  return tostring(value)
end

--- "since 0.21", "0.8 to before 0.14, on GPUs of 70 GiB and more": where a rule holds.
local function condition_text(rule)
  local parts = {}
  if rule.since then parts[#parts + 1] = "since " .. rule.since end
  if rule.before then parts[#parts + 1] = "before " .. rule.before end
  for name, value in core.sorted_pairs(rule.gpu or {}) do
    parts[#parts + 1] = ("gpu %s %s"):format(name, value_text(value))
  end
  for _, name in ipairs { "architecture", "family", "format" } do
    if rule[name] then
      parts[#parts + 1] = name .. " " .. (type(rule[name]) == "table" and core.join(rule[name], " or ") or rule[name])
    end
  end
  if rule.when then parts[#parts + 1] = "under a condition" end
  return #parts > 0 and core.join(parts, ", ") or "always"
end

--- Rows {value, where it holds, source} of a name, in the order of the rules.
local function defaults_of(engine, name)
  local out = {}
  for _, rule in ipairs(engine.rules) do
    if rule[name] ~= nil then
      out[#out + 1] = { "", value_text(rule[name]), condition_text(rule), rule.source or "no source" }
    end
  end
  return out
end

local function add_entry(lines, engine, name, entry)
  local key = entry.key and " -> " .. entry.key or ""
  local bounds = (entry.since and " since " .. entry.since or "") .. (entry.before and " before " .. entry.before or "")
  lines[#lines + 1] = ("%s%s%s: %s"):format(name, key, bounds, entry.doc or "")
  local rows = defaults_of(engine, name)
  if #rows > 0 then lines[#lines + 1] = columns.after(2, rows) end
end

--- Options that no rule reads: those that become drafts, those that are not modelled by what is taken in their place,
--- and those without effect.
local function add_others(lines, engine)
  local order, names = {}, {}
  local function add(group, option)
    if not names[group] then
      order[#order + 1] = group
      names[group] = {}
    end
    table.insert(names[group], option.flag or option.name)
  end
  for _, option in ipairs(engine.options) do
    local is_read = option.key or option.read_by or option.file
    if option.drafts then
      add("of a launch command, become the key `speculation`", option)
    elseif option.note then
      add("not modelled; a note of every answer: " .. option.note, option)
    elseif option.no_effect and not is_read then
      add("no effect here", option)
    end
  end
  for _, group in ipairs(order) do
    lines[#lines + 1] = ""
    lines[#lines + 1] = group .. ":"
    lines[#lines + 1] = "  " .. core.join(names[group], ", ")
  end
end

--- "moe_a2a_backend = deepep or mori, deepep_mode = normal" of what a row asks for.
local function asked_text(row)
  local parts = {}
  for name, wanted in core.sorted_pairs(row.where or {}) do
    local asked = type(wanted) == "table" and core.join(wanted, " or ") or tostring(wanted)
    parts[#parts + 1] = type(name) == "number" and wanted or name .. " = " .. asked
  end
  return #parts > 0 and core.join(parts, ", ") or "always"
end

--- Options that follow from others: what is asked, what is set, where it holds, the source.
local function add_implications(lines, engine)
  lines[#lines + 1] = ""
  lines[#lines + 1] = "Options that follow from others that are stated:"
  for _, row in ipairs(engine.implies) do
    for _, name in ipairs(core.sorted_keys(row)) do
      if implications.is_value(name) then
        local value = type(row[name]) == "function" and "" or " = " .. value_text(row[name])
        lines[#lines + 1] = ("  %s -> %s%s%s; %s (%s)"):format(asked_text(row), name, value,
          row.fills and ", unless stated" or "", condition_text(row), row.source or "no source")
      end
    end
  end
end

--- Every option and setting of an engine with its defaults.
local function engine_text(engine)
  local names = {}
  for i, each in ipairs(engine.releases) do names[i] = each.name end
  local lines = { ("%s (%s): rules from %s to %s"):format(engine.title, engine.name, names[1], names[#names]),
    "releases: " .. core.join(names, ", "),
    ("values of a release: help \"%s %s\""):format(engine.name, names[#names]), "",
    ("Options, as in engine = { \"%s %s\", NAME = value }; after the arrow the key that they set; below them "
      .. "their defaults; of several that hold the last counts:"):format(engine.name, names[#names]) }
  for _, option in ipairs(engine.options) do
    if option.key or option.read_by then add_entry(lines, engine, option.name, option) end
  end
  lines[#lines + 1] = ""
  add_others(lines, engine)
  add_implications(lines, engine)
  lines[#lines + 1] = ""
  lines[#lines + 1] = "What else follows from a release:"
  for _, setting in ipairs(settings) do
    if #defaults_of(engine, setting.name) > 0 then add_entry(lines, engine, setting.name, setting) end
  end
  return core.join(lines, "\n")
end

--- Every value that a run of a release gets on a GPU, with its source.
local function release_text(chosen, hardware)
  local spec = require "rooflua.spec"
  local gpu = spec.hardware(hardware or "h100-sxm")
  local found = values.of(chosen.engine, chosen.release, { hardware = gpu, tp = 1, dp = 1, pp = 1, ep = 1 })
  local keys, memory, from = application.keys(found)
  if memory then keys["deployment.memory_utilization"] = ("%s of %s"):format(value_text(memory[2]), memory[1]) end
  local rows, shown = { { "name", "value", "sets", "source" } }, {}
  for _, key in ipairs(core.sorted_keys(keys)) do
    local name = from[key]
    shown[name] = true
    rows[#rows + 1] = { name, value_text(found.values[name]), key .. " = " .. value_text(keys[key]),
      found.sources[name] or "" }
  end
  for _, name in ipairs(core.sorted_keys(found.sources)) do
    if not shown[name] then
      rows[#rows + 1] = { name, value_text(found.values[name]), "", found.sources[name] }
    end
  end
  local head = ("%s %s on %s, tp 1%s"):format(chosen.engine.name, chosen.release, gpu.name,
    hardware and "" or " (another GPU: help \"" .. chosen.engine.name .. " " .. chosen.release .. " on b200\")")
  return (chosen.note and chosen.note .. "\n" or "") .. head .. "\n\n" .. columns.text(rows)
end

--- The text of "engines.vllm", "vllm 0.19" and "vllm 0.19 on h200-sxm"; nil of any other topic.
function manual.help(topic)
  local name = topic:match "^engines%.(.+)$"
  if name then return engine_text(catalogue.of(name)) end
  local asked, hardware = topic:match "^(.-)%s+on%s+(%S+)$"
  asked = asked or topic
  local first, version = asked:match "^(%S+)%s+(%S+)$"
  if not first then
    for _, known in ipairs(catalogue.names()) do
      if known == asked then return engine_text(catalogue.of(asked)) end
    end
    return nil
  end
  if not (catalogue.has(first) or release.parse(version)) then return nil end
  return release_text(choice.parse(asked), hardware)
end

--- Topics of help.
function manual.topics()
  local out = { "engines" }
  for _, name in ipairs(catalogue.names()) do out[#out + 1] = "engines." .. name end
  return out
end

return manual
