-- Opens a folder of tables as the collector wrote it and prices from it: rooflua lua prices.lua FOLDER [KERNEL]
-- KERNEL: of an elementwise row of 4 tokens of width 64 in 2.5 us.
local mfu = require "rooflua.mfu"

local db = mfu.open { path = arg[1], hardware = "h200-sxm" }
local report = db:report()
assert(report.errors == 0, report.text)

local seen = {}
for _, info in ipairs(db:tables()) do
  seen[info.op] = true
  for _, row in ipairs(db:rows(info.name)) do
    assert(row.latency_s > 0, info.name)
    local estimate
    if info.op == "gemm" then
      _, estimate = db:gemm(row.m, row.k, row.n, info.dtype)
    elseif info.op == "attention_decode" then
      _, estimate = db:decode(row.heads, row.kv_heads, row.head_dim, row.batch, row.context_tokens, 1, row.kv_dtype)
    elseif info.op == "attention_prefill" then
      _, estimate = db:lookup { op = "attention_prefill", heads = row.heads, kv_heads = row.kv_heads,
        head_dim = row.head_dim, batch = row.batch, context_tokens = row.context_tokens, new_tokens = row.new_tokens }
    end
    if estimate then
      assert(estimate.evidence == "measured", info.name .. ": a row is priced as " .. estimate.evidence)
      assert(math.abs(estimate.latency_s / row.latency_s - 1) < 1e-12, info.name)
    end
  end
end
local wanted = { "gemm", "attention_prefill", "attention_decode", "grouped_gemm", "memory", "launch", "elementwise",
  "sampling" }
for _, op in ipairs(wanted) do
  assert(seen[op], "no table of " .. op)
end
for op, words in pairs { sampling = { "greedy", "random", "top_p" }, memory = { "copy", "to_host" } } do
  for _, row in ipairs(db:rows(op)) do
    local measured = 0
    for _, word in ipairs(words) do
      local query = op == "memory" and { op = op, kernel = word, bytes = row.bytes }
        or { op = op, method = word, tokens = row.tokens, vocab_size = row.vocab_size }
      local ok, _, estimate = pcall(db.lookup, db, query)
      if ok and estimate.evidence == "measured" then measured = measured + 1 end
    end
    assert(measured > 0 or op == "memory", op .. ": a row answers no question of its shape")
  end
end
local _, experts = db:lookup { op = "grouped_gemm", experts = 4, experts_per_token = 2, hidden_size = 32,
  intermediate_size = 16, tokens = 1 }
assert(experts.evidence ~= "modelled")
for _, kernel in ipairs { "launch", "graph_node" } do
  local _, estimate = db:lookup { op = "launch", kernel = kernel }
  assert(estimate.evidence == "measured", kernel)
end

if arg[2] then
  local _, estimate = db:lookup { op = "elementwise", kernel = arg[2], tokens = 4, width = 64 }
  assert(estimate.evidence == "measured", arg[2] .. " is priced as " .. estimate.evidence)
  assert(math.abs(estimate.latency_s / 2.5e-6 - 1) < 1e-12)
end

-- Every table prices a step.
local bound = dofile "tests/scripts/bound_steps.lua"
local cost = require "rooflua.cost"
local Kernels = require "steps.kernels"
local steps = bound.bind(Kernels {}, { model = "mixtral-8x7b", hardware = "h200-sxm", tp = 2, mfu = db })
local tree = cost.explain(function() return steps:time(bound.mixed(4, 4, 2, 8)) end)
local priced = {}
for _, row in ipairs(tree.rows) do
  if row.evidence ~= "modelled" and row.evidence ~= "assumed" then priced[row.kind] = true end
end
for _, kind in ipairs { "gemm", "attention_prefill", "attention_decode", "grouped_gemm", "memory", "elementwise",
                        "all_reduce" } do
  assert(priced[kind], "no row of a step rests on " .. kind)
end
assert(steps.elementwise.node_evidence == "measured", "the launch table is not used")
print "ok"
