-- Sounds: their tokens by their length, against the formulas of the processors' sources, written out; and what passes
-- of encoders of sounds cost, against work that was counted by hand.
local test = dofile "tests/scripts/harness.lua"
local encoder = require "rooflua.machine.encoder"
local json = require "rooflua.json"
local measure = require "rooflua.measure"
local named_policies = require "rooflua.sandbox.named_policies"
local policy = require "rooflua.policy"
local Prepared = require "rooflua.machine.prepared"
local processors = require "rooflua.border.processors"
local random = require "rooflua.random"
local Reader = require "rooflua.scenario.reader"
local rooflua = require "rooflua"
local serve = require "rooflua.serve"

local lengths_of_each = 200

local function processor(name) return named_policies.instance("processors", name) end

--- Samples of sounds from a tenth of a second to ten minutes, and those at borders of frames, chunks and pieces.
local function samples(seed)
  local stream, out = random.streams(seed):stream "samples", { 16000, 15999, 16001, 160 * 100, 160 * 101, 480000,
    480001, 479999, 480160, 960000 }
  while #out < lengths_of_each do out[#out + 1] = math.floor(1600 * 6000 ^ stream:uniform()) end
  return out
end

--- Frames of 160 samples; the last may be padded.
local function frames_of(count)
  local whole = (count - count % 160) / 160
  return count % 160 > 0 and whole + 1 or whole
end

local function divided(a, b) return math.floor(a / b) end -- as Python's //

test("Qwen3-Omni: 13 tokens of each 100 frames, and those of the rest", function()
  local own = processor "qwen3_omni"
  for _, count in ipairs(samples(3)) do
    local frames = frames_of(count)
    local rest = divided(frames % 100 - 1, 2) + 1
    local expected = divided(divided(rest - 1, 2) + 1 - 1, 2) + 1 + divided(frames, 100) * 13
    local tokens, rows = own:audio(count / 16000)
    test.equal(tokens, expected, ("%d samples"):format(count))
    test.equal(rows[1], expected)
  end
  test.equal((own:audio(30)), 390)
end)

test("Voxtral: 375 tokens of each 30 seconds that begin, and a mark", function()
  local own, shape = processor "voxtral", { patches_per_token = 4 }
  for _, count in ipairs(samples(5)) do
    local pieces = divided(count - 1, 480000) + 1
    local tokens, rows = own:audio(count / 16000, shape)
    test.equal(tokens, 375 * pieces + 1, ("%d samples"):format(count))
    test.equal(#rows, pieces)
    test.equal(rows[1], 1500)
  end
end)

test("Qwen2-Audio: a token of four frames, of 30 seconds at most, and two marks; the encoder runs over all", function()
  local own, shape = processor "qwen2_audio", { patches_per_token = 2 }
  for _, count in ipairs(samples(7)) do
    local length = divided(math.min(3000, frames_of(count)) - 1, 2) + 1
    local tokens, rows, embeddings = own:audio(count / 16000, shape)
    test.equal(tokens, divided(length - 2, 2) + 1 + 2, ("%d samples"):format(count))
    test.equal(embeddings, tokens - 2)
    test.equal(rows[1], 1500)
  end
  test.equal((own:audio(30, shape)), 752)
  test.raises("no token", function() own:audio(0.01, shape) end)
end)

-- Models ------------------------------------------------------------------------------------------------------------

local omni = [[{ "model_type": "qwen3_omni_moe", "thinker_config": { "audio_config": {
  "model_type": "qwen3_omni_moe_audio_encoder", "d_model": 1280, "encoder_layers": 32, "encoder_attention_heads": 20,
  "encoder_ffn_dim": 5120, "num_mel_bins": 128, "downsample_hidden_size": 480, "output_dim": 2048, "n_window": 50,
  "n_window_infer": 800, "max_source_positions": 1500 },
  "text_config": { "model_type": "qwen3_omni_moe_text", "hidden_size": 2048, "num_hidden_layers": 48,
  "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8,
  "moe_intermediate_size": 768, "intermediate_size": 768, "vocab_size": 152064, "max_position_embeddings": 65536,
  "hidden_act": "silu", "shared_expert_intermediate_size": 0, "tie_word_embeddings": false, "mlp_only_layers": [],
  "decoder_sparse_step": 1, "dtype": "bfloat16" },
  "vision_config": { "model_type": "qwen3_omni_moe_vision_encoder", "depth": 27, "hidden_size": 1152,
  "intermediate_size": 4304, "num_heads": 16, "in_channels": 3, "patch_size": 16, "spatial_merge_size": 2,
  "temporal_patch_size": 2, "out_hidden_size": 2048, "num_position_embeddings": 2304,
  "deepstack_visual_indexes": [8, 16, 24] } } }]]

local voxtral = [[{ "model_type": "voxtral", "audio_config": { "model_type": "voxtral_encoder", "hidden_size": 1280,
  "intermediate_size": 5120, "num_hidden_layers": 32, "num_attention_heads": 20, "num_mel_bins": 128,
  "max_source_positions": 1500 }, "text_config": { "model_type": "llama", "hidden_size": 5120,
  "intermediate_size": 32768, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
  "head_dim": 128, "vocab_size": 131072, "max_position_embeddings": 131072, "torch_dtype": "bfloat16",
  "tie_word_embeddings": false } }]]

local function model_of(name, text) return rooflua.spec.model(test.file(name .. ".json", text)) end

local function machine(model)
  return Prepared.of(Reader.new "test", { rooflua = 1, kind = "price", model = model, hardware = "h200-sxm",
    engine = "vllm 0.24", price = { { decodes = 1 } } })
end

test("a config.json says what an encoder of sounds is", function()
  local seen = model_of("omni", omni)
  local audio = seen.audio
  test.equal(audio.processor, "qwen3_omni")
  test.equal(audio.window, 104) -- 13 tokens of each of eight chunks
  test.near(audio.parameters, 32 * (4 * 1280 ^ 2 + 2 * 1280 * 5120) + 9 * 480 + 2 * 4320 * 480 + 7680 * 1280
    + 1280 * 1280 + 1280 * 2048, 1e-9)
  test.near(audio.parameters, 650e6, 0.01) -- the technical report of Qwen3-Omni: AuT, 650M
  test.equal(seen.vision.processor, "qwen3_vl")
  for _, note in ipairs(seen.notes) do test.check(not note.text:find "encoder is not counted", note.text) end
  audio = model_of("voxtral", voxtral).audio
  test.near(audio.parameters, 637e6 + 2 * 5120 * 5120, 0.005) -- the encoder of Whisper large-v3, and the projector
  test.equal(audio.patches_per_token, 4)
  test.equal(processors.largest(model_of("voxtral", voxtral)), 375)
end)

test("work is that of the published dimensions", function()
  local model = model_of("omni", omni)
  local own, rows = encoder.of(model), {}
  local item = encoder.item(own, { seconds = 30 })
  test.equal(item.tokens, 390)
  local pass = encoder.pricer(machine(model))({ item })
  for _, row in ipairs(pass.operations) do rows[row.name] = (rows[row.name] or 0) + row.flop * row.count end
  test.near(rows.encoder_conv_1, 2 * 30 * 50 * 64 * 9 * 480, 1e-4) -- 30 chunks of 50 x 64 places
  test.near(rows.encoder_conv_2, 2 * 30 * 25 * 32 * 4320 * 480, 1e-4)
  test.near(rows.encoder_conv_3, 2 * 30 * 13 * 16 * 4320 * 480, 1e-9)
  test.near(rows.encoder_conv_4, 2 * 390 * 7680 * 1280, 1e-9)
  -- tables are asked for n new tokens after whole ones that are (n - 1) / 2
  test.near(rows.encoder_window_attention, 32 * 4 * 1280 * (3 * 104 ^ 2 + 78 ^ 2), 6e-3)
  test.near(rows.encoder_projector_2, 2 * 390 * 1280 * 2048, 1e-9)
  local with_image = encoder.pricer(machine(model))({ item, encoder.item(own, { width = 640, height = 480 }) })
  local alone = encoder.pricer(machine(model))({ encoder.item(own, { width = 640, height = 480 }) })
  test.near(with_image.time_s, pass.time_s + alone.time_s, 1e-9)
end)

test("sounds in a run: tokens of prompts, passes, a note on the host", function()
  local given = { model = model_of("voxtral", voxtral), hardware = "h200-sxm", engine = "vllm 0.24", seed = 3,
    workload = require "workloads.pictures" { rate_per_s = 4, num_requests = 12, prompt_tokens = 20,
      output_tokens = 20, images = { { seconds = 31 } } } }
  local run = serve.run(given)
  local found = measure.summary(run)
  test.equal(found.prompt_tokens, 12 * (20 + 751))
  test.equal(found.encoder.encoded, 12)
  test.check(found.encoder.encode_s > 0, "passes take time")
  local Mixed = policy.define { name = "mixed", doc = "Two sounds in each prompt.", params = {} }
  function Mixed:requests()
    local count = 0
    return { sends_items = true, shares_content = true, next = function()
      count = count + 1
      if count <= 4 then return count, 10, 5, { items = { audio_s = { 3, { seconds = 40, id = 1 } } } } end
    end }
  end
  given.workload = Mixed {}
  found = measure.summary(serve.run(given))
  test.equal(found.prompt_tokens, 4 * (10 + 376 + 751))
  test.raises("takes no image", function()
    given.workload = require "workloads.pictures" { rate_per_s = 4, num_requests = 2, prompt_tokens = 20,
      output_tokens = 20, images = { { 64, 64 } } }
    serve.run(given)
  end)
end)

test("a model of text alone and one that sees take no sound", function()
  test.check(json.decode(voxtral).audio_config ~= nil, "the test's own model")
  test.raises("takes no audio", function()
    encoder.item(encoder.of(rooflua.spec.model "qwen3-vl-30b-a3b"), { seconds = 3 })
  end)
end)

test.finish()
