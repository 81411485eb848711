-- Measured routers of ../shared: nearly all rows run, and routers gain where they gained.
local test = dofile "tests/scripts/harness.lua"
local validate = require "rooflua.validate.command"

test("the shared measured routers are read and run", function()
  local path = test.shared "truth/cluster/routers/develop.csv"
  local out = validate.run { folder = (path:gsub("/[^/]*$", "")) }
  local routers = out.document.clusters.routers
  test.check(not out.document.unread, "a column is not known")
  test.check(not out.text:find("unknown key", 1, true), "a key of a profile is not known: %s", out.text)
  test.at_least(routers.ran, 0.9 * routers.rows)
  test.at_least(routers.gain.direction, 0.9)
  test.check(routers.all.median < 0.4, "the median error of routers is %g", routers.all.median)
end)

test.finish()
