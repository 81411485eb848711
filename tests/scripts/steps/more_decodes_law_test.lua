-- One more decode is never cheaper: steps of 1 to 257 decodes on GPUs with several domains of links, by every engine.
local test = dofile "tests/scripts/harness.lua"
local cost = require "rooflua.cost"
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local Reader = require "rooflua.scenario.reader"

local counts = { 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 25, 31, 32, 33, 48, 64, 65, 96, 128, 129, 200, 256, 257 }
local widths = { { tp = 2 }, { tp = 4 }, { tp = 8 }, { tp = 2, dp = 2, ep = 4 }, { tp = 1, dp = 8, ep = 8 } }

--- The operation whose time fell most from one list of rows to the next.
local function fallen(before, after)
  local sums, name, least = {}, "?", 0
  for _, row in ipairs(after) do sums[row.name] = (sums[row.name] or 0) + row.time_s * row.count end
  for _, row in ipairs(before) do sums[row.name] = (sums[row.name] or 0) - row.time_s * row.count end
  for each, difference_s in pairs(sums) do
    if difference_s < least then name, least = each, difference_s end
  end
  return name
end

--- What is wrong with the prices of a deployment, or nil. An error where it is refused.
local function problem_of(hardware, model, engine, deployment)
  deployment.kv_blocks = 20000
  local prepared = Prepared.of(Reader.new "test",
    { rooflua = 1, model = model, hardware = hardware, engine = engine, deployment = deployment })
  local bound, before = { steps = Prepared.steps(prepared) }, nil
  for _, count in ipairs(counts) do
    local batch = cost.batch { decodes = count, decode_context_tokens = count * 1000 }
    local now = prices.price_batch(prepared, bound, batch)
    if before and now.time_s < before.time_s * (1 - 1e-9) then
      return ("%s, %s, tp %d: %d decodes, %s"):format(model, engine, deployment.tp, count,
        fallen(before.rows, now.rows))
    end
    before = now
  end
end

local compared = 0
for _, hardware in ipairs { "gb300", "gb200", "b200", "b300", "h100-sxm", "mi300x", "l40s" } do
  test("steps of more decodes are no shorter on " .. hardware, function()
    for _, model in ipairs { "llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b" } do
      for _, engine in ipairs { "vllm 0.24", "sglang 0.5.9", "trtllm" } do
        for _, width in ipairs(widths) do
          local own = {}
          for key, value in pairs(width) do own[key] = value end
          -- What does not fit, or what an engine or a dense model does not have, is refused.
          local ok, problem = pcall(problem_of, hardware, model, engine, own)
          compared = compared + (ok and 1 or 0)
          test.check(not (ok and problem), "%s", tostring(problem))
        end
      end
    end
  end)
end

test("most deployments were priced", function() test.at_least(compared, 150) end)

test.finish()
