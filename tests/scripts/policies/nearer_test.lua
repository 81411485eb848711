-- A file of the user that has the name of a file of the program is read in its place, and this is said.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"
local check = require "rooflua.program.check"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"

local folder = test.folder()

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
end

os.execute(("mkdir -p %s/schedulers %s/corrections"):format(folder, folder))
write("corrections/step_overhead.lua", [[
local policy = require "rooflua.policy"
local Own = policy.define { name = "step_overhead", doc = "Of this test.", params = {} }
function Own:step(_, time_s) return time_s + 1 end
return Own
]])
write("schedulers/vllm_v1.lua", [[
local policy = require "rooflua.policy"
local Own = { name = "vllm_v1", doc = "The program's.", extends = require "schedulers.vllm_v1" }
return policy.define(Own)
]])
local head = "return { rooflua = 1, kind = 'price', model = 'llama-3.1-8b', hardware = 'h100-sxm',\n"
  .. "engine = 'vllm 0.19', price = { { name = 'a', decodes = 4, decode_context_tokens = 400 } }, "
write("by_name.lua", head .. "corrections = { 'step_overhead' } }")
write("by_require.lua", head .. "corrections = { require 'corrections.step_overhead' {} } }")
write("without.lua", head .. "}")
write("served.lua", [[
return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm 0.19", seed = 1,
  scheduler = require "schedulers.vllm_v1" {}, workload = require "workloads.poisson" { num_requests = 20 } }
]])

local function price(name) return kinds.run(opening.file(folder .. "/" .. name .. ".lua"), 1, {}).time_s end

test("by name and by require it is the file beside the scenario", function()
  local without_s = price "without"
  test.near(price "by_name" - without_s, 1, 1e-9)
  test.near(price "by_require" - without_s, 1, 1e-9)
end)

test("what the file requires by its own name is the program's", function()
  local found = kinds.run(opening.file(folder .. "/served.lua"), 1, { document = true })
  test.equal(found.kind, "serve")
  local text = table.concat(found.notes, "\n")
  test.check(text:find("schedulers/vllm_v1.lua is read in place of the program's schedulers.vllm_v1", 1, true), text)
end)

test("files of the program still require files of the program", function()
  local shipped = chunks.shipped "schedulers.vllm_v1"
  test.check(shipped ~= chunks.require "schedulers.vllm_v1")
  test.equal(chunks.shipped "schedulers.vllm_v1", shipped)
end)

test("check says so, and says nothing where no file is nearer", function()
  local function notes_of(name) return table.concat(check.file(folder .. "/" .. name .. ".lua").notes, "\n") end
  test.check(notes_of "by_name":find("corrections/step_overhead.lua is read in place of the program's", 1, true))
  os.execute(("mkdir -p %s/other && cp %s/without.lua %s/other/"):format(folder, folder, folder))
  test.check(not notes_of "other/without":find("in place of", 1, true))
end)

test.finish()
