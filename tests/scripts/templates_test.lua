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

test("there are templates", function() test.check(#kinds >= 10, "%d templates", #kinds) end)

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
    local serves = kind ~= "price" and kind ~= "correction" and kind ~= "search"
    if serves then test.check(failed, "no request failed under any of the settings") end
  end)
end

os.execute("rm -rf " .. quoted(folder))
test.finish()
