-- Requests at once that SGLang decides by itself: of hybrids by the slots for states, of DeepSeek-V4 256.
local test = dofile "tests/scripts/harness.lua"
local engines = require "rooflua.engines"
local live = require "rooflua.serving.live"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"

local hybrid = { model = "qwen3-next-80b-a3b", hardware = "h200-sxm", deployment = { tp = 2 } }

local function with(engine)
  local out = { engine = engine }
  for key, value in pairs(hybrid) do out[key] = value end
  return out
end

local function seats(engine) return engines.capacity(with(engine)).max_running_requests end

test("a request of a hybrid holds 3 slots, 5 with the second buffer, 1 without a prefix cache", function()
  local whole = seats { "sglang 0.5.9", disable_radix_cache = true }
  test.equal(seats { "sglang 0.5.9" }, math.floor(whole / 3))
  test.equal(seats { "sglang 0.5.9", mamba_scheduler_strategy = "extra_buffer" }, math.floor(whole / 5))
  test.equal(seats { "sglang 0.5.14" }, math.floor(whole / 5))
  test.equal(seats { "sglang 0.5.14", mamba_radix_cache_strategy = "no_buffer" }, math.floor(whole / 3))
  test.equal(seats { "sglang 0.5.14", disable_overlap_schedule = true }, math.floor(whole / 4))
  test.equal(seats { "sglang 0.5.14", mamba_radix_cache_strategy = "extra_buffer_lazy" }, math.floor(whole / 4))
end)

test("states of another kind than the gated delta rule keep 3 slots where nothing is stated", function()
  local function most(engine)
    local of = engines.capacity { model = "nemotron-nano-9b-v2", hardware = "h200-sxm", engine = engine }
    return of.max_running_requests
  end
  test.equal(most "sglang 0.5.14", most { "sglang 0.5.14", mamba_radix_cache_strategy = "no_buffer" })
end)

--- The seats of the first rank of a run, and the notes of the run.
local function run(engine, changes)
  local scenario = with(engine)
  scenario.workload = require "workloads.closed_loop" { clients = 2, num_requests = 2, output_tokens = 2 }
  for key, value in pairs(changes or {}) do scenario[key] = value end
  local first = live.state(serve.open(scenario)).replicas[1]
  test.equal(policy.parameters(first.scheduler).max_num_seqs, first.config.max_num_seqs)
  return first.config.max_num_seqs, table.concat(serve.run(scenario).notes or {}, " ")
end

test("a run has the seats that the capacity prints, and says so", function()
  local engine = { "sglang 0.5.9", mamba_scheduler_strategy = "extra_buffer" }
  local most, notes = run(engine)
  test.equal(most, seats(engine))
  test.has(notes, ("runs %d requests at once"):format(most))
end)

test("seats below that stay, without a note, and those of a model without states", function()
  local most, notes = run { "sglang 0.5.9", max_running_requests = 8 }
  test.equal(most, 8)
  test.check(not notes:find "requests at once", notes)
  test.equal((run("sglang 0.5.9", { model = "qwen3-32b" })), 2048)
end)

test("DeepSeek-V4 has 256 seats where nothing is stated, divided among ranks", function()
  local function most(engine) return (run(engine, { model = "deepseek-v4-flash", deployment = {} })) end
  test.equal(most { "sglang 0.5.14", tp_size = 4 }, 256)
  test.equal(most { "sglang 0.5.14", tp_size = 4, max_running_requests = 300 }, 300)
  test.equal(most { "sglang 0.5.14", tp_size = 4, dp_size = 4, enable_dp_attention = true }, 64)
end)

test.finish()
