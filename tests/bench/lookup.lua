-- How long a warm lookup takes from a compiled Lua loop. rooflua lua tests/bench/lookup.lua [GPU]
-- Prints ns per call, median of five runs; exits 1 if db:gemm, db:prefill or db:decode needs 200 ns.
local mfu = require "rooflua.mfu"
local cost = require "rooflua.cost"

local db = mfu.open(arg[1] or "h200-sxm")
local shape = { heads = 32, kv_heads = 8, head_dim = 128, tp = 1 }
local calls, limit_ns = 1000000, 200

local cases = {
  { "db:gemm", true, function(i) return (db:gemm(1 + i % 256, 4096, 6144, "bf16")) end },
  { "db:prefill", true, function(i) return (db:prefill(32, 8, 128, 1024 + i % 64)) end },
  { "db:decode", true, function(i) return (db:decode(32, 8, 128, 64, 1024 + i % 64)) end },
  { "db:lookup", false, function(i) return (db:lookup { op = "gemm", m = 1 + i % 256, k = 4096, n = 6144 }) end },
  { "cost.gemm", false, function(i) return (cost.gemm(db, 1 + i % 256, 4096, 6144, "bf16", 32)) end },
  { "cost.attention_decode", false, function(i)
    return (cost.attention_decode(db, shape, 64, 64 * (1024 + i % 64), 2048, 32))
  end },
  { "cost.memoize", false, cost.memoize(function(m) return (cost.gemm(db, m, 4096, 6144, "bf16", 32)) end), true },
}

local function median_ns(call, keyed)
  local runs = {}
  for run = 1, 5 do
    local sum = 0
    local start = os.clock()
    if keyed then
      for i = 1, calls do sum = sum + call(1 + i % 256) end
    else
      for i = 1, calls do sum = sum + (call(i) or 0) end
    end
    runs[run] = (os.clock() - start) * 1e9 / calls
  end
  table.sort(runs)
  return runs[3]
end

local slow = 0
for _, case in ipairs(cases) do
  local name, gated, call, keyed = case[1], case[2], case[3], case[4]
  local ns = median_ns(call, keyed)
  if gated and ns >= limit_ns then slow = slow + 1 end
  print(string.format("%-24s %8.1f ns%s", name, ns, gated and "  (limit 200)" or ""))
end
print(string.format("compiler %s, guards as the caller set them", jit.status() and "on" or "off"))
os.exit(slow == 0 and 0 or 1)
