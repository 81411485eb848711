-- Constants of attention kinds that no table prices, against published rows of the kernels nearest to them: the scores
-- of an index (index_mfu) and the scan of state-space layers (state_space_mfu).
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local Kernels = require "steps.kernels"

local function median(list)
  table.sort(list)
  return list[math.ceil(#list / 2)]
end

local function rows_of(path)
  local pipe = assert(io.popen((path:find "%.gz$" and "gzip -dc '%s'" or "cat '%s'"):format(path)))
  local header, rows = {}, {}
  for name in pipe:read("*l"):gmatch "[^,]+" do header[#header + 1] = name end
  for line in pipe:lines() do
    local row, i = {}, 0
    for value in line:gmatch "[^,]+" do
      i = i + 1
      row[header[i]] = tonumber(value) or value
    end
    rows[#rows + 1] = row
  end
  pipe:close()
  return rows
end

--- MFU of the long calls of DeepSeek-V4's index: 64 heads of 128 score one entry for every four tokens, in FP8.
local function index_mfu(gpu, hardware)
  local mfus, peak = {}, rooflua.spec.hardware(hardware).peak_flop_per_s.fp8
  local path = test.shared("tables/published_full/" .. gpu .. "_dsv4_paged_mqa_logits_module_vllm0.24.0.csv.gz")
  for _, row in ipairs(rows_of(path)) do
    local t, p = row.isl, row.step
    local flop = row.batch_size * (t * p + t * (t + 1) / 2) / 4 * 2 * 64 * 128
    if row.latency > 0.5 then mfus[#mfus + 1] = flop / (row.latency * 1e-3 * peak) end
  end
  test.at_least(#mfus, 50)
  return median(mfus)
end

test("the scores of an index run at index_mfu on every GPU that was measured, within a fifth", function()
  local least, most = 1, 0
  for gpu, hardware in pairs { h100_sxm = "h100-sxm", h200_sxm = "h200-sxm", b200_sxm = "b200", b300_sxm = "b300",
                               gb200 = "gb200" } do
    local mfu = index_mfu(gpu, hardware)
    least, most = math.min(least, mfu), math.max(most, mfu)
  end
  print(("index_mfu between %.3f and %.3f"):format(least, most))
  local default = Kernels({}).index_mfu
  test.check(default > least and default < most and most < 1.2 * default and least > 0.8 * default,
    "%.2f is not within a fifth of %.3f to %.3f", default, least, most)
end)

--- MFU of long prompts of the gated delta rule, counted as the step model counts Mamba2: the recurrence, and the pairs
--- of tokens within a chunk of 64.
local function delta_mfu(gpu)
  local mfus, peak = {}, rooflua.spec.hardware(gpu).peak_flop_per_s.bf16
  for _, row in ipairs(rows_of("bench_data/" .. gpu .. "/gdn_prefill_bf16_vllm.csv")) do
    local tokens = row.batch * row.new_tokens
    local values, keys = row.value_heads * row.value_head_dim, row.key_heads * row.key_head_dim
    local flop = tokens * (8 * values * row.key_head_dim + 2 * math.min(row.new_tokens, 64) * (keys + values))
    if row.latency_us > 1000 then mfus[#mfus + 1] = flop / (row.latency_us * 1e-6 * peak) end
  end
  test.at_least(#mfus, 20)
  return median(mfus)
end

test("the scan of state-space layers runs as fast as the gated delta rule on Hopper, which bounds Blackwell", function()
  local default = Kernels({}).state_space_mfu
  for _, gpu in ipairs { "h100-sxm", "h200-sxm" } do test.near(delta_mfu(gpu), default, 0.1, gpu) end
  for _, gpu in ipairs { "b200", "b300", "gb200" } do
    local mfu = delta_mfu(gpu)
    test.check(mfu > 0.4 * default and mfu < default, "%s: %.3f", gpu, mfu)
  end
end)

--- Bytes at full bandwidth by which a row of a module grows with each token of its context, from 64k to 128k.
local function bytes_per_token(gpu, op, query)
  local db, bandwidth = rooflua.mfu.open { gpu = gpu }, rooflua.spec.hardware(gpu).memory_bytes_per_s
  local function latency(context)
    query.op, query.dtype, query.kv_dtype, query.batch, query.context_tokens = op, "bf16", "bf16", 128, context
    local _, estimate = db:lookup(query)
    return estimate.latency_s
  end
  return (latency(131072) - latency(65537)) / (128 * 65535) * bandwidth
end

test("an index reads as many bytes of a token as rows of whole modules grow by, within a fifth", function()
  for _, gpu in ipairs { "h200-sxm", "b200" } do
    local dsa = bytes_per_token(gpu, "dsa_module_decode", { hidden_size = 7168, heads = 128, tp = 8 })
    test.near(dsa, (128 + 4 + 12) / 0.88, 0.2, gpu .. " DeepSeek-V3.2")
    local msa = bytes_per_token(gpu, "msa_module_decode", { heads = 64, tp = 8 })
    test.near(msa, 2 * 128 / 0.88, 0.1, gpu .. " MiniMax-M3")
  end
end)

test.finish()
