-- Whether the stated GPUs could have measured a row. Some rows of public files hold the clients of several engines
-- beside the widths of one, or have clients that did not send at once. Bounds of the datasheet tell, without any step
-- model: the flop of all tokens at the peak, and what a step of the requests in flight must read.
--
--     requests per second    clients / (TTFT + (osl - 1) TPOT)
--     requests in flight     of these, the ones that decode: clients (osl - 1) TPOT / (TTFT + (osl - 1) TPOT)
--
-- A step reads its weights, and the keys and values of each request that decodes. These count where all layers look at
-- the whole context, at 8 bits, the narrowest format that the engines of these runs store. Prompts that are sent again
-- may have been hits of a cache: their tokens do not count, what is read of them does.
--
-- A row of one engine is refused, too, where its clients cannot have sent one request at a time: most of them wait,
-- although there are free seats, free memory and room for their prompts in every step.
local cost = require "rooflua.cost"
local spec = require "rooflua.spec"

local possible = {}

--- Expected experts differ from those that are touched, and datasheets round: rows within this part pass.
local margin = 0.9

--- Steps that are filled by prompts to less than this part are idle: no queue of requests can stand before them.
local idle_part = 0.25

--- The part of a GPU's memory that an engine may need beside what is known of it, and of the places that it may leave.
local unknown_memory, margin_of_places = 0.1, 0.75

--- Keys of a replica's deployment that say what its memory holds.
local kept = { "tp", "dp", "ep", "moe_tp", "weights", "kv", "block_size", "memory_utilization", "kv_blocks" }

--- Seconds of one token's flop on a rank at the peak, and bytes of the weights that a step of `requests` reads there.
local function least(model, deployment, hardware, requests)
  local token_s, bytes = 0, 0
  for _, op in ipairs(cost.layers(model, deployment)) do
    local peak = hardware.peak_flop_per_s[hardware.computes_in[op.dtype]] or hardware.peak_flop_per_s.bf16
    local share, touched = 1, 1
    if op.op == "grouped_gemm" then
      local moe = model.mlp[op.kind].moe
      share = 1 / deployment.ep
      touched = cost.bytes.touched_experts(moe.experts, moe.experts_per_token, requests) / moe.experts
    end
    if op.rows == "tokens" or op.rows == "group_tokens" then
      token_s = token_s + op.count * op.flop_per_row * op.rows_per_token * share / peak
    end
    if op.rows ~= "prefill_tokens" then bytes = bytes + op.count * op.weight_bytes * touched end
  end
  return token_s, bytes
end

--- Whether all layers of a model read all keys and values of a context.
local function reads_whole_contexts(model)
  for _, kind in ipairs(model.attention) do
    if kind.kind ~= "full" and kind.kind ~= "latent" then return false end
  end
  return true
end

--- Bytes of keys and values that a rank reads of a request that decodes, in the middle of its answer.
local function context_bytes(question, model, deployment)
  if not reads_whole_contexts(model) then return 0 end
  return deployment.kv_bytes_per_block / deployment.block_size * (question.isl + question.osl / 2)
end

local function built(model, hardware, keys)
  local options = { model = model, hardware = hardware, kv_blocks = 1e6, kv = "fp8" }
  for _, key in ipairs { "tp", "dp", "ep", "moe_tp", "weights" } do options[key] = keys[key] end
  local ok, deployment = pcall(spec.deployment, options)
  return ok and deployment or nil
end

--- Requests per second of all engines, and seconds that each of them decodes.
local function pace(question)
  local measured = question.measured
  local decoding_s = (question.osl - 1) * measured.tpot
  return question.clients / (measured.ttft + decoding_s), decoding_s
end

--- Prompt tokens of a request that were computed for sure.
local function computed(role, repeats) return repeats and 0 or role.isl end

local function too_much_work(busy)
  if margin * busy <= 1 then return nil end
  return ("faster than the GPUs: all tokens take %.1f times the peak of the GPUs that are stated"):format(busy)
end

--- @param role table of roles.of: the one engine, or those that decode
--- @param keys table of the deployment: tp, dp, ep, moe_tp, weights
--- @param run table drafts: of a step, all of them may be accepted; repeats: whether prompts are sent again
--- @return string|nil why the row cannot be of these GPUs
local function of_decodes(role, model, hardware, keys, run)
  local deployment = built(model, hardware, keys)
  if not deployment then return nil end
  local rate, decoding_s = pace(role)
  rate = rate / role.ranks
  local requests = rate * decoding_s
  local token_s, weights = least(model, deployment, hardware, requests)
  local tokens = role.osl + (role.role and 0 or computed(role, run.repeats))
  local refused = too_much_work(rate * tokens * token_s)
  if refused then return refused end
  local read_s = (weights + requests * context_bytes(role, model, deployment)) / hardware.memory_bytes_per_s
  if role.measured.tpot * (1 + (run.drafts or 0)) < margin * read_s then
    return ("faster than the GPUs: a step reads its weights, keys and values in %.2f ms, and TPOT is %.2f ms"):format(
      read_s * 1e3, role.measured.tpot * 1e3)
  end
end

--- The same of the engines that prefill alone.
local function of_prompts(role, model, hardware, keys, run)
  local deployment = built(model, hardware, keys)
  if not deployment then return nil end
  local token_s = least(model, deployment, hardware, 1)
  return too_much_work(pace(role) / role.ranks * computed(role, run.repeats) * token_s)
end

--- Requests that an engine has places for: seats, and memory for their keys and values.
--- @param keys table its deployment, as its scenario has it
--- @param values table its settings: seats, budget
local function places(role, model, hardware, keys, values)
  local given = { model = model, hardware = hardware, max_num_seqs = values.seats,
    max_num_batched_tokens = values.budget }
  for _, name in ipairs(kept) do given[name] = keys[name] end
  local deployment = spec.deployment(given)
  local held_bytes = deployment.kv_blocks * deployment.kv_bytes_per_block
    - unknown_memory * hardware.usable_memory_bytes
  local request_bytes = deployment.kv_bytes_per_block / deployment.block_size * (role.isl + role.osl)
  return math.min(values.seats, held_bytes / request_bytes)
end

--- Why the clients of a row cannot all have been under way; nil if they can.
---
--- A request waits for a place or for its prompt's turn. Where more clients wait than decode, although a quarter of
--- the places is free, they wait for turns. Steps that last TPOT, or as long as all of their drafts, take as many
--- prompt tokens as their budget holds, and where the prompts that arrive fill little of that, no queue can last.
local function of_waiting(role, model, hardware, keys, values, run)
  local rate, decoding_s = pace(role)
  local step_s = role.measured.tpot * (1 + (run.drafts or 0))
  local filled = rate / role.ranks * role.isl * step_s / values.budget
  if role.measured.ttft < decoding_s or filled > idle_part then return nil end
  local decoding = rate / role.ranks * decoding_s
  local places_there = places(role, model, hardware, keys, values)
  if decoding > margin_of_places * places_there then return nil end
  return ("not a closed loop of its clients: TTFT is %.1f times the rest of an answer, although %.0f requests "
    .. "decode where %.0f have a place, and prompts fill %.0f %% of a step"):format(role.measured.ttft / decoding_s,
    decoding, places_there, 100 * filled)
end

--- @param list table of roles.of
--- @param each_keys table[] deployments of its roles
--- @param run table drafts of a step of the engines that decode, repeats (whether prompts are sent again)
--- @param each_values table[] their settings
--- @return string|nil why the row cannot be of these GPUs
function possible.refusal(list, model, hardware, each_keys, each_values, run)
  local last = #list
  return of_decodes(list[last], model, hardware, each_keys[last], run)
    or last == 2 and of_prompts(list[1], model, hardware, each_keys[1], run)
    or last == 1 and of_waiting(list[1], model, hardware, each_keys[1], each_values[1], run) or nil
end

return possible
