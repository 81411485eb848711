-- Requests that are served before anybody asks, by a simulation that is thrown away: tables are loaded and scripts
-- compiled while no request waits.
local core = require "rooflua.base.core"
local live = require "rooflua.serving.live"
local policy = require "rooflua.policy"

local rehearsal = {}

local Rehearsal = policy.define { name = "rehearsal", doc = "Some prompts, long and short.", params = {} }
local rehearsed = { 64, 512, 4096, 64, 1024, 128, 2048, 256, 64, 64, 512, 1024 }
function Rehearsal:requests()
  local count = 0
  return function()
    count = count + 1
    if count > 12 * #rehearsed then return nil end
    return 0.02 * count, rehearsed[count % #rehearsed + 1], 96
  end
end

--- Serves them by a scenario's table.
function rehearsal.run(reader, given)
  local out = core.copy(given)
  out.workload, out.faults, out.metrics = Rehearsal {}, nil, nil
  local simulation = live.begin(reader, out, { closes = true })
  simulation:run_until(60)
  simulation:close()
end

--- Runs the beginning of a scenario's own workload, so that what a further run does is compiled.
---@param budget_s number CPU seconds after which no more of it is run
function rehearsal.begin(reader, given, budget_s)
  local until_s, begun_s = 1, os.clock()
  local simulation = live.begin(reader, given, { closes = true })
  while os.clock() < begun_s + budget_s and until_s < 1e6 do
    simulation:run_until(until_s)
    until_s = 2 * until_s
  end
  simulation:result()
  simulation:close()
end

return rehearsal
