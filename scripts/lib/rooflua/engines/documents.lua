-- Options that are documents: a flag with JSON, a YAML file. Parts that are options of their own have their names with
-- dots ("compilation_config.cudagraph_mode"); the rest stays together as JSON text.
local core = require "rooflua.base.core"
local json = require "rooflua.json"

local documents = {}

local most_nested = 32

local paths_of = setmetatable({}, { __mode = "k" }) -- engine -> option by other spellings without dashes

--- Whether a value of a document has parts by name.
function documents.is_map(value)
  return type(value) == "table" and value ~= json.null and #core.plain(value) == 0
    and getmetatable(value) ~= getmetatable(json.array {})
end

--- An option of an engine by the place in a document: its name, or another spelling of it without dashes.
function documents.option(engine, path)
  if engine.option[path] then return engine.option[path] end
  if not paths_of[engine] then
    local by_path = {}
    for _, option in ipairs(engine.options) do
      for _, other in ipairs(option.also or {}) do
        if other:sub(1, 1) ~= "-" then by_path[other] = option end
      end
    end
    paths_of[engine] = by_path
  end
  return paths_of[engine][path]
end

--- Takes parts of a map that are options and gives them to `put`. Returns the rest, nil where nothing is left.
local function taken(engine, map, prefix, put, depth)
  if depth > most_nested then core.fail("%s: nested more than %d deep", prefix, most_nested) end
  local rest
  for key, value in core.sorted_pairs(core.plain(map)) do
    local path = prefix .. tostring(key)
    local option = not tostring(key):find(".", 1, true) and documents.option(engine, path)
    if option then
      put(option, value, path)
    else
      if documents.is_map(value) and next(core.plain(value)) ~= nil then
        value = taken(engine, value, path .. ".", put, depth + 1)
      end
      if value ~= nil then
        rest = rest or {}
        rest[key] = value
      end
    end
  end
  return rest
end

--- The parts of the document of an option that are options, each given to put(option, value, path), and the rest as
--- JSON text; nil where there is none.
--- @param option table an option of type json
--- @param value any what was decoded
function documents.split(engine, option, value, put)
  if not documents.is_map(value) then return value ~= nil and value ~= json.null and json.encode(value) or nil end
  local rest = taken(engine, value, option.name .. ".", put, 0)
  return rest and json.encode(rest) or nil
end

--- Puts a value at a path into nested tables.
local function put_at(out, path, value)
  local own, parts = out, {}
  for part in path:gmatch "[^.]+" do parts[#parts + 1] = part end
  for i = 1, #parts - 1 do
    if type(own[parts[i]]) ~= "table" then own[parts[i]] = {} end
    own = own[parts[i]]
  end
  own[parts[#parts]] = value
end

--- The document of an option of type json: its own text, and the options that are parts of it and have no flag. nil
--- where nothing is stated.
function documents.joined(engine, option, stated)
  local own = stated[option.name]
  local out = own ~= nil and json.decode(own) or nil
  local prefix = option.name .. "."
  for _, part in ipairs(engine.options) do
    local value = stated[part.name]
    if value ~= nil and not part.flag and part.name:sub(1, #prefix) == prefix then
      if not documents.is_map(out) then out = {} end
      put_at(out, part.name:sub(#prefix + 1), value)
    end
  end
  return out
end

--- Options of a YAML file: put(option, value, path, is_text) of every key, in the order of their paths; `is_text` of a
--- document that is JSON text already. An unknown key is an error.
--- @param fail function(path): raises the error about an unknown key
function documents.of_file(engine, map, put, fail)
  local function walk(each, prefix, depth)
    if depth > most_nested then core.fail("%s: nested more than %d deep", prefix, most_nested) end
    for key, value in core.sorted_pairs(core.plain(each)) do
      local path = prefix .. tostring(key)
      local option, null = documents.option(engine, path), (engine.nulls or {})[path]
      if value == json.null then
        if null then put(engine.option[null[1]], null[2], path) elseif not option then fail(path) end
      elseif option and option.type == "json" then
        local rest = documents.split(engine, option, value, put)
        if rest then put(option, rest, path, true) end
      elseif option then
        put(option, value, path)
      elseif documents.is_map(value) then
        walk(value, path .. ".", depth + 1)
      else
        fail(path)
      end
    end
  end
  walk(map, "", 0)
end

return documents
