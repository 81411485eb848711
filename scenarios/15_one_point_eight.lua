--- What effect has the 1.8 by which some models divide prefill attention?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; steps/roofline_v2.
--- Method    A prompt of 8,192 tokens at once, and its chunks of 1,024 one by one: attention as the full score
---           matrix over 1.8 (InferSim, BLIS), as half of it, and as exact causal pairs, t p + t (t+1) / 2.
--- Measures  Time of prefill attention, and its ratio to the exact one.
--- Expect    Without prior context 1.8 overstates by 2 / 1.8 = 11 % and half is exact. A chunk after a long
---           context computes nearly the full matrix: divided by 1.8, the last chunk is understated to 0.59
---           and the sum of all chunks to 0.64; half of the matrix is worse.
--- Limits    Arithmetic only: all three use the MFU of the same lookup.
local RooflineV2 = require "steps.roofline_v2"

local batches = { { name = "8,192 at once", prefills = { { new_tokens = 8192, context_tokens = 0 } } } }
for i = 0, 7 do
  batches[#batches + 1] = { name = ("1,024 after %d"):format(i * 1024),
                            prefills = { { new_tokens = 1024, context_tokens = i * 1024 } } }
end

local function attention_s(priced)
  local sum = 0
  for _, row in ipairs(priced.rows) do
    if row.kind == "attention_prefill" then sum = sum + row.time_s end
  end
  return sum
end

return {
  rooflua = 1,
  title = "What 1.8 is worth",
  kind = "price",
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  steps = RooflineV2 {},
  price = batches,
  vary = {
    steps = {
      { label = "exact pairs", value = RooflineV2 { attention_flop = "causal_exact" } },
      { label = "full / 1.8", value = RooflineV2 { attention_flop = "dense", prefill_divisor = 1.8 } },
      { label = "half", value = RooflineV2 { attention_flop = "causal_mask" } },
    },
  },
  report = function(results)
    local exact, divided, half = results[1].price, results[2].price, results[3].price
    local rows = { { "prefill attention", "exact ms", "full / 1.8", "half" } }
    local sums = { 0, 0, 0 }
    local function add(name, a, b, c) rows[#rows + 1] = { name, a * 1000, b / a, c / a } end
    for i = 1, #batches do
      local a, b, c = attention_s(exact[i]), attention_s(divided[i]), attention_s(half[i])
      add(batches[i].name, a, b, c)
      if i > 1 then sums = { sums[1] + a, sums[2] + b, sums[3] + c } end
    end
    add("8 chunks", sums[1], sums[2], sums[3])
    return rows
  end,
}
