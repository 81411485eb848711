-- The files that Lua files depend on, found in their text. A module that is first required inside a method, and a file
-- that a method reads, have not been read when results are looked up, and yet results depend on them.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local files = require "rooflua.sandbox.files"
local kinds = require "rooflua.policy.kinds"
local named_files = require "rooflua.sandbox.named_files"

local required = {}

--- Names that a text requires, as a set; and whether it computes the name of another module, or passes `require` on.
local function names_in(text)
  local names, computed = {}, false
  for behind in text:gmatch "%f[%w_]require%f[^%w_]()" do
    local quote, name, after = text:match("^%s*%(?%s*([\"'])([%w_%.%-]+)%1()", behind)
    if quote and not text:find("^%s*%.%.", after) then
      names[name] = true
    elseif text:find("^%s*[%(,%)\"'%[;\n]", behind) then
      computed = true
    end
  end
  return names, computed
end

--- What stands between quotes in a Lua text, as a set: also what stands between two literals, because a quote in a
--- comment has no partner.
local function literals_in(text)
  local out = {}
  for literal in text:gmatch "[\"']([^\"'\n]+)%f[\"']" do out[literal] = true end
  for literal in text:gmatch "%[=*%[([^%]\n]+)%]" do out[literal] = true end
  return out
end

--- Folders of scripts that a run may load, in scripts/ and beside a scenario.
function required.folders() return { "engines", "layers", unpack(kinds.folders(true, true)) } end

--- The Lua files beside a scenario by their names without a folder, lists of paths: policies and engines that a text
--- may name.
function required.beside(folder)
  local out = {}
  local function add(inside)
    for _, name in ipairs(native.list_folder(inside, ".lua")) do
      out[name] = out[name] or {}
      table.insert(out[name], inside .. "/" .. name .. ".lua")
    end
  end
  add(folder)
  for _, each in ipairs(required.folders()) do add(folder .. "/" .. each) end
  for _, each in ipairs { "attention", "mlp" } do add(folder .. "/layers/" .. each) end
  return out
end

--- The files of Lua beside a scenario that a text may name: "mine" and "mine 1.0" an engine.
---@param beside table what required.beside returned
function required.named(text, beside) return beside[text:match "^%s*([^%s=]+)" or ""] or {} end

--- What a Lua file depends on: the Lua files that it requires or names, directly or through others, as a set of paths
--- with its own; and the other files that these name, as named_files.of has them.
---@param path string
---@param beside table what required.beside returned
function required.of(path, beside)
  local paths, named, left, any_computed = { [path] = true }, {}, { path }, false
  local function take(other)
    if paths[other] then return end
    paths[other] = true
    left[#left + 1] = other
  end
  while #left > 0 do
    local file = table.remove(left)
    local text = native.read_file(file) or ""
    local names, computed = names_in(text)
    for _, name in ipairs(core.sorted_keys(names)) do
      local other = chunks.path_of(name)
      if other then take(other) end
    end
    if computed and not any_computed then
      any_computed = true
      paths[native.home .. "/scripts"] = true
      for _, list in pairs(beside) do
        for _, other in ipairs(list) do take(other) end
      end
    end
    for literal in pairs(files.is_shipped(file) and {} or literals_in(text)) do
      for _, other in ipairs(required.named(literal, beside)) do take(other) end
      for each, name in pairs(named_files.of(literal)) do named[each] = name end
    end
  end
  return paths, named
end

return required
