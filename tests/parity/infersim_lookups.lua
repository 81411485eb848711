-- Compares the lookups infersim_floor and infersim_head with recorded answers of InferSim, one
-- comparison per row: result, kind of exception, and the selected row where it is recorded.
--   rooflua lua tests/parity/infersim_lookups.lua GOLDEN.json TABLES_DIR
local golden_path, tables = ...
if not tables then
  print "usage: infersim_lookups.lua GOLDEN.json TABLES_DIR (the folder that holds bench_data)"
  os.exit(2)
end
local rooflua = require "rooflua"
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or "."
local compare = dofile(here .. "/compare.lua")

local null = rooflua.json.null
local golden = compare.read(golden_path)
local policy_of_commit = { ["3e99354"] = "infersim_floor", ["f2293da"] = "infersim_head" }
local lookup = policy_of_commit[golden.meta.commit:sub(1, 7)]
if not lookup then error("unknown commit " .. golden.meta.commit .. " (known: 3e99354, f2293da)") end

local databases = {}
local function database(gpu)
  if not databases[gpu] then
    databases[gpu] = rooflua.mfu.open {
      path = tables .. "/bench_data", layout = "infersim", gpu = gpu, lookup = lookup,
    }
  end
  return databases[gpu]
end

--- Python's round(x, 3): the double nearest to the rendering with three decimals. LuaJIT's %.3f rounds ties away from
--- zero, Python's to the even digit. Only odd multiples of 1/16 are ties of three decimals.
local function python_round3(x)
  if math.abs(x * 16) % 2 ~= 1 then return tonumber(("%.3f"):format(x)) end
  local below = math.floor(x * 1000)
  return (below % 2 == 0 and below or below + 1) / 1000
end
for _, each in ipairs { { 0.0625, 0.062 }, { 0.1875, 0.188 }, { -0.0625, -0.062 }, { 1 / 3, 0.333 } } do
  assert(python_round3(each[1]) == each[2], each[1])
end

--- One function of the reference each: a row (by column name) -> result, selected row.
local ask = {}

function ask.get_attn_decode_mfu(row)
  local kv_dtype = row.fp8_kv and "fp8" or "bf16"
  local mfu, estimate
  if row.kind == "mla" then
    mfu, estimate = database(row.device):lookup {
      op = "mla_decode", heads = row.nh, kv_lora_rank = row.nkv_or_rank, qk_rope_head_dim = row.head_dim_or_rope,
      batch = row.bs, context_tokens = row.kv_len, kv_dtype = kv_dtype,
    }
  else
    mfu, estimate = database(row.device):decode(row.nh, row.nkv_or_rank, row.head_dim_or_rope, row.bs, row.kv_len, 1,
                                                kv_dtype)
  end
  return mfu, estimate.selected_row
end

function ask.get_attn_prefill_mfu(row)
  local mfu, estimate
  if row.kind == "mla" then
    mfu, estimate = database(row.device):lookup {
      op = "mla_prefill", heads = row.nh, qk_nope_head_dim = row.nkv_or_nope, qk_rope_head_dim = row.head_dim_or_rope,
      new_tokens = row.seq_len,
    }
  else
    mfu, estimate = database(row.device):prefill(row.nh, row.nkv_or_nope, row.head_dim_or_rope, row.seq_len)
  end
  return mfu, estimate.selected_row
end

local function grouped(row, decode)
  local _, estimate = database(row.device):lookup {
    op = "grouped_gemm", experts = row.num_experts, ranks = row.num_gpus, experts_per_token = row.topk,
    hidden_size = row.hidden, intermediate_size = row["intermediate(config, before /tp)"], tp = row.tp,
    tokens = row["q(bs or seq_len)"], decode = decode,
  }
  return { estimate.mfu_up, estimate.mfu_down }, estimate.selected_row
end
function ask.get_groupedgemm_decode_mfu(row) return grouped(row, true) end
function ask.get_groupedgemm_prefill_mfu(row) return grouped(row, false) end

function ask.get_gemm_mfu(row)
  local mfu, estimate = database(row.device):gemm(row.m, row.k, row.n)
  return mfu, estimate.selected_row
end

--- The reference counts microseconds; both sides are compared in seconds, after the same division.
local function linear(row, decode)
  local _, estimate = database(row.device):lookup {
    op = "linear_attention", conv = row.conv, key_heads = row.k_heads, key_head_dim = row.k_dim,
    value_heads = row.v_heads, value_head_dim = row.v_dim, decode = decode,
    batch = decode and row.q or nil, new_tokens = not decode and row.q or nil,
  }
  return estimate.latency_s, estimate.selected_row
end
function ask.get_linear_attn_decode_latency(row) return linear(row, true) end
function ask.get_linear_attn_prefill_latency(row) return linear(row, false) end

function ask.python_round3(row) return python_round3(row.x) end

local counter = compare.counter()

local function named(columns, values)
  local row = {}
  for i, name in ipairs(columns) do row[name] = values[i] end
  return row
end

local function check_result(differences, expected, found)
  if type(expected) ~= "table" then return counter:value(differences, "result", expected, found, 0) end
  for i = 1, #expected do counter:value(differences, "result " .. i, expected[i], found[i], 0) end
end

local function check_row(fn, row)
  local differences = {}
  local ok, found, selected = pcall(ask[fn], row)
  local exception = row.exception
  if exception ~= nil and exception ~= null then
    if ok then
      differences[1] = "did not fail; the reference raises " .. exception
    elseif not compare.fits(exception, tostring(found)) then
      differences[1] = ("failed with '%s'; the reference raises %s"):format(tostring(found), exception)
    end
    return differences
  end
  if not ok then return { "failed: " .. tostring(found) } end
  local expected = row.result
  if row.result_us ~= nil then expected = row.result_us / 1e6 end
  check_result(differences, expected, found)
  if row.sel ~= nil and row.sel ~= null then counter:value(differences, "sel", row.sel, selected, 0) end
  return differences
end

for _, block in ipairs(golden.blocks) do
  if not ask[block.fn] then error("unknown function of the reference: " .. block.fn) end
  for i, values in ipairs(block.rows) do
    counter:count(("%s row %d"):format(block.fn, i), check_row(block.fn, named(block.columns, values)))
  end
end
counter:finish()
