--- Acceptance of a tree of drafts: what `chain` says of a chain of the same drafter, widened to the tree. With topk 1
--- only the depth counts: no more drafts than the drafter has steps are accepted, however many are verified.
local policy = require "rooflua.policy"
local branches = require "acceptance.curves.branches"
local Constant = require "acceptance.constant"

---@class acceptance.Tree: rooflua.Acceptance
---@field chain any
---@field steps integer
---@field topk integer
---@field draft_tokens integer
---@field exponent number
---@field scope string
local Tree = policy.define {
  name = "tree",
  doc = "A tree of drafts: the acceptance of a chain, widened by the branches that are verified with it.",
  source = "Sequoia, arXiv 2402.12374; EAGLE-2, arXiv 2406.16858; SGLang speculative_eagle_topk",
  params = {
    chain = { default = false, type = "any", doc = "Acceptance of a chain; false = acceptance.constant.",
      source = "what one draft a step would have" },
    steps = { default = 4, unit = "passes", min = 1, max = 64, integer = true, doc = "Depth of the tree.",
      source = "SGLang speculative_num_steps" },
    topk = { default = 4, unit = "tokens", min = 1, max = 64, integer = true,
      doc = "Branches of a step, and tokens of a branch; 1: what `chain` says is that of the tree.",
      source = "SGLang speculative_eagle_topk" },
    draft_tokens = { default = 15, unit = "tokens", min = 1, max = 128, integer = true,
      doc = "Drafts that are verified.", source = "SGLang speculative_num_draft_tokens - 1" },
    exponent = { default = 0.43, unit = "1", min = 0, max = 5,
      doc = "Power b of the rank with which the likeliest tokens miss the right one.",
      source = "Medusa's top 1 and 5 (arXiv 2401.10774) give 0.43; lengths of trees in SpecForge issue 339 give 0.55, "
        .. "in EAGLE issue 143 0.3" },
    scope = { default = "request", values = { "request", "step" },
      doc = "request: every row draws; step: one draw for the whole batch.", source = "as per_position.scope" },
  },
}

--- The acceptance of a chain.
local function chain_of(tree)
  if tree.inner == nil then tree.inner = policy.fresh(tree.chain or Constant {}) end
  if tree.inner.accept then error("tree.chain: it decides rounds itself; expected one that has a curve alone", 0) end
  return tree.inner
end

---@param request rooflua.Request
---@param rng rooflua.RandomStream of the request
---@return number[] a_1, a_2, ...
function Tree:curve(request, rng)
  local shares = chain_of(self):curve(request, rng)
  if shares.rounds then error("tree.chain: expected probabilities of drafts, found recorded rounds", 0) end
  if self.seen ~= shares then
    self.seen = shares
    self.shares = branches.shares(shares, { steps = self.steps, topk = self.topk, nodes = self.draft_tokens,
      exponent = self.exponent })
  end
  return self.shares
end

return Tree
