-- The files that Lua files require, found in their text. A module that is first required inside a method has not been
-- read when results are looked up, and yet they depend on it.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"

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

--- Files of modules that a computed name may mean: all beside the scenario, and the shipped ones.
local function candidates(folder)
  local out = { native.home .. "/scripts" }
  local function add(inside)
    for _, name in ipairs(native.list_folder(inside, ".lua")) do out[#out + 1] = inside .. "/" .. name .. ".lua" end
  end
  add(folder)
  for _, kind in ipairs { "acceptance", "bucketing", "candidates", "corrections", "drafters", "lookup", "metrics",
    "objectives", "power", "routers", "schedulers", "speculators", "steps", "strategies", "workloads" } do
    add(folder .. "/" .. kind)
  end
  return out
end

--- Adds to a set of paths what the files among them require, directly or through others.
---@param paths table<string, boolean>
---@param folder string of the scenario
function required.add(paths, folder)
  local left, any_computed = core.sorted_keys(paths), false
  while #left > 0 do
    local text = native.read_file(table.remove(left))
    local names, computed = names_in(text or "")
    any_computed = any_computed or computed
    for _, name in ipairs(core.sorted_keys(names)) do
      local path = chunks.path_of(name)
      if path and not paths[path] then
        paths[path] = true
        left[#left + 1] = path
      end
    end
  end
  if not any_computed then return end
  for _, path in ipairs(candidates(folder)) do paths[path] = true end
end

return required
