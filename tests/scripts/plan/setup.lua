-- Questions for the tests of plans: a step model of two constants and GPUs of different speed, so that a plan takes
-- milliseconds.
local against_load = require "rooflua.plan.against_load"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local page = require "rooflua.plan.page"
local policy = require "rooflua.policy"
local opening = require "rooflua.runs.opening"
local run = require "rooflua.plan.run"
local search = require "rooflua.plan.search"

dofile "tests/scripts/plan/in_process.lua"

local setup = {}

--- step = base_s * slow / tp + token_s * tokens + seq_s * decodes; `slow` grows with the bandwidth that a GPU lacks.
local function constants(name, monotone)
  local class = policy.define { name = name, doc = "Two constants.", monotone = monotone, params = {
    base_s = { default = 0.004, unit = "s", doc = "Of a step." },
    token_s = { default = 4e-6, unit = "s", doc = "Of a prompt's token." },
    decode_s = { default = 2e-5, unit = "s", doc = "Of a decode." },
    dip = { default = 0, unit = "1", doc = "How much cheaper a step of 7 decodes is." } } }
  function class:bind(context)
    self.slow = 3.35e12 / context.hardware.memory_bytes_per_s
    self.tp = context.deployment.tp
  end
  function class:signature() return "" end -- luacheck: ignore 212
  class.follows_context = true
  function class:time(item)
    local prefill = item.tokens - item.decode_tokens
    local time_s = self.slow * (self.base_s + self.token_s * prefill + self.decode_s * item.decodes) / self.tp ^ 0.8
    if self.dip > 0 and item.decodes == 7 then time_s = time_s * (1 - self.dip) end
    return time_s
  end
  return class
end

setup.Constants = constants("two_constants", true)
setup.Undeclared = constants("two_constants_undeclared", nil)

--- A scenario of kind "plan". `more` replaces keys of the plan, `top` keys of the scenario.
function setup.scenario(more, top)
  local out = { rooflua = 1, kind = "plan", model = "llama-3.1-8b", seed = 1, steps = setup.Constants {},
    workload = require "workloads.poisson" { prompt_tokens = { distribution = "lognormal", mean = 300, sigma = 0.5,
      max = 2000 }, output_tokens = { distribution = "lognormal", mean = 20, sigma = 0.5, max = 100 } } }
  local plan = { load = { rate_per_s = 60 }, slo = { ttft_s_p99 = 0.4, tpot_s_p99 = 0.02 },
    gpus = { { "h100-sxm", most = 16, price_per_hour = 3 }, { "l40s", most = 16, price_per_hour = 1 } },
    requests = 400, replicates = 0, strategy = require "strategies.exhaustive" {},
    candidates = require "candidates.ladder" { tp = { 1, 2 }, max_num_seqs = { 8, 32 },
      max_num_batched_tokens = { 256, 1024 } } }
  for key, value in pairs(more or {}) do plan[key] = value end
  out.plan = plan
  for key, value in pairs(top or {}) do out[key] = value end
  return out
end

--- {question, found} of a scenario: the search alone, in this process.
function setup.searched(more, top)
  local opened = opening.table(setup.scenario(more, top), {})
  local question = run.check(opened.reader, opened.given)
  question.in_process = true
  return { question = question, found = search.run(question) }
end

--- {question, found, plan} of a scenario.
function setup.answer(more, top, jobs)
  local opened = opening.table(setup.scenario(more, top), {})
  return run.all(opened.reader, opened.given, { jobs = jobs or 1 })
end

--- The same with text and document.
function setup.report(more, top, jobs) return run.report(setup.answer(more, top, jobs)) end

--- "3 x H100, tp 1, ..." of the deployments that were verified, the best first: names with replicas.
function setup.ranking(done)
  local out = {}
  for _, candidate in ipairs(done.found.left) do
    local result = candidate.result
    if result and result.score and candidate.ended == "in full" then
      out[#out + 1] = { score = result.score, text = ("%.6g %d x %s"):format(result.score, result.replicas,
        candidate.name) }
    end
  end
  table.sort(out, function(a, b)
    if a.score ~= b.score then return a.score < b.score end
    return a.text < b.text
  end)
  return out
end

--- All texts of a plan's page, one after another, but for the text of the terminal where it is folded away.
function setup.page_text(done)
  local out = {}
  local function add(value)
    if type(value) == "string" then out[#out + 1] = value end
    if type(value) == "table" then
      for _, key in ipairs(core.sorted_keys(value)) do add(value[key]) end
    end
  end
  local text = #done.plan.ranks == 0 and done.text or ""
  add(json.decode(json.encode(page.of(done, text, against_load.of(done.question, done.plan)))))
  return table.concat(out, "\n")
end

return setup
