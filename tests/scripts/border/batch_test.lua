-- Batches that are described in Lua: what contradicts itself is refused and names the key.
local test = dofile "tests/scripts/harness.lua"
local cost = require("rooflua").cost

local function refused(message, given)
  local ok, problem = pcall(cost.batch, given)
  test.check(not ok and tostring(problem):find(message, 1, true), "expected '%s', found %s", message, tostring(problem))
end

test("the longest context is one of the contexts", function()
  local impossible = "decode_context_max: 2 contexts of at most %s cannot have %s tokens"
  refused(impossible:format(10, 2000), { decodes = 2, decode_context_tokens = 2000, decode_context_max = 10 })
  refused(impossible:format(100, 20), { decodes = 2, decode_context_tokens = 20, decode_context_max = 100 })
  refused("decode_contexts says it all; leave out decode_context_max", { decode_contexts = { 5, 6 },
    decode_context_max = 6 })
  for _, longest in ipairs { 10, 15, 20 } do
    local batch = cost.batch { decodes = 2, decode_context_tokens = 20, decode_context_max = longest }
    test.equal(batch.decode_context_max, longest)
  end
end)

test("what is said of random contexts is accepted, and what no contexts have is refused", function()
  math.randomseed(20261129)
  for _ = 1, 300 do
    local contexts, sum, longest = {}, 0, 0
    for i = 1, math.random(1, 6) do
      contexts[i] = math.random(0, 40)
      sum, longest = sum + contexts[i], math.max(longest, contexts[i])
    end
    local listed = cost.batch { decode_contexts = contexts }
    local said = cost.batch { decodes = #contexts, decode_context_tokens = sum, decode_context_max = longest }
    for _, key in ipairs { "decodes", "tokens", "decode_context_tokens", "decode_context_max" } do
      test.equal(said[key], listed[key], key)
    end
    refused("decode_context_max", { decodes = #contexts, decode_context_tokens = sum, decode_context_max = sum + 1 })
    if sum > 0 then
      refused("decode_context_max", { decodes = #contexts, decode_context_tokens = sum,
        decode_context_max = math.ceil(sum / #contexts) - 1 })
    end
  end
end)

test.finish()
