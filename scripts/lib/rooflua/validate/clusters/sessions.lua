-- Sessions of agents whose recording is not among the data, drawn by workloads.agent and cut when the time is over.
local Agent = require "workloads.agent"
local policy = require "rooflua.policy"

local Sessions = policy.define {
  name = "sessions",
  doc = "Drawn sessions of agents on lanes, for a time.",
  params = {
    lanes = { default = 1, unit = "sessions", min = 1, integer = true, doc = "Sessions at once." },
    seconds = { default = 1800, unit = "s", min = 0, exclusive_min = true, doc = "The run ends then." },
    most = { default = 0, unit = "tokens", min = 0, integer = true, doc = "Longest context; 0: as workloads.agent." },
  },
}

--- Sessions of the beginning, and so many after each of them that no lane is ever without one.
local sessions_of_lane = 100

function Sessions:requests(rng)
  local agent = { plays = self.lanes * sessions_of_lane, lanes = self.lanes }
  if self.most > 0 then agent.max_context_tokens = self.most end
  local out = Agent(agent):requests(rng)
  out.until_s = self.seconds
  return out
end

local sessions = {}

--- @param about table {lanes, most = longest context, nil: the model's}
function sessions.of(about, seconds, model)
  return Sessions { lanes = about.lanes, seconds = seconds, most = about.most or model.max_model_len or 0 }
end

return sessions
