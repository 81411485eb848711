--- What a router remembers of the prompts that it sent to each replica: an LRU of their segments per replica. It is
--- wrong in both directions: a replica may have evicted what was sent to it, and may have kept more than is remembered.
---
---     index = sent.new { block_tokens = 64, most_blocks = 2048, capacity_blocks = 31250 }
---     chain = index:chain(request, replicas)     the prompt as segments
---     index:tokens(chain, replica)               tokens at its beginning that this replica was sent, in whole blocks
---     index:add(chain, replica)                  the prompt goes there
---
--- Segments are forgotten whole, the ones that were sent the longest ago first.
local sent = {}

local Index = {}
Index.__index = Index

--- @param rules table {block_tokens, most_blocks = blocks of a prompt that are looked at, capacity_blocks = of a
--- replica}
function sent.new(rules)
  return setmetatable({ rules = rules, names = {}, count = 0, replicas = {} }, Index)
end

--- A number for what follows `parent` under this key; the same whenever it is asked for.
local function name_of(self, parent, key)
  local own = self.names[parent]
  if not own then
    own = {}
    self.names[parent] = own
  end
  local name = own[key]
  if not name then
    self.count = self.count + 1
    name = self.count
    own[key] = name
  end
  return name
end

local function private(self)
  self.count = self.count + 1
  return self.count
end

--- The segments of the prompt that is routed, as far as they are looked at: a list of {name, tokens}. Segments have the
--- same name where they have the same content behind the same beginning. Content that is nobody else's has a new name.
function Index:chain(request, replicas)
  local chain, left, parent = {}, self.rules.most_blocks * self.rules.block_tokens, 0
  local k, content, tokens = 1, replicas:segment(1)
  if not content then content, tokens = 0, request.prompt_tokens end
  while content and left > 0 do
    tokens = math.min(tokens, left)
    left = left - tokens
    local name = content == 0 and private(self) or name_of(self, parent, content)
    chain[#chain + 1] = { name = name, tokens = tokens }
    parent = content == 0 and name or -name_of(self, -name, tokens)
    k = k + 1
    content, tokens = replicas:segment(k)
  end
  return chain
end

--- Tokens of all segments of a chain.
local function length(chain)
  local sum = 0
  for _, each in ipairs(chain) do sum = sum + each.tokens end
  return sum
end

--- Blocks of the part of a prompt that is looked at; at least one.
function Index:blocks(chain) return math.max(1, math.floor(length(chain) / self.rules.block_tokens)) end

local function memory_of(self, replica)
  local own = self.replicas[replica]
  if not own then
    own = { entries = {}, blocks = 0 }
    own.first = { next = nil } -- behind it the entry that was sent the longest ago
    own.last = own.first
    self.replicas[replica] = own
  end
  return own
end

function Index:tokens(chain, replica)
  local entries, sum = memory_of(self, replica).entries, 0
  for _, each in ipairs(chain) do
    local entry = entries[each.name]
    if not entry then break end
    sum = sum + math.min(entry.tokens, each.tokens)
    if entry.tokens < each.tokens then break end
  end
  return sum - sum % self.rules.block_tokens
end

local function unlink(own, entry)
  entry.before.next = entry.next
  if entry.next then entry.next.before = entry.before else own.last = entry.before end
end

local function append(own, entry)
  entry.before, entry.next = own.last, nil
  own.last.next, own.last = entry, entry
end

function Index:add(chain, replica)
  local own, block = memory_of(self, replica), self.rules.block_tokens
  for _, each in ipairs(chain) do
    local entry = own.entries[each.name]
    if entry then
      unlink(own, entry)
      own.blocks = own.blocks - entry.tokens / block
      entry.tokens = math.max(entry.tokens, each.tokens)
    else
      entry = { name = each.name, tokens = each.tokens }
      own.entries[each.name] = entry
    end
    append(own, entry)
    own.blocks = own.blocks + entry.tokens / block
  end
  while own.blocks > self.rules.capacity_blocks and own.first.next do
    local oldest = own.first.next
    unlink(own, oldest)
    own.entries[oldest.name] = nil
    own.blocks = own.blocks - oldest.tokens / block
  end
end

return sent
