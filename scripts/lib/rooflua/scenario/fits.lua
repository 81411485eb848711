-- Whether an engine could run a batch, or serve a length: the length of requests against max_model_len, their KV
-- against the cache, activations against the memory. A batch that could not run is priced all the same, because a
-- price may be a thought experiment; a note of the result says why it could not.
local core = require "rooflua.base.core"
local spec = require "rooflua.spec"
local specs = require "rooflua.border.specs"
local units = require "rooflua.text.units"

local fits = {}

local grouped = units.grouped

--- The longest request that is allowed, and what says so; nil where nothing does.
function fits.longest(prepared, given)
  local own = given ~= nil and not specs.is(given, "Deployment") and core.plain(given).max_model_len
  if type(own) == "number" and own > 0 then return own, "deployment.max_model_len" end
  local of_model = prepared.model.max_model_len
  if of_model > 0 then return of_model, prepared.model.name .. "'s max_model_len" end
end

local most_counted = 65536 -- decodes whose blocks are counted one by one; of more the mean is taken

--- Tokens of the longest request after the step, and the KV blocks of all, of which each holds `seat_blocks` besides.
local function needs_of(item, block_size, seat_blocks)
  local longest, blocks = 0, 0
  local function add(tokens, count)
    longest, blocks = math.max(longest, tokens), blocks + count * (math.ceil(tokens / block_size) + seat_blocks)
  end
  for i = 1, #item.prefills do
    local prefill = item.prefills[i]
    add(prefill.context_tokens + prefill.new_tokens, 1)
  end
  local new_tokens = item.decodes > 0 and math.ceil(item.decode_tokens / item.decodes) or 0
  if item.decodes > most_counted then
    add(math.ceil(item.decode_context_tokens / item.decodes) + new_tokens, item.decodes)
  else
    for i = 1, item.decodes do add(item.decode_contexts[i] + new_tokens, 1) end
  end
  if item.decodes > 0 then longest = math.max(longest, item.decode_context_max + new_tokens) end
  return longest, blocks
end

--- KV blocks beside the activations of a step of so many tokens and requests. Raises an error where the activations
--- leave no room.
local function blocks_beside(prepared, tokens, requests)
  local own = prepared.deployment
  return spec.deployment { model = prepared.model, hardware = prepared.hardware, tp = own.tp, weights = own.weights,
    kv = own.kv, memory_utilization = own.memory_utilization, block_size = own.block_size,
    max_num_seqs = math.max(own.max_num_seqs, requests),
    max_num_batched_tokens = math.max(own.max_num_batched_tokens, tokens) }.kv_blocks
end

local function given_blocks(given)
  if given == nil then return nil end
  return specs.is(given, "Deployment") and given.kv_blocks or core.plain(given).kv_blocks
end

--- Why a batch could not run: sentences by what it exceeds, "length", "cache" or "memory".
function fits.problems(prepared, item)
  local out, given, own = {}, prepared.given.deployment, prepared.deployment
  local start = "could not run with " .. prepared.model.name .. ": "
  local longest, blocks = needs_of(item, own.block_size, own.seat_blocks)
  local most, says = fits.longest(prepared, given)
  if most and longest > most then
    out.length = start .. ("a request has %s tokens, %s is %s"):format(grouped(longest), says, grouped(most))
  end
  local stated = given_blocks(given)
  local ok, there = true, stated
  if not stated then
    there = own.kv_blocks
    local larger = item.tokens > own.max_num_batched_tokens or item.requests > own.max_num_seqs
    if larger then ok, there = pcall(blocks_beside, prepared, item.tokens, item.requests) end
  end
  if not ok then
    out.memory = start .. tostring(there):gsub("^deployment: ", "")
  elseif blocks > there then
    out.cache = start .. ("its requests need %s KV blocks of %d tokens, the cache has %s%s"):format(grouped(blocks),
      own.block_size, grouped(there), stated and "" or " (deployment.kv_blocks sets another number)")
  end
  return out
end

--- One sentence for each thing that some of these batches exceed, about the first of them: "decode 65536 and 2 more
--- batches: could not run with llama-2-7b: ...".
---@param items table[] {name, batch}
function fits.summary(prepared, items)
  local first, counts, out = {}, {}, {}
  for _, item in ipairs(items) do
    for what, sentence in pairs(fits.problems(prepared, item.batch)) do
      first[what] = first[what] or { item.name, sentence }
      counts[what] = (counts[what] or 0) + 1
    end
  end
  for _, what in ipairs { "length", "memory", "cache" } do
    local more = (counts[what] or 0) - 1
    if more >= 0 then
      local others = more > 0 and (" and %d more %s"):format(more, more == 1 and "batch" or "batches") or ""
      out[#out + 1] = first[what][1] .. others .. ": " .. first[what][2]
    end
  end
  return out
end

--- What a request holds beside the blocks of its tokens, in words; nil where it holds nothing.
---@param replica table {prepared, deployment} of serving.replicas
function fits.seat_note(replica)
  local own = replica.deployment
  if own.seat_blocks == 0 then return nil end
  return ("%s: windows and states of a request hold %s of %s KV blocks, beside those of its tokens"):format(
    replica.prepared.model.name, grouped(own.seat_blocks), grouped(own.kv_blocks))
end

--- Why vLLM would not start with a deployment, as two lists of {key, sentence}: what the scenario states and does not
--- fit, and what only follows from the model.
---@param replica table {prepared, deployment, config} of serving.replicas
---@param given table|nil the deployment of the scenario
function fits.start_problems(replica, given)
  local stated, implied = {}, {}
  local own, prepared = replica.deployment, replica.prepared
  if given_blocks(given) then
    local ok, there = pcall(blocks_beside, prepared, 1, 1)
    if not ok then
      stated[1] = { "deployment.kv_blocks", (tostring(there):gsub("^deployment: ", "")) }
    elseif own.kv_blocks > there then
      stated[1] = { "deployment.kv_blocks", ("%s blocks of %d tokens do not fit: %s on %s has room for %s"):format(
        grouped(own.kv_blocks), own.block_size, prepared.model.name, prepared.hardware.name, grouped(there)) }
    end
  end
  local most, says = fits.longest(prepared, given)
  local capacity = math.max(0, (own.kv_blocks - own.seat_blocks) * own.block_size)
  if most and most > capacity then
    local own_limit = says == "deployment.max_model_len"
    local list = own_limit and stated or implied
    list[#list + 1] = { own_limit and says or "deployment", ("the KV cache holds %s tokens, fewer than %s, %s: vLLM "
      .. "would not start; say max_model_len = %d or less"):format(grouped(capacity), says, grouped(most), capacity) }
  end
  return stated, implied
end

return fits
