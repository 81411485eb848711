-- Which files of a folder are sets of measured runs, and which are not. A set is known by the columns of its CSV.
local native = require "rooflua.native"
local columns_of = require "rooflua.validate.columns"
local core = require "rooflua.base.core"

local sets = {}

--- A path without "." and "a/..".
local function plain(path)
  local out = {}
  for part in path:gmatch "[^/]+" do
    if part == ".." and #out > 0 and out[#out] ~= ".." then
      out[#out] = nil
    elseif part ~= "." then
      out[#out + 1] = part
    end
  end
  return (path:sub(1, 1) == "/" and "/" or "") .. table.concat(out, "/")
end

--- The folder and the name of a file.
function sets.split(path)
  local folder, name = path:match "^(.*)/([^/]*)$"
  if not folder then return ".", path end
  return folder == "" and "/" or folder, name
end

local function kind_of(path, columns, kinds)
  for _, kind in ipairs(kinds) do
    if kind.reads(path, columns) then return kind end
  end
end

--- Why a file with these columns is no set: what the kind that it resembles most has and it lacks, if that is at most
--- half of the columns.
local function why_none(columns, kinds)
  if #columns == 0 then return "it has no header" end
  local nearest, lacks
  for _, kind in ipairs(kinds) do
    local missing = columns_of.missing(columns, kind.columns)
    if 2 * #missing <= #kind.columns and (not lacks or #missing < #lacks) then nearest, lacks = kind, missing end
  end
  if not nearest then return "its columns are those of no set" end
  return ("it resembles %s, but has no %s"):format(nearest.what, core.join(lacks, ", "))
end

--- The member of the document that has a set's figures: a word of its kind that the name of its file or folder begins
--- with, else the kind's name.
local function word_of(kind, path, folder_name)
  local folder, name = sets.split(path)
  for _, each in ipairs { name, folder_name or select(2, sets.split(folder)) } do
    for _, word in ipairs(kind.words or {}) do
      if each:lower():sub(1, #word) == word then return word end
    end
  end
  return kind.name
end

--- Refuses the result of a benchmark: it says nothing of the model, the GPU and the engine that it was measured on.
local function refuse_result(path)
  if native.read_user_text(path):find "^%s*[%[{]" then
    core.fail("%s: is JSON, and sets of measured runs are CSVs; a result of a benchmark is the `file` of a row of "
      .. "cases.csv, which states model, GPU and engine (docs/RESULT_FILES.md); `rooflua calibrate` compares it with a "
      .. "scenario", path)
  end
end

--- A file as a set; an error if it is none.
--- @return table {kind, path, word}
function sets.of_file(path, kinds)
  refuse_result(path)
  local columns = native.csv_header(path)
  local kind = kind_of(path, columns, kinds)
  if kind then return { kind = kind, path = path, word = word_of(kind, path) } end
  local names = {}
  for i, each in ipairs(kinds) do names[i] = each.what end
  return core.fail("%s:1: this is no set of measured runs: %s; known are sets of %s (docs/VALIDATION.md)", path,
    why_none(columns, kinds), core.join(names, ", "))
end

--- Takes the sets out of `found` that another file of their folder replaces.
local function without_replaced(found, passed)
  local by_folder, out = {}, {}
  for _, set in ipairs(found) do
    local rule, folder, name = set.kind.replaces, sets.split(set.path)
    if rule and name == rule.file and #columns_of.missing(set.columns, { rule.column }) == 0 then
      by_folder[folder .. "\n" .. set.kind.name] = set
    end
  end
  for _, set in ipairs(found) do
    local by = by_folder[sets.split(set.path) .. "\n" .. set.kind.name]
    if by and by ~= set then
      passed[#passed + 1] = { path = set.path, why = by.kind.replaces.file .. " beside it replaces it" }
    else
      out[#out + 1] = set
    end
  end
  return out
end

--- Makes one set of the files of each kind that joins them, or of those of one folder: it has their paths, and that of
--- the folder. The set stands where the first of its files stood.
local function joined(found, folder)
  local out, by_key = {}, {}
  for _, set in ipairs(found) do
    local own = sets.split(set.path)
    local key = set.kind.name .. (set.kind.joins == "folder" and "\0" .. own or "")
    local one = by_key[key]
    if not set.kind.joins then
      out[#out + 1] = set
    elseif one then
      table.insert(one.paths, set.path)
      one.path = set.kind.joins == "folder" and own or folder
    else
      out[#out + 1], by_key[key] = set, set
      set.paths = { set.path }
    end
  end
  return out
end

--- Gives sets of one member the path below the folder as their member, and says so.
---@param notes string[]
function sets.name_apart(found, folder, notes)
  local by_word = {}
  for _, set in ipairs(found) do
    by_word[set.word] = by_word[set.word] or {}
    table.insert(by_word[set.word], set)
  end
  for _, word in ipairs(core.sorted_keys(by_word)) do
    for _, set in ipairs(#by_word[word] > 1 and by_word[word] or {}) do
      local below = set.path:sub(1, #folder + 1) == folder .. "/" and set.path:sub(#folder + 2) or set.path
      set.word = below:gsub("%.[cC][sS][vV]$", "")
      notes[#notes + 1] = ("%s: several sets have the member '%s'; this one has '%s'"):format(set.path, word, set.word)
    end
  end
end

--- Whether a file, or a folder that it is in, is in `is_data`.
local function is_below(path, is_data)
  local before
  path = plain(path)
  while path ~= before do
    if is_data[path] then return true end
    before, path = path, sets.split(path)
  end
  return false
end

--- Takes files out of `passed` that rows of sets refer to.
--- @return table {folder = number of such files}
--- @return table the others
local function take_data(found, passed, tables)
  local is_data, counts, left = {}, {}, {}
  for _, set in ipairs(found) do
    for _, own in ipairs(set.kind.files and (set.paths or { set.path }) or {}) do
      for _, path in ipairs(set.kind.files(own, tables)) do is_data[plain(path)] = true end
    end
  end
  for _, each in ipairs(passed) do
    if is_below(each.path, is_data) then
      local folder = sets.split(each.path)
      counts[folder] = (counts[folder] or 0) + 1
    else
      left[#left + 1] = each
    end
  end
  return counts, left
end

--- The sets in a folder and below it, sorted by path.
--- @param folder string
--- @param kinds table list of kinds (validate/harness.lua)
--- @param options table {folder_name = name of the folder, where its path does not say it; tables = folder of --tables}
--- @return table sets: list of {kind, path, word}
--- @return table passed: CSVs and folders that are none, list of {path, why}
--- @return table data: {folder = number of CSVs that rows of sets refer to}
function sets.below(folder, kinds, options)
  local found, passed = {}, {}
  local files, closed = native.files_below(folder, "")
  for _, each in ipairs(closed) do passed[#passed + 1] = { path = folder .. "/" .. each, why = "cannot be read" } end
  for _, each in ipairs(files) do
    local path, is_csv = folder .. "/" .. each, each:lower():find "%.csv$" ~= nil
    local ok, columns
    if is_csv then ok, columns = pcall(native.csv_header, path) end
    local kind = ok and kind_of(path, columns, kinds)
    if kind then
      found[#found + 1] = { kind = kind, path = path, columns = columns,
        word = word_of(kind, path, not each:find "/" and options.folder_name or nil) }
    elseif is_csv then
      passed[#passed + 1] = { path = path, why = ok and why_none(columns, kinds) or tostring(columns) }
    end
  end
  found = joined(without_replaced(found, passed), folder)
  local data, left = take_data(found, passed, options.tables)
  table.sort(left, function(a, b) return a.path < b.path end)
  return found, left, data
end

return sets
