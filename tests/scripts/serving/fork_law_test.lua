-- A fork that runs changes nothing of the simulation that it was made of, with any policy of the program: that one
-- ends as it ends alone, and so does the fork.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"
local effects = dofile("tests/scripts/effects/scenes.lua").of(test)

--- Kinds whose policies answer while a simulation runs.
local kinds = { "acceptance", "speculators", "drafters", "metrics", "routers", "schedulers", "workloads", "tiers",
  "eviction", "deciders", "clients", "faults", "admission", "autoscalers", "balancers", "steps", "corrections" }

local most_steps = 400 -- the longest scenes are cut: state that is shared shows before

--- A table as text, in the order of its keys.
local function dumped(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for _, key in ipairs(core.sorted_keys(value)) do parts[#parts + 1] = key .. "=" .. dumped(value[key]) end
  return "{" .. table.concat(parts, " ") .. "}"
end

local function text(simulation) return dumped(simulation:result().summary) end

local function opened(given) return serve.open(given, { remember = false }) end

local function served(scene)
  if scene.kind and scene.kind ~= "serve" then
    scene.kind, scene.price, scene.static = nil, nil, nil
    scene.workload = require "workloads.poisson" { rate_per_s = 40, num_requests = 12, prompt_tokens = 300,
      output_tokens = 20 }
  end
  return scene
end

--- A simulation that was stepped so often, or to its end, and how often that is.
local function stepped(simulation, most)
  local steps = 0
  while steps < most and simulation:step() do steps = steps + 1 end
  return steps
end

local count = 0
for _, kind in ipairs(kinds) do
  for _, file in ipairs(native.list_folder(native.home .. "/scripts/" .. kind, ".lua")) do
    local class, name = require(kind .. "." .. file), kind .. "." .. file
    if policy.is_class(class) then
      count = count + 1
      test("a fork of a run with " .. name .. " changes nothing of it", function()
        local scene = (effects.own[name] or effects.scenes[kind])[1]
        local function given() return served(scene(class(effects.needs[name] or {}))) end
        local alone, simulation = opened(given()), opened(given())
        local half = math.floor(stepped(alone, most_steps) / 2)
        test.at_least(half, 2, "steps")
        stepped(simulation, half)
        local fork = simulation:fork()
        stepped(fork, most_steps - half)
        stepped(simulation, most_steps - half)
        local expected = text(alone)
        test.equal(text(simulation), expected, "the run that was forked")
        test.equal(text(fork), expected, "the fork")
        for _, each in ipairs { alone, simulation, fork } do each:close() end
      end)
    end
  end
end

test("every policy was tried", function() test.at_least(count, 100) end)

test.finish()
