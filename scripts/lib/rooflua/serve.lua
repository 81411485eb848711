--- What happens over time: scenarios of kind "serve" as whole runs and as live simulations.
local core = require "rooflua.base.core"
local live = require "rooflua.serving.live"
local full_run = require "rooflua.serving.full_run"

local serve = {}

--- A scenario as a live simulation, at time 0. It remembers its steps and requests unless options say otherwise.
serve.open = live.open

--- The whole run. options: requests = true keeps the times of every request.
---@return table result {summary = ..., totals = ..., requests = ...}
function serve.run(given, options)
  core.check_keys(core.table(options or {}, "serve.run: options"), { "requests" }, "serve.run")
  core.table(given, "serve.run")
  return full_run.result(core.plain(given), options and options.requests or nil)
end

return serve
