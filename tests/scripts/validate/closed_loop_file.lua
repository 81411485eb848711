--- Files of measured closed loops with invented figures, for the tests of validation. A row leaves out what these
--- defaults have.
local columns = { "question", "family", "system", "engine", "engine_version", "format", "mode", "isl", "osl",
  "clients", "widths", "workers", "options", "env", "speculation", "draft_tokens", "date", "config", "warmup",
  "saturated", "client", "ttft_ms", "tpot_ms", "origin" }
--- Columns of files with the older names.
local older = { "question", "family", "system", "engine", "engine_version", "format", "mode",
  "widths_tp_dp_moetp_moeep", "workers", "isl", "osl", "clients", "ttft_ms", "tpot_ms", "isl_command", "osl_command",
  "range_ratio", "requests", "request_rate", "lengths_file", "server_command", "client_command", "model", "scored",
  "scored_why", "dataset", "accept_length" }
local defaults = { family = "llama-3.1-8b", system = "h100_sxm", engine = "vllm", engine_version = "0.15.1",
  format = "bf16", mode = "agg", widths = "1,1,1", widths_tp_dp_moetp_moeep = "1,1,1,1", isl = 200, osl = 20,
  clients = 2, ttft_ms = 20, tpot_ms = 8 }

--- @param test table the harness
--- @return function write (list of rows by column, about = {without = a column that is left out, older = true for the
---   older names, name = of the file}): returns the path. `more` of a row stands after its last cell
--- @return string[] columns
return function(test)
  local count = 0
  return function(rows, about)
    about = about or {}
    count = count + 1
    local folder = ("%s/loops%d"):format(test.folder(), count)
    assert(os.execute("mkdir " .. folder) == 0)
    local path, used = folder .. "/" .. (about.name or "loops.csv"), {}
    for _, name in ipairs(about.older and older or columns) do
      used[#used + 1] = name ~= about.without and name or nil
    end
    local lines = { table.concat(used, ",") }
    for i, row in ipairs(rows) do
      local cells = {}
      for at, name in ipairs(used) do
        local value = row[name]
        if value == nil then value = name == "question" and "question " .. i or defaults[name] or "" end
        cells[at] = ('"%s"'):format(tostring(value):gsub('"', '""'))
      end
      lines[i + 1] = table.concat(cells, ",") .. (row.more or "")
    end
    local file = assert(io.open(path, "w"))
    file:write(table.concat(lines, "\n"), "\n")
    file:close()
    return path
  end, columns
end
