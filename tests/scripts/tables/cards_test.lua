-- What a person does to cards at home has the right sign: a power cap, eight lanes, no peer access, unlike cards.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local spec, serve = rooflua.spec, rooflua.serve

--- Seconds to the first token of a long prompt, and of a token, with 4-bit weights.
local function times(hardware, tp)
  local summary = serve.run { model = "qwen3-8b", hardware = hardware, engine = "vllm 0.19",
    deployment = { tp = tp or 1, weights = "int4_group128" }, workload = require "workloads.closed_loop" {
      clients = 1, num_requests = 1, prompt_tokens = 4000, output_tokens = 16 } }.summary
  return summary.ttft_s.mean, summary.tpot_s.mean
end

test("a power cap makes prompts longer, and tokens of one user hardly", function()
  local ttft, tpot = times "rtx-3090"
  local capped_ttft, capped_tpot = times { from = "rtx-3090", power_cap_w = 220 }
  test.at_least(capped_ttft / ttft, 1.05)
  test.at_least(capped_tpot / tpot, 1)
  test.at_least(capped_ttft / ttft, capped_tpot / tpot + 0.03)
  local capped = spec.hardware { from = "rtx-3090", power_cap_w = 220 }
  test.near(capped.clock_hz / spec.hardware("rtx-3090").clock_hz, (220 / 350) ^ (1 / 3), 1e-9)
  test.equal(capped.tdp_w, 220)
end)

test("a cap that does nothing, or of nothing, is an error", function()
  test.raises("is allowed 350 W", function() spec.hardware { from = "rtx-3090", power_cap_w = 400 } end)
  test.raises("needs `from`", function() spec.hardware { power_cap_w = 400 } end)
  test.raises("states no tdp_w", function() spec.hardware { from = "tpu-v6e", power_cap_w = 100 } end)
  test.raises("follows from power_cap_w", function()
    spec.hardware { from = "rtx-3090", power_cap_w = 250, clock_mhz = 1000 }
  end)
end)

test("eight lanes and no peer access make two and four cards slower", function()
  for _, tp in ipairs { 2, 4 } do
    local ttft, tpot = times("rtx-a6000", tp)
    local narrow_ttft, narrow_tpot = times({ from = "rtx-a6000", link_gb_per_s = 16, host_gb_per_s = 13.9 }, tp)
    local _, staged_tpot = times({ from = "rtx-a6000", peer_copies = false }, tp)
    test.at_least(narrow_ttft / ttft, 1.1, "tp " .. tp)
    test.at_least(narrow_tpot, tpot)
    test.at_least(staged_tpot / tpot, 1.01, "tp " .. tp)
  end
end)

test("unlike cards are as fast as the slower of them, in each figure", function()
  local mixed = { mixed = { "rtx-4090", "rtx-3090" } }
  local both = spec.hardware(mixed)
  local a, b = spec.hardware "rtx-3090", spec.hardware "rtx-4090"
  test.equal(both.memory_bytes_per_s, a.memory_bytes_per_s)
  test.equal(both.usable_memory_bytes, math.min(a.usable_memory_bytes, b.usable_memory_bytes))
  test.equal(both.peak_flop_per_s.bf16, a.peak_flop_per_s.bf16)
  local ttft, tpot = times(mixed, 2)
  for _, each in ipairs { "rtx-3090", "rtx-4090" } do
    local own_ttft, own_tpot = times(each, 2)
    test.at_least(ttft * 1.001, own_ttft, each)
    test.at_least(tpot * 1.001, own_tpot, each)
  end
  test.raises("two or more GPUs", function() spec.hardware { mixed = { "rtx-3090" } } end)
  test.raises("has no effect beside mixed", function() spec.hardware { mixed = { "rtx-3090", "l4" }, sms = 3 } end)
end)

test.finish()
