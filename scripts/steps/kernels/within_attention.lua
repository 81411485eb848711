--- Rope and the write of keys and values where they are no kernels of their own:
---
---   - rows of attention may contain the write (`includes` of tables.toml);
---   - an engine may turn and write in one kernel (`ropes_in_attention` of scripts/engines), which the rows of its own
---     attention contain as a whole. Where other rows stand in, this kernel is priced as the write.
---
--- Rows that an engine lends contain its one kernel, where the borrower runs several. These are priced as its own.
--- Source: aiconfigurator, collector/trtllm/collect_attn.py (a fused QKV with rotary embedding goes in) and
--- collect_mla_v2.py (mla_rope_generation stands in front of the attention, both are timed).
local within_attention = {}

--- Which rows of a step see an operation; nil where rows of attention contain it.
local function rows_of(steps, op)
  local is_write, is_rope = op.name:find "^kv_write", op.kernel == "rope"
  if not is_write and not is_rope then return op.rows end
  local engine = steps.engine_values
  if is_rope then return not engine.ropes_in_attention and op.rows or nil end
  local family = steps.model.mla and "mla_" or "attention_"
  if not steps.database:includes(family .. "prefill", steps.kv_dtype, "kv_write") then return op.rows end
  local in_decode = engine.ropes_in_attention and steps.database:includes(family .. "decode", steps.dtype, "rope")
  return not in_decode and "decode_tokens" or nil
end

--- Puts an operation of cost.layers into the list of those that see the same rows.
--- @param steps steps.Kernels
--- @param seen table lists by rows
--- @param op table
function within_attention.put(steps, seen, op)
  local rows = rows_of(steps, op)
  if rows then seen[rows][#seen[rows] + 1] = op end
end

return within_attention
