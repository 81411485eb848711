--- Recorded plays: sessions whose requests wait for each other, from a file.
local plays = require "rooflua.plays"
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.Plays: rooflua.Workload
---@field path string
---@field lanes integer
local Plays = policy.define {
  name = "plays",
  doc = "Replays recorded sessions whose requests wait for each other; ten formats are recognised by their content.",
  source = "docs/AGENTS.md",
  params = {
    path = { default = "", doc = "The file; looked for in the folder of the scenario, then in the working directory." },
    lanes = { default = 8, unit = "plays", min = 0, integer = true,
      doc = "Plays at once; the next one begins when one ends. 0: each begins at its recorded time." },
    limit = { default = 0, unit = "plays", min = 0, integer = true,
      doc = "Only this many of the first plays; 0 = all." },
    max_output_tokens = arrivals.limit_parameter(),
    idle_cap_s = { default = 0, unit = "s", min = 0,
      doc = "While no request is in flight, the next one comes at most this much later; 0 = no limit." },
    hash_block_tokens = { default = 512, unit = "tokens", min = 1, integer = true,
      doc = "Tokens of one id in hash_ids, for formats that do not say." },
  },
}

local function next_play(state)
  local play = plays.next(state.file)
  if not play then return nil end
  local out = plays.sent(play)
  for _, row in ipairs(out.rows) do
    row.output_tokens, row.max_output_tokens = arrivals.limited(state.limit, row.output_tokens)
  end
  if state.lanes == nil then out.arrival_s = play.start_s end
  return out
end

function Plays:requests()
  local opened = plays.open(self.path, self.hash_block_tokens, self.limit)
  if self.lanes == 0 and opened.format == "weka" then
    error("workload.lanes: plays of a Weka file have no recorded start; expected at least 1", 0)
  end
  return {
    plays = next_play,
    lanes = self.lanes > 0 and self.lanes or nil,
    idle_cap_s = self.idle_cap_s > 0 and self.idle_cap_s or nil,
    shares_content = true,
    file = opened,
    limit = arrivals.limit(self),
    notes = function(state) return { plays.note(state.file) } end,
  }
end

return Plays
