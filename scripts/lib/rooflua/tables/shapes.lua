--- Which table would have priced an operation, and which of its rows: from the rows of an explanation.
local core = require "rooflua.base.core"
local cost = require "rooflua.cost"

local shapes = {}

local of_any_format = core.set { "elementwise", "launch", "memory", "sampling" } -- one table for all formats

--- The name of an op's table without who measured it: "gemm_bf16", "elementwise".
function shapes.table_name(op, format) return of_any_format[op] and op or op .. "_" .. format end

--- The two powers of two that a number lies between; one where it is one itself, {0} for 0.
local function around(value)
  if value < 1 then return { 0 } end
  local low = 2 ^ math.floor(math.log(value) / math.log(2) + 1e-9)
  return low == value and { low } or { low, 2 * low }
end

--- The first and the second number of "heads=32/8", or those of the fields heads and kv_heads.
local function heads_of(shape, fields)
  local heads, kv_heads = shape:match "heads=(%d+)/(%d+)"
  return tonumber(heads) or fields.heads, tonumber(kv_heads) or fields.kv_heads
end

--- Rows of attention on a grid around the shape: the step model asks on grids, and rows between two are interpolated.
local function attention(row, fields, prepared)
  local tp, kv = fields.tp or 1, row.shape:match "kv_dtype=([%w_]+)" or prepared.deployment.kv
  local heads, kv_heads = heads_of(row.shape, fields)
  local dim = fields.head_dim or prepared.model.head_dim
  local own, own_kv = heads / tp, math.max(1, math.floor(kv_heads / tp))
  local context, out = fields.context or fields.context_tokens or 0, {}
  if row.kind == "attention_prefill" then
    local new = fields.new or fields.new_tokens
    for _, prior in ipairs(around(context)) do
      for _, tokens in ipairs(around(new)) do out[#out + 1] = { own, own_kv, dim, fields.batch or 1, prior, tokens } end
    end
    return { table = shapes.table_name(row.kind, kv), rows = out,
      fields = { heads = own, kv_heads = own_kv, head_dim = dim, new_tokens = new, context_tokens = context } }
  end
  for _, batch in ipairs(around(fields.batch)) do
    for _, tokens in ipairs(around(context)) do out[#out + 1] = { own, own_kv, dim, kv, batch, tokens } end
  end
  return { table = shapes.table_name(row.kind, "bf16"), rows = out,
    fields = { heads = own, kv_heads = own_kv, head_dim = dim, batch = fields.batch, context_tokens = context } }
end

local kernels = setmetatable({}, { __mode = "k" }) -- by deployment: {name of an operation = its kernel}

--- The kernel of the operation of a row; nil where it has none. Names of a drafter's operations have its prefix.
local function kernel_of(row, prepared)
  local known = kernels[prepared.deployment]
  if not known then
    known = {}
    for _, op in ipairs(cost.layers(prepared.model, prepared.deployment)) do known[op.name] = op.kernel end
    kernels[prepared.deployment] = known
  end
  return known[row.name:match "[^.]*$"]
end

--- The measured kernel of a small operation; the others are copies of as many bytes (scripts/steps/kernels).
local function small(row, prepared)
  if row.note:find "in the kernel of" then return nil end
  if not kernel_of(row, prepared) then return { table = "memory", rows = {}, fields = { bytes = row.bytes } } end
  return { table = "elementwise", rows = {}, fields = { tokens = row.fields.rows or row.fields.tokens } }
end

--- A delta rule, whose tables tell prompts and decodes apart. State-space layers have no table.
local function recurrent(row, prepared)
  for _, kind in ipairs(prepared.model.attention) do
    local rule = row.fields.key_heads and kind.delta and kind.delta.rule
    if rule then
      local phase = row.shape:find "decode=true" and "_decode" or "_prefill"
      return { table = shapes.table_name(rule .. phase, "bf16"), rows = {}, fields = core.copy(row.fields) }
    end
  end
end

--- The table of an operation: {table, rows = cells of the rows to measure, where they are known, fields = numbers of
--- its shape}; nil where no row would answer.
---@param row table of prices.price_batch
---@param prepared table of machine/prepared.lua
function shapes.of(row, prepared)
  local shape = row.priced and row.priced.shape or row.shape
  local own = { name = row.name, kind = row.kind, shape = shape, note = row.note, bytes = row.bytes,
    fields = cost.shape_fields(shape) }
  local fields = own.fields
  if row.kind == "elementwise" then return small(own, prepared) end
  if row.kind == "linear_attention" then return recurrent(own, prepared) end
  if (row.kind == "attention_prefill" or row.kind == "attention_decode") and (fields.heads or shape:find "heads=") then
    return attention(own, fields, prepared)
  end
  if row.kind == "gemm" then
    local format = shape:match " ([%w_]+)$"
    if not format then -- many small GEMMs in one launch; those that latent attention absorbs have a table
      return kernel_of(row, prepared) == "mla_bmm"
        and { table = shapes.table_name("mla_bmm", "bf16"), rows = {}, fields = { tokens = fields.m } } or nil
    end
    return { table = shapes.table_name("gemm", format),
      rows = { { fields.m, fields.k, fields.n } }, fields = { m = fields.m, k = fields.k, n = fields.n } }
  end
  if row.kind == "all_reduce" then
    return { table = shapes.table_name("all_reduce", "bf16"), rows = { { fields.ranks, fields.bytes, "graph" } },
      fields = { ranks = fields.ranks, bytes = fields.bytes } }
  end
  local format = shape:match " dtype=([%w_]+)" or shape:match "^dtype=([%w_]+)" or "bf16"
  return { table = shapes.table_name(row.kind, format), rows = {}, fields = core.copy(fields) }
end

return shapes
