-- Small published tables, and what an import makes of them.
local import = require "rooflua.tables.import"
local mfu = require "rooflua.mfu"

local imported = {}

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

--- What an import writes and reports: {files = {name -> text}, report, rows(reason) -> rows left out, taken, averaged,
--- says(table, line of tables.toml)}.
function imported.run(test, from, gpu, options)
  options = options or {}
  local to = test.file "own"
  local report = import.run { folder = from, gpu = gpu, to = to, engine_version = options.engine_version or "",
    all_rows = options.all_rows or false, tolerance = options.tolerance or 0 }
  local got = { files = {}, report = report, count = 0, to = to }
  for name in io.popen("ls " .. to):lines() do
    got.files[name], got.count = read(to .. "/" .. name), got.count + 1
  end
  for _, each in ipairs(mfu.open { path = to }:tables()) do test.check(each.rows > 0, "%s has no rows", each.name) end
  got.taken = tonumber(report:match "\nTaken: (%d+) rows")
  got.averaged = tonumber(report:match "%((%d+) of them averaged")
  function got.rows(reason)
    local rows = 0
    for line in (report:match "Rows that were not taken:\n(.-)\n\n" or ""):gmatch "[^\n]+" do
      if line:find(reason, 1, true) then rows = rows + tonumber(line:match "(%d+) rows: ") end
    end
    return rows
  end
  function got.whole_files()
    local lines = {}
    for line in (report:match "Files that were not taken:\n(.-)\n\n" or ""):gmatch "[^\n]+" do
      lines[#lines + 1] = line
    end
    return lines
  end
  function got.says(name, line)
    local _, start = got.files["tables.toml"]:find("[" .. name .. "]\n", 1, true)
    local part = start and got.files["tables.toml"]:sub(start + 1):match "^(.-)\n%[" or
      start and got.files["tables.toml"]:sub(start + 1) or ""
    return ("\n" .. part .. "\n"):find("\n" .. line .. "\n", 1, true) ~= nil
  end
  return got
end

function imported.ends(text, tail) return text ~= nil and text:sub(-#tail) == tail end

return imported
