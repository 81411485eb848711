-- Databases of tables that a test writes into a folder of its own.
local rooflua = require "rooflua"

local pipe = io.popen "mktemp -d"
local scratch = pipe:read "*l"
pipe:close()
local folders = 0

local table_folder = { path = scratch }

--- A database of these files: {name = text}.
--- @param options table? of mfu.open, beside the path
function table_folder.open(files, options)
  folders = folders + 1
  local folder = scratch .. "/" .. folders
  os.execute("mkdir -p " .. folder)
  for name, content in pairs(files) do
    local file = assert(io.open(folder .. "/" .. name, "w"))
    file:write(content)
    file:close()
  end
  local given = { path = folder, hardware = "h100-sxm" }
  for key, value in pairs(options or {}) do given[key] = value end
  return rooflua.mfu.open(given)
end

--- Removes all that was written.
function table_folder.remove() os.execute("rm -rf " .. scratch) end

return table_folder
