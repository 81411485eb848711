-- Makes the quantiles that intervals of every answer rest on (scripts/lib/rooflua/intervals/residuals_on_*.lua) from
-- the questions whose settings are stated, says whether the files have them already, and how many measurements lie
-- inside:
--
--     rooflua validate ../shared/data/truth/silicon/questions.csv --wide --json F
--     rooflua validate ../shared/data/truth/amd/develop.csv --wide --json A
--     rooflua validate ../shared/data/truth/cookbook/develop.csv --wide --json C
--     rooflua validate ../shared/data/truth/silicon/questions.csv --wide --set silicon.modelled=1 \
--         --only h200_sxm --json G
--     the same with --only b200_sxm --json H
--     rooflua validate ../shared/data/truth/tuning/develop.csv --wide --json T
--     rooflua lua tests/fidelity/closed_loop_intervals.lua F A C T G H [--write]
--
-- Runs of all of them that are over before they are steady say how much farther the ends of such runs are; T says
-- nothing else. F, A, C and every further document of closed loops give the kinds. G and H are simulations of F's
-- deployments without tables, of a family with constants of its own and of one without.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local kinds = require "rooflua.intervals.kinds"
local making = require "rooflua.intervals.making"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local write, points, modelled, transient = false, {}, {}, {}
for _, argument in ipairs(arg) do
  if argument == "--write" then
    write = true
  else
    local document = json.decode(read(argument))
    local into = document.settings.modelled == 1 and modelled or points
    for _, point in ipairs(making.points(document.questions)) do
      point.document = argument
      if not document.tuning then into[#into + 1] = point end
      if into == points and point.is_transient then transient[#transient + 1] = point end
    end
  end
end

--- Writes a file where that is asked for, and says whether it has the text already.
local function compare(name, text)
  local target = ("scripts/lib/rooflua/intervals/residuals_%s.lua"):format(name)
  local same = text == read(target)
  if write and not same then
    local file = assert(io.open(target, "w"))
    file:write(text)
    file:close()
  end
  print(target .. (same and " is up to date" or write and " is written" or " differs: --write"))
end

local found = making.residuals(points, modelled)
for _, basis in ipairs(kinds.bases) do compare("on_" .. basis, making.text(found[basis], basis)) end
if #transient > 0 then compare("of_transients", making.transients_text(making.transients(transient, found))) end

-- Coverage -------------------------------------------------------------------------------------------------------

local function say(name, of)
  local parts = { ("%-22s %4d"):format(name, of.points) }
  for _, metric in ipairs(making.metrics) do
    parts[#parts + 1] = ("%s %5.1f %% %+4.0f %%"):format(metric, 100 * of[metric].inside,
      100 * (math.exp(of[metric].width) - 1))
  end
  print(table.concat(parts, "   "))
end

print "\npoints inside, and how much larger the high end is than the low one (geometric mean)"
local all = making.coverage(points, found)
for _, name in ipairs { "known", "other_models", "left_out" } do say(name, all[name]) end

if #transient > 0 then
  print "\nruns that are over before they are steady"
  local of = making.coverage_of_transients(transient, found)
  for _, name in ipairs { "known", "left_out" } do say(name, of[name]) end
end

print "\nkinds left out, by group"
for _, group in ipairs {
  { "document", function(point) return point.document end },
  { "basis", function(point) return point.basis end },
  { "engine", function(point) return point.kind.engine end },
  { "class", function(point) return point.kind.class end },
  { "architecture", function(point) return point.kind.architecture end },
} do
  local of_group = {}
  for _, point in ipairs(points) do
    local name = group[2](point)
    of_group[name] = of_group[name] or {}
    table.insert(of_group[name], point)
  end
  for _, name in ipairs(core.sorted_keys(of_group)) do
    say(group[1] .. " " .. name, making.coverage(of_group[name], found).left_out)
  end
end
