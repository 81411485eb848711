-- KV blocks that a request holds besides those of its tokens: windows and recurrent states.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test, expect = schedule.test, schedule.expect
local check = require "rooflua.program.check"
local policy = require "rooflua.policy"
local rooflua = require "rooflua"
local spec, serve = rooflua.spec, rooflua.serve

local limit12, limit20 = { max_output_tokens = 12 }, { max_output_tokens = 20 }

-- Schedulers ----------------------------------------------------------------------------------------------

-- 8 blocks of 4 tokens: a request has 3 for its seat, which leaves 5.
local reserving = {
  orca = require "schedulers.orca" {},
  static_batch = require "schedulers.static_batch" {},
  trtllm = require "schedulers.trtllm" {},
}

for name, scheduler in pairs(reserving) do
  test(name .. " counts the blocks of a seat where it reserves blocks until the end", function()
    -- 4 + 12 tokens are 4 blocks, and 3: one at a time.
    expect { scheduler = scheduler, seat_blocks = 3,
      requests = { { 0, 4, 2, limit12 }, { 0, 4, 1, limit12 } },
      rows = [[ 0: A+4
                1: A
                2: B+4 ]] }
  end)

  test(name .. " rejects a request that never fits beside the blocks of its seat", function()
    local requests = { { 0, 4, 1, limit20 }, { 0, 4, 1, limit12 } } -- 6 blocks, 4 blocks
    expect { scheduler = scheduler, seat_blocks = 3, requests = requests, rejected = 1, rows = "0: B+4" }
    expect { scheduler = scheduler, seat_blocks = 2, requests = requests, rows = [[ 0: A+4
                                                                                    1: B+4 ]] }
  end)
end

test("vllm_v0 rejects a prompt that the watermark never leaves room for beside its seat", function()
  local VllmV0 = require "schedulers.vllm_v0"
  expect { scheduler = VllmV0 { watermark = 0.25 }, seat_blocks = 3, -- 4 + 3 + 2 of 8 blocks
    requests = { { 0, 16, 1 }, { 0, 4, 1 } }, rejected = 1, rows = "0: B+4" }
end)

test("a scheduler need not know of the blocks of a seat, and may read them", function()
  local VllmV1, seen = require "schedulers.vllm_v1", {}
  local Reader = policy.define { name = "reader", doc = "Reads seat_blocks.", params = {}, extends = VllmV1 }
  function Reader:plan(replica, plan)
    seen[replica.seat_blocks] = true
    return VllmV1.plan(self, replica, plan)
  end
  expect { scheduler = Reader {}, seat_blocks = 3,
    requests = { { 0, 4, 2 }, { 0, 4, 1 }, { 0, 4, 1 } },
    rows = [[ 0: A+4 B+4
              1: A
              2: C+4 ]] }
  test.check(seen[3] and not seen[0])
end)

-- Scenarios -----------------------------------------------------------------------------------------------

local function gemma(prompt_tokens, more)
  local out = { model = "gemma-3-27b", hardware = "h100-sxm", deployment = { max_num_seqs = 256 },
    workload = require "workloads.constant" { rate_per_s = 0.1, num_requests = 2, prompt_tokens = prompt_tokens,
      output_tokens = 2 } }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

test("Gemma-3-27B serves with 256 seats on one H100", function()
  local deployment = spec.deployment { model = "gemma-3-27b", hardware = "h100-sxm", max_num_seqs = 256 }
  test.equal(deployment.seat_blocks, 338)
  test.equal(serve.run(gemma(2000)).summary.completed, 2)
  local given = { deployment = { max_num_seqs = 256, kv_blocks = deployment.kv_blocks } }
  local summary = serve.run(gemma(2000, given)).summary
  -- 2,000 tokens and the first of the answer are 126 blocks.
  test.near(summary.kv_used_frac_max, (338 + 126) / deployment.kv_blocks, 1e-9)
end)

test("windows are sent up to their bound, and bytes_per_token of the scenario replace all of it", function()
  local function ttft_s(prompt_tokens, network)
    network.bytes_per_s = 1e9
    local given = gemma(prompt_tokens, { network = network, replicas = { { role = "prefill" }, { role = "decode" } } })
    return serve.run(given).summary.ttft_s.mean
  end
  for tokens, windowed in pairs { [500] = 500, [3000] = 1024 } do
    test.near(ttft_s(tokens, {}) - ttft_s(tokens, { bytes_per_token = 81920 }), 425984 * windowed / 1e9, 1e-6)
  end
end)

local function findings(options, prompt_tokens)
  local path = test.file(".lua", ([[return { rooflua = 1, model = "gemma-3-27b", hardware = "h100-sxm",
    deployment = { %s }, workload = require "workloads.poisson" { rate_per_s = 0.1, num_requests = 5,
      prompt_tokens = %d, output_tokens = 2 } }]]):format(options, prompt_tokens))
  local found, out = check.file(path), {}
  for _, each in ipairs(found.findings) do out[#out + 1] = each.message end
  return table.concat(found.notes, "\n"), table.concat(out, "\n")
end

test("check tells what a request holds, and what fits besides it", function()
  local notes, problems = findings("kv_blocks = 400", 900)
  test.check(notes:find("gemma-3-27b: windows and states of a request hold 338 of 400 KV blocks", 1, true), notes)
  test.check(not problems:find("does not fit into", 1, true), problems)
  problems = select(2, findings("kv_blocks = 400", 1000))
  test.check(problems:find("a request of 1002 tokens does not fit into a KV cache of 992 tokens", 1, true), problems)
end)

test.finish()
