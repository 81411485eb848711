-- The record of a validation: every table as Markdown, with errors and without measured values, the same text for the
-- same data; and the page of the causes names every deployment of the shipped record that is among the ten worst.
local test = dofile "tests/scripts/harness.lua"
local markdown = require "rooflua.text.markdown"
local validate = require "rooflua.validate.command"
local write_loops = dofile("tests/scripts/validate/closed_loop_file.lua")(test)

local folder = test.folder()
local path = write_loops({ { question = "first", tpot_ms = 8.7654321 }, { question = "second", clients = 4 } },
  { name = "silicon.csv" })
local top = path:match "^(.*)/[^/]*$"
local file = assert(io.open(top .. "/cases.csv", "w"))
file:write("case_id,rating,dataset,file,selector,model,gpu,tp,precision,engine,workload,metrics,measured,notes\n",
  'a|b,C,own,cases.csv,,llama-3.1-8b,H100,1,bf16,vLLM 0.15.1,closed loop c=4 in=200 out=20,x,e2e_ms=432.1987,\n')
file:close()

local function run(options)
  options.folder, options.steps = options.folder or top, { "kernels" }
  return validate.run(options)
end

test("a record has a heading for each set and its tables, and no measured value", function()
  local found = run { record = true }
  for _, part in ipairs { "# Validation", "## cases: ", "### Mean of |error| by group", "### The ten worst",
    "### Every case", "## silicon: ", "### Errors by group, in percent", "### The ten worst by TPOT, config ",
    "--record FILE` writes this file" } do
    test.check(found.record:find(part, 1, true), "expected '%s' in\n%s", part, found.record)
  end
  test.check(not found.record:find("432.1987", 1, true) and not found.record:find("8.7654", 1, true))
  test.check(not found.record:find(folder, 1, true), "a record names no folder of a machine")
  test.equal(found.record, run { record = true }.record)
  test.equal(run({}).record, nil)
end)

test("a record says with which options it was made", function()
  test.check(run({ record = true, intervals = 1 }).record:find("--intervals 1 --record FILE", 1, true))
end)

test("every row of a table has as many cells as its head, whatever stands in them", function()
  local found = run { record = true }
  local wide
  for line in found.record:gmatch "[^\n]+" do
    local _, bars = line:gsub("\\|", ""):gsub("|", "")
    if not line:find "^|" then
      wide = nil
    elseif wide then
      test.equal(bars, wide, line)
    else
      wide = bars
    end
  end
  test.check(found.record:find("| a\\|b |", 1, true), "the bar of a name is escaped")
  test.equal(markdown.table({ { "x", "y" }, { "a\n<b>", 2 } }, 1), "| x | y |\n|---|---:|\n| a &lt;b> | 2 |")
end)

local function read(name)
  local handle = assert(io.open(name))
  local text = handle:read "*a"
  handle:close()
  return text
end

test("docs/VALIDATION.md has a cause, or says that none is known, for the ten worst of each set", function()
  local page, count = read "docs/VALIDATION.md", 0
  for title, body in read "docs/records/validation.md":gmatch "\n### (The ten worst[^\n]*)\n\n(.-)\n\n" do
    if not title:find("config none", 1, true) and not title:find("config mixed", 1, true) then
      for name in (body:gsub("^[^\n]*\n[^\n]*\n", "") .. "\n"):gmatch "| (.-) |[^\n]*\n" do
        count = count + 1
        test.check(page:find("`" .. name:gsub("\\|", "|") .. "`", 1, true), "%s: no cause of `%s`", title, name)
      end
    end
  end
  test.at_least(count, 20)
end)

test.finish()
