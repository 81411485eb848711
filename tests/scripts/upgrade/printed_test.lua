-- What `rooflua upgrade` prints and writes, as a file of tests/golden and docs/schema/upgrade.json have it.
-- ROOFLUA_UPDATE_GOLDEN=1 writes the file.
local test = dofile "tests/scripts/harness.lua"
local printed = dofile "tests/scripts/printed.lua"

local folder = test.folder()

local server = [[
return { model = "qwen3-8b", hardware = "h100-sxm", engine = { "vllm 0.12", max_num_seqs = 16 },
  workload = require "workloads.poisson" { rate_per_s = 6, prompt_tokens = 1000, output_tokens = 60,
    num_requests = 80 } }
]]
printed.write(folder .. "/server.lua", server)

test("an upgrade of a scenario and of a launch command", function()
  local out = {}
  for i, words in ipairs { "server.lua --to 'vllm 0.24' --html u.html",
    "--command 'vllm serve Qwen/Qwen3-32B --swap-space 8' --hardware h200 --from 'vllm 0.8' --to 'vllm 0.24'" } do
    out[i] = test.printed(("upgrade %s --json u%d.json"):format(words, i), folder)
  end
  printed.compare_with_golden("upgrade", table.concat(out, "\n"))
  printed.check_schema("upgrade", folder .. "/u1.json", folder .. "/u2.json")
  local page = printed.read(folder .. "/u.html")
  test.check(page:find("graphs_counted", 1, true) ~= nil and page:find("Rules that act", 1, true) ~= nil)
end)

test("the exit status says whether the engine starts", function()
  test.equal(printed.status("upgrade server.lua --to 'vllm 0.24'", folder), 0)
  test.equal(printed.status("upgrade --command 'vllm serve Qwen/Qwen3-32B' --hardware h100 --from 'vllm 0.19' "
    .. "--to 'vllm 0.24'", folder), 1)
  test.equal(printed.status("upgrade server.lua", folder), 2)
end)

test.finish()
