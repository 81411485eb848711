-- Every scheduler that documents and scenarios show, and every shipped one, runs where there is hardly any room: a
-- small cache, a budget of one token, one seat.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"

local function text_of(path)
  local handle = assert(io.open(path))
  local text = handle:read "*a"
  handle:close()
  return text
end

--- The schedulers of a scenario: its own one, and those of `vary`.
local function schedulers_of(scenario)
  local out = { scenario.scheduler }
  for _, each in ipairs(scenario.vary and scenario.vary.scheduler or {}) do
    out[#out + 1] = policy.is_instance(each) and each or each.value
  end
  return out
end

local written = {} -- name -> instance, of the classes that stand in documents and scenarios

local function collect(path)
  for _, each in ipairs(schedulers_of(chunks.load_scenario(path))) do
    if policy.is_instance(each) and not policy.where(each):find "^scripts/" then written[each.name] = each end
  end
end

for _, path in ipairs { "docs/START.md", "docs/TUTORIAL.md", "docs/OWN_SCHEDULER.md", "docs/COOKBOOK.md",
  "docs/EXPLORATION.md" } do
  for block in text_of(path):gmatch "```lua file=%S+\n(.-)\n```" do
    if block:find "schedulers" then collect(test.file(".lua", block)) end
  end
end
collect "scenarios/13_own_scheduler.lua"
collect "scripts/templates/serve.lua"
collect "scripts/templates/scheduler.lua"

local places = {
  ["a cache of 40 blocks"] = { kv_blocks = 40 },
  ["a cache of 24 blocks"] = { kv_blocks = 24 },
  ["one seat"] = { kv_blocks = 40, max_num_seqs = 1 },
  ["a budget of one token"] = { kv_blocks = 40, max_num_batched_tokens = 1, max_num_seqs = 1 },
  ["a budget of one token and many seats"] = { kv_blocks = 40, max_num_batched_tokens = 1 },
  ["one seat in the deployment"] = { kv_blocks = 40, deployment = { max_num_seqs = 1 } },
}

--- The summary of 30 requests of up to 320 tokens that come within a second.
local function run(scheduler, place, async_depth)
  local limits, known = {}, policy.parameters(scheduler)
  for _, key in ipairs { "max_num_seqs", "max_num_batched_tokens" } do
    if known[key] then limits[key] = place[key] end
  end
  local deployment = { kv_blocks = place.kv_blocks }
  for key, value in pairs(place.deployment or {}) do
    deployment[key], limits[key] = value, known[key] and value or nil
  end
  -- A model that states no length: vllm_v0 would not start with budgets below it.
  return serve.run { model = { from = "llama-3.1-8b", max_model_len = 0 }, hardware = "h200-sxm", seed = 1,
    async_depth = async_depth,
    scheduler = policy.with(scheduler, limits), deployment = deployment,
    workload = require "workloads.poisson" { rate_per_s = 30, num_requests = 30,
      prompt_tokens = { distribution = "uniform", min = 1, max = 250 }, prefix_tokens = 16,
      output_tokens = { distribution = "uniform", min = 1, max = 54 }, max_output_tokens = 64 } }.summary
end

test("the documents' schedulers are found", function()
  for _, name in ipairs { "aging", "gentle", "polite", "shortest_prompt", "vllm_v1" } do
    test.check(written[name], "no scheduler %s", name)
  end
end)

for name, scheduler in pairs(written) do
  for place, limits in pairs(places) do
    test(name .. " completes every request with " .. place, function()
      for depth = 1, 2 do test.equal(run(scheduler, limits, depth).completed, 30) end
    end)
  end
end

--- Shipped schedulers may reject what cannot run, as their engines do, but none fails, and no request is lost.
for _, each in ipairs(require("rooflua").list "schedulers") do
  for place, limits in pairs(places) do
    test(each.name .. " accounts for every request with " .. place, function()
      local summary = run(require("schedulers." .. each.name) {}, limits)
      local ended = summary.completed
      for _, count in pairs(summary.failed) do ended = ended + count end
      test.equal(ended, 30)
    end)
  end
end

test.finish()
