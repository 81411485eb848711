-- A lookup of one's own beside a scenario is named as a shipped one is.
local test = dofile "tests/scripts/harness.lua"

local folder = os.tmpname()
os.remove(folder)

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function run(text)
  local file = assert(io.open(folder .. "/s.lua", "w"))
  file:write(([[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm", %s,
    workload = require "workloads.poisson" { num_requests = 2 } }]]):format(text))
  file:close()
  return test.printed("run s.lua --quiet", folder)
end

local class = [[
local policy = require "rooflua.policy"
local Slow = policy.define { name = "slow", doc = "A second for everything.", returns = "latency_s" }
function Slow:lookup() return 1, "assumed" end
return Slow
]]

for _, path in ipairs { "lookup/slow.lua", "slow.lua" } do
  test("by name: " .. path, function()
    os.execute("rm -rf " .. quoted(folder) .. " && mkdir -p " .. quoted(folder .. "/lookup"))
    local file = assert(io.open(folder .. "/" .. path, "w"))
    file:write(class)
    file:close()
    local name = path:match "([%w_]+)%.lua$"
    for _, key in ipairs { 'mfu = "%s"', 'mfu = { lookup = "%s" }', 'vary = { ["mfu.lookup"] = { "%s" } }' } do
      local out = run(key:format(name))
      test.check(out:find "assumed >99%.9 %%" or out:find "100%.0 %%", "%s: %s", key, out)
    end
    local out = run 'mfu = "slo"'
    test.check(out:find "unknown lookup 'slo'" and out:find("slow", 1, true) or path == "slow.lua", "%s", out)
  end)
end

test("a function has no name: it is given as what its file returns", function()
  os.execute("rm -rf " .. quoted(folder) .. " && mkdir -p " .. quoted(folder .. "/lookup"))
  local file = assert(io.open(folder .. "/lookup/slow_function.lua", "w"))
  file:write 'return function() return 1, "assumed" end'
  file:close()
  local out = run 'mfu = "slow_function"'
  test.check(out:find("write require \"lookup.slow_function\"", 1, true), "%s", out)
  out = run 'mfu = { lookup = require "lookup.slow_function" }'
  test.check(out:find "assumed >99%.9 %%" or out:find "100%.0 %%", "%s", out)
end)

os.execute("rm -rf " .. quoted(folder))
test.finish()
