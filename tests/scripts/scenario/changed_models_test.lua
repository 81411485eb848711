-- A model that is another one with other keys, lists of a Model, and how a model asks for its tokens to be drawn.
local test = dofile "tests/scripts/harness.lua"
local spec = require "rooflua.spec"

test("a table with `from` is that model with other keys", function()
  local own, changed = spec.model "qwen3-8b", spec.model { from = "qwen3-8b", layers = 12 }
  test.equal(changed.layers, 12)
  test.equal(changed.name, "qwen3-8b+")
  test.equal(changed.hidden_size, own.hidden_size)
  test.equal(changed:kv_bytes_per_token(), own:kv_bytes_per_token() * 12 / own.layers)
  test.equal(spec.model({ from = "Qwen/Qwen3-8B", name = "mine" }).name, "mine")
  test.equal(spec.model({ from = "qwen3-8b" }):parameters(), own:parameters())
end)

test("a list replaces the model's list, and false leaves a table out", function()
  local full = spec.model { from = "gpt-oss-120b", attention = { { kind = "full", layers = 36 } } }
  test.equal(#full.attention, 1)
  test.equal(full:kv_bytes_per_token(), 36 * 2 * 8 * 64 * 2)
  test.equal(full.mlp[1].moe.experts, 128)
  local plain = spec.model { from = "qwen3-next-80b-a3b", hybrid = false }
  test.check(plain.hybrid == nil and plain.uniform, "the states are still there")
  test.equal(plain.full_attention_layers, 48)
  test.equal(spec.model({ from = "qwen3-8b", tied_embeddings = false }).tied_embeddings, false)
end)

test("the keys of a config.json change as well, in its own words", function()
  local path = "tests/fixtures/models/small_hybrid.json"
  local own, changed = spec.model(path), spec.model { from = path, num_key_value_heads = 1 }
  test.check(own.kv_heads ~= 1)
  test.equal(changed.kv_heads, 1)
  test.equal(changed.name, own.name .. "+")
end)

test("mistakes name the line of the table", function()
  local here = "changed_models_test.lua:"
  test.raises(here, function() spec.model { from = "qwen3-8b", layer = 12 } end)
  test.raises("unknown key 'layer'; did you mean 'layers'", function() spec.model { from = "qwen3-8b", layer = 12 } end)
  test.raises("unknown model 'qwen3-9b'; did you mean 'qwen3-8b'", function() spec.model { from = "qwen3-9b" } end)
  test.raises("from: expected a text, found number 3", function() spec.model { from = 3 } end)
  test.raises("the kinds of attention add up to 3", function()
    spec.model { from = "gpt-oss-120b", attention = { { kind = "full", layers = 3 } } }
  end)
end)

test("lists of a model are seen by # and ipairs, and are copies", function()
  local model, names = spec.model "gpt-oss-120b", {}
  for i, kind in ipairs(model.attention) do names[i] = kind.kind end
  test.equal(table.concat(names, " "), "window full")
  model.attention[1].kind = "none"
  test.equal(model.attention[1].kind, "window")
  test.equal(model.context_caps[1], 128)
end)

test("a model says how its tokens are drawn where that is known", function()
  local llama, nemo = spec.model "llama-3.1-8b", spec.model "mistral-nemo"
  test.equal(llama.sampling.top_p, 0.9)
  test.check(llama.sampling.sorts and not nemo.sampling.sorts, "Nemo asks for nothing")
  test.check(spec.model("llama-2-13b").sampling == nil, "no file of it was found")
  local known = 0
  for _, name in ipairs(spec.models()) do
    local sampling = spec.model(name).sampling
    if sampling then
      known = known + 1
      test.check(#sampling.source > 20, "%s: no source", name)
    end
  end
  test.at_least(known, 14)
  test.check(not spec.model({ from = "llama-3.1-8b", sampling = { temperature = 0, top_p = 0.5 } }).sampling.sorts,
    "greedy")
  test.check(spec.model({ from = "llama-3.1-8b", sampling = { top_k = 20 } }).sampling.sorts)
  test.raises("sampling.top_p: expected 1e-06 to 1", function()
    spec.model { from = "llama-3.1-8b", sampling = { top_p = 2 } }
  end)
  test.raises("unknown key 'topp'", function() spec.model { from = "llama-3.1-8b", sampling = { topp = 0.5 } } end)
end)

test.finish()
