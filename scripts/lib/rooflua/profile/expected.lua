-- The operations of a step as this engine's step model prices them: per operation its time by tables and its roofline,
-- and the order in which kernels of them are expected.
local core = require "rooflua.base.core"
local cost = require "rooflua.cost"
local prices = require "rooflua.machine.prices"

local expected = {}

local of_others = core.set { "correction", "floor" }

--- Operations that stand before or behind the layers.
local apart = core.set { "embed", "final_norm", "lm_head", "logits_gather", "sampler" }

--- "qkv" of "qkv@full" and "draft.qkv": layers of several kinds are compared together.
local function base_name(name) return (name:gsub("@.*$", ""):gsub("^.*%.", "")) end

--- The word of rows of kernels for a priced row; nil: no kernel is looked for.
local function class_of(row)
  local kind, name = row.kind, base_name(row.name)
  if of_others[kind] or of_others[name] or prices.is_of_host(row) then return nil end
  if name == "logits_gather" then return "all_gather" end
  if kind == "all_reduce" then return "all_reduce" end
  if kind == "expert_exchange" then return "exchange" end
  if name == "experts" then return "experts" end
  if kind:find "_module" then return "block" end
  if name:find "^linear_attention" then return "linear_attention" end
  if name:find "^attention_prefill" or name:find "^attention_decode" then return "attention" end
  if name:find "^quantize" then return "quantize" end
  if kind == "gemm" or kind == "mla_bmm" then return "gemm" end
  if name == "sampler" or name == "embed" or name == "rope" or name == "kv_write" then return name end
  if name:find "norm$" then return "norm" end
  if name:find "activation$" then return "activation" end
  return "elementwise"
end

--- Seconds of one run that the datasheet allows.
local function roofline(row, hardware)
  if row.bound == "link" then return row.bytes / hardware.link_bytes_per_s end
  local at_memory = (row.bytes or 0) / hardware.memory_bytes_per_s
  if not (row.flop and row.flop > 0) then return at_memory end
  local shape = row.priced and row.priced.shape or row.shape or ""
  local format = shape:match "dtype=([%w_]+)" or shape:match " ([%w_]+)$" or "bf16"
  local peaks = hardware.peak_flop_per_s
  local peak = peaks[hardware.computes_in[format]] or peaks.bf16
  return math.max(at_memory, peak and row.flop / peak or 0)
end

local function add_evidence(sum, name, seconds)
  sum[name] = (sum[name] or 0) + seconds
end

--- The evidence that most of an operation's time rests on.
local function main_evidence(evidence)
  local best, most = "modelled", -1
  for name, seconds in core.sorted_pairs(evidence) do
    if seconds > most then best, most = name, seconds end
  end
  return best
end

--- {list, by_name, host_s, total_s}: operations {name, class, count, table_s, roofline_s, evidence, shapes, rows}, all
--- times of the whole step. host_s: what the model adds for host and launches, for which no kernel stands.
---@param priced table of prices.price_batch
---@param hardware table
function expected.of(priced, hardware)
  local out = { list = {}, by_name = {}, host_s = 0, total_s = priced.time_s }
  local last
  for _, row in ipairs(priced.rows) do
    local count, class = row.count or 1, class_of(row)
    if class then
      local name = base_name(row.name)
      local each = out.by_name[name]
      if not each then
        each = { name = name, class = class, count = 0, table_s = 0, roofline_s = 0, by_evidence = {}, shapes = {},
          rows = {} }
        out.by_name[name], out.list[#out.list + 1] = each, each
      end
      each.count, each.table_s = each.count + count, each.table_s + count * row.time_s
      each.roofline_s = each.roofline_s + count * roofline(row, hardware)
      add_evidence(each.by_evidence, row.evidence, count * row.time_s)
      each.shapes[#each.shapes + 1], each.rows[#each.rows + 1] = row.shape, row
      last = each
    elseif (row.kind == "floor" or row.kind == "correction" and row.of) and last then
      local of = row.of and out.by_name[base_name(row.of)] or last
      of.table_s = of.table_s + count * row.time_s
      add_evidence(of.by_evidence, row.evidence, count * row.time_s)
    else
      out.host_s = out.host_s + count * row.time_s
    end
  end
  for _, each in ipairs(out.list) do each.evidence = main_evidence(each.by_evidence) end
  return out
end

-- The order ------------------------------------------------------------------------------------------------

--- Operations that are listed after a layer's others, and the one in front of which (or behind which) they run.
local moved = { kv_write = { "o", -0.9 }, kv_b = { "o", -0.8 }, bmm_q = { "o", -0.7 },
  attention_prefill = { "o", -0.6 }, attention_decode = { "o", -0.6 }, bmm_o = { "o", -0.5 },
  linear_attention_prefill = { "gdn_norm", -0.5 }, linear_attention_decode = { "gdn_norm", -0.5 },
  experts_sum = { "experts", 0.1 } }
local others = { gdn_norm = "mamba_out" }
--- Those of shared experts run beside routed ones: in front of the router in some engines, after the experts in others.
local shared = { shared_gate_up = 1, shared_up = 1, shared_activation = 2, shared_down = 3 }

local function place_of(name, i, places)
  local step = moved[name] or name:find "^quantize_kv_b" and moved.kv_b
  if step then
    local at = places[step[1]] or places[others[step[1]] or ""]
    if at then return at + step[2] end
  end
  local part = shared[name:gsub("^quantize_", "")]
  if part and places.experts then return places.experts + 0.2 + 0.1 * part - (name:find "^quantize" and 0.05 or 0) end
  return i
end

--- How much it costs that no kernel stands for an operation: GEMMs and attention are seldom left out, the small ones
--- are often fused.
local skips = { gemm = 0.8, attention = 1, block = 1, experts = 1, all_reduce = 0.6, linear_attention = 1 }

--- The sequence: {{operation, class, many, skip}, ...}.
---@param of table of expected.of
---@param layers integer
function expected.sequence(of, layers)
  local places, inside, before, behind = {}, {}, {}, {}
  for i, each in ipairs(of.list) do places[each.name] = places[each.name] or i end
  local first_layer
  for i, each in ipairs(of.list) do
    local entry = { operation = each, class = each.class, many = each.class ~= "gemm" and each.class ~= "all_reduce"
      and each.class ~= "norm", skip = skips[each.class] or 0.3, place = place_of(each.name, i, places) }
    if each.count > 1 or layers == 1 and not apart[each.name] then
      first_layer = first_layer or i
      if each.count < layers then entry.skip = 0.1 end
      inside[#inside + 1] = entry
      if shared[each.name] and places.router then
        entry.skip = 0.1
        inside[#inside + 1] = core.copy(entry, { place = places.router - 0.5 + 0.1 * shared[each.name] })
      end
    else
      local list = first_layer and behind or before
      list[#list + 1] = entry
    end
  end
  table.sort(inside, function(a, b)
    if a.place ~= b.place then return a.place < b.place end
    return a.operation.name < b.operation.name
  end)
  local out, last = {}, nil
  for i = #inside, 2, -1 do -- both kinds of attention are one place
    if inside[i].class == "attention" and inside[i - 1].class == "attention" then table.remove(inside, i) end
  end
  for _, each in ipairs(before) do out[#out + 1] = each end
  for _ = 1, layers do
    for _, each in ipairs(inside) do out[#out + 1] = each end
  end
  for _, each in ipairs(behind) do
    if each.class == "sampler" then last = each else out[#out + 1] = each end
  end
  out[#out + 1] = last
  return out
end

--- The numbers of a shape, as cost.shape_fields has them.
function expected.fields(row) return cost.shape_fields(row.priced and row.priced.shape or row.shape) end

return expected
