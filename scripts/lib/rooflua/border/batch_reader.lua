-- Batches that are described in Lua, for tests and for kind = "price": reads and checks a table.
local border = require "rooflua.border.abi"
local core = require "rooflua.base.core"

local ffi, fail = border.ffi, core.fail

local reader = {}

local batch_keys = { "prefills", "decodes", "decode_context_tokens", "decode_contexts", "decode_context_max",
  "decode_tokens", "decode_widths", "draft_rows", "draft_tokens", "draft_passes", "adapters", "adapter_tokens",
  "group", "name" }
local group_keys = { "ranks", "tokens", "max_tokens", "prefills" }
local prefill_keys = { "new_tokens", "context_tokens", "completes", "left_tokens" }
local many_tokens = 2 ^ 30 -- of an unfinished prompt that does not say how much is left: no chunk ends near its end

local function read_prefills(given, what)
  local list = given and core.table(given, what .. ": prefills") or {}
  local rows = ffi.new("rooflua_prefill_work[?]", math.max(#list, 1))
  local tokens, sampled = 0, 0
  for i, prefill in ipairs(list) do
    local where = what .. ": prefills[" .. i .. "]"
    core.check_keys(core.table(prefill, where), prefill_keys, where)
    local row = rows[i - 1]
    row.new_tokens = core.whole(prefill.new_tokens, where .. ".new_tokens", 1)
    row.context_tokens = core.whole(prefill.context_tokens or 0, where .. ".context_tokens")
    row.completes = prefill.completes == false and 0 or 1
    local left = prefill.left_tokens or row.completes == 0 and many_tokens or 0
    row.left_tokens = core.whole(left, where .. ".left_tokens")
    if row.completes == 1 and left > 0 then fail("%s.left_tokens: of a chunk that completes", where) end
    tokens, sampled = tokens + row.new_tokens, sampled + row.completes
  end
  return rows, #list, tokens, sampled
end

local function read_contexts(given, what)
  local contexts = ffi.new("int32_t[?]", math.max(#core.table(given, what .. ": decode_contexts"), 1))
  local sum, largest = 0, 0
  for i, value in ipairs(given) do
    contexts[i - 1] = core.whole(value, what .. ": decode_contexts[" .. i .. "]")
    sum, largest = sum + value, math.max(largest, value)
  end
  return contexts, #given, sum, largest
end

--- What the ranks of a group have in a step, the batch's own rank among them. Without a group the rank is alone.
local function read_group(data, given, what)
  local tokens, prefills = data.tokens, data.prefill_count > 0 and 1 or 0
  if given == nil then given = { ranks = 1, tokens = tokens, max_tokens = tokens, prefills = prefills } end
  core.check_keys(core.table(given, what .. ": group"), group_keys, what .. ": group")
  local function whole(key, least) return core.whole(given[key], what .. ": group." .. key, least) end
  local ranks, all, most = whole("ranks", 1), whole("tokens", tokens), whole("max_tokens", tokens)
  local prefilling = whole("prefills", prefills)
  if most > all or all > ranks * most or all - tokens > (ranks - 1) * most or prefilling > ranks then
    fail("%s: group: %d ranks, one of them with %d tokens, cannot have %d tokens, at most %d each, and %d that prefill",
      what, ranks, tokens, all, most, prefilling)
  end
  data.group_ranks, data.group_tokens, data.group_max_tokens, data.group_prefills = ranks, all, most, prefilling
end

local function read_widths(given, decodes, what)
  if #core.table(given, what .. ": decode_widths") ~= decodes then
    fail("%s: decode_widths: expected %d, one per decode, found %d", what, decodes, #given)
  end
  local widths, sum = ffi.new("int32_t[?]", math.max(decodes, 1)), 0
  for i, value in ipairs(given) do
    widths[i - 1] = core.whole(value, what .. ": decode_widths[" .. i .. "]", 1)
    sum = sum + value
  end
  return widths, sum
end

--- What speculation adds: rows of several tokens, and drafts for the next step. Returns what the batch points to.
local function read_rows(data, given, contexts, what)
  local function whole(key, otherwise, least)
    return core.whole(given[key] == nil and otherwise or given[key], what .. ": " .. key, least)
  end
  local n, widths = data.decodes, nil
  data.decode_tokens = whole("decode_tokens", n, n)
  if given.decode_widths ~= nil then
    if given.decode_tokens ~= nil then fail("%s: decode_widths says it all; leave out decode_tokens", what) end
    widths, data.decode_tokens = read_widths(given.decode_widths, n, what)
  end
  if n == 0 and data.decode_tokens > 0 then fail("%s: decode_tokens without decodes", what) end
  data.widths, data.decode_pairs = widths, 0
  for i = 1, contexts ~= nil and n or 0 do
    local width = widths and widths[i - 1] or data.decode_tokens / n
    data.decode_pairs = data.decode_pairs + width * contexts[i - 1] + width * (width + 1) / 2
  end
  if contexts == nil and n > 0 then
    local width = data.decode_tokens / n
    data.decode_pairs = width * data.decode_context_tokens + n * width * (width + 1) / 2
  end
  data.draft_rows, data.draft_tokens = whole("draft_rows", 0), whole("draft_tokens", 0)
  data.draft_passes = whole("draft_passes", 0)
  return widths
end

local function read_adapters(data, given, what)
  local n = core.whole(given.adapters or 0, what .. ": adapters")
  local tokens = core.whole(given.adapter_tokens or n > 0 and data.tokens or 0, what .. ": adapter_tokens")
  if n > data.requests or tokens > data.tokens or tokens < n or (n == 0 and tokens > 0) then
    fail("%s: %d adapters with %d tokens cannot be in this batch", what, n, tokens)
  end
  data.adapters, data.adapter_tokens = n, tokens
end

--- The longest context of so many decodes, which have `sum` tokens together; their mean where it is not given.
local function read_longest(given, decodes, sum, what)
  if given == nil then return decodes > 0 and math.ceil(sum / decodes) or 0 end
  local longest = core.not_negative(given, what .. ": decode_context_max")
  if longest > sum or sum > decodes * longest then
    fail("%s: decode_context_max: %d contexts of at most %.14g cannot have %.14g tokens, one of them with that many",
      what, decodes, longest, sum)
  end
  return longest
end

--- A table as border/batch.lua documents it: the batch, its longest context, and what must live as long.
function reader.read(given)
  local what = "cost.batch"
  core.check_keys(core.table(given, what), batch_keys, what)
  local rows, prefill_count, tokens, sampled = read_prefills(given.prefills, what)
  local contexts, decodes, sum, largest
  if given.decode_contexts ~= nil then
    for _, name in ipairs { "decodes", "decode_context_tokens", "decode_context_max" } do
      if given[name] ~= nil then fail("%s: decode_contexts says it all; leave out %s", what, name) end
    end
    contexts, decodes, sum, largest = read_contexts(given.decode_contexts, what)
  else
    decodes = core.whole(given.decodes or 0, what .. ": decodes")
    sum = core.not_negative(given.decode_context_tokens or 0, what .. ": decode_context_tokens")
    if sum > 2 ^ 53 then
      fail("%s: decode_context_tokens: expected at most 2^53, found %.14g", what, sum)
    end
    if decodes == 0 and sum > 0 then fail("%s: decode_context_tokens without decodes", what) end
    largest = read_longest(given.decode_context_max, decodes, sum, what)
  end
  local data = ffi.new "rooflua_batch"
  data.decode_context_tokens, data.prefills, data.contexts = sum, rows, contexts
  data.prefill_count, data.decodes = prefill_count, decodes
  local widths = read_rows(data, given, contexts, what)
  data.tokens = tokens + data.decode_tokens
  data.requests, data.sampled = prefill_count + decodes, sampled + decodes
  read_group(data, given.group, what)
  read_adapters(data, given, what)
  return data, largest, { data, rows, contexts, widths }
end

return reader
