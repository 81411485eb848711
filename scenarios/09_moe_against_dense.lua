--- When is a mixture of experts as fast as its active parameters promise?
---
--- Setup     Qwen3-30B-A3B (128 experts, 8 per token, 3.3 B of 30.5 B parameters active) against the dense
---           Qwen3-32B, bf16, on one H200 each.
--- Method    Decode steps of 1 to 256 requests with 512 tokens of context, and prefills of 256 to 16,384.
--- Measures  Time per step, and how many times faster the mixture is.
--- Expect    One request reads 8 experts of 128: the mixture is more than three times faster. A larger batch
---           reads more of them, E (1 - (1 - k/E)^M): at 64 requests nearly all, and the mixture is less than
---           1.4 times faster. Beyond that arithmetic counts, of which the mixture has a tenth: long prefills
---           are more than four times faster, but less than ten times, because attention is not sparse.
--- Limits    Uniform routing. One GPU: no expert parallelism. Rows of tables carry at least 90 % of the time.
local decodes, prefills = { 1, 4, 16, 64, 256 }, { 256, 1024, 4096, 16384 }
local batches, tokens_of = {}, {}
for _, n in ipairs(decodes) do
  tokens_of[#batches + 1] = n
  batches[#batches + 1] = { name = ("decode %d"):format(n), decodes = n, decode_context_tokens = n * 512 }
end
for _, tokens in ipairs(prefills) do
  tokens_of[#batches + 1] = tokens
  batches[#batches + 1] = { name = ("prefill %d"):format(tokens),
                            prefills = { { new_tokens = tokens, context_tokens = 0 } } }
end

return {
  rooflua = 1,
  title = "A mixture of experts against a dense model of its size",
  kind = "price",
  model = "qwen3-32b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  price = batches,
  vary = { model = { "qwen3-32b", "qwen3-30b-a3b" } },
  report = function(results)
    local rows = { { "batch", "Qwen3-32B ms", "Qwen3-30B-A3B ms", "times faster", "share of experts touched" } }
    for i, dense in ipairs(results[1].price) do
      local mixture = results[2].price[i]
      rows[#rows + 1] = { dense.name, dense.time_s * 1000, mixture.time_s * 1000, dense.time_s / mixture.time_s,
        1 - (1 - 8 / 128) ^ tokens_of[i] }
    end
    return rows
  end,
}
