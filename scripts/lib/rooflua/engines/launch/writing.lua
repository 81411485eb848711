-- An engine with options as a command: its words, and the YAML file of an engine that reads one.
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local json = require "rooflua.json"
local quoting = require "rooflua.text.quoting"
local release = require "rooflua.engines.release"
local texts = require "rooflua.engines.launch.texts"

local writing = {}

--- Whether a command of a release is written with an option. (A command that is read may have more spellings.)
local function is_written(option, version)
  return release.holds(option, version)
    and release.holds({ since = option.written_since, before = option.written_before }, version)
end

--- The option whose JSON an option is a part of; nil for others.
local function whole_of(engine, option)
  local prefix = option.name
  while prefix do
    prefix = prefix:match "^(.*)%.[^.]*$"
    local whole = prefix and engine.option[prefix]
    if whole and whole.type == "json" then return whole end
  end
end

--- Whether an option stands in the YAML file of its engine.
local function is_of_file(engine, option)
  if option.flag or option.variable then return false end
  local whole = whole_of(engine, option)
  return not (whole and whole.flag)
end

--- The same for other modules.
writing.is_of_file = is_of_file

--- What stands in a command for a value of an option: a list of words.
local function words_of(engine, option, stated)
  local value = stated[option.name]
  if option.type == "json" then
    local whole = documents.joined(engine, option, stated)
    return whole ~= nil and { option.flag, json.encode(whole) } or {}
  end
  if value == nil then return {} end
  if option.type == "switch" then
    if value then return { option.flag } end
    return { option.negates and "--no-" .. option.flag:sub(3) or nil }
  end
  if option.type == "list" then
    local out = { option.flag }
    for _, each in ipairs(value) do out[#out + 1] = texts.word(each) end
    return #out > 1 and out or {}
  end
  local word = texts.word(value)
  if word:sub(1, 1) == "-" then return { option.flag .. "=" .. word } end
  return { option.flag, word }
end

--- Words of options after the model, in the order of the engine's table.
--- @param stated table<string, any> options by name
--- @param file string the name of the YAML file, where one is needed
function writing.words(engine, version, stated, file)
  local out, needs_file = {}, writing.file(engine, stated) ~= nil
  for _, option in ipairs(engine.options) do
    if option.file == "options" then
      if needs_file and is_written(option, version) then
        out[#out + 1] = option.flag
        out[#out + 1] = file
      end
    elseif option.flag then
      for _, word in ipairs(words_of(engine, option, stated)) do out[#out + 1] = word end
    end
  end
  return out
end

--- Variables in front of the command: words NAME=VALUE.
function writing.variables(engine, stated)
  local out = {}
  for _, option in ipairs(engine.options) do
    if option.variable and stated[option.name] ~= nil then
      out[#out + 1] = option.name .. "=" .. stated[option.name]
    end
  end
  return out
end

--- Words that YAML 1.1 does not take for text.
local no_texts = {}
for word in ("y n yes no on off true false null"):gmatch "%S+" do no_texts[word] = true end

--- A scalar of YAML: plain where it cannot be taken for anything else.
local function scalar(value)
  if type(value) ~= "string" then return texts.word(value) end
  return value:find "^%a[%w_.-]*$" and not no_texts[value:lower()] and value or quoting.yaml(value)
end

local function yaml_value(option, value)
  if option.type == "json" then return value end -- JSON is YAML
  if option.type ~= "list" then return scalar(value) end
  local out = {}
  for i, each in ipairs(value) do out[i] = scalar(each) end
  return "[" .. core.join(out, ", ") .. "]"
end

--- A map below a key of a YAML file, one line for each of its own keys.
local function group_text(name, map)
  if not documents.is_map(map) then return ("%s: %s"):format(name, json.encode(map)) end
  local out = { name .. ":" }
  for key, value in core.sorted_pairs(map) do
    out[#out + 1] = ("  %s: %s"):format(scalar(key), type(value) == "table" and json.encode(value) or scalar(value))
  end
  return core.join(out, "\n")
end

--- The YAML file of options that have no flag, as text; nil where there are none. Keys of one group stand together.
function writing.file(engine, stated)
  local lines, groups = {}, {}
  for _, option in ipairs(engine.options) do
    local value = stated[option.name]
    if value ~= nil and is_of_file(engine, option) then
      local group, name = option.name:match "^([^.]+)%.(.+)$"
      local whole = group and engine.option[group]
      if whole and whole.type == "json" or option.type == "json" and not group then
        local own = whole or option
        if not groups[own.name] then
          groups[own.name] = {}
          lines[#lines + 1] = { group_text(own.name, documents.joined(engine, own, stated)) }
        end
      elseif not group then
        lines[#lines + 1] = { ("%s: %s"):format(option.name, yaml_value(option, value)) }
      else
        if not groups[group] then
          groups[group] = { group .. ":" }
          lines[#lines + 1] = groups[group]
        end
        table.insert(groups[group], ("  %s: %s"):format(name, yaml_value(option, value)))
      end
    end
  end
  if #lines == 0 then return nil end
  local out = {}
  for _, each in ipairs(lines) do
    for _, line in ipairs(each) do out[#out + 1] = line end
  end
  return core.join(out, "\n") .. "\n"
end

return writing
