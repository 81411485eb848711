-- When rules were last read: what rows and lists say of it, what answers of newer releases say, the list of code.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"

local ages = chunks.require "rooflua.engines.ages"
local catalogue = chunks.require "rooflua.engines.catalogue"
local choice = chunks.require "rooflua.engines.choice"
local engines = require "rooflua.engines"
local listed = chunks.require "rooflua.help.ages"
local release = chunks.require "rooflua.engines.release"

--- An engine with releases of its own.
local function made(given)
  given.name, given.title, given.extends = "aged", "Aged", "vllm"
  return catalogue.made(given, "aged.lua")
end

--- Whether a row says where a reader finds it: code, a pull request, an issue or a page.
local function says_where(engine, row)
  local source = row.source
  return ages.code(engine, row) or source:find "pull request" or source:find "issue" or source:find "%.md"
end

test("every row has a source, and one that says when it was read says where", function()
  for _, name in ipairs(catalogue.names()) do
    local engine = catalogue.of(name)
    for _, list in ipairs { engine.rules, engine.implies } do
      for i, row in ipairs(list) do
        test.check(type(row.source) == "string" and row.source ~= "", "%s: row %d has no source", name, i)
        local said = engine.said[row]
        if said and said.seen then
          test.check(says_where(engine, row), "%s: %s: says seen and not where", name, row.source)
        end
        if said and said.code then
          test.check(said.code:find "^[%w_%-./]+%.%w+: %S" or said.code:find "^[%w_%-./]+%.%w+$",
            "%s: '%s' is no file and symbols", name, said.code)
        end
      end
    end
  end
end)

test("no row was read at a release that is not known, nor at one in front of its first", function()
  for _, name in ipairs(catalogue.names()) do
    local engine = catalogue.of(name)
    for row, said in pairs(engine.said) do
      if said.seen then
        test.check(not release.earlier(catalogue.last(engine), said.seen), "%s: %s", said.seen, row.source)
        test.check(not row.since or not release.earlier(ages.seen(engine, row), row.since))
      end
    end
  end
end)

test("the newest release that was read in whole is the default, and newer ones say what was not read", function()
  local engine = catalogue.of "vllm"
  test.equal(choice.parse "vllm".release, catalogue.newest(engine))
  test.check(release.earlier(catalogue.newest(engine), catalogue.last(engine)))
  for _, each in ipairs(engine.releases) do
    local note = choice.parse("vllm " .. each.name).note
    local is_new = release.earlier(catalogue.newest(engine), each.name)
    test.equal(note ~= nil and note:find("rules were not read at it", 1, true) ~= nil, is_new, each.name)
    local count, unread = ages.unread(engine, each.name)
    test.check(is_new == (#unread > 0) and #unread <= count)
  end
  test.check(choice.parse("vllm 0.99").note:find("is newer than the rules that are known: those of 0.34.0; vllm 0.99: ",
    1, true))
end)

test("a value whose row was not read at a release says so in its source", function()
  local function source(version, name) return engines.of("vllm " .. version, { hardware = "b200" }).sources[name] end
  test.equal(source("0.24", "host_step_s"):find("; a fit", 1, true), nil)
  test.check(source("0.30", "host_step_s"):find("; a fit: as 0.24$"), "no code decides it")
  test.equal(source("0.28", "max_num_batched_tokens"):find("not read", 1, true), nil, "it was read at 0.28")
  test.check(source("0.30", "max_num_batched_tokens"):find("; not read: as 0.28$"))
end)

test("a list says for its rows what they do not say, and the file what no list says", function()
  local engine = made { seen = "1.1",
    releases = { "1.0", { "1.1", "2026-01-02" }, "1.2", "1.3" }, rules = {
      { seen = "1.2", code = "a.py: f", { max_num_seqs = 7, source = "a" },
        { max_num_seqs = 8, seen = "1.3", source = "b" }, { { block_size = 32, code = "b.py: g", source = "c" } } },
      { gpu_memory_utilization = 0.5, source = "d" }, { before = "1.2", async_scheduling = false, source = "e" },
      { since = "1.3", async_scheduling = true, source = "f" } } }
  local found = {}
  for _, row in ipairs(engine.rules) do
    if #row.source == 1 then
      found[#found + 1] = row.source .. tostring(ages.seen(engine, row)) .. tostring(ages.code(engine, row))
    end
  end
  test.equal(table.concat(found, " "), "a1.2a.py: f b1.3a.py: f c1.2b.py: g d1.1nil e1.1nil f1.3nil")
  local function unread(version)
    local names = {}
    for _, row in ipairs(select(2, ages.unread(engine, version))) do names[#names + 1] = row.source end
    return table.concat(names)
  end
  test.equal(unread "1.1", "")
  test.equal(unread "1.2", "d", "a row that has ended, or ends, was read where it ends")
  test.equal(unread "1.3", "acd")
  test.equal(catalogue.newest(engine), "1.1", "the parent's rows are those of one of its releases")
  test.check(ages.note(engine, "1.3"):find("aged 1.3: 3 of ", 1, true))
  test.check(ages.note(engine, "1.3"):find("the newest release read in whole is 1.1 of 2026-01-02", 1, true))
end)

test("rows that were fitted are counted apart: nobody can read them in code", function()
  local engine = made { seen = "1.1", releases = { "1.0", "1.1", "1.2" }, rules = {
    { max_num_seqs = 7, source = "read.py" }, { host_step_s = 1e-3, fitted = true, source = "fitted to logs, fit.py" },
    { fitted = true, { eager_operation_s = 1e-6, source = "fitted too" } },
    { sampler_s = 1e-4, fitted = true, seen = "1.2", code = "path.py: f", source = "a fit whose path was read" } } }
  local function is(source)
    for _, row in ipairs(engine.rules) do
      if row.source == source then return ages.is_fitted(engine, row) end
    end
  end
  test.equal(is "fitted too", true, "what a list says holds for its rows")
  test.equal(is "read.py", false)
  local _, unread, fitted = ages.unread(engine, "1.2")
  test.equal(#unread .. " " .. fitted, "3 2")
  test.check(ages.note(engine, "1.2"):find("aged 1.2: 1 of %d+ rules were not read at it and are as last read, "
    .. "2 more are fits, which no code decides; "))
  for _, each in ipairs(ages.watch(engine)) do
    test.check(each.code ~= "fit.py", "no file is opened for a fit")
    if each.fitted then test.equal(#each.rows, 2) end
  end
  for _, name in ipairs { "sglang", "vllm", "trtllm" } do
    local own = catalogue.of(name)
    local count, of_last, fits = ages.unread(own, catalogue.last(own))
    test.check(fits > 0 and fits < #of_last and #of_last <= count, name)
  end
end)

test("an engine whose file says nothing was read at all releases that it knows", function()
  for _, name in ipairs(catalogue.names()) do
    local engine = catalogue.of(name)
    if not engine.seen and next(engine.said) == nil then
      test.equal(catalogue.newest(engine), catalogue.last(engine), name)
      test.equal(choice.parse(name .. " " .. catalogue.last(engine)).note, nil)
    end
  end
end)

test("the list of code has every row that goes on once, under what decides it", function()
  for _, name in ipairs(catalogue.names()) do
    local engine, count, open = catalogue.of(name), 0, 0
    for _, each in ipairs(listed.rows(engine)) do
      count = count + each.rows
      test.check(#each.values > 0 and each.seen)
    end
    for _, list in ipairs { engine.rules, engine.implies } do
      for _, row in ipairs(list) do open = open + (ages.is_open(row) and 1 or 0) end
    end
    test.equal(count, open, name)
  end
  local text, budgets = listed.text(), "vllm/engine/arg_utils.py: EngineArgs.get_batch_defaults"
  local whole = "vLLM (vllm): releases to 0.34.0 are known; the newest that was read in whole is 0.24.0"
  test.check(text:find(whole, 1, true))
  test.check(text:find("0.28 +0.8 +%d+  " .. budgets:gsub("%.", "%%.") .. " +max_num_batched_tokens"))
end)

test("what is no release is refused", function()
  test.raises("seen: 'soon' is no release", function()
    made { rules = { { max_num_seqs = 7, seen = "soon", source = "a" } } }
  end)
end)

test.finish()
