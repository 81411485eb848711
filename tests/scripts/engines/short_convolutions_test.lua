-- Inputs of short convolutions (Inkling): vLLM keeps them as a window of tokens in the pool of the attention, SGLang as
-- a recurrent state. Numbers by hand from vLLM's vllm/models/inkling/nvidia/sconv_swa_attn.py.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local native = require "rooflua.native"
local pages = require "engines.memory.pages"
local spec = require "rooflua.spec"
local states = require "engines.rules.states"

local function layout_of(name, tp, as_windows)
  local model = spec.model(name)
  local facts = { counts = native.rank_counts(model, { tp = tp }), model = model, groups = true,
    values = { states_as_windows = as_windows, group_slack = 1.5 }, state_element_bytes = 4 }
  function facts.token_bytes(kind) return kind.growing_bytes end
  return pages.layout(facts, 1, 16, 16)
end

test("vLLM's pages of Inkling are those of its convolutions: four tokens of heads of a power of two", function()
  for _, tp in ipairs { 1, 8 } do
    local layout = layout_of("inkling", tp, true)
    -- 16 heads of 2 * 128 + 2 * 6144 / 16 = 1,024, and 8 heads of 2 * 128 + 2 * 6144 / 8 = 1,792 -> 2,048
    test.equal(layout.page_bytes, 4 * 16384 * 2 / tp)
    local tokens, windows = {}, {}
    for i, each in ipairs(layout.list) do tokens[i], windows[i] = each.block_size, each.window end
    test.equal(table.concat(tokens, " "), "16 4 32 4")
    test.equal(windows[1] .. " " .. windows[2] .. " " .. windows[4], "512 4 4")
    test.equal(layout.groups, 12) -- groups of eleven layers: five, five, one and one
  end
  test.equal(layout_of("inkling-small", 1, true).page_bytes, 4 * 8 * 2048 * 2) -- 2 * 128 + 2 * 4096 / 8 = 1,280
end)

test("a request holds its window of inputs and no more, however long it is", function()
  local layout = layout_of("inkling", 1, true)
  local facts = { in_flight = 0 }
  local function blocks(tokens) return pages.blocks_of(layout, tokens, facts) end
  -- 11 full layers in blocks of 32 tokens; windows of 512 and twice of 4 tokens, each a block more
  test.equal(blocks(64000), 2000 + 5 * (32 + 1) + (5 + 1) * (1 + 1))
  test.equal(blocks(64000) - blocks(32000), 1000)
end)

test("prefixes stay cached with vLLM, and are states with SGLang", function()
  local model = spec.model "inkling"
  test.equal(states(model), true)
  test.equal(states(model, true), false)
  test.equal(states(spec.model "qwen3.5-27b", true), true)
  for _, release in ipairs { "0.26.0", "0.27.0", "0.28.0" } do
    test.equal(bound.values("vllm " .. release, { model = "inkling", hardware = "b200" }).enable_prefix_caching, true)
  end
  test.equal(bound.values("vllm 0.27.0", { model = "qwen3.5-27b", hardware = "b200" }).enable_prefix_caching, false)
end)

test.finish()
