-- A page of a run has what its text has: groups of requests with their time at the gate, what completed, pools.
local test = dofile "tests/scripts/harness.lua"

local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"

local scenario = [[
return {
  model = "llama-3.1-8b", hardware = "h200-sxm", seed = 3, deployment = { max_num_seqs = 8 },
  admission = require "admission.concurrency" { max_concurrency = 6 },
  client = require "clients.impatient" { first_token_s = 1 },
  replicas = { { min = 1, max = 2, autoscaler = "target", start = { init_s = 5 } } },
  workload = require "workloads.mix" { parts = {
    { name = "long", tenant = 0, workload = require "workloads.poisson" { rate_per_s = 6, num_requests = 60,
      prompt_tokens = 300, output_tokens = 150 } },
    { name = "short", tenant = 1, workload = require "workloads.poisson" { rate_per_s = 6, num_requests = 60,
      prompt_tokens = 100, output_tokens = 50 } } } },
}
]]

local function run()
  local file, page = test.file("parts.lua", scenario), test.file ".html"
  local pipe = io.popen(("%s run %s --html %s 2>&1"):format(program, file, page))
  local text = pipe:read "*a"
  pipe:close()
  local body = assert(io.open(page), text):read "*a"
  body = body:gsub("<script.->.-</script>", ""):gsub("<style.->.-</style>", ""):gsub("<[^>]+>", " "):gsub("%s+", " ")
  return text, body
end

test("classes, tenants, pools and the part that completed stand in the page as in the text", function()
  local text, page = run()
  local share = text:match "([%d.]+ %%) of the requests completed: quantiles are of these alone"
  test.check(share, "%s", text)
  test.check(page:find(share .. " of the requests completed: quantiles are of these alone", 1, true), "%s", page)
  for _, title in ipairs { "class", "tenant" } do
    test.check(page:find("variant " .. title .. " completed .- E2E mean held held p99 "), "no table by %s: %s",
      title, page)
  end
  local class = text:match "\nlong +[%d,]+ +([%d.]+) " -- requests/s
  test.check(class and page:find(class, 1, true), "%s\n%s", text, page)
  test.check(page:find("variant pool", 1, true), "no table of pools: %s", page)
end)

test.finish()
