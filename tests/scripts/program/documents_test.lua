-- What documents say of the program in words: counts, paths, signatures. Their commands are run by tests/docs.lua.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"
local rooflua = require "rooflua"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return (text:gsub("%s+", " "))
end

local words = { "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
  "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
  "twenty" }
local numbers = {}
for number, word in ipairs(words) do numbers[word] = number end
local function number_of(text) return tonumber(text) or text and numbers[text:lower()] end

local with_tables, gpus = 0, native.list_hardware()
for _, name in ipairs(gpus) do
  local rows = 0
  for file in io.popen(("ls bench_data/%s"):format(name)):lines() do rows = rows + (file:find "%.csv" and 1 or 0) end
  if rows > 0 then with_tables = with_tables + 1 end
end

local counts = {
  models = #native.list_models(), GPUs = #gpus, measured = with_tables, unmeasured = #gpus - with_tables,
  routers = #rooflua.list "routers", workloads = #rooflua.list "workloads", steps = #rooflua.list "steps",
  speculators = #rooflua.list "speculators", questions = 0 }
for _ in io.popen "ls scenarios/*.lua":lines() do counts.scenarios = (counts.scenarios or 0) + 1 end
for line in io.lines "docs/COOKBOOK.md" do
  if line:find "^| %[" then counts.questions = counts.questions + 1 end
end

-- Patterns of a document, each with what its captures count.
local said = {
  ["README.md"] = {
    { "(%d+) models, (%d+) GPUs of which (%a+) have measured kernels", "models", "GPUs", "measured" },
    { "(%a+) step models", "steps" }, { "(%a+) routers", "routers" }, { "(%w+) workloads, including", "workloads" },
    { "(%d+) questions, each with its scenario", "questions" } },
  ["docs/COMPARISON.md"] = {
    { "| of (%a+) GPUs, published by", "measured" }, { "| (%d+); a router may refuse", "routers" },
    { "(%d+) workloads: sessions", "workloads" }, { "Of (%w+) GPUs none ship", "unmeasured" },
    { "| (%a+) rules for the number of drafts", "speculators" } },
}

for path, list in pairs(said) do
  local text = read(path)
  for _, each in ipairs(list) do
    test(path .. ": " .. each[1], function()
      local found = { text:match(each[1]) }
      test.check(#found == #each - 1, "the document does not say it any more")
      for i, word in ipairs(found) do test.equal(number_of(word), counts[each[i + 1]], each[i + 1]) end
    end)
  end
end

test("what a router may refuse is refused", function()
  local policy = rooflua.policy
  local Door = policy.define { name = "door", doc = "Refuses every second request.", refuses = true }
  function Door:route()
    self.n = (self.n or 0) + 1
    return self.n % 2 == 0 and 1
  end
  local run = rooflua.serve.run { model = "llama-3.1-8b", hardware = "h100", router = Door {}, replicas = 2,
    workload = require "workloads.poisson" { num_requests = 10, prompt_tokens = 10, output_tokens = 3 } }
  test.equal(run.summary.completed, 5)
end)

test("paths in the tour and in WHERE exist", function()
  local seen = 0
  for _, path in ipairs { "docs/TOUR.md", "docs/WHERE.md", "docs/COOKBOOK.md", "docs/COMPARISON.md" } do
    for name in read(path):gmatch "`([%w_./-]+)`" do
      if name:find "^engine/" or name:find "^scripts/" or name:find "^tests/" or name:find "^scenarios/"
        or name:find "^bench_data/" then
        seen = seen + 1
        local file = io.open((name:gsub("/$", "")))
        test.check(file, "%s: %s", path, name)
        file:close()
      end
    end
    for name in read(path):gmatch "%]%(([%w_./-]+)%)" do
      seen = seen + 1
      local file = io.open("docs/" .. name)
      test.check(file, "%s: link to %s", path, name)
      file:close()
    end
  end
  test.at_least(seen, 100)
end)

test("pages that are read from top to bottom stay short", function()
  for _, name in ipairs { "CALIBRATING", "COOKBOOK", "COOKBOOK_STEPS", "EXPLORATION", "OWN_SCHEDULER", "REPL",
    "TUTORIAL" } do
    local lines = 0
    for _ in io.lines("docs/" .. name .. ".md") do lines = lines + 1 end
    local most = name == "COOKBOOK" and 260 or 250 -- a line for each question
    test.check(lines <= most, "docs/%s.md has %d lines; at most %d", name, lines, most)
  end
end)

test("links to a part of a page lead to its heading", function()
  local seen = 0
  for path in io.popen("ls README.md docs/*.md"):lines() do
    local file = assert(io.open(path))
    local text = file:read "*a"
    file:close()
    for name, part in text:gmatch "%]%(([%w_./-]*)#([^%s()]+)%)" do
      local target = name == "" and path or (path:match "^(.*/)" or "") .. name
      local found = false
      for line in io.lines(target) do
        local heading = line:match "^#+ (.*)$"
        local anchor = heading and heading:lower():gsub("[^%w_%- ]", ""):gsub(" ", "-")
        found = found or anchor == part
      end
      seen = seen + 1
      test.check(found, "%s: %s has no heading '%s'", path, target, part)
    end
  end
  test.at_least(seen, 25)
end)

test("links of every page lead to a file", function()
  local seen = 0
  for path in io.popen("ls README.md docs/*.md docs/*/*.md"):lines() do
    local folder = path:match "^(.*/)" or ""
    for name in read(path):gmatch "%]%(([^%s()#]+)[^%s()]*%)" do
      if not name:find "^%a+:" then
        seen = seen + 1
        local file = io.open(folder .. name)
        test.check(file, "%s: link to %s", path, name)
        if file then file:close() end
      end
    end
  end
  test.at_least(seen, 200)
end)

test("MODELS, LUA_API and the stub agree on what a lookup is called with", function()
  for _, path in ipairs { "docs/MODELS.md", "docs/LUA_API.md", "scripts/meta/mfu.lua" } do
    test.check(read(path):find("(table, query, tables) -> value, evidence", 1, true), "%s", path)
  end
end)

test("what is listed of policies of every kind is a document", function()
  local json, seen = require "rooflua.json", 0
  for _, kind in ipairs(require("rooflua.policy.kinds").folders()) do
    local listed = require("rooflua").list(kind)
    test.check(json.encode(listed) ~= "", kind)
    seen = seen + #listed
  end
  test.at_least(seen, 150)
end)

test.finish()
