-- The engine that a scenario chooses: `engine = "vllm 0.19"`, or { "sglang 0.5.9", mem_fraction_static = 0.85 } with
-- options in the engine's own words.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local ages = require "rooflua.engines.ages"
local builds = require "rooflua.engines.builds"
local catalogue = require "rooflua.engines.catalogue"
local documents = require "rooflua.engines.documents"
local release = require "rooflua.engines.release"

local choice = {}

--- The release whose rules hold for one that is asked for, and a sentence where it is another one.
local function known_release(engine, asked)
  local newest, oldest = catalogue.last(engine), engine.releases[1].name
  local version = release.parse(asked)
  if not version then
    core.fail("%s: '%s' is no release; expected one as in %s %s", engine.name, asked, engine.name, newest)
  end
  if version.is_build and version.day then
    local found = nil
    for _, each in ipairs(engine.releases) do
      if each.day and each.day <= version.day then found = each.name end
    end
    if found then
      return found, ("%s %s: the rules of %s, the release of that day"):format(engine.name, asked, found)
    end
  end
  if version.is_build then
    return newest, ("%s %s: the rules of %s, the newest that are known"):format(engine.name, asked, newest)
  end
  if release.earlier(asked, oldest) then
    core.fail("%s %s: rules are known from %s on", engine.name, asked, oldest)
  end
  if release.earlier(newest, asked) then
    return asked, ("%s %s is newer than the rules that are known: those of %s"):format(engine.name, asked, newest)
  end
  return asked
end

--- The release that holds where none is stated, in a sentence.
local function unstated(engine)
  local newest = catalogue.newest(engine)
  return ("engine %s %s, the newest release that %s: none is stated"):format(engine.name, newest,
    newest == catalogue.last(engine) and "is known" or "was read in whole")
end

--- Sentences about what stands behind a release: switches that are set, words that are none.
local function told_of(engine, build)
  local out = {}
  for name, value in core.sorted_pairs(build.options) do
    out[#out + 1] = ("%s = %s"):format((engine.option[name] or {}).flag or name, tostring(value))
  end
  if #build.others > 0 then
    out[#out + 1] = ("no switch that is known, left out: %s"):format(core.join(build.others, " "))
  end
  return out
end

--- {engine, release, note, options} of "vllm 0.19", "vllm 0.26.0 runner V2", "vllm nightly of 7 September".
--- @param reads_options boolean? whether the caller reads the options that words behind the release switch
function choice.parse(text, reads_options)
  core.text(text, "engine")
  local name, asked = text:match "^%s*([^%s=]+)%s*=*%s*(.-)%s*$"
  if not name then core.fail("'%s': expected an engine and its release, as in \"vllm 0.19\"", text) end
  local engine = catalogue.of(name)
  if asked == "" then
    return { engine = engine, release = catalogue.newest(engine), note = unstated(engine), options = {} }
  end
  local build = builds.read(engine, asked) or { version = asked, options = {}, others = {} }
  local version, note = known_release(engine, build.version)
  if next(build.options) and not reads_options then
    core.fail("'%s': %s stands behind the release, and no option is read here", text, told_of(engine, build)[1])
  end
  local notes = { note, ages.note(engine, version) }
  if not notes[1] then notes = { notes[2] } end
  for _, each in ipairs(told_of(engine, build)) do notes[#notes + 1] = ("\"%s\": %s"):format(text, each) end
  return { engine = engine, release = version, note = #notes > 0 and core.join(notes, "; ") or nil,
    is_stated = true, options = build.options }
end

--- The options of a choice with those that are stated apart; an option that both say in another way is an error.
--- @param stated table<string, any>
function choice.with_options(chosen, stated)
  local out = core.copy(stated)
  for name, value in pairs(chosen.options or {}) do
    if out[name] ~= nil and tostring(out[name]) ~= tostring(value) then
      core.fail("%s %s: %s is %s and %s", chosen.engine.name, chosen.release, name, tostring(value),
        tostring(out[name]))
    end
    out[name] = value
  end
  return out
end

--- {a = {b = 1}} as {["a.b"] = 1}: options of a YAML file. The value of an option that is a document stays together.
local function flattened(out, engine, given, prefix)
  for key, value in core.sorted_pairs(core.plain(given)) do
    local name = prefix .. tostring(key)
    local option = engine.option[name]
    if option and option.type == "json" and type(value) == "table" then
      out[name] = documents.split(engine, option, value, function(part, own) out[part.name] = own end)
    elseif type(value) == "table" and #core.plain(value) == 0 then
      flattened(out, engine, value, name .. ".")
    else
      out[name] = value
    end
  end
  return out
end

local types = { integer = "a whole number", number = "a number", switch = "true or false", text = "text",
  json = "text of JSON", list = "a list of texts and numbers" }

local function is_list(value)
  if type(value) ~= "table" then return false end
  for _, each in ipairs(core.plain(value)) do
    if type(each) ~= "string" and type(each) ~= "number" then return false end
  end
  return true
end

--- Whether a value is of the type of an option.
local function fits(kind, value)
  if kind == "integer" then return type(value) == "number" and value % 1 == 0 end
  if kind == "number" then return type(value) == "number" and value == value end
  if kind == "switch" then return type(value) == "boolean" end
  if kind == "list" then return is_list(value) end
  return type(value) == "string"
end

local function range_text(option)
  local low, high = option.min and native.number_text(option.min), option.max and native.number_text(option.max)
  if low and high then return ("a value from %s to %s"):format(low, high) end
  return low and "a value of at least " .. low or "a value of at most " .. high
end

--- Refuses a value that an option cannot have.
---@param where string how the option is called
function choice.check(where, option, value)
  if not fits(option.type, value) then
    core.fail("%s: expected %s, found %s", where, types[option.type], core.describe(value))
  end
  if option.min and value < option.min or option.max and value > option.max then
    core.fail("%s: expected %s, found %s", where, range_text(option), core.describe(value))
  end
  if option.values then
    for _, each in ipairs(option.values) do
      if each == value then return end
    end
    core.fail("%s: %s", where, native.unknown_name("value", value, option.values))
  end
end

--- Why a name is no option of an engine, with options that are near.
local function unknown(engine, name)
  local all, read = core.sorted_keys(engine.option), {}
  for _, each in ipairs(all) do
    if engine.option[each].key then read[#read + 1] = each end
  end
  local near = native.suggestions(name, all)
  return ("unknown option of %s '%s'%s (known: %s; help engines.%s lists those without effect)"):format(engine.name,
    name, #near > 0 and "; did you mean '" .. core.join(near, "', '") .. "'?" or "", core.join(read, ", "), engine.name)
end

--- Whether a value of an option is what the engine does anyway.
function choice.is_idle(option, value)
  return core.is_among(tostring(value), option.idle or {})
end

--- Sentences about options that a run does not follow: those that matter, by what is taken in their place; and one
--- sentence that lists those without effect.
---@param stated table<string, any>
---@return string[]
function choice.notes(engine, stated)
  local order, names, without = {}, {}, {}
  for _, option in ipairs(engine.options) do
    local value = stated[option.name]
    local name = option.flag or option.name
    local note = value ~= nil and (option.says and option.says(value) or option.note) or nil
    if value ~= nil and not option.key and (option.no_effect or choice.is_idle(option, value)) then
      without[#without + 1] = name
    elseif note then
      if not names[note] then
        order[#order + 1] = note
        names[note] = {}
      end
      table.insert(names[note], name)
    end
  end
  for i, note in ipairs(order) do order[i] = core.join(names[note], ", ") .. ": " .. note end
  if #without > 0 then order[#order + 1] = "no effect here: " .. core.join(without, ", ") end
  return order
end

--- Where a scenario says what a value of an option means; nil where its `engine` says it.
function choice.elsewhere(option, value)
  if type(option.elsewhere) == "function" then return option.elsewhere(value) end
  return option.elsewhere
end

--- Why a release does not have an option: "since 0.19", "gone since 0.5.0; see --moe-a2a-backend".
function choice.range(engine, option, version)
  if option.since and release.earlier(version, option.since) then return "since " .. option.since end
  local other = engine.option[option.read_by or ""]
  return ("gone since %s%s"):format(option.before, other and "; see " .. (other.flag or other.name) or "")
end

--- Options that are stated, checked: values by name.
local function options_of(chosen, given)
  local out, engine = {}, chosen.engine
  for name, value in pairs(flattened({}, engine, given, "")) do
    local option = engine.option[name]
    if not option then core.fail("engine.%s: %s", name, unknown(engine, name)) end
    local elsewhere = choice.elsewhere(option, value)
    if elsewhere or not (option.key or option.read_by or option.note or option.no_effect) then
      core.fail("engine.%s: %s", name, elsewhere or "a scenario does not read it")
    end
    if not release.holds(option, chosen.release) then
      core.fail("engine.%s: %s %s does not have it (%s)", name, engine.name, chosen.release,
        choice.range(engine, option, chosen.release))
    end
    choice.check("engine." .. name, option, value)
    out[name] = value
  end
  return out
end

--- The engine of a scenario's key `engine`: {engine, release, note, options, is_stated}.
function choice.of(given)
  if type(given) == "string" then
    local chosen = choice.parse(given, true)
    chosen.options = options_of(chosen, chosen.options)
    if next(chosen.options) then chosen.notes = choice.notes(chosen.engine, chosen.options) end
    return chosen
  end
  if type(given) ~= "table" then
    core.fail("engine: expected \"vllm 0.19\" or { \"vllm 0.19\", max_num_seqs = 64 }, found %s", core.describe(given))
  end
  local plain, options = core.plain(given), {}
  if type(plain[1]) ~= "string" then
    core.fail "engine: expected the engine first, as in { \"vllm 0.19\", max_num_seqs = 64 }"
  end
  for key, value in pairs(plain) do
    if key ~= 1 then
      if type(key) ~= "string" then core.fail("engine: found %s after the engine", core.describe(value)) end
      options[key] = value
    end
  end
  local chosen = choice.parse(plain[1], true)
  chosen.options = choice.with_options({ engine = chosen.engine, release = chosen.release,
    options = options_of(chosen, chosen.options) }, options_of(chosen, options))
  chosen.notes = choice.notes(chosen.engine, chosen.options)
  return chosen
end

--- The newest release of an engine, of the default one without a name.
function choice.newest(name)
  local engine = name == nil and catalogue.default() or catalogue.of(name)
  local newest = catalogue.newest(engine)
  return { engine = engine, release = newest, options = {},
    note = name == nil and ("engine %s %s, not stated"):format(engine.name, newest)
      or unstated(engine) }
end

--- The same of a scenario's key; nil where it states none.
function choice.of_scenario(given) return given ~= nil and choice.of(given) or nil end

return choice
