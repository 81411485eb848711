-- Steps that others measured and published on devices of which there is no kernel table here: how far the prices are
-- off, and whether they lie inside of their 90 % intervals. Nothing is fitted to them.
--
-- published_vr200.csv: four early Rubin GPUs; the mean of 15 steps by CUDA events around the forward pass, of the
-- slowest rank, prompts and decodes in CUDA graphs. Source: ai-dynamo/aisimulate,
-- benchmarks/evidence/accuracy/vr-nvl72-glm52.md, 78d208ef (Apache-2.0).
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"

local deployment = { "--model", "glm-5.2", "--hardware", "vr200", "--tp", "4", "--weights", "nvfp4", "--kv", "fp8",
  "--engine", "sglang 0.5.18" }

local function batch_of(row)
  local tokens, past = tonumber(row.new_tokens), tonumber(row.past_tokens)
  if row.kind == "decode" then return "--decode", ("%dx%d"):format(past, row.batch) end
  local chunks = {}
  for i = 1, tonumber(row.batch) do chunks[i] = ("%d+%d"):format(past, tokens) end
  return "--prefill", table.concat(chunks, ",")
end

test("steps of GLM-5.2 on Rubin lie inside of their intervals in 85 %, by the datasheet alone", function()
  local rows = native.csv_read "tests/scripts/steps/published_vr200.csv"
  local inside, errors = 0, {}
  for i, row in ipairs(rows) do
    local words = {}
    for n, word in ipairs(deployment) do words[n] = word end
    words[#words + 1], words[#words + 2] = batch_of(row)
    words[#words + 1], words[#words + 2] = "--json", "-"
    local variant = test.json_of("step", unpack(words)).variants[1]
    local measured_s, interval = tonumber(row.ms) / 1e3, variant.intervals.step_s
    inside = inside + (measured_s >= interval.low and measured_s <= interval.high and 1 or 0)
    errors[i] = math.abs(variant.summary.time_s / measured_s - 1)
  end
  table.sort(errors)
  local median = errors[(#rows + 1) / 2]
  print(("%d of %d inside; errors: median %.1f %%, largest %.1f %%"):format(inside, #rows, 100 * median,
    100 * errors[#rows]))
  test.equal(#rows, 25)
  test.at_least(inside / #rows, 0.85)
end)

test.finish()
