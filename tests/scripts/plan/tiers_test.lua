-- Memory of the host as an axis of plans: what is priced, the flags of the engine's command, and what is refused.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local command = require "rooflua.applied.command"
local deploy = require "rooflua.plan.deploy"
local flags = require "rooflua.plan.flags"
local pieces = require "rooflua.serving.pieces"
local quoting = require "rooflua.text.quoting"
local Reader = require "rooflua.scenario.reader"

local gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } }
local sizes = { tp = { 2 }, max_num_seqs = { 32 }, max_num_batched_tokens = { 1024 } }

local function ladder(more)
  local axes = {}
  for _, each in ipairs { sizes, more } do
    for key, value in pairs(each) do axes[key] = value end
  end
  return require "candidates.ladder" (axes)
end

local done = setup.report { ranks = 1, candidates = ladder {}, gpus = gpus }

--- The candidate of the plan, of another engine and with memory of the host.
local function candidate_of(engine, gb)
  local out = {}
  for key, value in pairs(done.plan.ranks[1].candidate) do out[key] = value end
  out.engine, out.host_memory_gb = engine, gb
  return out
end

local function words_of(candidate)
  local version = flags.version(flags.engine(candidate.engine))
  local list = flags.command(done.question, candidate, version)
  for _, word in ipairs(flags.words(done.question, candidate, version)) do list[#list + 1] = word end
  for i, word in ipairs(list) do list[i] = quoting.word(word) end
  return table.concat(list, " "), flags.yaml(done.question, candidate, version) or ""
end

test("the command keeps KV in as much memory as was priced, for every engine", function()
  local text = words_of(candidate_of("vllm", 2 * 2 ^ 30 * 10 / 1e9))
  test.check(text:find("--kv-offloading-size 20", 1, true), "%s", text)
  text = words_of(candidate_of("sglang", 80))
  test.check(text:find("--enable-hierarchical-cache", 1, true) and text:find("--hicache-size 40", 1, true), "%s", text)
  local _, yaml = words_of(candidate_of("trtllm", 80))
  test.check(yaml:find("host_cache_size: 40000000000", 1, true), "%s", yaml)
  for _, engine in ipairs { "vllm", "sglang", "trtllm" } do
    local without, file = words_of(candidate_of(engine))
    for _, word in ipairs { "offloading", "hicache", "hierarchical", "host_cache_size" } do
      test.check(not (without .. file):find(word, 1, true), "%s: %s", engine, word)
    end
  end
end)

test("what is simulated has the stores that the command means", function()
  for _, engine in ipairs { "vllm", "sglang", "trtllm" } do
    local scenario = deploy.scenario(done.question, candidate_of(engine, 80), 1)
    scenario.kind, scenario.plan, scenario.search = nil, nil, nil
    local config = pieces.check(Reader.new "scenario", scenario).tiers.config
    test.near(config.stores[1].capacity_bytes, 80e9, 1e-9, engine)
  end
  local text = words_of(candidate_of("vllm", 80))
  local found = command.read(text)
  test.near(found.options.kv_offloading_size * 2 ^ 30, 80e9, 1e-9)
end)

test("what cannot be is refused by the candidate's name", function()
  local function plan(engine, gb, more)
    return setup.report({ ranks = 1, candidates = ladder { engines = { engine }, host_memory_gb = { gb } },
      gpus = gpus }, { tiers = more })
  end
  test.raises("host_memory_gb: expected", function() plan("vllm", -1) end)
  test.raises("counts whole GB", function() plan("sglang", 1) end)
  test.raises("the scenario states tiers as well", function()
    plan("vllm", 10, { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 1e9 } } })
  end)
end)

test("reports name the memory of the host", function()
  local words = require "rooflua.plan.words"
  test.check(words.settings(candidate_of("vllm", 80)):find("80 GB of the host for KV", 1, true))
  test.check(not words.settings(candidate_of "vllm"):find("host", 1, true))
end)

test.finish()
