-- max_output_tokens: the limit that requests declare in every shipped workload, and its use by schedulers.
local test = dofile "tests/scripts/harness.lua"
local policy = require "rooflua.policy"
local random = require "rooflua.random"
local serve = require "rooflua.serve"

--- Workloads of other workloads: what is inside declares limits.
local composed = { day = true, mix = true, users = true, with_pictures = true }
local names = {}
for file in assert(io.popen "ls scripts/workloads"):lines() do
  local name = file:match "^(.*)%.lua$"
  if not composed[name] then names[#names + 1] = name end
end

local captured = {}
for i = 1, 10 do
  captured[i] = ('{"id": "%d", "block_size": 64, "requests": [{"t": 0, "type": "n", "in": 70, "out": %d}, {"t": 5, '
    .. '"type": "n", "in": 140, "out": %d}]}\n'):format(i, 3 * i, 2 * i)
end
local recording = test.file("captured.jsonl", table.concat(captured))
local more = { agentx = { lanes = 1, warmup_requests = 0, path = recording }, plays = { path = recording } }

--- The next request of a source; of plays, the last one of the next play that does not depend on the one before.
local function next_of(source)
  if not source.plays then return source.next(source) end
  local play = source.plays(source)
  local row = play.rows[play.rows[#play.rows].prompt_tokens == 140 and #play.rows or 1]
  return 0, row.prompt_tokens, row.output_tokens, row
end

local function requests_of(name, limit, seed)
  local given = { max_output_tokens = limit }
  for key, value in pairs(more[name] or {}) do given[key] = value end
  local source = require("workloads." .. name)(given):requests(random.streams(seed or 1))
  local out = {}
  for i = 1, 8 do
    local arrival_s, prompt, output, fields = next_of(source)
    out[i] = { arrival_s = arrival_s, prompt = prompt, output = output,
               declared = fields and fields.max_output_tokens or nil }
  end
  return out
end

for _, name in ipairs(names) do
  if name ~= "trace" then
    test(name .. " declares a limit, cuts answers at it, and draws the same otherwise", function()
      local without, limited, exact = requests_of(name, 0), requests_of(name, 8), requests_of(name, "exact")
      for i, request in ipairs(without) do
        test.equal(request.declared, nil)
        test.equal(limited[i].declared, 8)
        test.equal(limited[i].output, math.min(8, request.output))
        test.equal(limited[i].arrival_s, request.arrival_s)
        test.equal(limited[i].prompt, request.prompt)
        test.equal(exact[i].output, request.output)
        test.equal(exact[i].declared, request.output)
      end
    end)
  end
end

test("a limit that is no whole number is refused by every workload", function()
  for _, name in ipairs(names) do
    for _, wrong in ipairs { -1, 2.5, "exactly", true } do
      test.raises("workload.max_output_tokens: expected a whole number >= 0 or \"exact\"", function()
        local given = { max_output_tokens = wrong }
        for key, value in pairs(more[name] or {}) do given[key] = value end
        require("workloads." .. name)(given):requests(random.streams(1))
      end)
    end
  end
end)

--- A scheduler that notes the limits that it sees and runs one request at a time.
local function probe(seen)
  local Probe = policy.define { name = "probe", doc = "Notes limits.", params = {} }
  function Probe:plan(replica, plan)
    plan:decode_all()
    local waiting = replica:waiting()
    if #waiting > 0 and replica.seats == 0 then
      seen[#seen + 1] = waiting[1].max_output_tokens or "none"
      plan:admit(waiting[1], waiting[1].pending_tokens)
    end
  end
  return Probe {}
end

local function run(workload, scheduler, deployment)
  return serve.run { model = "llama-3.1-8b", hardware = "h100-sxm", workload = workload, scheduler = scheduler,
                     deployment = deployment }
end

test("a replayed trace declares the same, and its answers are cut", function()
  local path = "scenarios/traces/bursty_chat.csv"
  local Trace = require "workloads.trace"
  local seen = {}
  local cut = run(Trace { path = path, limit = 5, max_output_tokens = 40 }, probe(seen))
  test.equal(table.concat(seen, " "), "40 40 40 40 40")
  test.equal(cut.summary.output_tokens, 5 * 40)  -- each of the first five is longer
  seen = {}
  local exact = run(Trace { path = path, limit = 5, max_output_tokens = "exact" }, probe(seen))
  local sum = 0
  for _, tokens in ipairs(seen) do sum = sum + tokens end
  test.equal(exact.summary.output_tokens, sum)
  seen = {}
  run(Trace { path = path, limit = 2 }, probe(seen))
  test.equal(table.concat(seen, " "), "none none")
end)

test("schedulers that reserve the longest answer seat more requests when it is declared", function()
  for _, name in ipairs { "orca", "static_batch", "trtllm" } do
    local function duration_s(limit)
      local workload = require "workloads.poisson" {
        rate_per_s = 1000, num_requests = 64, prompt_tokens = 64, output_tokens = 64, max_output_tokens = limit,
      }
      return run(workload, require("schedulers." .. name) {}, { kv_blocks = 600 }).summary.duration_s
    end
    test.check(duration_s "exact" < 0.7 * duration_s(0), name)
    test.near(duration_s "exact", duration_s(64), 1e-12, name)
  end
end)

test.finish()
