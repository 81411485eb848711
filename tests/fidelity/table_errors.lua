-- Errors of the shipped tables, each row predicted from the others: quantiles by GPU, op and region, which plans draw
-- the error of a price from (scripts/lib/rooflua/plan/confidence.lua). Leaving out rows takes minutes, so the quantiles
-- are a file.
--
--     rooflua lua tests/fidelity/table_errors.lua          compares one GPU with the file
--     rooflua lua tests/fidelity/table_errors.lua --write  writes bench_data/table_errors.csv
local interval = require "rooflua.intervals.table_errors"
local mfu = require "rooflua.mfu"
local spec = require "rooflua.spec"
local statistics = require "rooflua.base.statistics"

local path = "bench_data/table_errors.csv"
local steps, fewest = 20, 12

local function rows_of(name)
  local database, out, seen = mfu.open { hardware = spec.hardware(name) }, {}, {}
  for _, each in ipairs(database:tables()) do
    if each.dtype == "bf16" and not seen[each.op] and not each.name:find "nccl" then
      seen[each.op] = true
      local regions = interval.regions(database)[each.op]
      local names = {}
      for region in pairs(regions) do names[#names + 1] = region end
      table.sort(names)
      for _, region in ipairs(names) do
        local errors = regions[region]
        if #errors >= fewest then
          local cells = { name, each.op, region, tostring(#errors) }
          for i = 0, steps do cells[#cells + 1] = ("%.4g"):format(statistics.of_sorted(errors, i / steps)) end
          out[#out + 1] = table.concat(cells, ",")
        end
      end
    end
  end
  table.sort(out)
  return out
end

local header = { "gpu", "op", "region", "rows" }
for i = 0, steps do header[#header + 1] = ("q%02d"):format(i * 100 / steps) end

if arg[1] == "--write" then
  local lines = { table.concat(header, ",") }
  for _, name in ipairs(spec.gpus()) do
    for _, line in ipairs(rows_of(name)) do lines[#lines + 1] = line end
    collectgarbage()
  end
  local file = assert(io.open(path, "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
  print(#lines .. " lines")
else
  local name, stored = arg[1] or "l40s", {}
  for line in io.lines(path) do
    if line:find("^" .. name:gsub("%-", "%%-") .. ",") then stored[#stored + 1] = line end
  end
  local now = rows_of(name)
  assert(#stored > 0, path .. " has nothing of " .. name)
  assert(table.concat(stored, "\n") == table.concat(now, "\n"),
    path .. " is not what the tables of " .. name .. " give; write it again")
  print(name .. ": as in " .. path)
end
