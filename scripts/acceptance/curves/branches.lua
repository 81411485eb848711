--- A tree of drafts, as EAGLE-2 and SGLang build it: each step widens the best `topk` branches by as many likeliest
--- tokens each, and the best nodes of all steps are verified together.
---
---     1 - a_r = (1 - a_1) / r^b                      the token is none of the r likeliest ones (a power law)
---     p(node) = p(parent) (a_r - a_(r-1))            the node of rank r, and all before it, are accepted
---     S_j     = sum of p over the verified nodes at depth j
---
--- With topk 1 the tree is a chain: S_j = a_1 .. a_j.
--- Source: Chen et al. Sequoia, arXiv 2402.12374 (power law of acceptance); Li et al. EAGLE-2, arXiv 2406.16858;
--- SGLang, python/sglang/srt/speculative/eagle_utils.py (organize_draft_results).
local branches = {}

local min = math.min

local function falling(a, b) return a > b end

--- Probabilities of a token's children by rank, in falling order.
local function of_ranks(share, topk, exponent)
  local out, before = {}, 0
  for rank = 1, topk do
    local within = 1 - (1 - share) * rank ^ -exponent
    out[rank], before = within - before, within
  end
  table.sort(out, falling)
  return out
end

--- The children of the best `topk` of some branches, in falling order.
local function widened(level, ranks, topk)
  local out = {}
  for i = 1, min(topk, #level) do
    for j = 1, #ranks do out[#out + 1] = level[i] * ranks[j] end
  end
  table.sort(out, falling)
  return out
end

--- Shares a_j = S_j / S_(j-1) of a tree.
---@param shares number[] a_1, a_2, ... of a chain of the same drafter
---@param tree table {steps, topk, nodes = drafts that are verified, exponent = b}
---@return number[] at most `steps` of them
function branches.shares(shares, tree)
  local levels, level, nodes = {}, { 1 }, {}
  for depth = 1, min(tree.steps, #shares) do
    level = widened(level, of_ranks(shares[depth], tree.topk, tree.exponent), tree.topk)
    levels[depth] = 0
    for _, p in ipairs(level) do nodes[#nodes + 1] = { p = p, depth = depth } end
  end
  table.sort(nodes, function(a, b) return a.p > b.p or a.p == b.p and a.depth < b.depth end)
  for i = 1, min(tree.nodes, #nodes) do levels[nodes[i].depth] = levels[nodes[i].depth] + nodes[i].p end
  local out, before = {}, 1
  for depth = 1, #levels do
    out[depth] = before > 0 and min(1, levels[depth] / before) or 0
    before = levels[depth]
  end
  return out
end

return branches
