-- `vary` leaves an optional part of a scenario out: false, or "none" of a group of keys.
local test = dofile "tests/scripts/harness.lua"
local opening = require "rooflua.runs.opening"

local function opened(vary)
  return opening.table { model = "llama-3.1-8b", hardware = "h100-sxm", workload = require "workloads.poisson" {},
    admission = require "admission.concurrency" {}, vary = vary }
end

test("a part is varied with and without it", function()
  local found = opened { speculation = { "none", { label = "two", value = { speculator = "fixed" } } } }
  test.equal(found.variants[1].name, "speculation=none")
  test.equal(opening.changed(found, found.variants[1]).speculation, nil)
  test.equal(opening.changed(found, found.variants[2]).speculation.speculator, "fixed")
end)

test("a label may stand beside what leaves a part out", function()
  for _, none in ipairs { false, "none" } do
    local found = opened { speculation = { { label = "off", value = none }, { label = "two",
      value = { speculator = "fixed" } } } }
    test.equal(found.variants[1].name, "speculation=off")
    test.equal(opening.changed(found, found.variants[1]).speculation, nil)
    test.equal(opening.changed(found, found.variants[2]).speculation.speculator, "fixed")
  end
  local found = opened { admission = { { label = "off", value = false } } }
  test.equal(opening.changed(found, found.variants[1]).admission, nil)
end)

test("false leaves out what the scenario has", function()
  local found = opened { admission = { false, require "admission.always" {} } }
  test.equal(found.variants[1].name, "admission=none")
  test.equal(opening.changed(found, found.variants[1]).admission, nil)
  test.equal(opening.changed(found, found.variants[2]).admission.name, "always")
end)

test("a value that may be false or none stays what it is", function()
  local found = opened { ["scheduler.enable_chunked_prefill"] = { false, true } }
  test.equal(found.variants[1].name, "enable_chunked_prefill=false")
  test.equal(found.variants[1].changes[1].value, false)
end)

test.finish()
