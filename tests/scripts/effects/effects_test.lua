-- Every declared parameter of every shipped policy, and every key of a deployment, a GPU and the other groups of a
-- scenario, acts: another value changes the result of a scenario where it should act, or is refused with its name.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local kinds = require "rooflua.program.kinds"
local native = require "rooflua.native"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
dofile "tests/scripts/plan/in_process.lua"
local effects = dofile("tests/scripts/effects/scenes.lua").of(test)
local scenes, needs, values, without = effects.scenes, effects.needs, effects.values, effects.without

--- A result as text: all that is computed, and neither names nor notes nor what was asked.
local function result_of(given)
  local opened = opening.table(given, { file = "made up" })
  local found = kinds.run(opened, 1, { document = true })
  if found.plan then found = { found.plan.ranks, found.plan.candidates, found.plan.unsure, found.plan.searched } end
  return json.encode { found.summary or false, found.batches or false, found.static or false, found.requests or false,
    found[1] or false, found[2] or false, found[3] or false, found[4] or false }
end

local results = {} -- of a scene with nothing changed, by its place

--- Whether a changed scene has another result, or an error that names what was changed. Every other error is a fault
--- of this test.
local function acts(before, after, name)
  local ok, found = pcall(function() return result_of(after()) end)
  if not ok then
    local last = name:match "[^.]+$"
    test.check(tostring(found):find(last, 1, true), "%s: %s", name, tostring(found))
    return true
  end
  return found ~= before
end

--- Other values than the one that holds.
local function others(declared, now)
  local out = {}
  if declared.values then
    for _, value in ipairs(core.plain(declared.values)) do
      if value ~= now then out[#out + 1] = value end
    end
  elseif type(now) == "boolean" then
    out[1] = not now
  elseif type(now) == "number" then
    for _, value in ipairs { 2 * now, now / 2, now + 1, 1, 0.5, 4, 0 } do
      local fits = value ~= now and (not declared.min or value > declared.min or value == declared.min
        and not declared.exclusive_min) and (not declared.max or value <= declared.max)
      if fits and (not declared.integer or value % 1 == 0) then out[#out + 1] = value end
    end
  end
  return out
end

--- A scene with a policy in its place, whose result is remembered for parameters that need the same others.
local function unchanged(place, scene, class, given)
  if results[place] == nil then results[place] = result_of(scene(class(given))) end
  return results[place]
end

local function parameter_acts(folder, file, class, name)
  local full = folder .. "." .. file .. "." .. name
  local given, declared = needs[full] or needs[folder .. "." .. file] or {}, core.plain(class.params)[name]
  local now = given[name]
  if now == nil then now = declared.default end
  local tried = values[full] or others(core.plain(declared), now)
  local own = effects.own[full] or effects.own[folder .. "." .. file]
  for index, scene in ipairs(own or scenes[folder]) do
    local place = (needs[full] or effects.own[full]) and full .. index or folder .. "." .. file .. index
    local before = unchanged(place, scene, class, given)
    for _, value in ipairs(tried) do
      local with = {}
      for key, each in pairs(given) do with[key] = each end
      with[name] = value
      if acts(before, function() return scene(class(with)) end, full) then return true end
    end
  end
  return false
end

local audited, asked = 0, os.getenv "ROOFLUA_EFFECTS" or "" -- a part of the names of parameters, for whoever adds one

--- Runs a test of a parameter or key, if it is asked for.
local function test_asked(full, name, body)
  if full:find(asked) then test(name, body) end
end

for _, folder in ipairs(effects.folders) do
  for _, file in ipairs(native.list_folder(native.home .. "/scripts/" .. folder, ".lua")) do
    local class = require(folder .. "." .. file)
    local names = policy.is_class(class) and core.sorted_keys(core.plain(class.params)) or {}
    for _, name in ipairs(names) do
      local full = folder .. "." .. file .. "." .. name
      audited = audited + 1
      test_asked(full, full .. (without[full] and " changes nothing: " .. without[full] or " acts"), function()
        local found = parameter_acts(folder, file, class, name)
        if without[full] then
          test.check(not found, "it acts: take it off the list of exceptions")
        else
          test.check(found, "no other value of %s changes a result", full)
        end
      end)
    end
  end
end

-- Keys -------------------------------------------------------------------------------------------------------------

for _, each in ipairs(effects.keys) do
  audited = audited + 1
  test_asked(each.key, each.key .. " acts", function()
    local before = result_of(each.scene())
    local found = false
    for _, value in ipairs(each.values) do
      found = found or acts(before, function() return effects.with(each.scene(), each.key, value) end, each.key)
    end
    test.check(found, "no other value of %s changes a result", each.key)
  end)
end

test("every key of a deployment, a GPU, a search, and the rest of a scenario is among them", function()
  local known = {}
  for _, each in ipairs(effects.keys) do known[each.key] = true end
  for _, group in ipairs { "adapters", "deployment", "experts", "frontend", "network", "slo", "mfu", "metrics" } do
    for _, name in ipairs(require("rooflua.scenario.schema").names(group)) do
      test.check(known[group .. "." .. name], "%s.%s is not audited", group, name)
    end
  end
  for _, name in ipairs(require("rooflua.scenario.schema").names("tiers")) do
    test.check(known["tiers." .. name], "tiers.%s is not audited", name)
  end
  for _, name in ipairs(require("rooflua.scenario.schema").names("tiers.stores")) do
    test.check(known["tiers.stores.cpu." .. name] or known["tiers.stores.ssd." .. name], "stores: %s", name)
  end
  for _, name in ipairs(effects.hardware_keys) do test.check(known["hardware." .. name], "hardware.%s", name) end
end)

test("much was audited", function() test.at_least(audited, 250) end)

test.finish()
