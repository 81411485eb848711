-- A scenario's values as one text, the same for equal values: policies with their parameters, tables in the order of
-- their keys. A function of the user is the file that defines it, and what it holds of its surroundings.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local files = require "rooflua.sandbox.files"
local policy = require "rooflua.policy"

local run_text = {}
local info, upvalue = debug.getinfo, debug.getupvalue
local most_depth = 12

--- The file that defines a function; nil for functions of C and of text.
local function file_of(call)
  local source = info(call, "S").source
  return source:sub(1, 1) == "@" and chunks.path_of_chunk(source:sub(2)) or nil
end

local Text = {}
Text.__index = Text

--- A method that ships with the program is known by its file. One of the user may stand in a loop or a function that
--- made several of it: what it holds tells them apart.
function Text:call(call, depth)
  local path = file_of(call)
  if not path or path:sub(1, #native.home + 13) == native.home .. "/scripts/lib/" then return "function" end
  self.sources[path] = true
  if files.is_shipped(path) or self.seen[call] or depth > most_depth then return "function" end
  self.seen[call] = true
  local parts = { "function " .. info(call, "S").linedefined }
  for i = 1, 60 do
    local name, held = upvalue(call, i)
    if not name then break end
    parts[#parts + 1] = name .. "=" .. self:value(held, depth + 1)
  end
  return table.concat(parts, ",")
end

function Text:instance(value, depth)
  local name = policy.definition(value).name
  self:class(policy.class_of(value), depth)
  return name .. self:fields(policy.parameters(value), depth)
end

--- Fields of a class, once; nothing else tells of a class what it holds besides its parameters.
function Text:class(class, depth)
  if self.classes[class] then return end
  self.classes[class] = true
  local path = chunks.file_of_class(class)
  if path then self.sources[path] = true end
  local own = {}
  for key, value in pairs(class) do
    if key ~= "params" and key ~= "presets" then own[key] = value end
  end
  self.of_classes[#self.of_classes + 1] = policy.definition(class).name .. self:fields(own, depth)
end

function Text:fields(plain, depth)
  local parts = {}
  for _, key in ipairs(core.sorted_keys(plain)) do
    parts[#parts + 1] = tostring(key) .. "=" .. self:value(plain[key], depth + 1)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

function Text:value(value, depth)
  local kind = type(value)
  if kind == "number" then return ("%.17g"):format(value) end
  if kind == "string" then return ("%q"):format(value) end
  if kind == "function" then return self:call(value, depth) end
  if kind == "userdata" then
    local own = core.object_fields[value] -- of a model, a GPU, a deployment
    return own and depth <= most_depth and self:fields(own, depth) or core.class_name(value) or "userdata"
  end
  if kind ~= "table" then return tostring(value) end
  if policy.is_class(value) then
    self:class(value, depth)
    return "class " .. policy.definition(value).name
  end
  if depth > most_depth then return "table" end
  if chunks.is_library(value) then return "library" end
  if self.seen[value] then return "table again" end
  self.seen[value] = true
  local text = policy.is_instance(value) and self:instance(value, depth) or self:fields(core.plain(value), depth)
  self.seen[value] = nil
  return text
end

local function new()
  return setmetatable({ sources = {}, seen = {}, classes = {}, of_classes = {} }, Text)
end

local function whole(text, said)
  table.sort(text.of_classes)
  return said .. table.concat(text.of_classes), text.sources
end

--- The text of a value, and the files that define what it consists of, as a set of paths.
function run_text.of(value)
  local text = new()
  return whole(text, text:value(value, 0))
end

--- The same of a class of policies.
function run_text.of_class(class)
  local text = new()
  text:class(class, 0)
  return whole(text, "")
end

return run_text
