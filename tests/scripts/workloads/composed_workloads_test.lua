-- Workloads that are made of others: a mix, a day, chats of several tenants.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local random = require "rooflua.random"
local serve, json = rooflua.serve, rooflua.json
local Chat, Day, Mix = require "workloads.chat", require "workloads.day", require "workloads.mix"
local MultiTurn, Poisson, Constant = require "workloads.multi_turn", require "workloads.poisson",
  require "workloads.constant"

local function scenario(workload, more)
  return scene({ seed = 3, workload = workload,
    steps = require "steps.roofline_v1" {} }, more)
end

local function ran(workload, more)
  local run = serve.open(scenario(workload, more))
  run:run()
  return run:result()
end

--- Everything that a workload sends if each answer takes a second: a list of { at_s, prompt, output, fields }.
local function sent(workload, seed)
  local state, out, alive = workload:requests(random.streams(seed or 3)), {}, {}
  local function take(at_s, prompt, output, fields)
    if type(at_s) == "table" then
      for _, each in ipairs(at_s) do take(each[1], each[2], each[3], each[4]) end
      return #at_s > 0
    end
    if not at_s then return false end
    out[#out + 1] = { at_s = at_s, prompt = prompt, output = output, fields = fields or {} }
    alive[#alive + 1] = out[#out]
    return true
  end
  while take(state.next(state)) do end
  local next_alive = 1
  while state.done and next_alive <= #alive do
    local each = alive[next_alive]
    next_alive = next_alive + 1
    take(state.done(state, each.at_s + 1, each.fields.session or -1, each.fields.class or 0, true, each.output))
    while state.more and take(state.more(state)) do end
  end
  return out, state
end

local function within(found, expected, error_of_it, what)
  test.check(math.abs(found - expected) <= 4 * error_of_it, "%s: expected %g within 4 times %g, found %g", what,
    expected, error_of_it, found)
end

-- Chats

test("chats have the turns and lengths of their collection", function()
  local list = sent(Chat { sessions = 4000, max_context_tokens = 1000000, system_tokens = 0 })
  local turns, several, more, prompts, outputs = {}, 0, 0, 0, 0
  local before = {}
  for _, each in ipairs(list) do
    local session = each.fields.session
    turns[session] = (turns[session] or 0) + 1
    prompts = prompts + each.prompt - (before[session] or 0)
    before[session] = each.prompt + each.output
    outputs = outputs + each.output
  end
  for _, count in pairs(turns) do
    several, more = several + (count > 1 and 1 or 0), more + (count > 10 and 1 or 0)
  end
  within(#list / 4000, 2.54, 3.8 / math.sqrt(4000), "turns")
  within(several / 4000, 0.41, math.sqrt(0.41 * 0.59 / 4000), "chats of several turns")
  within(more / 4000, 0.032, math.sqrt(0.032 * 0.968 / 4000), "chats of more than ten turns")
  within(outputs / #list, 441.34, 410.91 / math.sqrt(#list), "answer")
  within(prompts / #list, 280, 900 / math.sqrt(#list), "prompt, whose tail is cut")
end)

test("presets are the other collections", function()
  for name, means in pairs { sharegpt = { 3.51, 348.45, 269.93 }, lmsys = { 2.02, 200, 400 } } do
    local list = sent(Chat:preset(name) { sessions = 4000, max_context_tokens = 1000000, system_tokens = 0 })
    local outputs = 0
    for _, each in ipairs(list) do outputs = outputs + each.output end
    within(#list / 4000, means[1], 5 / math.sqrt(4000), name .. ": turns")
    within(outputs / #list, means[2], means[3] / math.sqrt(#list), name .. ": answer, whose tail is cut")
  end
end)

test("tenants have their shares, classes by name, and a system prompt each or one for all", function()
  local function of(parameters)
    parameters.sessions, parameters.turns, parameters.system_tokens = 3000, 2, 160
    return sent(MultiTurn(parameters))
  end
  local list, state = of { tenants = { acme = 6, beta = 3, other = 1 }, shared_system = false }
  test.equal(json.encode(state.classes), '["acme","beta","other"]')
  local counts, systems = { 0, 0, 0 }, {}
  for _, each in ipairs(list) do
    local tenant = (each.fields.class or 0) + 1
    counts[tenant] = counts[tenant] + 1
    systems[tenant] = systems[tenant] or each.fields.content[1][1]
    test.equal(each.fields.content[1][1], systems[tenant])
    test.equal(each.fields.content[1][2], 160)
  end
  for i, share in ipairs { 0.6, 0.3, 0.1 } do
    within(counts[i] / 6000, share, math.sqrt(share * (1 - share) / 3000), "share of tenant " .. i)
  end
  test.check(systems[1] ~= systems[2] and systems[2] ~= systems[3] and systems[1] ~= systems[3], "prompts differ")
  for _, each in ipairs((of { tenants = 3 })) do test.equal(each.fields.content[1][1], 1) end
end)

test("the system prompt of a tenant is computed once, and metrics have a row per tenant", function()
  local more = { deployment = { kv_blocks = 20000, block_size = 16 } }
  local function cached(parameters)
    parameters.sessions, parameters.turns, parameters.system_tokens, parameters.prompt_tokens = 40, 1, 1600, 16
    return ran(MultiTurn(parameters), more).summary
  end
  local one, own = cached { session_rate_per_s = 0.1 }, cached { session_rate_per_s = 0.1, tenants = 4,
    shared_system = false }
  test.equal(one.cached_tokens, 39 * 1600)
  test.equal(own.cached_tokens, 36 * 1600)
  test.equal(#own.classes, 4)
  local requests = 0
  for i, each in ipairs(own.classes) do
    test.equal(each.name, "tenant " .. i)
    requests = requests + each.completed
  end
  test.equal(requests, 40)
  test.raises("workload.shared_system: false changes nothing", function() ran(MultiTurn { shared_system = false }) end)
  test.raises("workload.tenants: expected a share > 0 of 'a'", function() ran(MultiTurn { tenants = { a = 0 } }) end)
  test.raises("workload.tenants: expected a whole number", function() ran(MultiTurn { tenants = 1.5 }) end)
end)

-- Mixes

local function chats(more)
  local out = { sessions = 30, session_rate_per_s = 1, turns = 3, think_time_s = 1, system_tokens = 100,
    prompt_tokens = { distribution = "uniform", min = 20, max = 200 }, output_tokens = 30 }
  for key, value in pairs(more or {}) do out[key] = value end
  return MultiTurn(out)
end
local function reports(rate)
  return Poisson { rate_per_s = rate or 2, num_requests = 50, output_tokens = 20,
    prompt_tokens = { distribution = "uniform", min = 100, max = 900 }, prefix_tokens = 64 }
end

local function text_of(list)
  local lines = {}
  for i, each in ipairs(list) do
    lines[i] = ("%.17g %d %d"):format(each.at_s, each.prompt, each.output)
  end
  table.sort(lines)
  return table.concat(lines, "\n")
end

test("a mix of one part is the part, byte for byte", function()
  for _, make in ipairs { chats, reports } do
    local alone = ran(make())
    local mixed = ran(Mix { parts = { { name = "all", workload = make() } } })
    mixed.summary.classes, alone.summary.classes = nil, nil
    test.equal(json.encode(mixed.summary), json.encode(alone.summary))
  end
end)

test("a part sends the same whatever is beside it, and its contents are its own", function()
  local function part_of(list, class)
    local out, contents = {}, {}
    for _, each in ipairs(list) do
      if each.fields.class == class then
        out[#out + 1] = each
        for _, segment in ipairs(each.fields.content) do contents[segment[1]] = true end
      end
    end
    contents[0] = nil
    return text_of(out), contents
  end
  local parts = { { name = "chat", workload = chats(), priority = 0 }, { name = "report", workload = reports(),
    priority = 5 } }
  local list, state = sent(Mix { parts = parts })
  test.equal(json.encode(state.classes), '["chat","report"]')
  local chat, in_chats = part_of(list, 0)
  local report, in_reports = part_of(list, 1)
  test.equal(chat, text_of((sent(chats()))))
  for id in pairs(in_chats) do test.check(not in_reports[id], "content %s is in both", id) end
  parts[1].workload = chats { sessions = 7, session_rate_per_s = 0.3 }
  test.equal(select(1, part_of(sent(Mix { parts = parts }), 1)), report)
  for _, each in ipairs(list) do test.equal(each.fields.priority, each.fields.class * 5) end
  local sessions = {}
  for _, each in ipairs(list) do
    if each.fields.class == 0 then sessions[each.fields.session] = true end
  end
  local count = 0
  for _ in pairs(sessions) do count = count + 1 end
  test.equal(count, 30)
end)

test("classes of a mix have rows and limits by their names, tenants of a part among them", function()
  local workload = Mix { parts = { { name = "chat", workload = chats { tenants = { acme = 1, beta = 1 } } },
    { name = "report", workload = reports(), priority = 1 } } }
  local summary = ran(workload, { slo = { ttft_s = 1e-9, classes = { report = { ttft_s = 1000 } } } }).summary
  local names = {}
  for i, each in ipairs(summary.classes) do names[i] = each.name end
  test.equal(table.concat(names, "; "), "chat, acme; chat, beta; report")
  test.equal(summary.classes[3].completed, 50)
  test.near(summary.goodput_per_s, 50 / summary.duration_s, 1e-9)
end)

test("a mix inside a mix, cancels of a part, and copies of both", function()
  local workload = Mix { parts = {
    { name = "rl", workload = require "workloads.rollout" { batches = 3, prompts = 4, samples = 2, over_sampling = 2,
      rest = "continue", output_tokens = { distribution = "uniform", min = 5, max = 90 }, prompt_tokens = 50 } },
    { name = "people", workload = Mix { parts = { { name = "chat", workload = chats() },
      { name = "report", workload = reports() } } } } } }
  local run = serve.open(scenario(workload))
  local forks = {}
  for i = 1, 8 do
    run:step(20)
    forks[i] = run:fork()
  end
  run:run()
  local summary = run:result().summary
  test.at_least(summary.failed.cancelled, 1)
  test.equal(summary.requests, summary.completed + summary.failed.cancelled)
  test.equal(summary.classes[3].name, "people, report")
  for _, fork in ipairs(forks) do
    fork:run()
    test.equal(json.encode(fork:result().summary), json.encode(summary))
  end
end)

test("what a mix leaves out is counted by part", function()
  local result = ran(Mix { parts = { { name = "chat", workload = chats { max_context_tokens = 300 } },
    { name = "report", workload = reports() } } })
  test.check(json.encode(result.left_out):find("chat: past max_context_tokens", 1, true), json.encode(result.left_out))
end)

test("mistakes of a mix name the part", function()
  for message, parts in pairs {
    ["workload.parts: expected a list of 1 to 31"] = {},
    ["workload.parts[2]: name: 'a' is that of part 1"] = { { name = "a", workload = reports() },
      { name = "a", workload = reports() } },
    ["workload.parts[1]: unknown key 'share'"] = { { name = "a", share = 1, workload = reports() } },
    ["workload.parts[1].workload: expected a workload such as"] = { { name = "a", workload = "poisson" } },
    ["workload.parts[1]: workload: requests that depend on each other"] = { { name = "a",
      workload = require "workloads.agent" {} } },
    ["workload.parts[1]: priority: expected a whole number"] = { { name = "a", priority = 0.5, workload = reports() } },
  } do
    test.raises(message, function() ran(Mix { parts = parts }) end)
  end
end)

-- Days

local function even(count) return Constant { rate_per_s = 2, num_requests = count } end
local function hourly(parameters, count)
  parameters.of = even(count)
  parameters.hour_s = 100
  local counts = {}
  for _, each in ipairs((sent(Day(parameters)))) do
    local hour = math.floor(each.at_s / 100 - 1e-12)
    counts[hour + 1] = (counts[hour + 1] or 0) + 1
  end
  return counts
end

test("each hour has its share of the requests, and the mean rate stays", function()
  local counts = hourly({ peak_to_trough = 3, peak_hour = 10 }, 24 * 200)
  for hour = 0, 23 do
    test.near(counts[hour + 1], 200 * (1 + 0.5 * math.cos(2 * math.pi * (hour - 10) / 24)), 1.001)
  end
  test.near(counts[11] / counts[23], 3, 0.04)
  local weeks = { 1, 1, 1, 1, 1, 0.5, 0 }
  local hours = {}
  for i = 1, 24 do hours[i] = i <= 12 and 1 or 3 end
  counts = hourly({ hours = hours, weekdays = weeks }, 7 * 24 * 200)
  for i = 0, 6 do
    for hour = 0, 23 do
      test.near(counts[i * 24 + hour + 1] or 0, 200 * (hour < 12 and 0.5 or 1.5) * weeks[i + 1] * 7 / 5.5, 1.001)
    end
  end
  counts = hourly({ hours = hours, weekdays = weeks, start_hour = 5 * 24 + 6 }, 24 * 200)
  test.near(counts[1], 200 * 0.5 * 0.5 * 7 / 5.5, 1.001, "Saturday, six in the morning")
  test.equal(counts[19 + 3], nil, "Sunday")
end)

test("the old clock can be read from the new one: no arrival is lost or changes its order", function()
  local of = Poisson { rate_per_s = 2, num_requests = 3000 }
  local before, after = sent(of), sent(Day { of = of, hour_s = 40, peak_to_trough = 6 })
  local swing = 5 / 7
  for i, each in ipairs(after) do
    local hours, amount = math.floor(each.at_s / 40), 0
    for h = 0, hours do
      amount = amount + math.min(40, each.at_s - 40 * h) * (1 + swing * math.cos(2 * math.pi * (h - 14) / 24))
    end
    test.near(amount, before[i].at_s, 1e-6 * (1 + before[i].at_s))
    test.equal(each.prompt, before[i].prompt)
  end
end)

test("noise is drawn by the seed, has the mean 1, and moves no other draw", function()
  local function of(noise, seed)
    return (sent(Day { of = Poisson { rate_per_s = 1, num_requests = 20000, prompt_tokens = { distribution = "uniform",
      min = 1, max = 100 } }, hour_s = 10, peak_to_trough = 1, noise = noise }, seed))
  end
  local calm, noisy, again, other = of(0, 1), of(0.5, 1), of(0.5, 1), of(0.5, 2)
  test.equal(text_of(noisy), text_of(again))
  test.check(noisy[100].at_s ~= other[100].at_s and noisy[100].at_s ~= calm[100].at_s, "no noise")
  for i = 1, 200 do test.equal(noisy[i].prompt, calm[i].prompt) end
  within(noisy[20000].at_s / 20000, 1, math.sqrt((math.exp(0.25) - 1) * 10 / 20000) + 0.01, "mean rate")
end)

test("a day holds a mix, chats and plays; pauses stay as they are", function()
  local fixed = { prompt_tokens = 70 }
  local plain, moved = ran(chats(fixed)), ran(Day { of = chats(fixed), hour_s = 5 })
  test.equal(moved.summary.requests, plain.summary.requests)
  test.equal(moved.summary.prompt_tokens, plain.summary.prompt_tokens)
  local flat = ran(Day { of = chats(fixed), peak_to_trough = 1 })
  test.near(flat.summary.duration_s, plain.summary.duration_s, 1e-6)
  local mixed = ran(Day { of = Mix { parts = { { name = "chat", workload = chats() },
    { name = "report", workload = reports() } } }, hour_s = 5 })
  test.equal(mixed.summary.classes[2].name, "report")
  local agents = require "workloads.agent" { plays = 4, play_rate_per_s = 0.5, turns = 2, system_tokens = 200,
    first_tokens = 100, sub_agent_probability = 0, side_probability = 0, pause_probability = 0 }
  test.equal(ran(Day { of = agents, hour_s = 5 }).summary.plays.completed, 4)
  test.raises("workload.of: plays in lanes", function() ran(Day { of = require "workloads.agent" {} }) end)
  test.raises("workload.of: expected a workload such as", function() ran(Day {}) end)
  test.raises("workload.hours: expected a list of 24", function() ran(Day { of = reports(), hours = { 1, 2 } }) end)
  test.raises("workload.peak_hour: hours say all of it", function()
    local hours = {}
    for i = 1, 24 do hours[i] = i end
    ran(Day { of = reports(), hours = hours, peak_hour = 3 })
  end)
  test.raises("workload.weekdays: all rates are 0", function()
    ran(Day { of = reports(), weekdays = { 0, 0, 0, 0, 0, 0, 0 } })
  end)
end)

-- Plans

test("plans and forecasts see all turns of a mix, and multiply the rates of its parts", function()
  local load = require "rooflua.machine.load"
  local function question(workload) return { workload = workload, seed = 1, load = { kind = "recorded", peak = 1 } } end
  local mix = Mix { parts = { { name = "chat", workload = chats { prompt_tokens = 50, sessions = 20 } },
    { name = "report", workload = reports() } } }
  test.equal(load.drawn(question(mix)).count, 20 * 3 + 50)
  test.equal(load.drawn(question(Day { of = mix })).count, 20 * 3 + 50)
  test.check(load.is_scalable(question(Day { of = mix })), "a multiple of it is another load")
  local double = load.workload(question(Day { of = mix, noise = 0.5 }), nil, 2)
  test.equal(double.noise, 0.5)
  test.equal(double.of.parts[1].workload.session_rate_per_s, 2)
  test.equal(double.of.parts[2].workload.rate_per_s, 4)
  local loop = Mix { parts = { { name = "loop", workload = require "workloads.closed_loop" {} } } }
  test.check(not load.is_scalable(question(loop)), "no multiple of clients")
  local rollout = require "workloads.rollout" { prompts = 3, samples = 2, batches = 4, output_tokens = 9 }
  test.equal(load.drawn(question(rollout)).count, 24)
end)

test.finish()
