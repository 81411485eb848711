-- The workload that another workload is made of: its state, and the requests that follow an end.
local policy = require "rooflua.policy"

local inner = {}
local words = { cdata = "an object", userdata = "an object" }

--- Fails where a value is no workload. @param where the key that holds it, for errors
function inner.check(given, where)
  if not policy.is_instance(given) or type(given.requests) ~= "function" then
    error(("%s: expected a workload such as require \"workloads.poisson\" { rate_per_s = 2 }, found %s")
      :format(where, policy.is_instance(given) and tostring(given) or words[type(given)] or type(given)), 0)
  end
end

--- The state of a workload that another one is made of. @param where the key that holds it, for errors
function inner.open(given, rng, where)
  inner.check(given, where)
  local state = given:requests(rng)
  if type(state) ~= "table" then
    error(where .. ": recorded requests (workloads.trace) and functions cannot be part of another workload", 0)
  end
  return state
end

--- The requests of a state after an end: a list of { arrival_s, prompt_tokens, output_tokens, fields }.
function inner.after(state, now_s, session, class, completed, landed_tokens)
  if not state.done then return {} end
  local at_s, prompt, output, fields = state.done(state, now_s, session, class, completed, landed_tokens)
  local out = type(at_s) == "table" and at_s or { at_s and { at_s, prompt, output, fields } }
  while state.more do
    at_s, prompt, output, fields = state.more(state)
    if not at_s then break end
    out[#out + 1] = { at_s, prompt, output, fields }
  end
  return out
end

return inner
