--- Files that a scenario names are looked for beside the scenario first, then in the working directory.
local core = require "rooflua.base.core"

local files = {}

local folder  -- of the scenario that was loaded last
local found = {}  -- the set of all paths that find() returned

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

--- All paths that find() returned so far, sorted: results depend on these files.
function files.found() return core.sorted_keys(found) end

local function noted(path)
  if path ~= "" then found[path] = true end
  return path
end

--- Notes a file that was read.
function files.note(path) found[path] = true end

--- Where a scenario's `path` may be: beside the scenario, and as it is.
function files.places(path)
  if path:sub(1, 1) == "/" or not folder or folder == "." then return { path } end
  return { folder .. "/" .. path, path }
end

--- The place of `path`. If it does not exist, the error names both places that were tried.
--- @param what string start of the message: "workload: path"
--- @param kind string "file" or "folder of tables"
function files.find(path, what, kind)
  core.text(path, what)
  if path:sub(1, 1) == "/" or path == "" then return noted(path) end
  local beside = folder and folder ~= "." and folder .. "/" .. path
  if beside and exists(beside) then return noted(beside) end
  if exists(path) then return noted(path) end
  return core.fail("%s: %s: there is no such %s%s", what, path, kind,
    beside and (" (looked for %s beside the scenario and %s in the working directory)"):format(beside, path) or "")
end

return files
