--- Rows of kernels that constants of the kernel model are fitted to, and the questions that they answer.
---
---     kind   constants that are fitted together, and the ops whose rows say them
---     row    {op, query, measured_s, shape, table}: a shape is what a row has beside the axes along which it was timed
local core = require "rooflua.base.core"
local mfu = require "rooflua.mfu"
local native = require "rooflua.native"
local own_family = require "rooflua.border.own_family"

local rows = {}

local collectives = { "all_reduce_eager_s", "all_reduce_2_s", "all_reduce_2_ps_per_byte", "all_reduce_4_small_s",
  "all_reduce_4_small_ps_per_byte", "all_reduce_4_large_s", "all_reduce_4_large_ps_per_byte", "all_reduce_8_small_s",
  "all_reduce_8_small_ps_per_byte", "all_reduce_8_large_s", "all_reduce_8_large_ps_per_byte" }

--- In the order in which they are fitted: the bandwidth that GEMMs reach holds for all that follow.
rows.kinds = {
  { name = "gemm", ops = { "gemm" }, constants = { "memory_efficiency", "gemm_math",
    "kernel_launch_s", "gemm_tile_s", "split_s", "gemm_sm_bytes_per_clock" } },
  { name = "attention", ops = { "attention_prefill", "attention_decode", "mla_prefill",
    "mla_decode" }, constants = { "attention_math", "attention_launch_s", "prefill_tile_s", "decode_tile_s",
    "decode_split_s", "decode_sm_bytes_per_clock" } },
  { name = "moe", ops = { "moe_layer" }, constants = { "grouped_launch_s", "expert_row_traffic",
    "expert_fp8_math", "quantize_row_s", "quantize_sm_bytes_per_clock" } },
  { name = "all_reduce", ops = { "all_reduce" }, constants = collectives },
}

local kind_of_op = {}
for _, kind in ipairs(rows.kinds) do
  kind.title = own_family.titles[kind.name]
  for _, op in ipairs(kind.ops) do kind_of_op[op] = kind end
end

local axes = core.set { "m", "batch", "context_tokens", "new_tokens", "tokens", "bytes" }
local not_asked = core.set { "latency_us", "latency_us_p10", "latency_us_p90", "line", "mode" }

--- The question that a row of a table answers.
function rows.query_of(op, dtype, row)
  local out = { op = op, dtype = dtype }
  for name, value in pairs(row) do
    if not not_asked[name] then out[name] = value end
  end
  if row.mode == "eager" then out.eager = true end
  if op == "all_reduce" then out.dtype = nil end
  if op:find "attention" or op:find "^mla" then
    out.kv_dtype, out.dtype, out.tp = row.kv_dtype or dtype, nil, 1
  end
  return out
end

local function shape_of(query)
  local parts = {}
  for name, value in core.sorted_pairs(query) do
    if not axes[name] then parts[#parts + 1] = name .. "=" .. tostring(value) end
  end
  return table.concat(parts, " ")
end

--- Rows of a table by place, at most so many, spread over it.
local function spread(list, most)
  if #list <= most then return list end
  local out = {}
  for i = 1, most do out[i] = list[1 + math.floor((i - 1) * #list / most)] end
  return out
end
rows.spread = spread

--- Whether a table lies in a folder, and is not a lender's.
function rows.lies_in(table_, folder) return table_.path:match "^(.*)/[^/]*$" == folder end

--- {kind's name = rows} of the tables of a database, those with `answers = false` included: they were timed as well.
--- @param most integer rows of one table
--- @param folder string? of the tables, in place of all that answer
function rows.of(database, most, folder)
  local out = {}
  for _, each in ipairs(database:tables "all") do
    local kind = kind_of_op[each.op]
    if kind and (not folder or rows.lies_in(each, folder)) then
      local list = out[kind.name] or {}
      out[kind.name] = list
      for _, row in ipairs(spread(native.csv_read(each.path, true), most)) do
        local query = rows.query_of(each.op, each.dtype, row)
        list[#list + 1] = { op = each.op, query = query, measured_s = row.latency_us * 1e-6, shape = shape_of(query),
          table = each.name, line = row.line }
      end
    end
  end
  return out
end

--- A GPU's database without its tables, with other constants: what the kernel model says.
function rows.modelled(hardware, constants)
  return mfu.open { hardware = hardware, tables = false, model = constants }
end

return rows
