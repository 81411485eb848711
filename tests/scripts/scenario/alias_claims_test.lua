-- A name belongs to one model: two files that claim it, and a file of the user that claims the name of another
-- architecture, are errors that name both files. What a shipped file says of one of its names is followed.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"
local spec = require "rooflua.spec"
local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"

local shapes = [[
layers = %d
hidden_size = 4096
heads = 32
kv_heads = 8
head_dim = 128
intermediate_size = 14336
vocab_size = 128256
tied_embeddings = false
]]

local function file(name, alias, layers)
  return test.file(name, ("aliases = [%q]\n"):format(alias) .. shapes:format(layers))
end

test("a .toml that claims a name of a shipped model with other shapes is an error that names both files", function()
  for _, alias in ipairs { "meta-llama/Llama-3.1-8B-Instruct", "Llama_3.1 8B instruct", "llama-3.1-8b" } do
    local path = file("mine.toml", alias, 30)
    local ok, problem = pcall(spec.model, path)
    test.check(not ok and problem:find(path, 1, true) and problem:find("models/llama-3.1-8b.toml", 1, true), "%s: %s",
      alias, tostring(problem))
  end
  test.equal(spec.model(file("mine.toml", "meta-llama/Llama-3.1-8B-Instruct", 32)).layers, 32)
  test.equal(spec.model(file("mine.toml", "someone/Nothing-7B", 30)).layers, 30)
end)

test("a table and a .json with the same keys are held to it, too", function()
  local other = { layers = 30, hidden_size = 4096, heads = 32, kv_heads = 8, intermediate_size = 14336,
    vocab_size = 128256, aliases = { "meta-llama/Llama-3.1-8B" } }
  test.raises("models/llama-3.1-8b.toml", function() spec.model(other) end)
  test.raises("models/llama-3.1-8b.toml", function()
    spec.model { from = "llama-3.1-8b", layers = 30, aliases = { "Llama-3.1-8B-Instruct" } }
  end)
  local path = test.file("m.json", require("rooflua.json").encode(other))
  test.raises("models/llama-3.1-8b.toml", function() spec.model(path) end)
  test.equal(spec.model { from = "llama-3.1-8b", layers = 30 }.layers, 30)
end)

test("a config.json that names its origin and has other shapes says so", function()
  local function config(layers)
    return test.file("c.json", ([[{ "model_type": "llama", "_name_or_path": "meta-llama/Llama-3.1-8B",
      "num_hidden_layers": %d, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
      "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072,
      "tie_word_embeddings": false, "torch_dtype": "bfloat16" }]]):format(layers))
  end
  local function says(model)
    for _, note in ipairs(model.notes) do
      if note.text:find("_name_or_path is meta-llama/Llama-3.1-8B, which is ", 1, true) then return true end
    end
    return false
  end
  test.check(says(spec.model(config(30))))
  test.check(not says(spec.model(config(32))))
end)

test("two shipped files that claim one name are an error that names both", function()
  local home = test.file("")
  os.remove(home)
  assert(os.execute(("mkdir -p '%s/scenarios/models' && ln -s %s/scripts %s/bench_data '%s'"):format(home, native.home,
    native.home, home)) == 0)
  local function write(name, alias)
    local out = assert(io.open(home .. "/scenarios/models/" .. name .. ".toml", "w"))
    out:write(("aliases = [%q]\n"):format(alias) .. shapes:format(32))
    out:close()
  end
  local function output(arguments)
    local pipe = assert(io.popen(("ROOFLUA_HOME='%s' '%s' %s 2>&1"):format(home, program, arguments)))
    local text = pipe:read "*a"
    pipe:close()
    return text
  end
  write("one", "org/Same-7B")
  write("two", "org/Other-7B")
  test.check(output("list models --aliases"):find("org/Same-7B", 1, true))
  for _, alias in ipairs { "org/same 7b", "Same-7B", "one" } do -- an alias of the other file, and its very name
    write("two", alias)
    local told = output "list models --aliases"
    test.check(told:find("models/one.toml", 1, true) and told:find("models/two.toml", 1, true), "%s", told)
  end
  write("two", "org/Same-7B")
  local told = output "step --model org/Same-7B --hardware h100 --decode 10x1"
  test.check(told:find("models/one.toml", 1, true) and told:find("models/two.toml", 1, true), "%s", told)
end)

test("what a file says of one of its names holds under that name, with a note, and under no other", function()
  local function context(name) return spec.model(name).max_model_len end
  test.equal(context "meta-llama/Meta-Llama-3-8B-Instruct", 8192)
  test.equal(context "llama3-8b", 8192)
  test.equal(context "meta-llama/Llama-3.1-8B-Instruct", 131072)
  test.equal(context "llama-3.1-8b", 131072)
  test.equal(context "Qwen/Qwen3-30B-A3B-Instruct-2507", 262144)
  test.equal(spec.model { from = "Qwen/Qwen3-30B-A3B-Instruct-2507", layers = 12 }.max_model_len, 262144)
  local first, third = spec.model "mistralai/Mistral-7B-v0.1", spec.model "mistralai/Mistral-7B-v0.3"
  test.equal(first.vocab_size, 32000)
  test.equal(third.vocab_size, 32768)
  test.check(first.notes[1].text:find("window of 4096", 1, true))
  test.check(first.notes[2].text:find("vocab_size as mistralai/Mistral-7B-v0.1 is published", 1, true))
  test.equal(#third.notes, 0)
  local count = 0
  for _, name in ipairs(spec.models()) do
    local declared = native.read_toml(spec.model(name).origin)
    for alias in pairs(declared.alias_changes or {}) do
      local known = false
      for _, each in ipairs(declared.aliases) do known = known or each == alias end
      test.check(known, "%s: %s is no alias", name, alias)
      test.check(#spec.model(alias).notes > #spec.model(name).notes, "%s: no note", alias)
      count = count + 1
    end
  end
  test.at_least(count, 20)
end)

test.finish()
