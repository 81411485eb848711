-- What `rooflua new` writes runs as it is, and also where requests fail or are few.
local test = dofile "tests/scripts/harness.lua"

local program = assert(os.getenv "ROOFLUA_PROGRAM", "run by ctest, or set ROOFLUA_PROGRAM")
local folder = os.tmpname()
os.remove(folder)

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- What a command in the folder prints.
local function run(...)
  local words = { quoted(program) }
  for _, word in ipairs { ... } do words[#words + 1] = quoted(word) end
  local pipe = io.popen(("cd %s && %s 2>&1"):format(quoted(folder), table.concat(words, " ")))
  local out = pipe:read "*a"
  pipe:close()
  return out
end

local kinds = {}
for file in io.popen "ls scripts/templates":lines() do kinds[#kinds + 1] = file:match "^(.*)%.lua$" end

-- Limits below which some or all requests are refused, and loads of one request.
local settings = { "deployment.max_model_len=300", "deployment.max_model_len=2",
  "deployment.kv_blocks=40", "workload.num_requests=1" }

--- Kinds of which no request fails: they price steps, correct what ends too early, or search for what holds.
local without_failures = { price = true, processor = true, lookup = true, bucketing = true, correction = true,
  search = true, plan = true, candidates = true, objective = true, strategy = true, power = true }

--- Policies of plans: what requests do is not theirs, so that one setting shows that they survive failures.
local of_plans = { candidates = true, objective = true, strategy = true, power = true }

--- Of other templates: what they ask; the rest is a policy of one's own.
local questions = { "serve", "users", "price", "search", "plan", "replay", "disaggregation", "engine", "layer" }

--- What of a report says that something is wrong with a file.
local wrong = { "attempt to", "bad argument", "a nil value", "internal error", "FAILED", "rooflua: " }

local function check_good(out, what)
  for _, bad in ipairs(wrong) do test.check(not out:find(bad, 1, true), "%s: %s", what, out) end
end

--- The kind of `new` for a folder of policies: schedulers, scheduler; strategies, strategy.
local function kind_of(policies, known)
  for _, name in ipairs { policies, policies:gsub("ies$", "y"), (policies:gsub("s$", "")) } do
    if known[name] then return name end
  end
end

test("there is a template for each kind of question and of policy, and no other", function()
  local known, left = {}, {}
  for _, kind in ipairs(kinds) do known[kind], left[kind] = true, true end
  for _, kind in ipairs(questions) do
    test.check(known[kind], "no template of %s", kind)
    left[kind] = nil
  end
  for _, row in ipairs(require "rooflua.policy.kinds".rows()) do
    local kind = kind_of(row.folder, known)
    test.check(kind, "no template of %s", row.folder)
    if kind then left[kind] = nil end
  end
  test.check(not next(left), "a template of nothing: %s", tostring(next(left)))
end)

test("a folder's name is its kind, and what has no file of Lua is said", function()
  os.execute("mkdir -p " .. quoted(folder))
  for name, kind in pairs { schedulers = "scheduler", strategies = "strategy", tiers = "tiers" } do
    local told = run("new", "of_" .. name, "--kind", name)
    test.check(told:find "^wrote ", "%s: %s", name, told)
    test.check(io.open(folder .. "/of_" .. name .. ".lua"):read "*a":find(
      io.open("scripts/templates/" .. kind .. ".lua"):read "*l", 1, true), "%s is not %s", name, kind)
  end
  test.check(run("new", "x", "--kind", "model"):find("docs/MODELS.md", 1, true))
  test.check(run("new", "x", "--kind", "hardware"):find("rooflua data add", 1, true))
  test.check(run("new", "x", "--kind", "drafte"):find("did you mean 'drafter'", 1, true))
end)

test("a campaign's template is a file of its own, which writes jobs that run", function()
  os.execute("mkdir -p " .. quoted(folder))
  test.check(run("new", "queue", "--kind", "campaign"):find("queue.lua and campaigns/queue.lua", 1, true))
  check_good(run("help", "campaigns.queue"), "help")
  local told = run("campaign", "submit", "queue.lua", "--on", "queue", "--shards", "2", "--dir", "shards")
  test.check(told:find("4 runs in 2 shards", 1, true), "%s", told)
  local pipe = io.popen(("cd %s && sh shards/submit.sh 2>&1"):format(quoted(folder)))
  local out = pipe:read "*a"
  pipe:close()
  test.check(out:find("4 runs, 4 of them new", 1, true), "%s", out)
  test.check(run("new", "slurm", "--kind", "campaign"):find("a shipped campaign", 1, true))
end)

test("an engine is a file of its own, with a name that a release can follow", function()
  os.execute("mkdir -p " .. quoted(folder))
  test.check(run("new", "mine", "--kind", "engine"):find("mine.lua and engines/mine.lua", 1, true))
  test.check(run("help", "engines.mine"):find("rules from 1.0 to 1.0", 1, true))
  test.check(run("help", "mine", "1.0"):find("max_num_seqs", 1, true))
  test.check(run("run", "mine.lua", "--quiet"):find("engine=mine 1.0", 1, true))
  for _, name in ipairs { "my-engine", "My", "a b", "vllm", "9" } do
    local told = run("new", name, "--kind", "engine")
    test.check(told:find "^rooflua: ", "%s: %s", name, told)
  end
  os.execute("rm " .. quoted(folder) .. "/mine.lua")
  test.check(run("new", "mine", "--kind", "engine"):find "is there already", "an engine is not overwritten")
end)

for _, kind in ipairs(kinds) do
  test("a new " .. kind .. " survives requests that fail", function()
    os.execute("mkdir -p " .. quoted(folder))
    local told = run("new", kind, "--kind", kind)
    test.check(not told:find "^rooflua:", "%s", told)
    local checked = run("check", kind .. ".lua")
    local doubts = checked:gsub("warning: mfu: the tables have nothing for", "") -- of this GPU, not of the file
    test.check(checked:find(": ok", 1, true) and not doubts:find "warning: ", "%s", checked)
    check_good(run("run", kind .. ".lua", "--quiet"), kind)
    local failed = false
    for _, set in ipairs(of_plans[kind] and { settings[2] } or settings) do
      local out = run("run", kind .. ".lua", "--quiet", "--set", set)
      failed = failed or out:find "failed" ~= nil or out:find "no request was completed" ~= nil
      for _, bad in ipairs { "attempt to", "bad argument", "a nil value", "internal error" } do
        test.check(not out:find(bad), "%s: %s", set, out)
      end
    end
    if not without_failures[kind] then test.check(failed, "no request failed under any of the settings") end
  end)
end

os.execute("rm -rf " .. quoted(folder))
test.finish()
