-- The table that would have priced an operation is the one whose kernel the operation declares.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local cost = require "rooflua.cost"
local opening = require "rooflua.runs.opening"
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local Reader = require "rooflua.scenario.reader"
local shapes = require "rooflua.tables.shapes"

--- Tables of the operations of one batch by name: "elementwise", "memory"; and the operations themselves.
local function tables_of(model, more)
  local given = scene({ kind = "price", model = model, hardware = "h200-sxm", deployment = { tp = 8 },
    price = { { decodes = 8, decode_context_tokens = 8000, prefills = { { new_tokens = 100 } } } } }, more)
  local prepared = Prepared.of(Reader.new "made up", opening.table(given, { file = "made up" }).given)
  local out = {}
  for _, row in ipairs(prices.price(prepared, { operations = true }).batches[1].rows) do
    if row.kind == "elementwise" or row.kind == "gemm" then
      local found = shapes.of(row, prepared)
      out[row.name] = found and found.table or "none"
    end
  end
  return out, cost.layers(prepared.model, prepared.deployment)
end

test("small operations with a kernel are of the elementwise table, and others are copies", function()
  local compared = {}
  for _, model in ipairs { "llama-3.1-8b", "qwen3-next-80b-a3b", "deepseek-v3", "qwen3-30b-a3b" } do
    local found, layers = tables_of(model, { deployment = { tp = 4, kv_blocks = 1000 } })
    for _, op in ipairs(layers) do
      if op.op == "elementwise" and found[op.name] and found[op.name] ~= "none" then
        test.equal(found[op.name], op.kernel and "elementwise" or "memory", model .. ", " .. op.name)
        compared[op.kernel or "copy"] = (compared[op.kernel or "copy"] or 0) + 1
      end
    end
  end
  for _, kernel in ipairs { "norm", "rope", "silu_mul", "copy" } do
    test.check(compared[kernel], "no operation was compared: " .. kernel)
  end
end)

test("the gate of an attention is an activation, and absorbed projections have their own table", function()
  local gated = tables_of("qwen3-next-80b-a3b", { deployment = { tp = 2, kv_blocks = 1000 } })
  test.equal(gated.attention_gate, "elementwise")
  local found = tables_of("deepseek-v3", { mfu = { tables = false }, deployment = { tp = 8, kv_blocks = 1000 } })
  test.equal(found.bmm_q, "mla_bmm_bf16")
  test.equal(found.bmm_o, "mla_bmm_bf16")
end)

test.finish()
