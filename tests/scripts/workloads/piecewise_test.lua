-- Rates and lengths by interval: each has its requests, lengths have their means, and mistakes name the interval.
local test = dofile "tests/scripts/harness.lua"
local Piecewise = require "workloads.piecewise"
local random = require "rooflua.random"

local function drawn(parameters, seed)
  local state, out = Piecewise(parameters):requests(random.streams(seed or 1)), {}
  while true do
    local at, prompt, output, fields = state.next(state)
    if not at then return out end
    out[#out + 1] = { at = at, prompt = prompt, output = output, content = fields and fields.content }
  end
end

local function within(list, from, to)
  local out = { count = 0, prompt = 0, output = 0 }
  for _, each in ipairs(list) do
    if each.at >= from and each.at < to then
      out.count, out.prompt, out.output = out.count + 1, out.prompt + each.prompt, out.output + each.output
    end
  end
  return out
end

local intervals = { { duration_s = 10, rate_per_s = 2.05, prompt_tokens = 100.25, output_tokens = 10 },
  { duration_s = 5, rate_per_s = 0, prompt_tokens = 1, output_tokens = 1 },
  { duration_s = 20, rate_per_s = 40, prompt_tokens = 300, output_tokens = 7.5, shared_frac = 0.5 } }

test("an interval has its number of requests, and fractions of one are kept", function()
  local list = drawn { intervals = intervals }
  local first, second, third = within(list, 0, 10), within(list, 10, 15), within(list, 15, 35)
  test.equal(first.count, 20)
  test.equal(second.count, 0)
  test.equal(third.count, 800)
  test.equal(#list, 820)
  test.equal(first.prompt, 2005)
  test.equal(third.output, 6000)
  for i = 2, #list do test.check(list[i].at >= list[i - 1].at, "request %d comes before the one in front", i) end
  test.equal(#drawn { intervals = { { duration_s = 1, rate_per_s = 0.5, prompt_tokens = 1, output_tokens = 1 },
    { duration_s = 1, rate_per_s = 0.5, prompt_tokens = 1, output_tokens = 1 } } }, 1)
end)

test("arrivals that are drawn have the rate within four standard errors, and others from seed to seed", function()
  local own = { intervals = intervals, arrivals = "poisson" }
  local one, other = within(drawn(own), 15, 35).count, within(drawn(own, 2), 15, 35).count
  test.check(math.abs(one - 800) < 4 * math.sqrt(800), "%d requests", one)
  test.check(one ~= other, "both seeds have %d", one)
end)

test("lengths that are spread keep their mean and their most", function()
  local list = drawn { intervals = { { duration_s = 100, rate_per_s = 100, prompt_tokens = 400, output_tokens = 50 } },
    prompt_sigma = 0.5, output_sigma = 1, most_output_tokens = 100 }
  local sum, most = 0, 0
  for _, each in ipairs(list) do sum, most = sum + each.prompt, math.max(most, each.output) end
  test.near(sum / #list, 400, 4 * 0.53 / math.sqrt(#list))
  test.equal(most, 100)
end)

test("a shared part is the beginning of each prompt", function()
  local list = drawn { intervals = intervals }
  test.equal(list[1].content, nil)
  local last = list[#list]
  test.equal(last.content[1][1], 1)
  test.equal(last.content[1][2], 150)
  test.equal(last.content[1][2] + last.content[2][2], last.prompt)
end)

test("mistakes name the interval and its key", function()
  local good = intervals[1]
  local function with(key, value)
    local own = {}
    for name, each in pairs(good) do own[name] = each end
    own[key] = value
    return { own }
  end
  for problem, list in pairs {
    ["workload.intervals: expected a list"] = {}, ["workload.intervals[1]: expected { duration_s"] = { 7 },
    ["workload.intervals[1].rate_per_s: expected a number from 0"] = with("rate_per_s", -1),
    ["workload.intervals[1].duration_s: expected a number"] = with("duration_s", 0),
    ["workload.intervals[1].prompt_tokens: expected a number from 1"] = with("prompt_tokens", 0 / 0),
    ["workload.intervals[1]: unknown key 'rate'"] = with("rate", 1),
    ["less than one request"] = with("rate_per_s", 1e-3),
  } do
    test.raises(problem, function() drawn { intervals = list } end)
  end
  test.raises("found nothing", function() drawn { intervals = { { rate_per_s = 1 } } } end)
end)

test.finish()
