--- `rooflua data import` of published tables: files of our own, and what was not taken.
local native = require "rooflua.native"
local ffi = require "ffi"
local core = require "rooflua.base.core"
local fates = require "rooflua.tables.fates"
local folder = require "rooflua.tables.folder"
local provenance = require "rooflua.tables.provenance"
local quoting = require "rooflua.text.quoting"
local rows = require "rooflua.tables.rows"

local import = {}

local function base(path) return path:match "[^/]*$" end

--- Notes the rows that the writer left out: `left_out` is an array of (table, line, reason).
local function take_back(parts, left_out, reasons, memory)
  local events = ffi.cast("const int32_t*", left_out)
  for i = 0, #left_out / 4 - 1, 3 do
    local fate = memory.fates[parts[events[i]].file.path]
    fate:leave_out(events[i + 1], fates.taken_back, fate:code(reasons[events[i + 2]]))
  end
end

--- What is not in the tables: whole files, then rows, each with the reason.
local function left_out_text(found, memory)
  local out, of_whole_files, of_files, taken, averaged = {}, 0, 0, 0, 0
  local function say(...) out[#out + 1] = string.format(...) end
  if #found.left_out > 0 then say "\nFiles that were not taken:\n" end
  for _, file in ipairs(found.left_out) do
    local count = file.parquet and 0 or math.max(0, native.count_lines(file.path) - 1)
    say("  %s  %d rows: %s\n", base(file.path), count, file.reason)
    of_whole_files = of_whole_files + count
  end
  local title = "\nRows that were not taken:\n"
  for path, fate in core.sorted_pairs(memory.fates) do
    taken, averaged = taken + fate:taken(), averaged + fate.averaged
    for reason, count in core.sorted_pairs(fate:left_out()) do
      say("%s  %s  %d rows: %s\n", title, base(path), count, quoting.line(reason))
      title, of_files = "", of_files + count
    end
  end
  say("\nTaken: %d rows (%d of them averaged with another row of the same shape and kernel). Not taken: %d rows of "
    .. "these files, %d rows in %d whole files.\n", taken, averaged, of_files, of_whole_files, #found.left_out)
  return table.concat(out)
end

--- Reads the tables of a GPU and writes them in our layout. Returns the report.
---@param given {folder: string, gpu: string, to: string, engine_version: string, all_rows: boolean, tolerance: number}
--- `to` gets the files; tolerance of thinning as part of the latency, 0 for none
---@error naming file, line and column; the folder `to` is then as before
function import.run(given)
  local found = folder.list(given.folder, given.gpu, given)
  if #found.tables == 0 then
    core.fail("%s: %s", given.folder, core.unknown_name("GPU", given.gpu, folder.gpus(given.folder)))
  end
  local memory, parts, tables, parts_of = rows.memory(), {}, {}, {}
  local last_of = {} -- file -> the last table that is made from it
  for i, file in ipairs(found.tables) do last_of[file.path] = i end
  for i, file in ipairs(found.tables) do
    local read = rows.read(file, memory)
    if last_of[file.path] == i then
      memory.cells[file.path] = nil
      collectgarbage()
    end
    if read.count > 0 then
      local part = { file = file, read = read }
      parts[#parts + 1], tables[#tables + 1] = part, read.table
      parts_of[file.name] = parts_of[file.name] or {}
      table.insert(parts_of[file.name], part)
    end
  end
  local described = {}
  for name, of_name in pairs(parts_of) do described[name] = provenance.text(of_name) end
  local written, left_out, reasons = native.write_tables(given.to, given.tolerance, tables, described)
  take_back(parts, left_out, reasons, memory)
  local out = {}
  for i, each in ipairs(written) do out[i] = ("%s  %d rows\n"):format(each.path, each.rows) end
  out[#out + 1] = ("%d files written to %s\n"):format(#written + 1, given.to)
  return table.concat(out) .. left_out_text(found, memory)
end

return import
