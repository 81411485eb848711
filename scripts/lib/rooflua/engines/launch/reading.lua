-- Words of a command as an engine with options: flags and their values, variables of the environment, files with
-- options.
local catalogue = require "rooflua.engines.catalogue"
local choice = require "rooflua.engines.choice"
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local json = require "rooflua.json"
local native = require "rooflua.native"
local release = require "rooflua.engines.release"
local spelling = require "rooflua.engines.launch.spelling"
local start = require "rooflua.engines.launch.start"
local texts = require "rooflua.engines.launch.texts"

local reading = {}

-- Options -----------------------------------------------------------------------------------------------------

--- States an option; one that is stated twice with two values is an error.
--- @param where string the flag or key in messages
local function put(state, option, value, where)
  if value == nil then return end
  local version = state.release
  if not release.holds(option, version) then
    core.fail("%s: %s %s does not have it (%s)", where, state.engine.title, version,
      choice.range(state.engine, option, version))
  end
  choice.check(where, option, value)
  local before = state.options[option.name]
  if before ~= nil and json.encode(before) ~= json.encode(value) then
    core.fail("%s: is stated twice, as %s and as %s (%s)", spelling.name(option), json.encode(before),
      json.encode(value), where)
  end
  state.options[option.name] = value
end

--- A part of a document of a flag or a file.
local function put_part(state, prefix)
  return function(option, value, path, is_text)
    local where = prefix .. path
    if value == json.null then return end
    if option.type == "json" and not is_text then
      local rest = documents.split(state.engine, option, value, put_part(state, prefix))
      if rest then put(state, option, rest, where) end
      return
    end
    put(state, option, texts.of_document(where, option, value), where)
  end
end

--- A document after a flag: its parts are options.
local function put_document(state, option, value, where)
  local rest = documents.split(state.engine, option, value, put_part(state, ""))
  if rest then put(state, option, rest, where) end
end

--- {a = {b = value}} of "a.b".
local function nested(path, value)
  local parts = {}
  for part in path:gmatch "[^.]+" do parts[#parts + 1] = part end
  for i = #parts, 1, -1 do value = { [parts[i]] = value } end
  return value
end

--- Joins maps; a plain value that is there already is kept where it is the same.
local function merged(out, value)
  for key, each in pairs(value) do
    if documents.is_map(each) and documents.is_map(out[key]) then
      merged(out[key], each)
    else
      out[key] = each
    end
  end
  return out
end

--- A value after a dotted flag: JSON, else text.
local function part_of(word, option)
  local ok, value = pcall(json.decode, word)
  if ok then return value end
  return texts.is_switch(word) and texts.read("", "switch", word, option) or word
end

-- Words after the command ------------------------------------------------------------------------------------

--- Whether a word is the value of a flag in front of it: no flag itself.
local function is_value(word)
  return word ~= nil and (word:sub(1, 1) ~= "-" or word == "-" or word:find "^%-%.?%d" ~= nil)
end

--- The value of a flag: after "=", or the next word.
local function value_of(state, flag, given)
  if given then return given end
  local word = state.words[state.at]
  if not is_value(word) then core.fail("%s: expected a value after it", flag) end
  state.at = state.at + 1
  return word
end

local function list_of(state, flag, given, option)
  local words = {}
  if given then
    words[1] = given
  else
    while is_value(state.words[state.at]) do
      words[#words + 1] = state.words[state.at]
      state.at = state.at + 1
    end
  end
  if #words == 0 then core.fail("%s: expected one or more values after it", flag) end
  if #words == 1 and words[1]:find "^%[.*%]$" then
    local ok, value = pcall(json.decode, words[1])
    if ok then return texts.of_document(flag, option, value) end
  end
  local out = {}
  for i, word in ipairs(words) do out[i] = texts.read(flag, option.items or "text", word, option) end
  return out
end

--- Raises the error about a key of a document that is no option.
local function unknown(engine, prefix)
  return function(key)
    core.fail("%s%s: %s has no such option%s", prefix, key, engine.title,
      spelling.near(key, core.sorted_keys(engine.option)))
  end
end

local read_file -- of options, below

--- An option as a release reads it: 32k is a number since `readable_since`.
local function as_of(option, version)
  local is_plain = option.readable_since and release.earlier(version, option.readable_since)
  return is_plain and core.copy(option, { readable = false }) or option
end

local function read_flag(state, word)
  local flag, given = word:match "^([^=]+)=(.*)$"
  flag = flag or word
  local entry = spelling.find(state.engine, flag)
  if entry.is_model then
    local name = value_of(state, flag, given)
    if state.model and state.model ~= name then
      core.fail("%s: the model is stated twice, as %s and as %s", flag, core.describe(state.model), core.describe(name))
    end
    state.model = name
    return
  end
  local option = entry.option
  if option.type == "switch" then
    local value = true
    local next_word = state.words[state.at]
    if given then
      value = texts.read(flag, "switch", given, option)
    elseif state.engine.abbreviates and next_word and texts.is_switch(next_word) then
      value, state.at = texts.read(flag, "switch", next_word, option), state.at + 1
    end
    if entry.opposite then value = not value end
    return put(state, option, value, flag)
  end
  if option.type == "list" then return put(state, option, list_of(state, flag, given, option), flag) end
  local text = value_of(state, flag, given)
  for _, each in ipairs(option.unstated or {}) do
    if text == each then return end
  end
  if option.file then return read_file(state, option, text, flag) end
  if option.type ~= "json" then
    return put(state, option, texts.read(flag, option.type, text, as_of(option, state.release)), flag)
  end
  if entry.path then
    state.parts[option.name] = merged(state.parts[option.name] or {}, nested(entry.path, part_of(text, option)))
    state.parted[#state.parted + 1] = option
  else
    put_document(state, option, texts.read(flag, "json", text, option), flag)
  end
end

--- The options of a YAML file: keys of the engine's own configuration, or flags without dashes.
function read_file(state, option, path, flag)
  local text, problem = state.files[(path:gsub("^%./", ""))], nil
  if not text then text, problem = native.read_file(path) end
  if not text then core.fail("%s: %s", flag, problem) end
  local map = native.yaml_decode(text, path)
  if not documents.is_map(map) then core.fail("%s: %s: expected keys with values", flag, path) end
  if option.file == "options" then
    local own = { engine = state.engine, release = state.release, options = {} }
    documents.of_file(state.engine, map, put_part(own, path .. ": "), unknown(state.engine, path .. ": "))
    for name, value in pairs(own.options) do state.from_file[name] = value end
    state.file = path
    return
  end
  local words = {}
  for key, value in core.sorted_pairs(core.plain(map)) do
    local word = "--" .. key
    if value == true then
      words[#words + 1] = word
    elseif documents.is_map(value) or type(value) == "table" and value ~= json.null then
      words[#words + 1] = word
      words[#words + 1] = json.encode(value)
    elseif value ~= false and value ~= json.null then
      words[#words + 1] = word
      words[#words + 1] = texts.word(value)
    end
  end
  local outer, at = state.words, state.at
  state.words, state.at = words, 1
  reading.rest(state)
  state.words, state.at = outer, at
end

--- Reads a flag of a run that took place: one that cannot be read is named in a note, and its values are passed over.
local function read_or_tell(state, word)
  local at = state.at
  local ok, problem = pcall(read_flag, state, word)
  if ok then return end
  state.told[#state.told + 1] = "not read: " .. tostring(problem):gsub("^[^%s:]+:%d+: ", "")
  state.at = at
  while is_value(state.words[state.at]) do state.at = state.at + 1 end
end

--- Reads all words from a place on.
function reading.rest(state)
  while state.at <= #state.words do
    local word = state.words[state.at]
    state.at = state.at + 1
    if word:find "^%-%-?%a" then
      local read = state.is_measured and read_or_tell or read_flag
      read(state, word)
    elseif state.engine.positional and not state.model then
      state.model = word
    else
      core.fail("%s: a word that belongs to no flag", core.describe(word))
    end
  end
end

--- States documents whose parts stood after several flags.
local function put_parts(state)
  for _, option in ipairs(state.parted) do
    local parts = state.parts[option.name]
    if parts then put_document(state, option, parts, spelling.name(option)) end
    state.parts[option.name] = nil
  end
end

-- Variables ---------------------------------------------------------------------------------------------------

local function has_prefix(engine, name)
  for _, prefix in ipairs(engine.variable_prefixes or {}) do
    if name:sub(1, #prefix) == prefix then return true end
  end
  return false
end

--- States the variables that the engine reads. Notes name those that are not known, which cannot be accounted for, and
--- those that the release does not read.
local function read_variables(state)
  local known, others = {}, {}
  for _, option in ipairs(state.engine.options) do
    if option.variable then known[#known + 1] = option.name end
  end
  for _, each in ipairs(state.environment) do
    local name, value = each[1], each[2]
    local option = state.engine.option[name]
    if option and option.variable and not release.holds(option, state.release) then
      state.told[#state.told + 1] = ("%s: %s %s does not read it (%s)"):format(name, state.engine.title, state.release,
        choice.range(state.engine, option, state.release))
    elseif option and option.variable then
      put(state, option, value, name)
    elseif has_prefix(state.engine, name) then
      state.told[#state.told + 1] = ("%s: a variable that is not known here; nothing follows from it%s"):format(name,
        spelling.near(name, known))
    else
      others[#others + 1] = name
    end
  end
  state.others = others
end

local function state_of(chosen)
  return { engine = chosen.engine, release = chosen.release, words = {}, at = 1, options = {}, parts = {}, parted = {},
    from_file = {}, files = {}, environment = {}, told = {} }
end

local function result_of(chosen, state)
  return { engine = chosen.engine, release = chosen.release, note = chosen.note, is_stated = chosen.is_stated,
    model = state.model, options = choice.with_options(chosen, state.options), told = state.told,
    others = state.others }
end

--- What words mean: {engine, release, note, model, options, told, others}.
--- @param command table of shell_words.command
--- @param about table {engine = "vllm 0.19" or nil, files = {path = text}, is_measured = the run took place, so that
---   what cannot be read is in a note, and is no error}
function reading.words(command, about)
  local begun = start.of(command.words)
  local engine = begun.engine
  local chosen = about.engine and choice.parse(about.engine, true)
    or choice.parse(engine.name .. (begun.release and " " .. begun.release or ""))
  if catalogue.root(chosen.engine) ~= engine then
    core.fail("the command starts %s, and the engine that is stated is %s", engine.name, chosen.engine.name)
  end
  local state = state_of(chosen)
  state.is_measured = about.is_measured
  for _, files in ipairs { command.files, about.files or {} } do
    for path, text in pairs(files) do state.files[(path:gsub("^%./", ""))] = text end
  end
  for i, each in ipairs(command.environment) do state.environment[i] = each end
  for _, remark in ipairs(command.remarks) do
    state.told[#state.told + 1] = "not read, as no part of the command: " .. native.printable(remark)
  end
  start.read_front(command.words, begun.front, state)
  for i = begun.behind, #command.words do
    local word = command.words[i]
    for _, each in ipairs(engine.respelled and word:sub(1, 1) == "-" and engine.respelled(word) or { word }) do
      state.words[#state.words + 1] = each
    end
  end
  reading.rest(state)
  put_parts(state)
  for name, value in core.sorted_pairs(state.from_file) do
    local flagged = state.options[name]
    if flagged ~= nil and json.encode(flagged) ~= json.encode(value) then
      state.told[#state.told + 1] = ("%s: %s of the file holds, not %s of the flag"):format(name, json.encode(value),
        json.encode(flagged))
    end
    state.options[name] = value
  end
  read_variables(state)
  return result_of(chosen, state)
end

--- The map after a name that options of the YAML file have in front of a dot; nil where it is none.
local function group_of(engine, name, text)
  for _, option in ipairs(engine.options) do
    if not option.flag and option.name:sub(1, #name + 1) == name .. "." then
      local ok, value = pcall(json.decode, text)
      return ok and documents.is_map(value) and value or nil
    end
  end
end

--- Reads a name and its value that stand in no command: a flag without dashes, or a key of the engine's YAML file.
local function read_named(state, name, text)
  local null = text == "null" and (state.engine.nulls or {})[name]
  if null then return put(state, state.engine.option[null[1]], null[2], name) end
  if text == "null" then return end
  local option = documents.option(state.engine, name)
  if option then
    if option.type == "json" then
      return put_document(state, option, texts.read(name, "json", text, option), name)
    end
    local value = option.type == "list" and part_of(text, option) or texts.read(name, option.type, text, option)
    return put(state, option, option.type == "list" and texts.of_document(name, option, value) or value, name)
  end
  local group = group_of(state.engine, name, text)
  if group then
    return documents.of_file(state.engine, { [name] = group }, put_part(state, ""), unknown(state.engine, ""))
  end
  local parent = name:match "^([^.]+)%."
  local document = parent and documents.option(state.engine, parent)
  if document and document.type == "json" and not document.flag then
    local path = name:sub(#parent + 2)
    state.parts[parent] = merged(state.parts[parent] or {}, nested(path, part_of(text, document)))
    state.parted[#state.parted + 1] = document
    return
  end
  state.words, state.at = {}, 1
  read_flag(state, "--" .. name .. "=" .. text)
end

--- What names and values mean that were written down of a run without its command, as words() does. What cannot be
--- read is in a note, and no error: the run took place.
--- @param chosen table {engine, release, note} of engines/choice.lua
--- @param named string[][] {name, text} of flags without dashes, "_" for "-", and keys of the YAML file with dots
--- @param environment string[][] {name, text} of variables
function reading.named(chosen, named, environment)
  local state = state_of(chosen)
  for _, each in ipairs(named) do
    local ok, problem = pcall(read_named, state, each[1], each[2])
    if not ok then
      local said = tostring(problem):gsub("^[^%s:]+:%d+: ", ""):gsub("^%-%-", "") -- as it was written, without dashes
      state.told[#state.told + 1] = "not read: " .. said
    end
  end
  put_parts(state)
  state.environment = environment
  read_variables(state)
  return result_of(chosen, state)
end

return reading
