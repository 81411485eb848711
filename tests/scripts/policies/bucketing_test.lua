-- Bucketing policies: every prefill is in exactly one group.
local test = dofile "tests/scripts/harness.lua"

local prefills = {}
for i = 1, 40 do prefills[i] = { new_tokens = (i * 37) % 900 + 1, context_tokens = (i % 3) * 500 } end

local policies = {
  exact = require "bucketing.exact" {}, pow2 = require "bucketing.pow2" {},
  fused = require "bucketing.fused" {}, quantile = require "bucketing.quantile" {},
}

for _, name in ipairs { "exact", "pow2", "fused", "quantile" } do
  local policy = policies[name]

  test(name .. " puts every prefill into exactly one group and loses no token", function()
    local seen, requests, tokens, expected = {}, 0, 0, 0
    for _, group in ipairs(policy:groups(prefills)) do
      requests, tokens = requests + group.requests, tokens + group.new_tokens
      test.equal(#group.members, group.requests)
      for _, member in ipairs(group.members) do
        test.check(not seen[member], "prefill %d is in two groups", member)
        seen[member] = true
      end
    end
    for _, prefill in ipairs(prefills) do expected = expected + prefill.new_tokens end
    test.equal(requests, #prefills)
    test.equal(tokens, expected)
  end)

  test(name .. " makes no group of nothing", function() test.equal(#policy:groups {}, 0) end)

  test(name .. " lists groups by ascending length", function()
    local before = 0
    for _, group in ipairs(policy:groups(prefills)) do
      test.check(group.seq_len >= before)
      before = group.seq_len
    end
  end)
end

test("pow2 takes the smallest power of two that holds a length, between its ends", function()
  local pow2 = policies.pow2
  local pairs_of = { { 1, 512 }, { 512, 512 }, { 513, 1024 }, { 1024, 1024 }, { 65536, 65536 }, { 100000, 65536 } }
  for _, pair in ipairs(pairs_of) do
    test.equal(pow2:bucket(pair[1]), pair[2], pair[1] .. " tokens")
  end
end)

test("exact has one group per distinct length", function()
  local groups = policies.exact:groups { { new_tokens = 5, context_tokens = 0 }, { new_tokens = 7, context_tokens = 0 },
                                         { new_tokens = 5, context_tokens = 9 } }
  test.equal(#groups, 2)
  test.equal(groups[1].requests, 2)
end)

test("the key decides whether cached tokens count", function()
  local with = require "bucketing.exact" { key = "context_plus_new" }
  test.equal(with:groups({ { new_tokens = 5, context_tokens = 9 } })[1].seq_len, 14)
end)

test("quantile never makes more groups than it may, nor empty ones", function()
  local quantile = require "bucketing.quantile" { groups_at_most = 3 }
  test.equal(#quantile:groups(prefills), 3)
  test.equal(#quantile:groups { prefills[1], prefills[2] }, 2)
end)

test.finish()
