-- A step model that asks for sums of bounded contexts is compiled.
--
-- LuaJIT counts how often a place runs in 64 slots that are found by address. In about 3 of 100 processes two places
-- share a slot, so that an outer function is given up before its inner loop is compiled. Code that cannot be compiled
-- is given up in every process. So one clean process of three is asked for.
local test = dofile "tests/scripts/harness.lua"
local aborts = dofile "tests/scripts/aborts.lua"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local VllmV1 = require "schedulers.vllm_v1"

--- Whether a line names something that the compiler can never compile. Such a place is soon interpreted, without
--- further messages.
local function hopeless(line) return line:find "bytecode" or line:find "blacklisted" end

local function asked_for_sums()
  local Sums = policy.define { name = "sums", doc = "A time that follows from bounded contexts.", params = {} }
  function Sums:time(now)
    local tokens = now:chunk_tokens(64)
    for i = 1, #self.caps do tokens = tokens + now:bounded_tokens(self.caps[i]) end
    return 0.001 + 1e-7 * tokens
  end
  local steps = Sums {}
  steps.caps = { 16, 64, 150, 400 }
  local state = { sent = 0, next = function(state)
    state.sent = state.sent + 1
    return state.sent * 0.02, 1 + state.sent * 37 % 300, 1 + state.sent * 53 % 200
  end }
  local replica = { kv_blocks = 10000, max_num_seqs = 12, max_num_batched_tokens = 256, async_depth = 2,
    context_caps = { 16, 64, 150, 400 }, context_chunk = 64 }
  return native.serve_open({ replicas = { replica } }, { VllmV1 { max_num_seqs = 12, max_num_batched_tokens = 256 } },
    { { steps = steps } }, nil, state)
end

--- What one process finds: the number of steps, and the places that the compiler gave up, in one line each.
local function given_up()
  local run = asked_for_sums()
  local lines = {}
  for _, line in ipairs(aborts.of(native.serve_advance_until, run, 200).lines) do
    if hopeless(line) then lines[#lines + 1] = line end
  end
  for _, line in ipairs(aborts.of(native.serve_advance_until, run, 400).lines) do
    lines[#lines + 1] = "late: " .. line
  end
  return native.serve_summary(run).steps, lines
end

if os.getenv "ROOFLUA_BOUNDED_CHILD" then
  local steps, lines = given_up()
  print(steps)
  print(table.concat(lines, "\n"))
  return
end

test("a step model that asks for sums of bounded contexts stays in compiled code", function()
  local command = ("ROOFLUA_BOUNDED_CHILD=1 '%s' lua tests/scripts/steps/bounded_compiled_test.lua"):format(
    assert(os.getenv "ROOFLUA_PROGRAM"))
  local found
  for _ = 1, 3 do
    local child = assert(io.popen(command))
    local steps, rest = child:read "*n", child:read "*a"
    child:close()
    test.check(steps and steps > 30000, "%s steps are too few to say anything", tostring(steps))
    found = rest:gsub("%s+$", ""):gsub("^%s+", "")
    if found == "" then return end
  end
  test.check(false, "%s", found)
end)

test.finish()
