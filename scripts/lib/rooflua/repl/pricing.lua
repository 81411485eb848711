--- The price of one batch at the prompt: of the current simulation with its present policies, or of a scenario without
--- a clock that was opened. Batches are written as those of `rooflua step`.
local core = require "rooflua.base.core"
local kinds = require "rooflua.program.kinds"
local native = require "rooflua.native"
local opening = require "rooflua.runs.opening"
local single = require "rooflua.runs.single"
local tree = require "rooflua.repl.tree"
local units = require "rooflua.text.units"

local pricing = {}

local fail = core.fail
local most_requests, most_tokens = 1000000, 1e9

--- The forms of a part of a batch, which Tab offers as examples.
pricing.examples = { "0+4096", "2048x64" }

--- Two whole numbers around a separator, the second from 1 on; nil where a word is something else.
local function pair_of(word, separator)
  local left, right = word:match("^(%d+)" .. separator .. "(%d+)$")
  left, right = tonumber(left), tonumber(right)
  if left and left < most_tokens and right >= 1 and right < most_tokens then return left, right end
end

--- A batch of words such as "0+4096" and "2048x64", and the replica that a number alone names.
local function batch_of(words)
  local out, replica, requests = { name = "step", prefills = {}, decode_contexts = {} }, nil, 0
  for _, word in ipairs(words) do
    local context, new = pair_of(word, "%+")
    local each, count = pair_of(word, "x")
    requests = requests + (context and 1 or count or 0)
    if requests > most_requests then fail("%s: at most a million requests", word) end
    if context then
      out.prefills[#out.prefills + 1] = { context_tokens = context, new_tokens = new }
    elseif each then
      for _ = 1, count do out.decode_contexts[#out.decode_contexts + 1] = each end
    elseif word:find "^%d+$" and not replica then
      replica = tonumber(word)
    else
      fail("expected CONTEXT+NEW tokens of a prefill (0+4096), CONTEXTxCOUNT decodes (2048x64) or the number of a "
        .. "replica, found '%s'", native.printable(word))
    end
  end
  if requests == 0 then fail "nothing to price: :price 0+4096, or :price 2048x64" end
  return out, replica
end

local function counted(batch)
  local parts, tokens = {}, 0
  for _, each in ipairs(batch.prefills) do tokens = tokens + each.new_tokens end
  if #batch.decode_contexts > 0 then parts[1] = units.counted(#batch.decode_contexts, "decode") end
  if #batch.prefills > 0 then
    parts[#parts + 1] = ("%s of %s tokens"):format(units.counted(#batch.prefills, "prefill"), units.grouped(tokens))
  end
  return core.join(parts, ", ")
end

--- Keeps a scenario without a clock, whose batches :price prices, and prices its own.
--- @return table result
function pricing.open(session, opened, number)
  if opened.kind == "plan" or opened.kind == "search" then
    fail("%s: a scenario of kind %s is no simulation; `rooflua run` answers it", opened.reader.file, opened.kind)
  end
  local result = kinds.run(opened, number)
  session.priced = { reader = opened.reader, given = opening.changed(opened, opened.variants[number]) }
  return result
end

local function price_without_clock(priced, batch, replica)
  if replica then fail("a scenario without a clock has no replicas, found %d", replica) end
  return single.run("price", priced.reader, core.copy(priced.given, { price = { batch } })).batches[1]
end

--- What a batch takes: its text, and the same as a table.
--- @param live table? the current simulation
function pricing.of(session, live, words)
  local batch, replica = batch_of(words)
  if not session.priced and not live then fail "nothing is open; :open scenarios/02_chunk_size.lua, for example" end
  local priced = session.priced and price_without_clock(session.priced, batch, replica)
    or live:price({ prefills = batch.prefills, decode_contexts = batch.decode_contexts }, replica)
  return counted(batch) .. "\n" .. tree.text(priced), priced
end

return pricing
