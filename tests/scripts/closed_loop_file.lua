--- A file of measured closed loops with invented figures, for the tests of validation.
local columns = { "question", "family", "system", "engine", "engine_version", "format", "mode",
  "widths_tp_dp_moetp_moeep", "workers", "isl", "osl", "clients", "ttft_ms", "tpot_ms", "measurements", "source" }
local export = "source_file=2026-04-06.csv"
local defaults = { family = "llama-3.1-8b", system = "h100_sxm", engine = "vllm", engine_version = "0.15.1",
  format = "bf16", mode = "agg", widths_tp_dp_moetp_moeep = "1,1,1,1", isl = 200, osl = 20, clients = 2, ttft_ms = 20,
  tpot_ms = 8, measurements = 1, source = export }

--- @param test table the harness
--- @return function write (rows by column; `without` leaves out a column; returns the path), list of columns
return function(test)
  local folder = test.folder()
  local count = 0
  return function(rows, without)
    count = count + 1
    local path, lines = ("%s/loops%d.csv"):format(folder, count), {}
    local used = {}
    for _, name in ipairs(columns) do used[#used + 1] = name ~= without and name or nil end
    lines[1] = table.concat(used, ",")
    for i, row in ipairs(rows) do
      local cells = {}
      for at, name in ipairs(used) do
        local value = row[name]
        if value == nil then value = name == "question" and "question " .. i or defaults[name] or "" end
        cells[at] = ('"%s"'):format(tostring(value))
      end
      lines[i + 1] = table.concat(cells, ",") .. (row.more or "")
    end
    local file = assert(io.open(path, "w"))
    file:write(table.concat(lines, "\n"), "\n")
    file:close()
    return path
  end, columns
end
