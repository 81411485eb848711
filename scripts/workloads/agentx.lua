--- AgentX: recorded coding agents on lanes, as SemiAnalysis InferenceX and AIPerf replay them.
---
--- Every lane has one session with all agents that it starts. The sessions of the beginning are under way: each stands
--- at a moment of its recording. Requests for one token warm the caches; then the measurement begins. When a session
--- has ended, its lane takes the next one of the file from its first turn, with contents that nothing has cached.
local plays = require "rooflua.plays"
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"
local snapshot = require "workloads.agents.snapshot"

---@class workloads.AgentX: rooflua.Workload
---@field path string
---@field lanes integer
local AgentX = policy.define {
  name = "agentx",
  doc = "The AgentX protocol: recorded coding agents on lanes, with warm caches, for an hour.",
  source = "ai-dynamo/aiperf pull requests 1165 and 1250; SemiAnalysisAI/InferenceX pull request 2415",
  params = {
    path = { default = "",
      doc = "A file of Weka captures; looked for beside the scenario, then in the working directory." },
    lanes = { default = 64, unit = "sessions", min = 1, integer = true, doc = "Sessions at once." },
    duration_s = { default = 3600, unit = "s", min = 0, exclusive_min = true,
      doc = "Measured time from the end of the warm-up on." },
    start_min = { default = 0.25, unit = "1", min = 0, max = 1,
      doc = "The sessions of the beginning stand after at least this part of their recording." },
    start_max = { default = 0.75, unit = "1", min = 0, max = 1, doc = "And at most after this part." },
    warmup_requests = { default = 10, unit = "requests", min = 0, integer = true,
      doc = "Warm-up requests of a lane for one token, after those that carry the contexts." },
    idle_cap_s = { default = 10, unit = "s", min = 0,
      doc = "While no request is in flight, the next one comes at most this much later; 0 = no limit." },
    max_output_tokens = arrivals.limit_parameter "exact",
    max_context_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Requests whose prompt and answer exceed this are left out, as in captures for smaller contexts; "
        .. "0 = none." },
  },
}

--- Leaves out requests that are too long; those that waited for one wait for what it waited for.
local function shortened(play, most)
  if most == 0 then return play end
  local place, kept = {}, {}
  for i, row in ipairs(play.rows) do
    if row.prompt_tokens + row.output_tokens <= most then
      kept[#kept + 1] = row
      place[i] = #kept
    end
  end
  local function expanded(parents, out)
    for _, each in ipairs(parents or {}) do
      if place[each.row] then
        out[#out + 1] = { row = place[each.row], event = each.event, delay_s = each.delay_s }
      else
        expanded(play.rows[each.row].parents, out)
      end
    end
    return out
  end
  for _, row in ipairs(kept) do
    local parents = expanded(row.parents, {})
    row.parents = #parents > 0 and parents or nil
  end
  play.left_out = #play.rows - #kept
  play.rows = kept
  return play
end

--- The next session that has a request: from the beginning of the file again where it has ended.
local function taken(state)
  local empty = 0
  while true do
    local play = plays.next(state.file)
    if not play then
      plays.again(state.file)
      play = plays.next(state.file)
    end
    play = shortened(play, state.max_context_tokens)
    state.left_out.total = state.left_out.total + #play.rows + (play.left_out or 0)
    state.left_out.reasons["past max_context_tokens"] = state.left_out.reasons["past max_context_tokens"]
      + (play.left_out or 0)
    if #play.rows > 0 then return play end
    empty = empty + 1
    if empty > 100000 then error("workload.max_context_tokens: leaves no request of the file", 0) end
  end
end

local function next_play(state)
  local play = taken(state)
  for _, row in ipairs(play.rows) do
    row.output_tokens, row.max_output_tokens = arrivals.limited(state.limit, row.output_tokens)
  end
  state.begun = state.begun + 1
  if state.begun > state.first then return plays.sent(play) end
  local share = state.start_min + (state.start_max - state.start_min) * state.moments:uniform()
  return plays.sent(snapshot.cut(play, share, state.warmup_requests) or play)
end

---@param rng rooflua.Random
function AgentX:requests(rng)
  if self.start_min > self.start_max then
    error(("workload.start_min: %g is above start_max = %g"):format(self.start_min, self.start_max), 0)
  end
  local opened = plays.open(self.path, 64, 0)
  if opened.format ~= "weka" then
    error(("workload.path: %s is a file of %s; expected Weka captures, whose requests have recorded times"):format(
      self.path, opened.format), 0)
  end
  return {
    plays = next_play,
    lanes = self.lanes,
    idle_cap_s = self.idle_cap_s > 0 and self.idle_cap_s or nil,
    measured_s = self.duration_s,
    shares_content = true,
    file = opened,
    limit = arrivals.limit(self),
    first = self.lanes,
    begun = 0,
    start_min = self.start_min,
    start_max = self.start_max,
    warmup_requests = self.warmup_requests,
    max_context_tokens = self.max_context_tokens,
    moments = rng:stream "moments",
    left_out = { source = "agentx", unit = "requests", total = 0, reasons = { ["past max_context_tokens"] = 0 } },
    notes = function(state) return { plays.note(state.file) } end,
  }
end

return AgentX
