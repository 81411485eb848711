--- Drafts until they are accepted too rarely, then none for the rest of the run.
local policy = require "rooflua.policy"

---@class speculators.Gate: rooflua.Speculator
---@field draft_tokens integer
---@field threshold number
---@field window integer
---@field rows number of the window so far
---@field accepted number drafts accepted in it
---@field closed boolean
local Gate = policy.define {
  name = "gate",
  doc = "A fixed number of drafts until too few are accepted, then none for good.",
  source = "TensorRT-LLM acceptance_window, acceptance_length_threshold; there the window counts completed requests",
  params = {
    draft_tokens = { default = 3, unit = "tokens", min = 0, max = 64, integer = true,
      doc = "Drafts of a request per round while the gate is open.", source = "no engine has a default" },
    threshold = { default = 1.2, unit = "tokens", min = 0, source = "no default; 1.2 tokens pay for one layer more",
      doc = "Mean tokens per round below which the gate closes." },
    window = { default = 2000, unit = "rounds", min = 1, integer = true,
      source = "no default; about 10 answers of 400 tokens", doc = "Rounds that the mean is taken over." },
  },
}

---@return integer
function Gate:depth() return self.draft_tokens end

---@return integer k
function Gate:drafts()
  if self.closed then return 0 end
  return self.draft_tokens
end

---@param seen rooflua.SpecSeen
function Gate:landed(seen)
  if self.closed or seen.drafted == 0 then return end
  self.rows, self.accepted = (self.rows or 0) + seen.rows, (self.accepted or 0) + seen.accepted
  if self.rows < self.window then return end
  self.closed = 1 + self.accepted / self.rows < self.threshold
  self.rows, self.accepted = 0, 0
end

return Gate
