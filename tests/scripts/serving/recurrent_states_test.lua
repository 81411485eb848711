-- Models with recurrent layers: a prefix of a prompt is hit only where a state of these layers was kept, after a chunk
-- of a prompt or after a request.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve = rooflua.serve
local policy = require "rooflua.policy"

--- Requests one after the other: {prefix, its tokens, question, its tokens}.
local Asked = policy.define { name = "asked", doc = "Prompts with content.", source = "own",
  params = { prompts = { default = {}, doc = "A list of them.", source = "own" } } }

function Asked:requests()
  local state, prompts = { sent = 0, shares_content = true }, self.prompts
  function state.next(own)
    own.sent = own.sent + 1
    local prompt = prompts[own.sent]
    if not prompt then return nil end
    local tokens = 0
    for _, part in ipairs(prompt) do tokens = tokens + part[2] end
    return 20 * own.sent, tokens, 4, { content = prompt }
  end
  return state
end

--- Tokens that were cached, over all prompts.
local function cached(model, prompts, more)
  local given = { model = model, hardware = "h100", seed = 1, engine = "vllm 0.24",
    deployment = { prefix_caching = true, block_size = 16, max_num_batched_tokens = 8192 },
    workload = Asked { prompts = prompts } }
  for key, value in pairs(more or {}) do given.deployment[key] = value end
  return serve.run(given).summary.cached_tokens
end

local hybrid, dense = "qwen3.5-4b", "llama-3.1-8b"
local block = 16

test("a question of another behind the same beginning computes the beginning again", function()
  local prompts = { { { 1, 1600 }, { 2, 160 } }, { { 1, 1600 }, { 3, 160 } } }
  test.equal(cached(dense, prompts), 1600, "a model without states")
  test.equal(cached(hybrid, prompts), 0, "a model with states")
end)

test("the same prompt again is hit, up to the last block in front of its last token", function()
  local prompts = { { { 1, 1600 }, { 2, 168 } }, { { 1, 1600 }, { 2, 168 } } }
  test.equal(cached(hybrid, prompts), math.floor(1768 / block) * block)
end)

test("a longer prompt hits where a shorter one ended", function()
  local prompts = { { { 1, 1600 } }, { { 1, 1600 }, { 2, 320 } } }
  test.equal(cached(hybrid, prompts), 1600)
end)

test("a state is kept after each chunk of a prompt", function()
  local prompts = { { { 1, 1600 }, { 2, 160 } }, { { 1, 1600 }, { 3, 160 } } }
  test.equal(cached(hybrid, prompts, { max_num_batched_tokens = 512 }), 1536, "three chunks of 512 are common to both")
end)

test.finish()
