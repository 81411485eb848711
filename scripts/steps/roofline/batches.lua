--- What the two rooflines share: the bytes that a batch moves, and the time of a step with both phases.
local mfu = require "rooflua.mfu"

local batches = {}

--- Bytes of an element by format, without the scales of its blocks, as BLIS counts them.
batches.element_bytes = {}
for _, format in ipairs(mfu.formats()) do batches.element_bytes[format.name] = math.floor(format.bits) / 8 end

--- Parts of the traffic that reach the memory (caches hold the rest), by new tokens of a request.
--- Source: inference-sim 487017bc; fitted constants.
local not_cached = {
  one = { kv_read = 0.80, activations = 0.75 },
  several = { kv_read = 0.92, activations = 0.85 },
}

--- MLP width of a model read as dense: all experts count as one.
function batches.dense_width(model)
  if model.intermediate_size and model.intermediate_size > 0 then return model.intermediate_size end
  if model.moe then return model.moe.intermediate_size end
  return 4 * model.hidden_size
end

---@class rooflines.Traffic
---@field weight_bytes number all layers, without embeddings, LM head and norms
---@field kv_bytes_per_token number all layers
---@field activation_bytes_per_token number all layers
local Traffic = {}
Traffic.__index = Traffic

--- @param head_dim number|nil nil: the model's
function batches.traffic(model, element_bytes, head_dim)
  head_dim = head_dim or model.head_dim
  local H, L = model.hidden_size, model.layers
  local q, kv = model.heads * head_dim, model.kv_heads * head_dim
  return setmetatable({
    weight_bytes = element_bytes * L * (H * (q + 2 * kv) + q * H + 3 * H * batches.dense_width(model)),
    kv_bytes_per_token = 2 * L * kv * element_bytes,
    activation_bytes_per_token = L * H * element_bytes,
    kv_read_factor = 1,  -- 1 / decode bandwidth factor
  }, Traffic)
end

--- KV written, KV read and activations of one request.
function Traffic:request_bytes(context_tokens, new_tokens)
  local part = new_tokens == 1 and not_cached.one or not_cached.several
  return self.kv_bytes_per_token * new_tokens + self.kv_bytes_per_token * context_tokens * part.kv_read
         + self.activation_bytes_per_token * new_tokens * part.activations
end

--- The same for decodes with `new_tokens` together; `context_tokens_sum` tokens are in their KV caches, which are read
--- once whatever the widths of the decodes are.
function Traffic:decode_bytes(new_tokens, context_tokens_sum)
  return self.kv_bytes_per_token * new_tokens
         + self.kv_bytes_per_token * context_tokens_sum * not_cached.one.kv_read * self.kv_read_factor
         + self.activation_bytes_per_token * new_tokens * not_cached.one.activations
end

--- A step with both phases takes a weighted mean of them. The thresholds are the source's.
--- Source: inference-sim 487017bc^, sim/roofline_step.go.
function batches.weighted(prefill_s, decode_s, prefill_tokens, decode_tokens)
  local p, d = prefill_tokens, decode_tokens
  if p > 4 * d and p > 100 then return 0.75 * prefill_s + 0.25 * decode_s end
  if d > 2 * p and d > 50 then return 0.35 * prefill_s + 0.65 * decode_s end
  return (p * prefill_s + d * decode_s) / (p + d)
end

return batches
