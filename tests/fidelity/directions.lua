--- Makes scripts/lib/rooflua/intervals/directions.lua from documents of `rooflua validate FOLDER --json DOCUMENT`: how
--- often the direction of a change was right, by the setting that was changed.
---     rooflua lua tests/fidelity/directions.lua DOCUMENT.json... > scripts/lib/rooflua/intervals/directions.lua
local json = require "rooflua.json"

local counts = {}

local function add(name, right, pairs_count, size)
  local own = counts[name] or { right = 0, pairs = 0 }
  counts[name] = own
  own.right, own.pairs = own.right + right, own.pairs + pairs_count
  if size and pairs_count >= (own.most or 0) then own.size, own.most = size, pairs_count end
end

--- Gains above 10 % of pairs of clusters, of every quality.
local function add_gain(kind, gain)
  if not (gain and gain.direction) then return end
  add(kind, math.floor(gain.direction * gain.compared + 0.5), gain.compared)
end

for _, path in ipairs(arg) do
  local file = assert(io.open(path))
  local document = json.decode(file:read "*a")
  file:close()
  for name, of in pairs((document.pairs or {}).lever or {}) do
    add(name, math.floor(of.direction * of.rows + 0.5), of.rows, of.size and math.exp(of.size) - 1)
  end
  for kind, of in pairs(document.clusters or {}) do
    add_gain(kind, of.gain)
    add_gain(kind, (of.beside or {}).gain)
  end
end

local names = {}
for name in pairs(counts) do names[#names + 1] = name end
table.sort(names)
print [[
-- Measured pairs by what differed in them, in how many of them the simulation had the direction (up, down or flat), and
-- the median error of the gain. Made by tests/fidelity/directions.lua.
return {]]
for _, name in ipairs(names) do
  local own = counts[name]
  print(("  [%q] = { right = %d, pairs = %d%s },"):format(name, own.right, own.pairs,
    own.size and (", size = %.3f"):format(own.size) or ""))
end
print "}"
