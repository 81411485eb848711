-- Signals that engines tell at the end of a step, against those of the moment.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local random = require "rooflua.random"
local VllmV1 = require "schedulers.vllm_v1"

local Second = policy.define { name = "second", doc = "Every step takes one second.", params = {} }
function Second:time() return 1 end

local seen
local Watch = policy.define { name = "watch", doc = "Notes what it sees of the first replica, and takes it.",
  signals = { "waiting", "running", "kv_used_frac", "outstanding" },
  params = {
    load_signals = { default = "live", values = { "live", "reported" }, doc = "Of which moment signals are." },
    staleness_s = { default = 0, unit = "s", min = 0, doc = "Greatest age of the signals." },
  } }
function Watch.route(_, _, replicas)
  local one = replicas[1]
  seen[#seen + 1] = ("%d %d %d %d"):format(one.waiting, one.running, one.kv_used_frac * 20, one.outstanding)
  return 1
end

--- What the router sees as each request comes: waiting, running, KV blocks in use of 20, outstanding.
local function run_of(router, requests, max_num_seqs)
  seen = {}
  local replica, sent = { kv_blocks = 20, block_size = 4, max_num_seqs = max_num_seqs }, 0
  local source = { next = function()
    sent = sent + 1
    local each = requests[sent]
    if each then return each[1], each[2], each[3] end
  end }
  if router.start then router:start(random.streams(1)) end
  local run = native.serve_open({ record = true, replicas = { replica, replica } },
    { VllmV1 { max_num_seqs = max_num_seqs }, VllmV1 { max_num_seqs = max_num_seqs } },
    { { steps = Second {} }, { steps = Second {} } }, router, source)
  native.serve_advance(run)
  return table.concat(seen, ", ")
end

-- Steps end at 1, 2, 3, ... The first request takes 2 blocks of 4 tokens for its prompt of 8.
local requests = { { 0, 8, 5 }, { 0.2, 8, 5 }, { 0.5, 8, 5 }, { 1.5, 8, 5 } }

test("an engine tells nothing of a step that runs, and nothing of requests that came since", function()
  test.equal(run_of(Watch {}, requests, 1), "0 0 0 0, 0 1 2 1, 1 1 2 2, 2 1 3 3")
  test.equal(run_of(Watch { load_signals = "reported" }, requests, 1), "0 0 0 0, 0 0 0 1, 0 0 0 2, 0 1 2 3")
end)

test("what its plan left waiting is told when the step has ended", function()
  local later = { { 0, 8, 5 }, { 0.2, 8, 5 }, { 0.5, 8, 5 }, { 2.5, 8, 5 } }
  test.equal(run_of(Watch { load_signals = "reported" }, later, 1), "0 0 0 0, 0 0 0 1, 0 0 0 2, 2 1 3 3")
end)

test("reports get old as other signals do", function()
  local later = { { 0, 8, 5 }, { 0.2, 8, 5 }, { 2.5, 8, 5 }, { 4.5, 8, 5 } }
  test.equal(run_of(Watch { load_signals = "reported", staleness_s = 2 }, later, 1),
    "0 0 0 0, 0 0 0 1, 0 1 2 2, 1 1 3 3")
end)

-- A step that ends at k leaves 8 + k - 1 tokens of the first request: 19 at 12, 32 at 25.
test("many equal steps at once tell the same as each alone", function()
  local long = { { 0, 8, 30 }, { 12.5, 8, 30 }, { 25.5, 8, 2 }, { 40.5, 8, 2 } }
  test.equal(run_of(Watch { load_signals = "reported" }, long, 8), "0 0 0 0, 0 1 5 1, 0 2 13 2, 0 1 9 1")
end)

test("load_signals is one of two words, in a definition too", function()
  test.raises("old: load_signals: expected 'live' or 'reported', found", function()
    policy.define { name = "old", doc = "d", params = {}, load_signals = "late" }
  end)
  local Fixed = policy.define { name = "fixed", doc = "d", params = {}, load_signals = "reported",
    signals = { "waiting", "running", "kv_used_frac", "outstanding" } }
  Fixed.route = Watch.route
  test.equal(run_of(Fixed {}, requests, 1), "0 0 0 0, 0 0 0 1, 0 0 0 2, 0 1 2 3")
end)

test.finish()
