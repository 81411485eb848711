--- The lowest of many scores, of which a few change between two questions: a tree of the lower of each two.
local lowest = {}

local infinity = math.huge

--- @param scores number[]
function lowest.of(scores)
  local leaves = 1
  while leaves < #scores do leaves = 2 * leaves end
  local tree = {}
  for i = 1, leaves do tree[leaves + i - 1] = scores[i] or infinity end
  for node = leaves - 1, 1, -1 do tree[node] = math.min(tree[2 * node], tree[2 * node + 1]) end
  return { leaves = leaves, tree = tree }
end

function lowest.set(self, i, score)
  local tree, node = self.tree, self.leaves + i - 1
  tree[node] = score
  while node > 1 do
    node = (node - node % 2) / 2
    tree[node] = math.min(tree[2 * node], tree[2 * node + 1])
  end
end

--- The first place from `from` on with a score of at most `bound`; nil if there is none.
local function first_within(self, bound, from)
  local tree, node = self.tree, self.leaves + from - 1
  while tree[node] > bound do
    while node % 2 == 1 do -- a right child, or the root: what is after it is after its parent
      if node == 1 then return nil end
      node = (node - 1) / 2
    end
    if node == 1 then return nil end
    node = node + 1
  end
  while node < self.leaves do
    node = 2 * node
    if tree[node] > bound then node = node + 1 end
  end
  return node - self.leaves + 1
end

--- The place of the lowest score; of equal ones the first from `from` on, around the end.
function lowest.place(self, from)
  local bound = self.tree[1]
  return first_within(self, bound, from) or first_within(self, bound, 1)
end

return lowest
