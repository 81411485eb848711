-- Workloads of stages over shared prefixes, and of conversations of a fixed number of clients: what is sent, when, and
-- with which content.
local test = dofile "tests/scripts/harness.lua"
local random = require "rooflua.random"
local serve = require "rooflua.serve"

local Stages, Conversations = require "workloads.shared_prefix_stages", require "workloads.conversations"

--- Everything that a workload sends if each answer takes `takes_s`: a list of {at_s, prompt, output, fields, end_s}.
local function sent(workload, takes_s)
  local state, out, alive = workload:requests(random.streams(3)), {}, {}
  local function take(at_s, prompt, output, fields)
    if not at_s then return false end
    out[#out + 1] = { at_s = at_s, prompt = prompt, output = output, fields = fields, end_s = at_s + takes_s }
    alive[#alive + 1] = out[#out]
    return true
  end
  while take(state.next(state)) do end
  while #alive > 0 do
    table.sort(alive, function(a, b) return a.end_s < b.end_s end)
    local first = table.remove(alive, 1)
    take(state.done(state, first.end_s, first.fields.session or -1, first.fields.class or 0, true))
    while state.more and take(state.more(state)) do end
  end
  table.sort(out, function(a, b) return a.at_s < b.at_s end)
  return out
end

local function of_stage(list, class)
  local out = {}
  for _, each in ipairs(list) do
    if each.fields.class == class then out[#out + 1] = each end
  end
  return out
end

local function content_of(each)
  local out = {}
  for i, segment in ipairs(each.fields.content) do out[i] = ("%d:%d"):format(segment[1], segment[2]) end
  return table.concat(out, " ")
end

local two = { { rate_per_s = 10, duration_s = 3 }, { rate_per_s = 20, duration_s = 2 } }

test("a stage sends rate x duration requests, and the next one begins gap_s after its last answer", function()
  for _, arrivals in ipairs { "poisson", "constant", "even" } do
    local list = sent(Stages { stages = two, arrivals = arrivals, gap_s = 7 }, 5)
    local first, second = of_stage(list, 0), of_stage(list, 1)
    test.equal(#first, 30, arrivals)
    test.equal(#second, 40, arrivals)
    local last_end = first[30].at_s + 5
    test.check(second[1].at_s > last_end + 7, arrivals)
    test.check(second[40].at_s <= last_end + 7 + 4, "%s: %g", arrivals, second[40].at_s)
  end
end)

test("constant fills the stage, even has equal gaps, poisson fills seconds", function()
  local constant = sent(Stages { stages = { two[1] }, arrivals = "constant" }, 1)
  test.near(constant[30].at_s, 3, 1e-9)
  test.check(math.abs(constant[2].at_s - constant[1].at_s - (constant[3].at_s - constant[2].at_s)) > 1e-6, "drawn")
  local even = sent(Stages { stages = { two[1] }, arrivals = "even" }, 1)
  for i, each in ipairs(even) do test.near(each.at_s, i / 10, 1e-9) end
  local poisson = sent(Stages { stages = { { rate_per_s = 50, duration_s = 20 } } }, 1)
  local counts = {}
  for _, each in ipairs(poisson) do
    local second = math.ceil(each.at_s - 1e-9)
    counts[second] = (counts[second] or 0) + 1
  end
  local different = {}
  for second = 1, 16 do different[counts[second] or 0] = true end
  local kinds = 0
  for _ in pairs(different) do kinds = kinds + 1 end
  test.at_least(kinds, 6, "counts of seconds")
end)

test("prompts are shuffled once, asked in turn, and every stage begins with the first", function()
  local list = sent(Stages { groups = 3, prompts_per_group = 4, shared_prefix_tokens = 50, question_tokens = 7,
    stages = two }, 0.1)
  local first, second = of_stage(list, 0), of_stage(list, 1)
  local seen, groups = {}, {}
  for i = 1, 12 do
    local content = content_of(first[i])
    test.check(not seen[content], "sent twice: %s", content)
    seen[content] = true
    groups[first[i].fields.content[1][1]] = (groups[first[i].fields.content[1][1]] or 0) + 1
    test.equal(content_of(first[i + 12]), content)
    test.equal(content_of(second[i]), content)
    test.equal(first[i].prompt, 57)
    test.equal(first[i].fields.max_output_tokens, 128)
  end
  for group = 1, 3 do test.equal(groups[group], 4) end
  local sorted = true
  for i = 2, 12 do sorted = sorted and first[i].fields.content[1][1] >= first[i - 1].fields.content[1][1] end
  test.check(not sorted, "not shuffled")
end)

test("a limit of requests under way, and clients, hold requests back", function()
  local function most(list)
    local peak = 0
    for _, each in ipairs(list) do
      local open = 0
      for _, other in ipairs(list) do open = open + (other.at_s <= each.at_s and each.at_s < other.end_s and 1 or 0) end
      peak = math.max(peak, open)
    end
    return peak
  end
  test.equal(most(sent(Stages { stages = { two[1] }, max_in_flight = 4 }, 2)), 4)
  local stages = { { clients = 3, requests = 10 }, { clients = 5, requests = 11 } }
  local loop = sent(Stages { stages = stages, gap_s = 2 }, 2)
  test.equal(#loop, 21)
  test.equal(most(of_stage(loop, 0)), 3)
  test.equal(most(of_stage(loop, 1)), 5)
  test.equal(loop[1].at_s, 0)
  test.equal(loop[3].at_s, 0)
  test.equal(loop[4].at_s, 2)
end)

test("without groups no prompt shares anything", function()
  for _, each in ipairs(sent(Stages { groups = 0, shared_prefix_tokens = 0, question_tokens = 9, stages = two }, 1)) do
    test.equal(each.fields.content, nil)
    test.equal(each.prompt, 9)
  end
end)

test("mistakes in stages name their key", function()
  for part, stages in pairs {
    ["workload.stages: expected a list"] = {},
    ["workload.stages[1].rate_per_s: expected a number above 0, found -1"] = { { rate_per_s = -1, duration_s = 3 } },
    ["workload.stages[2]: unknown key 'rate'"] = { two[1], { rate = 1 } },
    ["workload.stages[1]: has clients"] = { { clients = 2, requests = 4, rate_per_s = 1 } },
    ["workload.stages[1].requests: expected a whole number above 0, found 1.5"] = { { clients = 2, requests = 1.5 } },
    ["less than one request"] = { { rate_per_s = 0.1, duration_s = 3 } },
  } do
    test.raises(part, function() Stages { stages = stages }:requests(random.streams(1)) end)
  end
end)

test("a run has a class per stage, and completes all", function()
  local summary = serve.run { model = "llama-3.1-8b", hardware = "h100", replicas = 2, workload = Stages { stages = two,
    gap_s = 1 } }.summary
  test.equal(summary.completed, 70)
end)

-- Conversations ---------------------------------------------------------------------------------------------------

test("a turn repeats the history of its conversation, with the answers", function()
  local list = sent(Conversations { conversations = 4, clients = 2, num_requests = 12, turns = 3, shared_tokens = 10,
    private_tokens = 100, prompt_tokens = 5, output_tokens = 7 }, 1)
  test.equal(#list, 12)
  local prompts = {}
  for _, each in ipairs(list) do prompts[each.prompt] = (prompts[each.prompt] or 0) + 1 end
  test.equal(prompts[115], 4)
  test.equal(prompts[127], 4)
  test.equal(prompts[139], 4)
  local by_session = {}
  for _, each in ipairs(list) do
    local before = by_session[each.fields.session]
    if before and each.prompt > before.prompt then
      test.equal(content_of(each):sub(1, #content_of(before)), content_of(before))
      test.equal(each.fields.content[#each.fields.content - 1][1], before.fields.output_content)
    end
    by_session[each.fields.session] = each
  end
end)

test("after the last conversation the first is played again, with the same content", function()
  local list = sent(Conversations { conversations = 2, clients = 1, num_requests = 8, turns = 2,
    prompt_tokens = { distribution = "uniform", min = 5, max = 500 } }, 1)
  for i = 1, 4 do test.equal(content_of(list[i + 4]), content_of(list[i])) end
end)

test("a conversation ends before a turn that would exceed the context, and pauses are kept", function()
  local list = sent(Conversations { conversations = 3, clients = 1, num_requests = 6, turns = 9, prompt_tokens = 10,
    output_tokens = 10, max_context_tokens = 45, pause_s = 3 }, 1)
  local prompts = {}
  for i, each in ipairs(list) do prompts[i] = each.prompt end
  test.equal(table.concat(prompts, " "), "10 30 10 30 10 30")
  test.equal(list[2].at_s, 4)
end)

test.finish()
