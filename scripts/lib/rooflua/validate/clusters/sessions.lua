-- Sessions of agents, cut when the time is over: those of a trace, or, of a row whose recording is not among the data,
-- drawn ones (workloads.agent).
local Agent = require "workloads.agent"
local Plays = require "workloads.plays"
local core = require "rooflua.base.core"
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

local Traced = policy.define {
  name = "traced_sessions",
  doc = "Recorded sessions on lanes, for a time or for so many requests.",
  params = {
    path = { default = "", doc = "The trace, in a format of docs/AGENTS.md." },
    lanes = { default = 1, unit = "sessions", min = 1, integer = true, doc = "Sessions at once." },
    seconds = { default = 0, unit = "s", min = 0, doc = "The run ends then; 0: with the last request." },
    num_requests = { default = 0, unit = "requests", min = 0, integer = true,
      doc = "No session begins after so many requests; 0: all do." },
  },
}

function Traced:requests(rng)
  local out = Plays({ path = self.path, lanes = self.lanes }):requests(rng)
  local next_play, sent, most = out.plays, 0, self.num_requests > 0 and self.num_requests or math.huge
  function out.plays(state)
    if sent >= most then return nil end
    local play = next_play(state)
    if play then sent = sent + #play.rows end
    return play
  end
  if self.seconds > 0 then out.until_s = self.seconds end
  return out
end

local sessions = {}

--- @param about table {lanes, most = longest context, nil: the model's}; of a trace {path, lanes, num_requests}
--- @param seconds number? nil: to the end of a trace
function sessions.of(about, seconds, model)
  if about.path then return Traced(core.copy(about, { seconds = seconds })) end
  return Sessions { lanes = about.lanes, seconds = seconds, most = about.most or model.max_model_len or 0 }
end

return sessions
