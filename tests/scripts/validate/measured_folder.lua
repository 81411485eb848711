--- A folder of measured cases, for the tests of validation.
local columns = { "case_id", "rating", "dataset", "file", "selector", "model", "gpu", "tp", "precision", "engine",
  "workload", "metrics", "measured", "notes" }

--- @param test table the harness
--- @param defaults table<string, string|number> values of columns that a case leaves out
--- @return string folder, function write (name, content), function write_cases (list of cases by column; id for
--- case_id), string header
return function(test, defaults)
  local folder = test.folder()

  local function write(name, content)
    local file = assert(io.open(folder .. "/" .. name, "w"))
    file:write(content)
    file:close()
  end

  local function write_cases(list)
    local lines = { table.concat(columns, ",") }
    for i, case in ipairs(list) do
      local row = { '"' .. (case.id or "case " .. i) .. '"' }
      for column = 2, #columns do
        row[column] = '"' .. tostring(case[columns[column]] or defaults[columns[column]] or "") .. '"'
      end
      lines[i + 1] = table.concat(row, ",")
    end
    write("cases.csv", table.concat(lines, "\n") .. "\n")
  end

  return folder, write, write_cases, table.concat(columns, ",") .. "\n"
end
