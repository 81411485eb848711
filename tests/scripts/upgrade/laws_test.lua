-- Laws of `rooflua upgrade` on random deployments: to the same release nothing changes, two upgrades in a row are one,
-- parts add up to the whole, and a rule that is listed changes the answer where it is put back. 12 deployments; with
-- ROOFLUA_SCENARIOS=2000 so many.
local test = dofile "tests/scripts/harness.lua"
local catalogue = require "rooflua.engines.catalogue"
local command = require "rooflua.upgrade.command"
local effects = require "rooflua.upgrade.effects"
local figures = require "rooflua.upgrade.figures"
local json = require "rooflua.json"
local random = require "rooflua.random"
local rules = require "rooflua.upgrade.rules"
local sides = require "rooflua.upgrade.sides"

local count = tonumber(os.getenv "ROOFLUA_SCENARIOS" or 12)
local stream = random.streams(21):stream "deployments"
local function pick(list) return list[stream:integer(1, #list)] end

local launches = {
  vllm = { "vllm serve %s --tensor-parallel-size %d", "--max-num-seqs 64", "--gpu-memory-utilization 0.85",
    "--max-num-batched-tokens 4096", "--kv-cache-dtype fp8", "--enforce-eager" },
  sglang = { "python -m sglang.launch_server --model-path %s --tp-size %d", "--max-running-requests 64",
    "--mem-fraction-static 0.8", "--chunked-prefill-size 4096", "--disable-radix-cache" },
  trtllm = { "trtllm-serve %s --tp_size %d", "--max_batch_size 64", "--max_num_tokens 4096" },
}

--- {command, hardware, engine} of a random deployment.
local function deployment()
  local engine = pick { "vllm", "vllm", "sglang", "trtllm" }
  local launch = launches[engine]
  local words = { launch[1]:format(pick { "llama-3.1-8b", "qwen3-32b", "qwen3-30b-a3b", "gpt-oss-20b",
    "qwen3-next-80b-a3b" }, pick { 1, 2, 4 }) }
  for i = 2, #launch do
    if stream:uniform() < 0.3 then words[#words + 1] = launch[i] end
  end
  return { command = table.concat(words, " "), hardware = pick { "h100", "h200", "b200", "a100", "l40s" },
    engine = engine, set = {} }
end

--- Releases of an engine at random places, in their order.
local function releases(engine, wanted)
  local all, out = catalogue.of(engine).releases, {}
  local first = math.max(1, #all - 20) -- the newest twenty, of which the flags are alike
  for i = 1, wanted do out[i] = stream:integer(first, #all) end
  table.sort(out)
  for i, place in ipairs(out) do out[i] = engine .. " " .. all[place].name end
  return out
end

--- The answer about a deployment; nil where one of the releases refuses its options.
local function answer_of(asked, from, to)
  local ok, before, after, options = pcall(sides.of, { command = asked.command, hardware = asked.hardware, set = {},
    from = from, to = to })
  if not ok then return nil, before end
  return command.answer(before, after, options, false, {}), before, after
end

local function is_near(a, b) return math.abs(a - b) <= 1e-9 * math.max(1, math.abs(a), math.abs(b)) end

--- Every value of a group of several effects is the sum of them.
local function check_sum(answer, group)
  local sums = {}
  local function add(values)
    for name, value in pairs(values) do sums[name] = (sums[name] or 0) + value end
  end
  for _, rule in ipairs(answer.rules) do add(rule.effect[group]) end
  add(answer.rest[group])
  for name, value in pairs(answer.all[group]) do
    test.check(is_near(sums[name] or 0, value), "%s of the parts: %s, of the whole %s", name, tostring(sums[name]),
      tostring(value))
  end
end

local asked, refused, listed = {}, 0, 0
for i = 1, count do asked[i] = deployment() end

test("to the same release nothing changes", function()
  for _, each in ipairs(asked) do
    local release = releases(each.engine, 1)[1]
    local answer = answer_of(each, release, release)
    if answer then
      test.check(answer.same and #answer.rules == 0 and answer.without_effect == 0, "%s on %s, %s", each.command,
        each.hardware, release)
    end
  end
end)

test("parts add up to the whole, and two upgrades in a row are one", function()
  for _, each in ipairs(asked) do
    local list = releases(each.engine, 3)
    local first, second, whole = answer_of(each, list[1], list[2]), answer_of(each, list[2], list[3]),
      answer_of(each, list[1], list[3])
    if first and second and whole then
      for _, answer in ipairs { first, second, whole } do
        check_sum(answer, "memory")
        check_sum(answer, "steps")
        listed = listed + #answer.rules
      end
      test.equal(json.encode(first.capacity.after), json.encode(second.capacity.before), each.command)
      test.equal(json.encode(whole.capacity.before), json.encode(first.capacity.before), each.command)
      test.equal(json.encode(whole.capacity.after), json.encode(second.capacity.after), each.command)
    else
      refused = refused + 1
    end
  end
  test.check(refused <= count / 2, "%d of %d deployments are refused", refused, count)
  test.at_least(listed, count / 4)
end)

test("a rule that is listed changes the answer on one of the sides; one that is not does not", function()
  local seen = 0
  for i, each in ipairs(asked) do
    local list = releases(each.engine, 2)
    local answer, before, after = answer_of(each, list[1], list[2])
    if answer and i % 3 == 0 then
      local steps = figures.steps { figures.memory(before), figures.memory(after) }
      local is_listed, both = {}, { { before, after }, { after, before } }
      for _, rule in ipairs(answer.rules) do is_listed[rule.name] = true end
      for _, rule in ipairs(rules.changed(before.decided, after.decided)) do
        local acts, problems = false, 0
        for _, pair in ipairs(both) do
          local side, other = pair[1], pair[2]
          local found = figures.of(side, rules.exchanged(side.decided, other.decided, { rule.name }), steps, false)
          local problem = found.memory.problem or found.steps.problem
          problems = problems + (problem and 1 or 0)
          acts = acts or not problem
            and effects.acts(effects.between(figures.of(side, nil, steps, false), found, steps))
        end
        test.equal(acts or problems == 2, is_listed[rule.called] == true, each.command .. ": " .. rule.name)
        seen = seen + 1
      end
    end
  end
  test.at_least(seen, count / 4)
end)

test("all rules put back are the release before, but for what follows from its flags", function()
  local same, all = 0, 0
  for _, each in ipairs(asked) do
    local list = releases(each.engine, 2)
    local answer, before, after = answer_of(each, list[1], list[2])
    if answer and list[1] ~= list[2] then
      local names = {}
      for i, rule in ipairs(rules.changed(before.decided, after.decided)) do names[i] = rule.name end
      local found = figures.memory(after, rules.exchanged(after.decided, before.decided, names))
      all = all + 1
      same = same + (found.kv_tokens == answer.capacity.before.kv_tokens and 1 or 0)
    end
  end
  test.check(same >= 0.9 * all, "%d of %d have the same KV tokens", same, all)
end)

test.finish()
