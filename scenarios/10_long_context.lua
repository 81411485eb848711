--- What do long contexts cost, and what do fewer KV heads save?
---
--- Setup     Llama-3.1-8B, 8 KV heads, 128 KiB of KV cache per token, and Llama-2-7B, 32 KV heads, 512 KiB;
---           bf16, on one H200.
--- Method    A decode step of 4 requests, and the prefill of one prompt, at 1 k to 64 k tokens.
--- Measures  Time of the step, and the share of attention in it.
--- Expect    A decode reads the KV cache of every token: its time grows linearly with the context, four times
---           as steeply with 32 KV heads, and attention takes most of it at 64 k. A prefill computes pairs of
---           tokens: attention grows with the square of the length, the rest with the length, and the number
---           of KV heads does not matter.
--- Limits    Llama-2-7B was trained for 4 k: only its shapes are used. One step, no queue. Rows of tables carry
---           at least 20 % of the time: most of the contexts are longer than those of the tables, and extrapolated.
local lengths = { 1024, 4096, 16384, 32768, 65536 }
local models = { "llama-3.1-8b", "llama-2-7b" }
local batches = {}
for _, tokens in ipairs(lengths) do
  batches[#batches + 1] = { name = ("decode %d"):format(tokens), decodes = 4, decode_context_tokens = 4 * tokens }
end
for _, tokens in ipairs(lengths) do
  batches[#batches + 1] = { name = ("prefill %d"):format(tokens),
                            prefills = { { new_tokens = tokens, context_tokens = 0 } } }
end

--- Share of attention in the time of a step, in percent.
local function attention_percent(priced)
  local sum = 0
  for _, row in ipairs(priced.rows) do
    if row.kind == "attention_decode" or row.kind == "attention_prefill" then sum = sum + row.time_s end
  end
  return 100 * sum / priced.time_s
end

return {
  rooflua = 1,
  title = "Long contexts, with 8 and with 32 KV heads",
  kind = "price",
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  deployment = { max_model_len = 65537 }, -- beyond Llama-2-7B's own
  steps = require "steps.kernels" {},
  price = batches,
  vary = { model = models },
  report = function(results)
    local rows = { { "batch" } }
    for _, model in ipairs(models) do
      table.insert(rows[1], model .. " ms")
      table.insert(rows[1], "attention %")
    end
    for i, batch in ipairs(batches) do
      local row = { batch.name }
      for _, result in ipairs(results) do
        row[#row + 1] = result.price[i].time_s * 1000
        row[#row + 1] = attention_percent(result.price[i])
      end
      rows[#rows + 1] = row
    end
    return rows
  end,
}
