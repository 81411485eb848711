--- What effect has each disputed choice of the MFU roofline on one step?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; steps/roofline_v2, preset `reviewed`.
--- Method    Two steps (four prefills of unequal length with 32 decodes of unequal context, and the decodes
---           alone) are priced with the preset, and then again with one parameter changed at a time.
--- Measures  Each step's time, and its ratio to the preset's.
--- Expect    Taking m = requests for a group's GEMMs understates the prefill by far; the dense score
---           matrix divided by 1.8 costs about 11 % more attention than half of it.
--- Limits    One batch of one model. Rows of tables carry at least 65 % of the time. With BLIS' own tables:
---           --set mfu.path=DIR --set mfu.layout=blis --set mfu.gpu=h100 --set mfu.lookup=blis487.
local RooflineV2 = require "steps.roofline_v2"

--- The preset with one parameter changed.
local function turned(label, switch)
  return { label = label, value = RooflineV2:preset "reviewed"(switch) }
end

local contexts = {}
for i = 1, 32 do contexts[i] = 250 * i end

return {
  rooflua = 1,
  title = "The reviewed bugs and choices, one at a time",
  kind = "price",
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  steps = RooflineV2:preset "reviewed" {},
  price = {
    {
      name = "mixed",
      prefills = {
        { new_tokens = 300, context_tokens = 0 }, { new_tokens = 900, context_tokens = 512 },
        { new_tokens = 2500, context_tokens = 0 }, { new_tokens = 64, context_tokens = 3000 },
      },
      decode_contexts = contexts,
    },
    { name = "decode", decode_contexts = contexts },
  },
  vary = {
    steps = {
      turned("reviewed", {}),
      turned("prefill_m = requests", { prefill_m = "requests" }),
      turned("bucket_key = new", { bucket_key = "new" }),
      turned("bucketing = fused", { bucketing = "fused" }),
      turned("bucketing = exact", { bucketing = "exact" }),
      turned("bucket_flop = bucket", { bucket_flop = "bucket" }),
      turned("attention_flop = dense", { attention_flop = "dense" }),
      turned("attention_flop = dense, / 1.8", { attention_flop = "dense", prefill_divisor = 1.8 }),
      turned("attention_flop = causal_exact", { attention_flop = "causal_exact" }),
      turned("decode_context = max", { decode_context = "max" }),
      turned("decode_context = mean", { decode_context = "mean" }),
      turned("mixed = sum", { mixed = "sum" }),
      turned("mixed = weighted", { mixed = "weighted" }),
      turned("fused_gemm", { fused_gemm = true }),
      turned("no gemm_memory_floor", { gemm_memory_floor = false }),
      turned("bandwidth_efficiency = 1", { bandwidth_efficiency = 1 }),
      turned("overhead_per_layer_s = 0", { overhead_per_layer_s = 0 }),
      turned("lm_head", { lm_head = true }),
    },
  },
  report = function(results)
    local rows = { { "switch", "mixed ms", "ratio", "decode ms", "ratio" } }
    local reference = results[1].price
    for _, result in ipairs(results) do
      local mixed_s, decode_s = result.price[1].time_s, result.price[2].time_s
      rows[#rows + 1] = { result.parameters.steps, mixed_s * 1000, mixed_s / reference[1].time_s,
        decode_s * 1000, decode_s / reference[2].time_s }
    end
    return rows
  end,
}
