--- What a folder of published tables offers: file names, versions, first lines.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local kinds = require "rooflua.tables.kinds"
local names = require "rooflua.tables.names"
local rules = require "rooflua.tables.rules"

local folder = {}

local fail = core.fail
local ops -- op -> how its tables are called; asked once
local function op_tables()
  ops = ops or native.op_tables()
  return ops
end

--- How the tables of an op are called, and their columns.
function folder.op_tables(op) return op_tables()[op] end

local function within(path, file) return path:gsub("/$", "") .. "/" .. file end

--- The constants.csv of a folder: name of a file -> {column = value}. The first value of a column counts.
local function constants_of(path)
  local all, file = {}, within(path, "constants.csv")
  if not native.file_exists(file) then return all end
  local rows, header = native.csv_read(file, true, { "file", "column", "value" })
  if table.concat(header, ",") ~= "file,column,value" then
    fail("%s:1: expected the columns file,column,value, found %s", file, table.concat(header, ","))
  end
  for _, row in ipairs(rows) do
    if row.file and row.column then
      local of_file = all[row.file] or {}
      all[row.file], of_file[row.column] = of_file, of_file[row.column] or row.value or ""
    end
  end
  return all
end

--- The rule about whole files that keeps a file out, if any. `choice`: {engine_version, all_rows}.
local function rule_of_file(name, choice)
  for _, rule in ipairs(rules.rules) do
    if not rule.when and names.is_about(rule, name) then
      local asked = choice.all_rows
      if rule.verdict == "partial" then asked = choice.engine_version == name.version end
      if not asked then return rule end
    end
  end
  return nil
end

local function keeps_every_version(word)
  for _, kind in ipairs(kinds) do
    if kind.file == word then return kind.every_version end
  end
  return false
end

--- Files without those of other versions: one version of an engine stays, or all where versions complement each other.
local function choose_versions(files, choice, left_out)
  local newest, versions, has_it = {}, {}, {}
  for _, file in ipairs(files) do
    local name = file.name
    local what = name.engine == "" and name.table or name.engine
    versions[what .. " " .. name.version] = true
    if name.version == choice.engine_version then has_it[name.engine] = true end
    local key = name.table .. " " .. name.engine
    if not newest[key] or names.older(newest[key], name.version) then newest[key] = name.version end
  end
  if choice.engine_version ~= "" and not next(has_it) then
    fail("--engine-version: %s", core.unknown_name("version", choice.engine_version, core.sorted_keys(versions)))
  end
  local kept = {}
  for _, file in ipairs(files) do
    local name = file.name
    local asked = has_it[name.engine]
    local wanted = asked and choice.engine_version or newest[name.table .. " " .. name.engine]
    if name.version == wanted or not asked and keeps_every_version(name.table) then
      kept[#kept + 1] = file
    else
      left_out[#left_out + 1] = { path = file.path, reason = ("another version: %s %s is taken"):format(
        name.engine == "" and name.table or name.engine, wanted) }
    end
  end
  return kept
end

--- Whether the first line of a file has a column, or all its rows have the same value of it.
local function has_column(file, column)
  if not file.columns then
    file.columns = {}
    for _, name in ipairs(native.table_columns(file.path)) do file.columns[name] = true end
  end
  return file.columns[column] or file.constants[column] ~= nil
end

--- Whether files have the columns of that use.
local function has_columns(file, kind, use)
  for _, column in ipairs(kind.columns) do
    if column.use == use and not has_column(file, column.name) then return false end
  end
  return true
end

--- Our table from a file, in one of the formats of its kind; nothing is read.
local function table_of(file, kind_place, format_place, plus, choice)
  local kind, name = kinds[kind_place], file.name
  local op, format = op_tables()[kind.op], kind.formats[format_place]
  local own_engine = not kind.library or kind.engine_first and name.engine ~= ""
  local listed = {
    path = file.path, op = kind.op, dtype = format[2], engine = own_engine and name.engine or kind.library,
    engines = {}, includes = {}, kind = kind_place, format = format_place, published = name, all_rows = choice.all_rows,
    constants = file.constants, plus = plus and { path = plus.path, constants = plus.constants },
  }
  listed.name = op.file .. (op.dtype_in_name and "_" .. (format[4] or format[2]) or "")
    .. (listed.engine ~= "" and "_" .. listed.engine or "")
  local parts = kind.includes_of and kind.includes_of[listed.engine] or kind.includes or {}
  for i, part in ipairs(parts) do listed.includes[i] = part end
  if format[3] then listed.includes[#listed.includes + 1] = "quantize" end
  for _, each in ipairs(rules.shared_kernels) do
    if names.agrees(each[1], listed.name) and names.agrees(each[2], name.gpu) then listed.engines = each[3] end
  end
  return listed
end

--- The file of the same engine and version, of another kind.
local function sibling(file, files, word)
  for _, other in ipairs(files) do
    if other.name.table == word and other.name.engine == file.name.engine
      and other.name.version == file.name.version then return other end
  end
  return nil
end

--- Whether the rows of a file are added to those of another one that is there.
local function is_added(file, files)
  for _, kind in ipairs(kinds) do
    if kind.plus_file == file.name.table and sibling(file, files, kind.file) then return true end
  end
  return false
end

local function add_tables(file, files, choice, found)
  local function leave_out(reason) found.left_out[#found.left_out + 1] = { path = file.path, reason = reason } end
  for _, each in ipairs(rules.without_op) do
    if each[1] == file.name.table and not is_added(file, files) then leave_out(each[2]) end
  end
  for place, kind in ipairs(kinds) do
    local plus = kind.plus_file and sibling(file, files, kind.plus_file)
    local is_of_kind = kind.file == file.name.table and has_columns(file, kind, "some")
    local complete = plus or not kind.plus_file
    if is_of_kind and not complete then
      leave_out(("its rows need those of %s of the same engine and version, which is not there"):format(kind.plus_file))
    end
    -- Without the column all rows have the first format.
    local formats = is_of_kind and complete and (has_columns(file, kind, "format") and #kind.formats or 1) or 0
    for i = 1, formats do found.tables[#found.tables + 1] = table_of(file, place, i, plus, choice) end
  end
end

local function is_table(file) return names.plain(file):find ".%.csv$" ~= nil end
local function is_parquet(file) return file:find ".%.parquet$" ~= nil end

--- The files of one GPU, and what no name says.
local function files_of(path, gpu, left_out)
  local files, gpu_found, constants = {}, "", constants_of(path)
  for _, file in ipairs(native.list_folder(path, "")) do
    local name, full = names.parse(file), within(path, file)
    local is_of_gpu = not name or name.gpu == "" or native.same_gpu(name.gpu, gpu)
    if is_parquet(file) and is_of_gpu then
      left_out[#left_out + 1] = { path = full, reason = "a Parquet file: the CSV form of it is read", parquet = true }
    elseif is_table(file) and not name and gpu ~= "" and native.same_gpu(file:sub(1, #gpu), gpu) then
      left_out[#left_out + 1] = { path = full, reason = "no published table is called like that" }
    elseif is_table(file) and name and is_of_gpu then
      if name.gpu ~= "" and gpu_found ~= "" and name.gpu ~= gpu_found then
        fail("%s: holds tables of several GPUs (%s, %s): say which with gpu", path, gpu_found, name.gpu)
      end
      if name.gpu ~= "" then gpu_found = name.gpu end
      files[#files + 1] = { path = full, name = name, constants = constants[names.plain(file)] or {} }
    end
  end
  return files
end

--- Sorts by a key; entries with the same one stay in their order.
local function sort_by(list, key)
  local place = {}
  for i, each in ipairs(list) do place[each] = i end
  table.sort(list, function(a, b) return a[key] < b[key] or a[key] == b[key] and place[a] < place[b] end)
end

--- The tables of one GPU: {tables = by name, left_out = {{path, reason}, ...} by path}.
---@param path string a folder
---@param gpu string as files spell it; "" where the folder has one GPU
---@param choice {engine_version: string, all_rows: boolean} of the engine that has it, this version, of others the
--- newest ("" for all); also files and rows that are known to be wrong
function folder.list(path, gpu, choice)
  local found = { tables = {}, left_out = {} }
  local files = files_of(path, gpu, found.left_out)
  local first = found.left_out[1]
  if #files == 0 and first and first.parquet then
    fail("%s: is a Parquet file, which is not read; export it as CSV with the same columns (%s.csv or .csv.gz)",
      first.path, first.path:match "([^/]*)%.parquet$")
  end
  local allowed = {}
  for _, file in ipairs(files) do
    local rule = rule_of_file(file.name, choice)
    if rule then
      found.left_out[#found.left_out + 1] = { path = file.path, reason = rule.reason }
    else
      allowed[#allowed + 1] = file
    end
  end
  local kept = choose_versions(allowed, choice, found.left_out)
  for _, file in ipairs(kept) do add_tables(file, kept, choice, found) end
  sort_by(found.tables, "name")
  sort_by(found.left_out, "path")
  return found
end

--- The GPUs of a folder, as its files spell them, sorted.
function folder.gpus(path)
  local gpus = {}
  for _, file in ipairs(native.list_folder(path, "")) do
    local name = (is_table(file) or is_parquet(file)) and names.parse(file)
    if name and name.gpu .. name.version ~= "" then gpus[name.gpu] = true end
  end
  return core.sorted_keys(gpus)
end

return folder
