-- Differences: pairs of runs that differ in one thing, beside their runs or made by them; open loops; the table.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"

local pair_rows = chunks.require "rooflua.validate.pairs.rows"
local score = chunks.require "rooflua.validate.pairs.score"
local validate = chunks.require "rooflua.validate.command"

local header = "question,family,system,engine,engine_version,format,mode,widths,isl,osl,clients,requests,request_rate,"
  .. "ttft_ms,tpot_ms,config,command,scored,scored_why\n"

local function row(id, more)
  local own = { system = "h100_sxm", widths = '"1,1,1"', tpot = 8, clients = 2, requests = 8, rate = "", scored = "",
    flags = "--max-num-seqs 8", format = "bf16" }
  for name, value in pairs(more or {}) do own[name] = value end
  return ("%s,llama-3.1-8b,%s,vllm,0.15.1,%s,agg,%s,200,40,%d,%d,%s,20,%g,exact,vllm serve meta-llama/Llama-3.1-8B "
    .. "%s,%s,%s\n"):format(id, own.system, own.format, own.widths, own.clients, own.requests, own.rate, own.tpot,
    own.flags, own.scored, own.scored == "no" and "open loop" or "")
end

local pairs_header = "pair,kind,lever,baseline,treatment,judge,direction,clear,gain_total_tok_per_s,change_e2e,scored\n"

--- A pair as it was measured, answered with a gain.
local function pair(direction, answer, more)
  local gains = { up = 0.2, down = -0.2, flat = 0 }
  local own = { id = direction .. tostring(answer), kind = "flag", lever = "ep", engine = "vllm", direction = direction,
    gain = gains[direction], clear = direction ~= "flat" and "yes" or "no" }
  for name, value in pairs(more or {}) do own[name] = value end
  return score.pair(own, answer)
end

test("a direction is up, down, or flat up to 3 %; of latencies less is better", function()
  test.equal(score.direction(0.031) .. score.direction(-0.031) .. score.direction(0.03), "updownflat")
  test.near(score.gain("throughput", { total_tokens_per_s = 100 }, { total_tokens_per_s = 120 }), 0.2, 1e-12)
  test.near(score.gain("e2e", { e2e_mean = 2 }, { e2e_mean = 1.5 }), 0.25, 1e-12)
  test.equal(score.gain("e2e", nil, { e2e_mean = 1.5 }), nil, "a side that does not run")
end)

test("right, opposite and missed pairs are counted, and those that hurt and help apart", function()
  local of = score.of { pair("up", 0.2), pair("up", -0.2), pair("down", 0.01), pair("flat", 0), pair("down", nil) }
  test.near(of.direction, 2 / 5, 1e-12)
  test.near(of.opposite, 1 / 5, 1e-12)
  test.near(of.flat, 1 / 5, 1e-12)
  test.equal(of.hurt.rows .. " " .. of.hurt.direction, "2 0")
  test.equal(of.help.rows .. " " .. of.help.direction, "2 0.5")
  test.equal(of.moved.rows .. " " .. of.moved.direction, "4 0.25")
  test.near(of.size, math.log(1.01 / 0.8) / 2, 1e-12, "the median of four, of which two are 0")
end)

test("who answers flat to everything is right in flat pairs and in no other", function()
  local list = {}
  for _ = 1, 6 do list[#list + 1] = pair("flat", 0) end
  for _ = 1, 4 do list[#list + 1] = pair("up", 0) end
  local of = score.of(list)
  test.check(of.direction > 0.5, "it looks good over all pairs")
  test.check(of.moved.direction < 0.5, "and not where flat pairs are left out")
  local text = require("rooflua.text.columns").after(1, score.parts(list)[2].rows)
  test.check(text:find("all%s+10%s+6 of 10%s+0%s+4%s+0 of 4"), text)
end)

local function validated(files, more)
  local options = { folder = test.folder_of(files) }
  for name, value in pairs(more or {}) do options[name] = value end
  return validate.run(options)
end

test("a file of pairs beside its runs is read with them; repeats and unscored pairs count nowhere", function()
  local files = { ["runs.csv"] = header .. row "a" .. row("b", { flags = "--max-num-seqs 1" }) .. row "c",
    ["pairs.csv"] = pairs_header .. "p,flag,max-num-seqs: 8 -> 1,a,b,throughput,down,yes,-0.4,,yes\n"
      .. "q,repeat,the same twice,a,c,throughput,up,no,0.05,,yes\n" .. "r,flag,other: x -> y,a,c,,flat,no,0,,no\n" }
  local done = validated(files)
  local of = done.document.pairs
  test.equal(of.all.rows, 1)
  test.equal(of.lever["max-num-seqs"].direction, 1)
  test.equal(of.clear.yes.hurt.rows .. " " .. of.kind.flag.rows .. " " .. tostring(of.all.opposite), "1 1 0")
  test.check(done.text:find("lever max%-num%-seqs%s+1%s+1 of 1"), done.text)
  test.check(not done.text:find("passed over", 1, true), "the file of pairs belongs to the set")
  files["pairs.csv"] = files["pairs.csv"]:gsub("down,yes", "downwards,yes")
  test.raises("direction: unknown direction 'downwards'; did you mean 'down'", function() validated(files) end)
end)

test("rows without a file of pairs make them: one of GPU, widths, format and engine differs", function()
  local of = validated({ ["runs.csv"] = header .. row "a" .. row("b", { system = "a100_sxm" })
    .. row("c", { format = "fp8" }) .. row("d", { format = "fp8", system = "a100_sxm" })
    .. row("e", { widths = '"2,1,1"', tpot = 5 }) }).document.pairs
  test.equal(of.all.rows .. " " .. of.lever.system.rows .. " " .. of.lever.format.rows, "5 2 2")
  test.equal(of.lever.widths.rows .. " " .. of.kind.made.rows, "1 5")
  test.equal(of.lever.widths.direction, 1, "two GPUs are faster than one, measured and simulated")
end)

test("a rate is an open loop: requests come at equal gaps, and the run takes as long", function()
  local open = { clients = 40, requests = 40, rate = 2, scored = "no" }
  local files = { ["runs.csv"] = header .. row("a", open) .. row("b", { clients = 40, requests = 40, rate = 2,
    scored = "no", flags = "--max-num-seqs 1" }) .. row "c", ["pairs.csv"] = pairs_header
      .. "p,flag,max-num-seqs: 8 -> 1,a,b,e2e,down,yes,,0.4,yes\n" }
  local of = validated(files).document.pairs
  test.equal(of.all.rows, 1, "rows that only pairs need run, too")
  files["runs.csv"] = header .. row("a", { clients = 40, requests = 40, rate = 2 })
  files["pairs.csv"] = nil
  local found = validated(files, { wide = true }).document.questions[1].simulated
  test.check(found.makespan_s > 39 / 2 and found.makespan_s < 39 / 2 + 2, tostring(found.makespan_s))
end)

test("sets of one kind in one folder are one set", function()
  local done = validated { ["one.csv"] = header .. row "a", ["two.csv"] = header .. row "b" }
  test.equal(done.document.silicon.coverage.questions, 2)
end)

test("pairs of the shared set: how many there are", function()
  local list, needed = pair_rows.beside(test.shared "truth/tuning/pairs_develop.csv":match "^.*/")
  test.equal(#list, 172)
  test.check(needed[list[1].baseline] and needed[list[1].treatment])
end)

test.finish()
