-- Whatever `rooflua list` names, `rooflua help` explains.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local help = require "rooflua.help.topics"

--- The folders that `rooflua list` knows, from the words of its own refusal.
local _, refusal = pcall(rooflua.list, "nonsense")
local kinds = {}
for kind in tostring(refusal):match "known: (.*)%)":gmatch "[%w_]+" do kinds[#kinds + 1] = kind end

test("there are many kinds", function() test.at_least(#kinds, 16) end)

for _, kind in ipairs(kinds) do
  test("help explains " .. kind .. " and each of them", function()
    local topics = {}
    for _, topic in ipairs(help.topics()) do topics[topic] = true end
    test.check(kind == "engines" or topics[kind], "%s is no topic", kind)
    test.check(#help.text(kind) > 0)
    for _, about in ipairs(rooflua.list(kind)) do
      local topic = about.module or about.name
      local text = help.text(topic)
      test.check(text:find(about.name, 1, true) or text:find(about.title or about.name, 1, true), "%s: %s", topic, text)
      test.check(kind == "engines" or topics[topic], "%s is no topic", topic)
    end
  end)
end

test("capabilities has every axis that a generator gets, and engines the list", function()
  local of = require("rooflua.plan.capabilities").of(require("rooflua.spec").model "llama-3.1-8b")
  local text = help.text "capabilities"
  for axis in pairs(of.axes) do test.check(text:find("    " .. axis .. " ", 1, true), "%s: %s", axis, text) end
  for _, engine in ipairs(of.engines) do test.check(text:find(engine, 1, true), "%s", engine) end
  for _, about in ipairs(rooflua.list "engines") do test.check(help.text "engines":find(about.name, 1, true)) end
end)

test("beside a command stands the module of its name, and nothing else", function()
  test.check(help.beside("plan"):find('require "rooflua.plan"', 1, true))
  test.check(help.beside("plan"):find("halving", 1, true))
  test.equal(help.beside "step", nil)
end)

test("an unknown topic suggests commands and topics, each once", function()
  local _, told = pcall(help.of_topic, "stpe", { "step", "run" })
  test.check(told:find "'step'", "%s", told)
  test.check(not told:find "'steps'.*'steps'", "%s", told)
  for topic, keys in pairs { max_loras = "'scenario.adapters.max_loras'",
    drift_s = "'scenario.experts.drift_s'" } do
    _, told = pcall(help.of_topic, topic, { "step", "run" })
    test.check(tostring(told):find("unknown topic '" .. topic .. "'; did you mean " .. keys .. "?", 1, true), told)
  end
end)


test("help explains metrics of all records, parts of results, and the words of the glossary", function()
  for topic, said in pairs {
    ttft_s = "first token - arrival", ttft_parts_s = "the parts add up", busy_frac = "of a replica",
    load_frac = "largest share of seats", ["gate.held"] = "the gate held", gate = "gate.expired",
    held_s_mean = "of a class", ttft = "TTFT: time to first token", TPOT = "output tokens", seats = "running requests",
    in_flight = "stages of a pipeline", cp = "see also scenario.deployment.cp",
    latency = "no replica was ready", glossary = "goodput: completed requests",
  } do
    local text = help.text(topic)
    test.check(text:find(said, 1, true), "%s: %s", topic, text)
  end
  local declared = require "rooflua.measure.declared"
  for _, each in ipairs(require("rooflua.measure.metrics").declared.run) do
    local is_word = each.name == "evidence" -- a vocabulary has this name, too
    test.check(is_word or declared.help(each.name):find(each.help, 1, true), "%s", each.name)
  end
  test.check(not help.text "glossary":find("](", 1, true), "a link is left")
end)

test.finish()
