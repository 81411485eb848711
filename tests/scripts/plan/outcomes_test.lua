-- What a plan says of requests that its deployments do not complete: their outcome, never a lack of GPUs.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local json = require "rooflua.json"
local outcomes = require "rooflua.measure.outcomes"
local policy = require "rooflua.policy"
local tables = require "rooflua.plan.tables"

local has = test.has
local function has_not(text, part) test.check(not text:find(part, 1, true), "'%s' in %s", part, text) end

local one = { candidates = require "candidates.ladder" { tp = { 1 }, max_num_seqs = { 32 },
  max_num_batched_tokens = { 1024 } }, gpus = { { "h100-sxm", most = 4, price_per_hour = 3 } },
  load = { rate_per_s = 20 } }

local function with(base, more)
  local out = {}
  for key, value in pairs(base) do out[key] = value end
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

--- Text, page, document and the account of candidate 1 with spaces instead of line breaks.
local function told(done)
  local function flat(text) return (text:gsub("%s+", " ")) end
  return { text = flat(done.text), why = flat(tables.why(done, 1)), page = flat(setup.page_text(done)),
    document = json.decode(json.encode(done.document)) }
end

local Refusing = policy.define { name = "refusing", doc = "Refuses every third request.", refuses = true, params = {} }
function Refusing:route(request) return request.id % 3 ~= 0 and 1 end -- luacheck: ignore 212

test("requests that no replica completes are named by their outcome in text, account, page and document", function()
  for _, case in ipairs {
    { "exceeds_max_model_len", one, { deployment = { max_model_len = 250 } } },
    { "refused", one, { router = Refusing {} } },
  } do
    local outcome = case[1]
    local said = told(setup.report(case[2], case[3]))
    local own = said.document.candidates[1]
    test.at_least(own.not_completed[outcome], 1, outcome)
    local sentence = ("%d of 400 requests were not completed: %d %s"):format(own.not_completed[outcome],
      own.not_completed[outcome], outcome)
    test.equal(own.problem, sentence)
    for _, form in ipairs { "text", "why", "page" } do has(said[form], sentence) end
    has_not(said.text, "too few GPUs")
  end
end)

test("replicates that lose requests say so, and more replicas are not tried where they cannot help", function()
  local longest = setup.searched(one).question.drawn.longest
  local asked = with(one, { replicates = 10, confidence = 0.9, slo = { ttft_s_p99 = 5 } })
  local done = setup.report(asked, { deployment = { max_model_len = longest } })
  local said, sure = told(done), done.plan.unsure[1].sure
  test.equal(#done.plan.ranks, 0)
  test.equal(#done.plan.unsure, 1, "deployments that were looked at")
  test.equal(sure.lost.runs, sure.of - sure.met)
  test.equal(sure.lost.never, sure.lost.runs)
  local sentence = ("%d did not complete all requests: %d exceeds_max_model_len"):format(sure.lost.runs,
    sure.lost.by.exceeds_max_model_len)
  has(said.text, sentence)
  has(said.why, sentence)
  has(said.page, sentence)
  has_not(said.text, "too few GPUs")
  local own = said.document.unsure[1].slo.not_completed
  test.equal(own.replicates, sure.lost.runs)
  test.equal(own.by.exceeds_max_model_len, sure.lost.by.exceeds_max_model_len)
end)

test("GPUs are too few only where the load is above what they can serve", function()
  local done = setup.report({ load = { rate_per_s = 5 }, slo = { ttft_s_p99 = 20 } },
    { deployment = { max_model_len = 200 } })
  test.equal(#done.plan.ranks, 0)
  test.check(done.text:find("exceeds_max_model_len", 1, true), "%s", done.text)
  has_not(done.text, "too few GPUs")
  has_not(done.text, "least score")
  local flooded = setup.report({ load = { rate_per_s = 5000 } })
  test.check(flooded.text:find("\ntoo few GPUs: they serve at most ", 1, true), "%s", flooded.text)
  local mixed = setup.report({ load = { rate_per_s = 250 }, gpus = { { "l40s", most = 1, price_per_hour = 1 },
    { "h100-sxm", most = 16, price_per_hour = 3 } } }, { deployment = { max_model_len = 200 } })
  test.equal(#mixed.plan.ranks, 0)
  test.check(mixed.text:find("too few GPUs for %d+ of %d+ candidates that fit: "), "%s", mixed.text)
end)

test("outcomes of many runs are counted together, and none is left out", function()
  local lost = outcomes.not_completed { requests = 10, completed = 4, failed = { rejected = 1, refused = 2 } }
  test.equal(outcomes.text(lost), "6 of 10 requests were not completed: 1 rejected, 3 unfinished, 2 refused")
  test.equal(outcomes.not_completed { requests = 3, completed = 3, failed = {} }, nil)
  local all = outcomes.together({ lost, nil, lost }, 3)
  test.equal(all.runs, 2)
  test.equal(outcomes.list(all.by), "2 rejected, 6 unfinished, 4 refused")
  test.equal(outcomes.together({}, 3), nil)
end)

test.finish()
