--- How much of an answer is the kernel table, and how much the way of reading it?
---
--- Setup     Qwen3-8B, FP8 weights, on an H200: tables of vLLM, SGLang and TensorRT-LLM ship for it.
--- Method    The same decode and prefill batches priced by steps/kernels with the tables of each engine, each with
---           the default lookup (latency_log) and with the nearest row (nearest).
--- Measures  Time per batch, and the share of it that was measured or interpolated.
--- Expect    The engines' kernels differ by 3 to 6 %; the lookups differ by up to 12 % where a batch lies far between
---           rows. Rows of another engine, where one has none, count as stand-ins.
--- Limits    Tables of other projects are read with --set mfu.path=DIR --set mfu.layout=infersim (docs/DATA.md).
return {
  rooflua = 1,
  title = "Three engines' tables, two lookups, the same shapes",
  kind = "price",
  model = "qwen3-8b",
  hardware = "h200-sxm",
  deployment = { weights = "fp8", engine = "vllm" },
  steps = require "steps.kernels" {},
  price = {
    { name = "decode 16 x 4,000", decodes = 16, decode_context_tokens = 16 * 4000 },
    { name = "decode 100 x 3,000", decodes = 100, decode_context_tokens = 100 * 3000 },
    { name = "prefill 3,000", prefills = { { new_tokens = 3000, context_tokens = 0 } } },
  },
  mfu = { lookup = "latency_log" },
  vary = {
    ["deployment.engine"] = { "vllm", "sglang", "trtllm" },
    ["mfu.lookup"] = { "latency_log", "nearest" },
  },
  report = function(results)
    local rows = { { "engine and lookup" } }
    for i, price in ipairs(results[1].price) do rows[1][i + 1] = price.name .. " ms" end
    rows[1][#rows[1] + 1] = "measured or interpolated"
    for _, result in ipairs(results) do
      local row = { result.parameters["deployment.engine"] .. " " .. result.parameters["mfu.lookup"] }
      for i, price in ipairs(result.price) do row[i + 1] = price.time_s * 1000 end
      local evidence = result.summary.evidence
      row[#row + 1] = (evidence.measured or 0) + (evidence.interpolated or 0)
      rows[#rows + 1] = row
    end
    return rows
  end,
}
