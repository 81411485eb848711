-- Measured closed loops whose row says less than what was run: clients that several engines share, programs that send
-- more, clients that cannot all have been under way, transfers that are not modelled.
local test = dofile "tests/scripts/harness.lua"
local client = require "rooflua.validate.silicon.client"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local rows = require "rooflua.validate.silicon.rows"
local setup = require "rooflua.validate.silicon.setup"
local silicon = require "rooflua.validate.silicon.command"

local write = dofile "tests/scripts/closed_loop_file.lua" (test)

local function with(given, more)
  local out = {}
  for name, value in pairs(given) do out[name] = value end
  for name, value in pairs(more or {}) do out[name] = value end
  return out
end

local function question(row) return rows.read(write { row })[1] end

local function scenario(row, options)
  local steps = policies.of(Reader.new "test", "steps", "kernels")
  return setup.scenario(question(row), steps, with(setup.options, options))
end

-- Several engines ------------------------------------------------------------------------------------------------

local generated = { family = "qwen3-32b", engine = "trtllm", engine_version = "1.3.0rc5", system = "b200_sxm",
  format = "fp4", widths_tp_dp_moetp_moeep = "2,1,2,1", isl = 15000, osl = 500, clients = 416, ttft_ms = 700,
  tpot_ms = 14, source = "someone/trtllm/model.csv" }

test("the clients of one release are shared by engines on 64 GPUs, and each has seats for its own", function()
  local given, notes = scenario(generated)
  test.equal(#given.replicas, 1)
  test.equal(given.replicas[1].count, 32)
  test.equal(given.router, "round_robin")
  local own = policy.parameters(given.replicas[1].scheduler)
  test.equal(own.max_num_seqs, 13)
  test.equal(own.max_num_batched_tokens, 16544)  -- 13 + 15,000 + 1,500, rounded up to whole blocks of 32
  test.equal(given.replicas[1].deployment.prefix_caching, false)
  test.check(notes[#notes]:find("32 engines share the clients", 1, true), "the report says nothing: %s", notes[#notes])
  test.equal(policy.parameters(given.workload).clients, 416)
end)

test("rows of other releases, and InferenceX's, are of one engine", function()
  for _, more in ipairs { { engine_version = "1.3.0rc1" }, { source = "source_file=2026-04-06.csv" },
    { engine = "vllm", engine_version = "0.12.0" } } do
    local given = scenario(with(generated, with({ clients = 16 }, more)))
    test.equal(given.replicas, nil)
    test.equal(policy.parameters(given.workload).clients, 16)
  end
end)

test("a client sends as many requests as its benchmark program", function()
  local function requests(more, given) return client.requests(question(with(generated, more)), given or 0) end
  local apart = { mode = "pd", workers = "2P1D", widths_tp_dp_moetp_moeep = "1,1,1,1;1,1,1,1", engine = "vllm" }
  test.equal(requests {}, 50)                                             -- bench_run.sh
  test.equal(requests(with(apart, { engine_version = "0.12.0" })), 50)
  test.equal(requests { engine_version = "1.2.0" }, 10)                   -- AIPerf
  test.equal(requests { isl = 16384 }, 10)                                -- genai-perf
  test.equal(requests { source = "source_file=2026-04-06.csv" }, 10)      -- InferenceX
  test.equal(requests({}, 3), 3)
  test.equal(policy.parameters(scenario(with(generated, { clients = 2 })).workload).num_requests, 100)
end)

-- Clients that cannot all have been under way -------------------------------------------------------------------

local waiting = { family = "gpt-oss-120b", engine = "vllm", engine_version = "0.11.2", system = "h100_sxm",
  format = "fp4", widths_tp_dp_moetp_moeep = "8,1,8,1", isl = 1024, osl = 1024, clients = 512, ttft_ms = 22295,
  tpot_ms = 5.333, source = "source_file=2026-04-06.csv" }

--- Whether a row is refused, and the text of the refusal.
local function refused(more, options)
  local ok, problem = pcall(scenario, with(waiting, more), options)
  return not ok, tostring(problem)
end

test("a queue before steps that have room is refused, with the figures that show it", function()
  local is_refused, problem = refused {}
  test.equal(is_refused, true)
  -- 512 / (22.295 + 1,023 x 0.005333) = 18.45 requests/s; of them 101 decode; 18.45 x 1,024 x 0.005333 / 8,192 = 1 %
  test.check(problem:find("TTFT is 4.1 times the rest of an answer, although 101 requests decode where 512 have a "
    .. "place, and prompts fill 1 % of a step", 1, true), problem)
end)

test("a queue that something explains is not refused", function()
  for why, each in pairs {
    ["less waits than decodes"] = { { ttft_ms = 5000 } },
    ["the steps are full of prompts"] = { { isl = 8192, osl = 100, tpot_ms = 60 } },
    ["the memory is full"] = { { widths_tp_dp_moetp_moeep = "1,1,1,1", tpot_ms = 30, ttft_ms = 40000 } },
    ["the seats are taken"] = { {}, { overrides = { seats = 101 } } },
    ["the rows that nothing may have measured were asked for"] = { {}, { refuse = false } } } do
    local is_refused, problem = refused(each[1], each[2])
    test.check(not is_refused, "%s: %s", why, problem)
  end
end)

-- Transfers -------------------------------------------------------------------------------------------------------

local apart = { family = "llama-3.1-8b", engine = "sglang", engine_version = "0.5.9", system = "h100_sxm",
  format = "bf16", mode = "pd", workers = "1P1D", widths_tp_dp_moetp_moeep = "1,1,1,1;2,1,2,1", isl = 1000, osl = 100,
  clients = 4, ttft_ms = 100, tpot_ms = 10, source = "someone/sglang/model.csv" }

test("SGLang's transfer of heads between different tp is refused before it is priced as another", function()
  local function refusal(more, options)
    return setup.refusal(question(with(apart, more)), with(setup.options, options))
  end
  test.check((refusal() or ""):find("head by head, is not modelled", 1, true), "simulated")
  test.equal(refusal { widths_tp_dp_moetp_moeep = "2,1,2,1;2,1,2,1" }, nil)
  test.equal(refusal { engine = "vllm" }, nil)
  test.equal(refusal { family = "deepseek-v3", format = "fp8", widths_tp_dp_moetp_moeep = "8,1,1,8;16,1,1,16" }, nil,
    "the latent of MLA is not divided")
  test.equal(refusal({}, { refuse = false }), nil)
end)

test("refusals are counted by their reason, and --set silicon.refuse=false scores the rows", function()
  local path = write { waiting, with(apart, { question = "second" }) }
  local out = silicon.run { folder = path }
  local counted = out.document.silicon.coverage.refused
  test.equal(out.ran, 0)
  test.equal(counted["not a closed loop of its clients"], 1)
  test.equal(counted["SGLang's transfer between different tp, head by head, is not modelled"], 1)
  out = silicon.run { folder = path, set = { "silicon.refuse=false", "silicon.requests_per_client=1" } }
  test.equal(out.ran, 2)
  test.equal(out.document.settings.refuse, false)
  test.raises("expected true or false", function() silicon.run { folder = path, set = { "silicon.refuse=1" } } end)
end)

test.finish()
