-- Formats that differ by layer: words of a group of layers, and a quantization_config that names layers. Bytes are
-- written out by hand for a model of 4 layers: attention of A elements and an MLP of M in each.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local core = require "rooflua.base.core"
local native = require "rooflua.native"

local A, M = 1024 * (2 * 1024 + 2 * 256), 3 * 1024 * 3072
local rest = 2 * (2 * 32768 * 1024 + 9 * 1024) -- embedding, LM head and norms in 16 bit

local function deployed(model, more)
  return rooflua.spec.deployment(core.copy({ model = model, hardware = "h100-sxm" }, more))
end

--- Bytes of the weights by the model's own account.
local function weights_of(model, more) return deployed(model, more).weight_bytes end

--- Four layers in FP8, of which the last has what is given.
local function last_with(more, top)
  return bound.layered({ { kind = "full", layers = 3 }, core.copy({ kind = "full", layers = 1 }, more) }, nil,
    core.copy({ weight_dtype = "fp8", kv_dtype = "fp8" }, top))
end

test("weights, cache and prices of a group follow its formats", function()
  local model = last_with { formats = { attention = "bf16", kv = "bf16" } }
  test.equal(weights_of(last_with()), rest + 4 * A + 4 * M)
  test.equal(weights_of(model), rest + 3 * A + 2 * A + 4 * M)
  test.equal(weights_of(model, { tp = 2 }) - weights_of(last_with(), { tp = 2 }), A / 2)
  -- a token: keys and values of 2 heads of 128 elements in each layer
  test.equal(deployed(model).kv_bytes_per_block, 16 * (3 * 512 + 2 * 512))
  local own = { rows = {}, kv = {} }
  for _, op in ipairs(rooflua.cost.layers(model, deployed(model))) do
    own.rows[op.name], own.kv[op.name] = op.dtype, op.kv
  end
  test.equal(own.rows.qkv .. " " .. own.rows["qkv@full_2"], "fp8 bf16")
  test.equal(own.rows.o .. " " .. own.rows["o@full_2"] .. " " .. own.rows.gate_up, "fp8 bf16 fp8")
  test.equal(own.kv.attention_decode .. " " .. own.kv["attention_decode@full_2"], "fp8 bf16")
  local wide = bound.layered({ { kind = "full", layers = 4 } }, nil, { kv_dtype = "bf16" })
  local load = bound.mixed(700, 300, 16, 9000)
  local found, alone = bound.rows_of(bound.kernels(model), load), bound.rows_of(bound.kernels(wide), load)
  for _, name in ipairs { "qkv", "o", "attention_decode", "attention_prefill" } do
    test.near(found[name .. "@full_2"].time_s, alone[name].time_s, 1e-12, name) -- of one layer
  end
end)

test("KV that is sent or kept elsewhere is what layers keep, each in its own format", function()
  local model = last_with { formats = { attention = "bf16", kv = "bf16" } }
  for _, more in ipairs { {}, { kv = "fp8" }, { kv = "bf16" } } do
    local deployment = deployed(model, more)
    test.equal(native.kv_of_prompts(model, deployment).bytes_per_token, deployment.kv_bytes_per_block / 16)
  end
  test.equal(native.kv_of_prompts(model, "fp8").bytes_per_token, 4 * 512) -- a format for all
end)

test("engines' accounts of memory know such groups", function()
  local counts = require("rooflua.native").rank_counts
  local model = last_with { formats = { attention = "bf16", kv = "bf16" } }
  local found = counts(model, { tp = 2, pp = 2 })
  test.equal(found.stages[1].bytes_beyond + found.stages[2].bytes_beyond, A / 2)
  test.equal(found.kinds[2].growing_bytes, 2 * found.kinds[1].growing_bytes)
  test.equal(counts(last_with(), { tp = 2 }).stages[1].bytes_beyond, nil)
end)

test("formats that the deployment asks for hold for all layers, those of another release are its own", function()
  local release = { releases = { nvfp4 = { dense_mlp = "nvfp4", attention = "nvfp4" } } }
  local model = last_with({ formats = { attention = "bf16", kv = "bf16" },
    releases = { nvfp4 = { attention = "fp8" } } }, release)
  test.equal(weights_of(model, { weights = "int8" }), rest + 4 * A + 4 * M)
  test.equal(deployed(model, { kv = "fp8" }).kv_bytes_per_block, 16 * 4 * 512)
  local nvfp4 = 4.5 / 8
  test.near(weights_of(model, { weights = "nvfp4" }), rest + (3 * A + 4 * M) * nvfp4 + A, 1e-12)
end)

test("formats that are those of the class change nothing", function()
  local plain, same = last_with(), last_with { formats = { attention = "fp8", kv = "fp8" } }
  test.equal(weights_of(same), weights_of(plain))
  for _, load in ipairs { bound.decodes(16, 3000), bound.mixed(300, 900, 7, 2000) } do
    test.equal(bound.kernels(same):time(load), bound.kernels(plain):time(load))
  end
end)

test("a format of what layers do not have is an error at its key", function()
  local function refused(part, more, mlp)
    local kinds = { { kind = "full", layers = 3 }, core.copy({ kind = "full", layers = 1 }, more) }
    local ok, problem = pcall(bound.layered, kinds, mlp)
    test.check(not ok and tostring(problem):find(part, 1, true), "%s: %s", part, tostring(problem))
  end
  refused("formats.experts: these layers have no such weights", { formats = { experts = "fp8" } })
  refused("no release of that name", { releases = { nvfp4 = { attention = "fp8" } } })
  refused("did you mean 'attention'", { formats = { atention = "fp8" } })
  refused("formats.kv: there is no KV cache", nil, { { kind = "dense", layers = 4, formats = { kv = "fp8" } } })
end)

-- config.json ----------------------------------------------------------------------------------------

local path = os.tmpname() .. ".json"
local keys = [["model_type": "qwen3", "num_hidden_layers": 4, "hidden_size": 1024, "num_attention_heads": 8,
  "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 3072, "vocab_size": 32768,
  "tie_word_embeddings": false, "max_position_embeddings": 32768, "torch_dtype": "bfloat16"]]

local function config(more, table)
  local file = assert(io.open(path, "w"))
  file:write("{", keys, more and ", " .. more or "", "}")
  file:close()
  return rooflua.spec.model(table and core.copy({ from = path }, table) or path)
end

--- Weights of a config.json with a quantization_config, and its notes as one text.
local function quantised(quantization)
  local model = config('"quantization_config": {' .. quantization .. "}")
  local notes = ""
  for _, note in ipairs(model.notes) do notes = notes .. note.text end
  return weights_of(model) - weights_of(config()), notes, model
end

test("an ignore list that names layers is followed layer by layer", function()
  local beyond, notes = quantised [["quant_method": "fp8",
    "modules_to_not_convert": ["lm_head", "model.layers.0", "model.layers.3.self_attn"] ]]
  test.equal(beyond, -(3 * M + 2 * A))
  test.check(not notes:find("whole classes", 1, true), "%s", notes)
  local part, said = quantised [["quant_method": "fp8", "ignore": ["model.layers.0.mlp.down_proj"] ]]
  test.equal(part, -(4 * M + 4 * A))
  test.check(said:find("whole classes", 1, true), "%s", said)
end)

test("config_groups and quantized_layers give formats by layer", function()
  local group = [["%s": {"targets": [%s], "weights": {"num_bits": %d, "type": "float", "group_size": %s}}]]
  local beyond, notes = quantised(([["quant_method": "compressed-tensors", "ignore": ["re:.*layers\\.3\\.self_attn.*"],
    "config_groups": {%s, %s}]]):format(group:format("group_0", '"re:.*mlp.*"', 4, "16"),
    group:format("group_1", '"re:.*self_attn.*"', 8, "null")))
  test.near(beyond, -4 * M * (2 - 4.5 / 8) - 3 * A, 1e-9)
  test.check(not notes:find("not followed", 1, true), "%s", notes)
  local layers = {}
  for layer = 0, 3 do
    for _, name in ipairs { "gate", "up", "down" } do
      layers[#layers + 1] = ([["model.layers.%d.mlp.%s_proj": {"quant_algo": "%s"}]]):format(layer, name,
        layer == 0 and "FP8" or "NVFP4")
    end
  end
  local mixed = quantised([["quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {]]
    .. table.concat(layers, ",") .. "}")
  test.near(mixed, -M - 3 * M * (2 - 4.5 / 8), 1e-9)
end)

test("a key is read as another word, and a refusal prints what to write", function()
  local ok, problem = pcall(config, '"num_turtles_per_layer": 3')
  test.check(not ok and tostring(problem):find("read_as", 1, true), "%s", tostring(problem))
  test.check(tostring(problem):find('hidden_size = 1024', 1, true), "no skeleton: %s", tostring(problem))
  local words = { read_as = { mtp_depth_count = "num_nextn_predict_layers" } }
  local model = config('"mtp_depth_count": 2', words)
  test.equal(model.mtp_layers, 2)
  test.check(model.notes[#model.notes].text:find("mtp_depth_count as num_nextn_predict_layers", 1, true))
  test.equal(config('"num_mtp_layers": 1').mtp_layers, 1)
  local both = select(2, pcall(config, '"mtp_depth_count": 2, "num_nextn_predict_layers": 1', words))
  test.check(tostring(both):find("which is 1, not 2", 1, true), "%s", tostring(both))
  local none = select(2, pcall(config, nil, words))
  test.check(tostring(none):find("mtp_depth_count", 1, true), "%s", tostring(none))
end)

os.remove(path)
test.finish()
