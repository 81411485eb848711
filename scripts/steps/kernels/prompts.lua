--- What prompts take besides their kernels' rows, which are timed alone and in short runs. What the time is spent on is
--- not known: it may be kernels that no table has, ranks that wait for each other, or clocks that fall under load.
---
---     extra = prompt_overhead * token_s * prompt tokens
---
--- token_s is the time of a token in a step of the whole budget, without attention and routers in 32 bits, which the
--- fit did not have. The extra time grows with every
--- prompt token and depends on nothing else of the step, so that prices stay monotone.
--- Source: docs/records/fitted.md, "Prompts under load" (fitted per engine and architecture).
local cost = require "rooflua.cost"
local host = require "steps.kernels.host"
local router = require "steps.kernels.router"

local prompts = {}

--- Seconds that a prompt token adds to a step; 0 = none.
--- @param steps steps.Kernels its operations are bound
--- @param engine table values of an engine (scripts/engines)
--- @param budget integer tokens of the largest step
function prompts.token_s(steps, engine, budget)
  local share = host.chosen(steps, "prompt_overhead", engine.prompt_overhead)
  if share == 0 then return 0 end
  local time_s = steps.layers_time(budget / steps.cp) + steps.experts_time(budget * steps.dp)
  return share * (time_s - router.sum(steps, budget / steps.cp)) / budget
end

--- Asked for only where it is not 0: the step's trace stays smaller without.
--- @param tokens integer prompt tokens of the step
--- @return number time_s
function prompts.extra(steps, tokens)
  return cost.record("prompts_beside", steps.prompt_token_s * tokens, "assumed")
end

return prompts
