-- Whether an engine could run a batch, or serve a length: the length of requests against max_model_len, their KV
-- against the cache, activations against the memory. A batch that could not run is priced all the same, because a
-- price may be a thought experiment; a note of the result says why it could not.
local core = require "rooflua.base.core"
local memory = require "rooflua.applied.memory"
local Prepared = require "rooflua.machine.prepared"
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

--- Whether the model's positions are a table that was learned: a note of its file says so (spec/hf_config.cpp).
local function has_table(model)
  for _, note in ipairs(model.notes) do
    if note.text:find "^the learned table" then return true end
  end
  return false
end

--- How an engine takes requests beyond what the model's file states: by its release, with rope scaling.
function fits.longer(prepared)
  local engine = prepared.engine
  if has_table(prepared.model) then return "its positions are a learned table, which no setting makes longer" end
  local words = engine.values.longer_context
  return "deployment.max_model_len = N states a longer one"
    .. (words and (", which %s %s takes with %s"):format(engine.engine.name, engine.release, words) or "")
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

--- What spec.deployment takes, for a step of so many tokens and requests.
local function options_of(prepared, tokens, requests)
  local own = prepared.deployment
  return { model = prepared.model, hardware = prepared.hardware, tp = own.tp, dp = own.dp, ep = own.ep,
    moe_tp = own.moe_tp, pp = own.pp, cp = own.cp, dcp = own.dcp,
    expert_gpus = own.expert_gpus, micro_batches = own.micro_batches, weights = own.weights, kv = own.kv,
    memory_utilization = own.memory_utilization, block_size = own.block_size,
    max_num_seqs = math.max(own.max_num_seqs, requests),
    max_num_batched_tokens = math.max(own.max_num_batched_tokens, tokens) }
end

--- KV blocks beside the activations of a step of so many tokens and requests. Raises an error where the activations
--- leave no room.
local function blocks_beside(prepared, tokens, requests)
  return spec.deployment(options_of(prepared, tokens, requests)).kv_blocks
end

--- KV blocks that there is room for: by the engine's rule where it divides the memory.
local function room(prepared)
  if not prepared.divides then return blocks_beside(prepared, 1, 1) end
  return (memory.blocks(prepared.divides, options_of(prepared, 1, 1), true))
end

--- The text of an error of spec.deployment, without the line that asked.
local function without_place(problem)
  return (tostring(problem):gsub("^[^%s:]+:%d+: ", ""):gsub("^deployment: ", ""))
end

--- KV blocks that the scenario states, at its key or by an option of its engine.
local function given_blocks(prepared)
  local given = prepared.given.deployment
  if specs.is(given, "Deployment") then return given.kv_blocks end
  if given ~= nil and core.plain(given).kv_blocks ~= nil then return core.plain(given).kv_blocks end
  return prepared.divides and prepared.divides.keys["engine.kv_blocks"] and prepared.deployment.kv_blocks or nil
end

--- Why a batch could not run: sentences by what it exceeds, "length", "cache" or "memory".
function fits.problems(prepared, item)
  local out, given, own = {}, prepared.given.deployment, prepared.deployment
  local start = "could not run with " .. prepared.model.name .. ": "
  local longest, blocks = needs_of(item, own.block_size, own.seat_blocks)
  local most, says = fits.longest(prepared, given)
  if most and longest > most then
    out.length = start .. ("a request has %s tokens, %s is %s%s"):format(grouped(longest), says, grouped(most),
      says ~= "deployment.max_model_len" and "; " .. fits.longer(prepared) or "")
  end
  local stated = given_blocks(prepared)
  local ok, there = true, stated
  if not stated then
    there = own.kv_blocks
    local larger = item.tokens > own.max_num_batched_tokens or item.requests > own.max_num_seqs
    if larger then ok, there = pcall(blocks_beside, prepared, item.tokens, item.requests) end
  end
  if not ok then
    out.memory = start .. without_place(there)
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
  local over = fits.over_memory(prepared)
  if over then out[1] = "deployment.kv_blocks: " .. over end
  local found = not prepared.served and Prepared.ledger(prepared)
  if found and not found.starts then out[#out + 1] = fits.refusal(found) end
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

--- What a request holds besides the blocks of its tokens, in words; nil where it holds nothing.
---@param replica table {prepared, deployment} of serving.replicas
function fits.seat_note(replica)
  local own = replica.deployment
  if own.seat_blocks == 0 then return nil end
  return ("%s: windows and states of a request hold %s of %s KV blocks, besides those of its tokens"):format(
    replica.prepared.model.name, grouped(own.seat_blocks), grouped(own.kv_blocks))
end

--- Says that the scenario states more KV blocks than there is room for; nil where it does not.
function fits.over_memory(prepared)
  if not given_blocks(prepared) then return nil end
  local own = prepared.deployment
  local ok, there = pcall(room, prepared)
  local taken = ("%s blocks of %d tokens are taken as they are stated"):format(grouped(own.kv_blocks), own.block_size)
  if not ok then return taken .. ", without the memory for them: " .. without_place(there) end
  if there == nil or own.kv_blocks <= there then return nil end
  return ("%s: %s on %s has room for %s"):format(taken, prepared.model.name, prepared.hardware.name, grouped(there))
end

--- "vLLM 0.19 would not start: max_model_len 40,960 needs 10.00 GiB of KV cache, and there are 7.99".
---@param found table a ledger
function fits.refusal(found)
  return ("%s %s would not start: %s"):format(found.facts.engine.title, found.facts.release, found.reason)
end

--- Tokens of the longest request that the engine of a deployment takes: what its KV cache holds, less what it leaves
--- free (longest_leaves_blocks); no more than its ledger says where it stops otherwise.
---@param engine table? of engines/values.lua
---@param found table? the ledger
function fits.most_tokens(engine, deployment, found)
  local free = engine and engine.values.longest_leaves_blocks or 0
  local tokens = math.max(0, (deployment.kv_blocks - deployment.seat_blocks - free) * deployment.block_size)
  return found and found.facts.values.holds_longest and math.min(tokens, found.longest_tokens) or tokens
end

--- The length to which an engine cuts its longest request where its KV cache holds less; nil where it cuts none.
---@param most integer? the longest request
function fits.cut(engine, deployment, most)
  if not (engine and engine.values.longest_leaves_blocks) then return nil end
  local tokens = fits.most_tokens(engine, deployment)
  return tokens >= 1 and (not most or tokens < most) and tokens or nil
end

--- The longest request of a replica against its KV cache and against the model.
---@param stated integer? deployment.max_model_len
---@param found table? the ledger
local function check_longest(replica, stated, found, errors, doubts)
  local prepared, most = replica.prepared, stated or fits.longest(replica.prepared, nil)
  local model, of_model = prepared.model.name, prepared.model.max_model_len
  local key = stated and "deployment.max_model_len" or "deployment"
  if stated and of_model > 0 and stated > of_model then
    doubts[#doubts + 1] = { key = key, text = ("%s is more than the %s that %s is made for"):format(grouped(stated),
      grouped(of_model), model) }
  end
  local is_short = found and found.lacks == "length"
  local tokens = fits.most_tokens(prepared.engine, replica.deployment, found)
  if not most or not is_short and most <= tokens then return end
  local says = stated and "deployment.max_model_len" or model .. "'s max_model_len"
  local less = ("the KV cache holds %s tokens, fewer than %s, %s: "):format(grouped(tokens), says, grouped(most))
  if not is_short then
    local cut = fits.cut(prepared.engine, replica.deployment, most) and ", and answers are cut" or ""
    doubts[#doubts + 1] = { key = key, text = less .. "longer requests fail" .. cut }
    return
  end
  local list = stated and errors or doubts
  list[#list + 1] = { key = key, text = ("%s%s would not start; say max_model_len = %d or less"):format(less,
    prepared.engine.engine.title, tokens) }
end

--- Why the engine of a replica would not start, and what is doubtful in what the scenario states: two lists of
--- {key, text}.
---@param replica table {prepared, deployment, config} of serving.replicas
---@param scheduler table as the scenario states it, before drafting takes of its budget
---@param stated integer? deployment.max_model_len
function fits.start_problems(replica, scheduler, stated)
  local errors, doubts = {}, {}
  local found, most = Prepared.ledger(replica.prepared), stated or fits.longest(replica.prepared, nil)
  local problem = most and type(scheduler.start_problem) == "function" and scheduler:start_problem(most)
  if problem then
    errors[1] = { key = "scheduler", text = ("%s, which follows from %s"):format(problem,
      stated and "deployment.max_model_len" or "the model's, where deployment.max_model_len states none") }
  end
  local over = fits.over_memory(replica.prepared)
  if over then doubts[1] = { key = "deployment.kv_blocks", text = over } end
  local is_other = found and (found.lacks == "kernels" or found.lacks == "seats")
  if is_other then doubts[#doubts + 1] = { key = "engine", text = fits.refusal(found) } end
  check_longest(replica, stated, found, errors, doubts)
  return errors, doubts
end

return fits
