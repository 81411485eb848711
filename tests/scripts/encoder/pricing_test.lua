-- What a pass of an encoder costs: laws, and work that was counted by hand.
local test = dofile "tests/scripts/harness.lua"
local catalogue = require "rooflua.engines.catalogue"
local encoder = require "rooflua.machine.encoder"
local engine_values = require "rooflua.engines.values"
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local Reader = require "rooflua.scenario.reader"
local rooflua = require "rooflua"

local function machine(given)
  given = given or {}
  local own = { rooflua = 1, kind = "price", model = given.model or "qwen3-vl-30b-a3b", hardware = "h200-sxm",
    engine = given.engine or "vllm 0.24", deployment = { tp = given.tp or 1 },
    price = given.price or { { decodes = 1 } } }
  return Prepared.of(Reader.new "test", own)
end

local function items_of(model, list)
  local own, out = encoder.of(rooflua.spec.model(model)), {}
  for i, each in ipairs(list) do out[i] = encoder.item(own, each) end
  return out
end

local function total(pass, kind)
  local sum = 0
  for _, row in ipairs(pass.operations) do
    if not kind or row.name:find(kind) then sum = sum + row.time_s * row.count end
  end
  return sum
end

local models = { -- and ranks
  ["qwen3-vl-32b"] = 1, ["qwen3-vl-30b-a3b"] = 1, ["qwen3.5-9b"] = 1, ["gemma-3-27b"] = 1, ["gemma-4-31b"] = 2,
  ["kimi-k2.5"] = 8, ["llama-4-scout"] = 4, ["ministral-3-8b"] = 1, ["mistral-large-3"] = 8, ["minimax-m3"] = 8 }

test("the time of a pass is that of its operations, for every model with an encoder", function()
  for model, tp in pairs(models) do
    local pass = encoder.pricer(machine { model = model, tp = tp })(items_of(model, { { 1024, 768 }, { 300, 200 } }))
    test.check(pass.time_s > 0, model)
    test.near(total(pass), pass.time_s, 1e-9, model)
    local evidence_s = 0
    for _, seconds in pairs(pass.evidence_s) do evidence_s = evidence_s + seconds end
    test.near(evidence_s, pass.time_s, 1e-9, model)
  end
end)

test("twice the pixels are more than twice the attention where it is whole", function()
  local price = encoder.pricer(machine())
  local function attention(width, height)
    return total(price(items_of("qwen3-vl-30b-a3b", { { width, height } })), "attention")
  end
  local one, two = attention(2048, 2048), attention(4096, 2048)
  test.check(two > 2.5 * one, "%g %g", one, two)
  local both = total(price(items_of("qwen3-vl-30b-a3b", { { 2048, 2048 }, { 2048, 2048 } })), "attention")
  test.check(both < 2.2 * one, "two images attend apart: %g %g", both, one)
end)

test("work is that of the published dimensions", function()
  local rows, n = {}, 64 * 64 -- 1024 x 1024 pixels
  for _, row in ipairs(encoder.pricer(machine())(items_of("qwen3-vl-30b-a3b", { { 1024, 1024 } })).operations) do
    rows[row.name] = (rows[row.name] or 0) + row.flop * row.count
  end
  test.near(rows.encoder_attention, 27 * 4 * 1152 * n * n, 3e-4)
  test.near(rows.encoder_qkv, 27 * 2 * n * 1152 * 3456, 1e-9)
  test.near(rows.encoder_up, 27 * 2 * n * 1152 * 4304, 1e-9)
  test.near(rows.encoder_patch_embed, 2 * n * 1536 * 1152, 1e-9)
  test.near(rows.encoder_projector_1, 4 * 2 * n / 4 * 4608 * 4608, 1e-9)
  test.near(rows.encoder_projector_2, 4 * 2 * n / 4 * 4608 * 2048, 1e-9)
end)

test("ranks divide the encoder, or take whole images", function()
  local function time(tp, mode, images)
    return encoder.pricer(machine { model = "qwen3-vl-32b", tp = tp }, { mode = mode })(
      items_of("qwen3-vl-32b", images)).time_s
  end
  local four = { { 2048, 2048 }, { 2048, 2048 }, { 2048, 2048 }, { 2048, 2048 } }
  local alone, whole = time(1, "data", { four[1] }), time(4, "data", four)
  test.check(whole > alone and whole < 1.3 * alone, "%g %g", whole, alone)
  test.check(time(4, "data", { four[1] }) >= alone, "one image is on one rank")
  test.check(time(4, "weights", { four[1] }) < 0.6 * alone, "its weights are on all")
  local stated = machine { model = "qwen3-vl-32b", tp = 4, engine = { "vllm 0.24", mm_encoder_tp_mode = "data" } }
  test.equal(encoder.pricer(stated)(items_of("qwen3-vl-32b", four)).time_s, whole)
  test.raises("heads", function() time(32, "weights", { four[1] }) end)
end)

test("a step with images has a pass in front", function()
  local function step(images)
    return prices.price(machine { price = { { prefills = { { new_tokens = 1100 } }, images = images } } }).batches[1]
  end
  local bare, seen = step(nil), step { { 1024, 1024 } }
  local pass = encoder.pricer(machine())(items_of("qwen3-vl-30b-a3b", { { 1024, 1024 } }))
  test.near(seen.time_s, bare.time_s + pass.time_s, 1e-9)
  test.check(seen.rows[1].name:find "^encoder_", seen.rows[1].name)
end)

test("the host's time of an image follows from its pixels and the engine", function()
  local function host_s(engine) return encoder.host_s(machine { engine = engine }, { 1024, 1024 }) end
  test.near(host_s "vllm 0.24", 12.2e-3, 0.01)
  test.near(host_s { "vllm 0.30", mm_device_do_normalize = true }, 12.2e-3, 0.01, "its class cannot")
  test.near(encoder.host_s(machine { engine = "sglang 0.5.15" }, { 960, 1280 }), 5.05e-3, 0.01)
  test.near(encoder.host_s(machine(), { frames = 3, width = 100, height = 10 }), 3e3 * 11.65e-9, 1e-9)
end)

test("classes of Qwen2-VL scale pixels on the GPU from 0.28 on, unless it is refused", function()
  local model = {}
  for key, value in pairs(rooflua.spec.model "qwen3-vl-32b") do model[key] = value end
  model.family = "qwen2_5_vl"
  local function ns_of(release, stated)
    local facts = { tp = 1, dp = 1, pp = 1, ep = 1, model = model, hardware = rooflua.spec.hardware "h100-sxm" }
    local stated_too = { mm_device_do_normalize = stated }
    return 1e9 * engine_values.of(catalogue.of "vllm", release, facts, stated_too).values.pixel_s
  end
  test.near(ns_of "0.27", 11.65, 1e-9)
  test.near(ns_of "0.28", 5.98, 1e-9)
  test.near(ns_of("0.28", true), 5.98, 1e-9)
  test.near(ns_of("0.28", false), 11.65, 1e-9)
end)

test("what a model does not take is an error, and a model of text has no encoder", function()
  test.equal(encoder.of(rooflua.spec.model "qwen3-8b"), nil)
  test.raises("language_model_only", function()
    encoder.pricer(machine { engine = { "vllm 0.24", language_model_only = true } })
  end)
  local own = encoder.of(rooflua.spec.model "gemma-3-27b")
  for _, each in ipairs { { { frames = 8, width = 9, height = 9 }, "video" }, { { seconds = 3 }, "audio" },
    { { width = 0, height = 4 }, "width" }, { { width = 5 }, "height" }, { { 5, 5, size = 3 }, "size" },
    { { wide = 4, height = 3 }, "wide" } } do
    test.raises(each[2], function() encoder.item(own, each[1]) end)
  end
end)

test.finish()
