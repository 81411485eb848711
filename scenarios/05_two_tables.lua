--- Do two kernel databases, and two lookups over each, agree on the same shapes?
---
--- Setup     Qwen3-8B, FP8 weights, on an H20 and on an H800, whose tables InferSim publishes.
--- Method    The same decode and prefill batches priced by steps/kernels with the tables of either GPU,
---           each with the default lookup (latency_linear) and with InferSim's (infersim_head).
--- Measures  Time per batch, and the share of it that was measured or interpolated.
--- Expect    The two lookups agree to 0.2 % where a shape was measured, and differ by a few percent where it
---           lies between rows, by more where rows of another shape stand in.
--- Limits    Needs a clone of github.com/alibaba/InferSim beside this checkout, or elsewhere with
---           --set mfu.path=DIR/bench_data.
return {
  rooflua = 1,
  title = "Two databases, two lookups, the same shapes",
  kind = "price",
  model = "qwen3-8b",
  hardware = "h20",
  deployment = { weights = "fp8" },
  steps = require "steps.kernels" {},
  price = {
    { name = "decode 16 x 4,000", decodes = 16, decode_context_tokens = 16 * 4000 },
    { name = "decode 100 x 3,000", decodes = 100, decode_context_tokens = 100 * 3000 },
    { name = "prefill 3,000", prefills = { { new_tokens = 3000, context_tokens = 0 } } },
  },
  mfu = "latency_log",
  vary = {
    hardware = { "h20", "h800" },
    mfu = { "latency_log", "nearest" },
  },
  report = function(results)
    local rows = { { "tables and lookup" } }
    for i, price in ipairs(results[1].price) do rows[1][i + 1] = price.name .. " ms" end
    rows[1][#rows[1] + 1] = "measured or interpolated"
    for _, result in ipairs(results) do
      local row = { result.parameters.hardware .. " " .. result.parameters["mfu.lookup"] }
      for i, price in ipairs(result.price) do row[i + 1] = price.time_s * 1000 end
      local evidence = result.summary.evidence
      row[#row + 1] = (evidence.measured or 0) + (evidence.interpolated or 0)
      rows[#rows + 1] = row
    end
    return rows
  end,
}
