-- The commands that a plan writes start, when they are read again, the deployment that was priced.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local application = require "rooflua.applied.application"
local artefacts = require "rooflua.plan.artefacts"
local choice = require "rooflua.engines.choice"
local command = require "rooflua.applied.command"
local json = require "rooflua.json"
local values = require "rooflua.engines.values"

--- A plan with one rank, and its files by name.
local function written(more, top)
  local axes = { tp = { 2 }, max_num_seqs = { 32 }, max_num_batched_tokens = { 1024 } }
  for key, value in pairs(more) do axes[key] = value end
  local done = setup.report({ ranks = 1, candidates = require "candidates.ladder" (axes),
    gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } } }, top)
  local files = {}
  for _, each in ipairs(artefacts.files(done)) do files[each.path] = each.text end
  return done, files
end

--- The keys that a scenario gets from the deployment of a command.
local function keys_of(found, hardware)
  local keys = command.keys(found)
  local chosen = choice.of(keys.engine)
  local facts = { hardware = hardware, tp = 1, dp = 1, pp = 1, ep = 1, cp = 1, dcp = 1 }
  for _, width in ipairs { "dp", "cp", "tp", "pp", "ep", "dcp" } do
    for _, option in ipairs(chosen.engine.options) do
      local value = chosen.options[option.name]
      if option.key == "deployment." .. width and value ~= nil then
        facts[width] = option.read and option.read(value, facts, chosen.options) or value
      end
    end
  end
  return application.keys(values.of(chosen.engine, chosen.release, facts, chosen.options)), keys
end

test("serve.sh reads as what was priced, for every engine", function()
  test.needs_yaml()
  for _, case in ipairs { { { engines = { "vllm" } } }, { { engines = { "sglang" } } }, { { engines = { "trtllm" } } },
    { { engines = { "vllm" } }, { model = "Qwen/Qwen3-32B-FP8" } },
    { { engines = { "sglang" }, tp = { 1, 4 } }, { model = "qwen3-30b-a3b" } },
    { { engines = { "sglang" }, tp = { 1 }, cp = { 2 } }, { model = "qwen3-30b-a3b" } },
    { { engines = { "vllm" }, tp = { 8 }, dcp = { 2 } }, { model = "qwen3-235b-a22b" } } } do
    local done, files = written(case[1], case[2])
    local candidate, text = done.plan.ranks[1].candidate, files["1/serve.sh"]
    local found = command.read(text)
    local keys, own = keys_of(found, done.question.gpus[1].hardware)
    test.equal(found.engine.name, candidate.engine)
    test.check(text:find(found.model, 1, true), found.model)
    test.equal(keys["deployment.tp"], candidate.tp)
    test.equal(keys["deployment.pp"], candidate.pp)
    test.equal(keys["deployment.ep"] or 1, candidate.ep)
    test.equal(keys["deployment.cp"], candidate.cp)
    test.equal(keys["deployment.dcp"], candidate.dcp)
    test.equal(keys["scheduler.max_num_seqs"], candidate.max_num_seqs)
    test.equal(keys["scheduler.max_num_batched_tokens"] or keys["scheduler.chunked_prefill_size"],
      candidate.max_num_batched_tokens)
    test.equal(keys["deployment.block_size"], candidate.deployment.block_size)
    test.equal(keys["deployment.prefix_caching"], true)
    test.equal(keys["deployment.kv"] ~= nil, candidate.kv ~= nil)
    test.equal(own.speculation, nil)
    local line, file = command.write(found)
    local again = command.read(line, { engine = found.engine.name .. " " .. found.release,
      files = { ["options.yaml"] = file } })
    test.equal(json.encode(again.options), json.encode(found.options), "a fixed point")
  end
end)

test("a script that asks for the model is read once its variable is set", function()
  local done, files = written({ engines = { "vllm" } },
    { model = test.file("own.toml", io.open "scenarios/models/qwen3-8b.toml":read "*a"
      :gsub("aliases = %b[]", "aliases = []")) })
  local text = files["1/serve.sh"]
  test.raises("the variable MODEL is not set here", function() command.read(text) end)
  test.equal(command.read("MODEL=/models/mine\n" .. text).model, "/models/mine")
  test.check(done.plan.ranks[1], "a rank")
end)

test.finish()
