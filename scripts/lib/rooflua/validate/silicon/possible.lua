-- Whether one engine on the stated GPUs could have measured a row. Some rows of public files hold the clients of
-- several engines beside the widths of one. Two bounds of the datasheet tell, without any step model: the flop of all
-- tokens at the peak, and the weights that a step of the requests in flight must read.
--
--     requests per second    clients / (TTFT + (osl - 1) TPOT)
--     requests in flight     of these, the ones that decode: clients (osl - 1) TPOT / (TTFT + (osl - 1) TPOT)
local cost = require "rooflua.cost"
local spec = require "rooflua.spec"

local possible = {}

--- Expected experts differ from those that are touched, and datasheets round: rows within this part pass.
local margin = 0.9

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

--- @param question table of rows.read
--- @param keys table of the deployment: tp, dp, ep, moe_tp, weights
--- @return string|nil why the row cannot be of these GPUs
function possible.refusal(question, model, hardware, keys)
  local options = { model = model, hardware = hardware, kv_blocks = 1e6 }
  for _, key in ipairs { "tp", "dp", "ep", "moe_tp", "weights" } do options[key] = keys[key] end
  local ok, deployment = pcall(spec.deployment, options)
  if not ok then return nil end
  local measured = question.measured
  local decoding_s = (question.osl - 1) * measured.tpot
  local request_s = measured.ttft + decoding_s
  local groups = deployment.dp
  local rate = question.clients / groups / request_s
  local token_s, bytes = least(model, deployment, hardware, rate * decoding_s)
  local busy = rate * (question.isl + question.osl) * token_s
  if margin * busy > 1 then
    return ("faster than the GPUs: all tokens take %.1f times the peak of the GPUs that are stated"):format(busy)
  end
  local read_s = bytes / hardware.memory_bytes_per_s
  if measured.tpot < margin * read_s then
    return ("faster than the GPUs: reading the weights of a step takes %s, and TPOT is %s"):format(
      ("%.2f ms"):format(read_s * 1e3),
      ("%.2f ms"):format(measured.tpot * 1e3))
  end
end

return possible
