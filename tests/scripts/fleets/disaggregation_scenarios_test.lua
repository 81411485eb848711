-- The shipped scenarios of prefill and decode split have the results that their headers expect.
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"

--- Summaries of a scenario's variants, by label.
local function run(name)
  local pipe = assert(io.popen(("%s run scenarios/%s.lua --quiet --json -"):format(program, name)))
  local text, out = pipe:read "*a", {}
  pipe:close()
  for _, variant in ipairs(json.decode(text).variants) do out[variant.name:match "=(.*)$"] = variant.summary end
  return out
end

test("29: pushed KV has left before the prompt is computed, and the tail stays", function()
  local by_push = run "30_shared_nics"
  local at_end, chunks, layers = by_push["end"], by_push.chunks, by_push.layers
  test.near(chunks.disaggregation.kv_bytes, at_end.disaggregation.kv_bytes, 1e-9)
  test.check(chunks.disaggregation.kv_wait_s.p50 * 5 < at_end.disaggregation.kv_wait_s.p50)
  test.near(layers.disaggregation.kv_wait_s.p50, 0.0004, 1e-3)
  test.check(chunks.disaggregation.kept_block_s * 5 < at_end.disaggregation.kept_block_s)
  test.check(layers.ttft_s.p50 < chunks.ttft_s.p50 and chunks.ttft_s.p50 < at_end.ttft_s.p50)
  test.near(layers.ttft_s.p99, at_end.ttft_s.p99, 0.06)
end)

test("31: decode replicas pull what they lack; split only where little is cached, TTFT falls further", function()
  local by_decider = run "31_when_not_to_split"
  local always, isl, busy = by_decider.always, by_decider.isl_bounding, by_decider["or busy"]
  test.equal(always.disaggregation.split_frac, 1)
  test.check(isl.ttft_s.p50 * 1.5 < always.ttft_s.p50)
  test.check(isl.disaggregation.kv_bytes < always.disaggregation.kv_bytes)
  test.check(always.disaggregation.kv_bytes < 1.3 * isl.disaggregation.kv_bytes, "what is cached is sent")
  test.near(isl.ttft_s.p99, always.ttft_s.p99, 0.05)
  test.check(busy.ttft_s.p99 * 2 < isl.ttft_s.p99 and busy.itl_s.p99 > isl.itl_s.p99)
end)

test.finish()
