-- A simulation that runs inside a callback of another one, or inside an explanation. What the two share in the library
-- is set aside while the inner one runs: whose victims are asked for, whose signals are readable, the rows that an
-- explanation collects, the corrections in force. The engine's memory is set aside by
-- engine/script/serving/with_run.cpp, which calls these functions.
local ledger = require "rooflua.border.ledger"
local routing = require "rooflua.border.routing"
local views = require "rooflua.border.views"

local nested = {}

--- Called when the inner simulation starts. Returns what leave() is called with.
function nested.enter()
  return { scheduler = views.set_scheduler(nil), router = routing.set_asked(nil), ledger = ledger.set_aside() }
end

--- Called when it returns, also with an error. `kept` is nil where nothing was around it: then it leaves no corrections
--- in force.
function nested.leave(kept)
  if not kept then return ledger.set_corrections {} end
  views.set_scheduler(kept.scheduler)
  routing.set_asked(kept.router)
  ledger.restore(kept.ledger)
end

return nested
