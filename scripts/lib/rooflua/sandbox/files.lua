--- Files that a scenario names are looked for beside the scenario first, then in the working directory.
local core = require "rooflua.base.core"

local files = {}

local folder  -- of the scenario that was loaded last
local found = {}  -- by each path that find() returned, how the scenario names it

--- Sets the scenario beside which files are looked for.
--- @param scenario string|nil path of a scenario file
function files.beside(scenario)
  folder = scenario and (scenario:match "^(.*)/[^/]*$" or ".")
end

local function exists(path)
  local handle = io.open(path)
  if handle then handle:close() end
  return handle ~= nil
end

--- By each path that find() returned so far, how the scenario names it: results depend on these files.
function files.found() return found end

local function noted(place, path)
  if path ~= "" then found[place] = path end
  return place
end

--- Notes a file that was read.
function files.note(path) found[path] = path end

--- `path` beside the scenario; nil where that is no other place than the path itself.
local function beside(path)
  if path:sub(1, 1) == "/" or path == "" or not folder or folder == "." then return nil end
  return folder .. "/" .. path
end

--- The place where a scenario's `path` is, or would be.
function files.place(path)
  local near = beside(path)
  return near and exists(near) and near or path
end

--- The place of `path`. If it does not exist, the error names both places that were tried.
--- @param what string start of the message: "workload: path"
--- @param kind string "file" or "folder of tables"
function files.find(path, what, kind)
  core.text(path, what)
  local place, near = files.place(path), beside(path)
  if path:sub(1, 1) == "/" or path == "" or place == near or exists(path) then return noted(place, path) end
  return core.fail("%s: %s: there is no such %s%s", what, path, kind,
    near and (" (looked for %s beside the scenario and %s in the working directory)"):format(near, path) or "")
end

return files
