-- Many values of a number in four bands of equally many runs, so that colours can stand for them.
local bands = {}

local count = 4

local function shown(value) return ("%.3g"):format(value) end

--- @param values table of the number, one per run
--- @param label string
--- @param path string of the parameter of a run
--- @return function from a run {parameters} to the name of its band: "rate_per_s 2 to 4.5"
function bands.of(values, label, path)
  local sorted = {}
  for i, value in ipairs(values) do sorted[i] = value end
  table.sort(sorted)
  local ends = {}
  for i = 1, count do ends[i] = sorted[math.max(1, math.floor(#sorted * i / count + 0.5))] end
  return function(run)
    local value = run.parameters[path]
    for i = 1, count do
      if value <= ends[i] then
        return ("%s %s to %s"):format(label, shown(i == 1 and sorted[1] or ends[i - 1]), shown(ends[i]))
      end
    end
  end
end

return bands
