-- Schedules as tables: the content of each step, request by request, compared with rows written by hand.
--
--   schedule.expect {
--     scheduler = VllmV1 { ... },
--     kv_blocks = 8, seat_blocks = 0, block_size = 4, async_depth = 1, prefix_caching = false,
--     partial_reuse = false,  (the defaults; seats and budget are the scheduler's own rules, so the replica sets no
--     limits to them)
--     requests = { { 0, 4, 3 }, { 0.5, 6, 1, { max_output_tokens = 4 } } },   arrival, prompt, output
--     rows = [[ 0: A+4
--               1: A B+6 ]],
--     rejected = 0, unfinished = 0,
--   }
--
-- Every step takes one second, so a row's number is the time at which it was planned. Requests are
-- letters in order of arrival: `A` decodes one token, `A+4` computes four tokens of its prompt (or of tokens that it
-- lost in a preemption), `A!` loses its seat in this plan. Within a row, letters are sorted.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"
local policy = require "rooflua.policy"

local schedule = { test = test }

local Second = policy.define { name = "second", doc = "Every step takes one second.", params = {} }
function Second:time() return 1 end

local function letter(id)
  return id < 26 and string.char(65 + id) or "r" .. id
end

--- A workload of given requests.
local function stream(requests)
  local shares = false
  for _, each in ipairs(requests) do shares = shares or (each[4] and each[4].content) ~= nil end
  return {
    sent = 0, shares_content = shares, requests = requests,
    next = function(state)
      state.sent = state.sent + 1
      local each = state.requests[state.sent]
      if each then return each[1], each[2], each[3], each[4] end
    end,
  }
end

--- The rows of a run, and its summary.
function schedule.run(given)
  local run = native.serve_open({
    record = true,
    replicas = { {
      kv_blocks = given.kv_blocks or 8, seat_blocks = given.seat_blocks, block_size = given.block_size or 4,
      async_depth = given.async_depth or 1, prefix_caching = given.prefix_caching or false,
      max_model_len = given.max_model_len,
      content_from = given.scheduler.content_from, partial_reuse = given.partial_reuse,
    } },
  }, { given.scheduler }, { { steps = Second {} } }, nil, stream(given.requests))
  native.serve_advance(run)
  local rows = {}
  for i, step in ipairs(native.serve_record(run)) do
    local parts = {}
    for _, each in ipairs(step.work) do
      local tokens = each.kind == "prefill" and "+" .. each.tokens or ""
      parts[#parts + 1] = letter(each.id) .. tokens
    end
    for _, id in ipairs(step.preempted) do parts[#parts + 1] = letter(id) .. "!" end
    table.sort(parts)
    rows[i] = ("%g: %s"):format(step.planned_s, table.concat(parts, " "))
  end
  return rows, native.serve_summary(run)
end

local function lines(text)
  local out = {}
  for line in text:gmatch "[^\n]+" do
    line = line:gsub("^%s+", ""):gsub("%s+$", "")
    if line ~= "" then out[#out + 1] = line end
  end
  return out
end

--- A request's limit of its answer, as fields.
function schedule.limit(tokens) return { max_output_tokens = tokens } end

function schedule.expect(given)
  local rows, summary = schedule.run(given)
  test.equal(table.concat(rows, "\n"), table.concat(lines(given.rows), "\n"))
  local failed = summary.failed or {}
  test.equal(failed.rejected or 0, given.rejected or 0, "rejected")
  test.equal(summary.requests - summary.completed - (failed.rejected or 0), given.unfinished or 0, "unfinished")
end

return schedule
