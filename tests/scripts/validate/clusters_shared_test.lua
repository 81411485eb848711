-- Measured clusters of ../shared: all files are read, what can run runs, and routers gain where they gained.
local test = dofile "tests/scripts/harness.lua"
local validate = require "rooflua.validate.command"

test("the shared measured clusters are read and run", function()
  local path = test.shared "truth/cluster/README.md"
  local out = validate.run { folder = (path:gsub("/README.md$", "")), set = { "clusters.sessions_s=20" } }
  local clusters = out.document.clusters
  for _, kind in ipairs { "routers", "tiers", "agents", "pd", "replica", "scaling", "calibration" } do
    test.check(clusters[kind], "no %s", kind)
  end
  test.check(not out.document.unread, "a column is not known")
  test.check(not out.text:find("unknown key", 1, true), "a key of a profile is not known: %s", out.text)
  test.at_least(clusters.agents.beside.ran, 0.8 * clusters.agents.beside.rows)
  local routers = clusters.routers
  test.at_least(routers.ran, 0.9 * routers.rows)
  test.at_least(routers.gain.direction, 0.9)
  test.check(routers.all.median < 0.4, "the median error of routers is %g", routers.all.median)
  test.check(clusters.replica.all.mean < 0.35, "the mean error of replicas is %g", clusters.replica.all.mean)
end)

test.finish()
