--- Recorded rounds: the tokens that landed in each round of a request. Request number i replays row i of the
--- recording, which is repeated where it ends; a row is repeated where the answer is longer. A round lands at most its
--- drafts and one.
local policy = require "rooflua.policy"
local trace = require "rooflua.trace"

---@class acceptance.Trace: rooflua.Acceptance
---@field path string
---@field rounds number[][]
local Trace = policy.define {
  name = "trace",
  doc = "Replays recorded rounds: how many tokens landed in each round of a request.",
  params = {
    path = { default = "", doc = "CSV with a column `rounds` (\"2 1 4\"); empty: the list `rounds` is replayed.",
      source = "a file of the user's" },
    rounds = { default = { { 2, 1, 3, 1, 1, 2 } }, unit = "tokens",
      doc = "Tokens per round, a list for each recorded request.", source = "an example",
      idle = { path = { other_than = "" } } },
  },
}

local function checked(lists)
  local out = {}
  for i, list in ipairs(lists) do
    if type(list) ~= "table" or #list == 0 then
      error(("trace.rounds[%d]: expected a list of tokens per round"):format(i), 0)
    end
    for j, tokens in ipairs(list) do
      if type(tokens) ~= "number" or not (tokens >= 1 and tokens < 2 ^ 31) or tokens % 1 ~= 0 then
        error(("trace.rounds[%d][%d]: expected a whole number above 0, found %s"):format(i, j, tostring(tokens)), 0)
      end
    end
    out[i] = { rounds = list }
  end
  if #out == 0 then error("trace.rounds: expected at least one list", 0) end
  return out
end

---@param request rooflua.Request
---@return table {rounds = number[]}
function Trace:curve(request)
  if not self.recorded then
    self.recorded = checked(self.path ~= "" and trace.rounds(self.path) or self.rounds)
  end
  return self.recorded[request.id % #self.recorded + 1]
end

return Trace
