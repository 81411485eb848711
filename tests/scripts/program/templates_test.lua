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
local settings = { "deployment.max_model_len=300", "deployment.max_model_len=700", "deployment.max_model_len=2",
  "deployment.kv_blocks=40", "workload.num_requests=1", "workload.rate_per_s=1000" }

--- Kinds of which no request fails: they price steps, correct what ends too early, or search for what holds.
local without_failures = { price = true, lookup = true, bucketing = true, correction = true, search = true,
  plan = true }

test("there is a template for each kind of question and of policy", function()
  local known = {}
  for _, kind in ipairs(kinds) do known[kind] = true end
  for _, kind in ipairs { "serve", "price", "search", "plan", "replay", "disaggregation", "scheduler", "router",
    "workload", "steps", "lookup", "bucketing", "correction", "metric", "speculator", "engine" } do
    test.check(known[kind], "no template of %s", kind)
  end
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
    local failed = false
    for _, set in ipairs(settings) do
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
