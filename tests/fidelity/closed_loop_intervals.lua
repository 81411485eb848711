-- Makes the quantiles that intervals of every answer rest on (scripts/lib/rooflua/intervals/residuals.lua) from the
-- questions whose settings are stated, says whether the file has them already, and how many measurements lie inside:
--
--     rooflua validate ../shared/data/truth/silicon/questions.csv --wide --json F
--     rooflua validate ../shared/data/truth/silicon/questions.csv --wide --set silicon.modelled=1 \
--         --only h200_sxm --json G
--     the same with --only b200_sxm --json H
--     rooflua lua tests/fidelity/closed_loop_intervals.lua F G H [--write]
--
-- F gives the kinds, and so does every further document of closed loops. G and H give modelled kernels of a family
-- with constants of its own, and of one without.
local json = require "rooflua.json"
local making = require "rooflua.intervals.making"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local target, write = "scripts/lib/rooflua/intervals/residuals.lua", false
local points, modelled = {}, {}
for _, argument in ipairs(arg) do
  if argument == "--write" then
    write = true
  else
    local document = json.decode(read(argument))
    local into = document.settings.modelled == 1 and modelled or points
    for _, point in ipairs(making.points(document.questions)) do into[#into + 1] = point end
  end
end

local found = making.residuals(points, modelled)
local text = making.text(found)
if write then
  local file = assert(io.open(target, "w"))
  file:write(text)
  file:close()
end
print(text == read(target) and "residuals.lua is up to date" or "residuals.lua differs: --write")
for name, of in pairs(making.coverage(points, found)) do
  print(("inside, %-12s  TPOT %.1f %%  TTFT %.1f %%  E2E %.1f %%"):format(name, 100 * of.tpot, 100 * of.ttft,
    100 * of.e2e))
end
