--- The files that a text stands for when it names a model, a GPU, a trace or a folder of tables. A folder stands for
--- what is read in it. What names a run (runs/hash.lua), what a campaign copies, and what a script is noted to
--- have read follow from this rule, so it must say what the loaders of the engine open.
local native = require "rooflua.native"
local files = require "rooflua.sandbox.files"

local named_files = {}

local function parent(path)
  local folder = path:match "^(.*)/[^/]*$"
  return folder == "" and "/" or folder or ""
end

local function join(folder, name)
  return (folder == "" or folder:sub(-1) == "/") and folder .. name or folder .. "/" .. name
end

--- Adds the tables that lie in a folder. What a table is called says what it measures, so names are content as well.
local function add_tables(out, folder, text)
  for _, name in ipairs(folder ~= "" and native.list_folder(folder, ".csv") or {}) do
    out[join(folder, name .. ".csv")] = text .. "\n" .. name
  end
  for _, name in ipairs { "family.toml", "tables.toml", "hardware.toml" } do
    if folder ~= "" and native.file_exists(join(folder, name)) then out[join(folder, name)] = text .. "\n" .. name end
  end
end

--- The description of the GPU that a text names: a .toml, that of a folder, or that of a GPU which the user added; nil
--- if there is none.
local function hardware_file(text)
  if text:find "%.toml$" and native.file_exists(text) then return text end
  local inside = join(text, "hardware.toml")
  return native.file_exists(inside) and inside or native.added_hardware(text)
end

--- Adds what is read of a GPU: its description, the tables beside that, and those of the GPU that lends it some. A
--- table that takes it over with `from` borrows by its name.
local function add_hardware(out, path, text, is_base)
  local file = hardware_file(path)
  if not file then return end
  local ok, read = pcall(native.read_toml, file)
  out[file] = out[file] or text
  if not ok or read.peak_tflop_per_s == nil then return end -- a model, or no description
  add_tables(out, parent(file), text)
  if type(read.tables_from) == "string" then
    add_tables(out, join(parent(parent(file)), read.tables_from), text .. " lender")
  end
  local name = type(read.name) == "string" and read.name or parent(file):match "([^/]+)$"
  if name and name ~= path and not is_base then add_hardware(out, name, name, true) end
end

--- Adds the file of a kind of layers that a text names: layers/attention/NAME.lua or layers/mlp/NAME.lua beside the
--- scenario.
local function add_layers(out, text)
  if not text:find "^[%w_%-]+$" then return end
  for _, of in ipairs { "attention", "mlp" } do
    local path = join(files.folder() or ".", ("layers/%s/%s.lua"):format(of, text))
    if native.file_exists(path) then out[path] = text end
  end
end

--- Files by path, with what orders each among others: the text, and after a line break the file's name where a folder
--- was named. `is_path`: the text is a path for sure, and what it names counts also where it is absent.
---@param text string
---@param is_path boolean?
---@return table<string, string>
function named_files.of(text, is_path)
  local out = {}
  if text == "" or #text > 1000 or text:find "[%z\n]" then return out end
  local place = files.place(text)
  if is_path then
    add_hardware(out, place, text)
    out[place] = text
    return out
  end
  local ok, of_model = pcall(native.model_files, text)
  for _, file in ipairs(ok and of_model or {}) do out[file] = file end
  add_hardware(out, text, text)
  add_layers(out, text)
  if native.file_exists(place) then
    out[place] = out[place] or text
  elseif next(out) == nil then
    add_tables(out, place, text)
  end
  return out
end

--- Notes what a text stands for as read.
function named_files.note(text, is_path)
  if type(text) ~= "string" then return end
  for path, name in pairs(named_files.of(text, is_path)) do files.note(path, name) end
end

return named_files
