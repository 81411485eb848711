--- Files that a scenario names are looked for beside the scenario first, then in the working directory.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local files = {}

local folder  -- of the scenario that was loaded last
local found = {}  -- by each path that was read, how the scenario names it
local at_load = {} -- those of them that were read until a scenario was loaded
local covered -- paths that are part of the names of runs, as a set; nil where no run is kept

--- Sets the scenario beside which files are looked for.
--- @param scenario string|nil path of a scenario file
function files.beside(scenario)
  folder = scenario and (scenario:match "^(.*)/[^/]*$" or ".")
end

--- The folder of the scenario; nil without one.
function files.folder() return folder end

--- Whether a file is one of the program's.
function files.is_shipped(path) return path:sub(1, #native.home + 9) == native.home .. "/scripts/" end

local function exists(path)
  local handle = io.open(path)
  if handle then handle:close() end
  return handle ~= nil
end

--- By each path that was read so far, how the scenario names it: results depend on these files.
function files.found() return found end

--- A scenario was loaded.
function files.loaded()
  for path in pairs(found) do at_load[path] = true end
end

--- Whether a path was read while a scenario was loaded.
function files.is_of_loading(path) return at_load[path] == true end

--- Names of runs cover these paths: a set by path.
function files.cover(paths)
  covered = covered or {}
  for path in pairs(paths) do covered[path] = true end
end

--- Whether the names of runs cover a file, or a file of a folder.
local function is_covered(path)
  if covered[path] or path:sub(1, #native.home + 1) == native.home .. "/" then return true end
  for each in pairs(native.file_exists(path) and {} or covered) do
    if each:sub(1, #path + 1) == path .. "/" then return true end
  end
  return false
end

--- A run that is kept may read no file that its name does not cover: another content would get the same results.
--- Trusted scripts may; the program tells of them.
function files.check_covered(path)
  if covered and not native.trusted and not is_covered(path) then
    core.fail("%s: is read by a script that computes its name, so that the name of the run does not cover it; write "
      .. "the whole name into the script or the scenario, or leave out --results", path)
  end
end

--- Notes a file that is read, and how the scenario names it.
function files.note(path, name)
  files.check_covered(path)
  found[path] = found[path] or name or path
end

local function noted(place, path)
  if path ~= "" then files.note(place, path) end
  return place
end

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
