--- Does it matter how the prompts of a step are grouped when the step is priced?
---
--- Setup     Llama-3.1-8B, bf16, on one H200; the step model roofline_v2, which prices groups of prompts.
--- Method    One step with prompts of four lengths, priced with a group per length, and with the groups below.
--- Measures  The time of the step.
--- Expect    What you believe before you look.
--- Limits    The step model kernels prices every prompt by itself and asks for no groups.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@ --explain    the price of every group
local policy = require "rooflua.policy"

---@class mine.Octaves
---@field per_octave integer
local Octaves = policy.define {
  name = "octaves",
  doc = "Groups prompts whose length lies in the same part of an octave; a group is priced at its longest prompt.",
  params = {
    per_octave = { default = 4, unit = "groups", min = 1, max = 64, integer = true, doc = "Groups from n to 2n." },
  },
}

--- Every prompt is in one group. A group has requests, new_tokens, the length seq_len that is priced, and its members.
---@param prefills { new_tokens: integer, context_tokens: integer }[]
---@return table groups
function Octaves:groups(prefills)
  local groups, by_place = {}, {}
  for i = 1, #prefills do
    local prefill = prefills[i]
    local length = prefill.context_tokens + prefill.new_tokens
    local place = math.floor(math.log(length) / math.log(2) * self.per_octave)
    local group = by_place[place]
    if not group then
      group = { requests = 0, new_tokens = 0, seq_len = 0, members = {} }
      groups[#groups + 1], by_place[place] = group, group
    end
    group.requests, group.new_tokens = group.requests + 1, group.new_tokens + prefill.new_tokens
    group.seq_len = math.max(group.seq_len, length)
    group.members[#group.members + 1] = i
  end
  return groups
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  kind = "price",
  title = "Prompts of a step, alone and in groups",
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.roofline_v2" {},
  price = {
    {
      name = "prompts of 700, 900, 1,300 and 1,400 tokens",
      prefills = {
        { context_tokens = 0, new_tokens = 700 }, { context_tokens = 0, new_tokens = 900 },
        { context_tokens = 0, new_tokens = 1300 }, { context_tokens = 0, new_tokens = 1400 },
      },
    },
  },
  vary = { ["steps.bucketing"] = { require "bucketing.exact" {}, Octaves {} } },
}
return scenario
