-- Lower bounds that undo a correction: what reports say, and corrections that mean less work.
local test = dofile "tests/scripts/harness.lua"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"
local opening = require "rooflua.runs.opening"
local kinds = require "rooflua.program.kinds"

--- A correction of decode attention.
local function correction(part, more)
  local definition = { name = "part", doc = "Of this test.", params = {} }
  for key, value in pairs(more or {}) do definition[key] = value end
  local Part = policy.define(definition)
  function Part:op(op, time_s) return op.kind == "attention_decode" and time_s * part or time_s end
  return Part {}
end

local function priced(each)
  local opened = opening.table { kind = "price", model = "llama-3.1-8b", hardware = "h200-sxm",
    engine = "vllm 0.19", corrections = { each },
    price = { { name = "decode", decodes = 16, decode_context_tokens = 16 * 32000 } } }
  local found = kinds.run(opened, 1, {})
  return found.time_s, table.concat(found.notes or {}, "\n")
end

local text = "the floor (flop over peak, bytes over bandwidth) undoes the correction part: attention_decode x 0.3 "
  .. "becomes"

test("a price says which correction the floor undoes, and only then", function()
  local full_s = priced(nil)
  local cut_s, notes = priced(correction(0.3))
  test.check(notes:find(text, 1, true), notes)
  local mild_s, of_mild = priced(correction(0.97))
  test.check(not of_mild:find "the floor", of_mild)
  test.check(cut_s < mild_s and mild_s < full_s)
end)

test("a correction that means less work has a lower floor", function()
  local cut_s = priced(correction(0.3))
  local less_s, notes = priced(correction(0.3, { changes_work = true }))
  test.check(not notes:find "the floor", notes)
  test.check(less_s < 0.6 * cut_s, less_s)
end)

test("a run says it as well", function()
  local function notes_of(each)
    return table.concat(serve.run({ model = "llama-3.1-8b", hardware = "h200-sxm", corrections = { each },
      workload = require "workloads.poisson" { rate_per_s = 4, num_requests = 60, prompt_tokens = 16000,
        output_tokens = 100 } }).notes, "\n")
  end
  test.check(notes_of(correction(0.3)):find(text, 1, true))
  test.check(not notes_of(correction(0.3, { changes_work = true })):find "the floor")
  test.check(not notes_of(nil):find "the floor")
end)

test.finish()
