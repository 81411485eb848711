-- A measured folder is added, and what it is worth is told, from a script as on the command line.
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local measure = require "rooflua.measure"
local mfu = require "rooflua.mfu"

local folder = test.folder()
local mine, place = folder .. "/my-gpu", folder .. "/gpus"
local gpu = "bench_data/h100-sxm"
assert(os.execute(("mkdir %s && sed '/^aliases/,/\\]/d' %s/hardware.toml > %s/hardware.toml"):format(mine, gpu,
  mine)) == 0)
assert(os.execute(("head -300 %s/gemm_bf16_rooflua.csv > %s/gemm_bf16.csv"):format(gpu, mine)) == 0)

--- The document of the command line, less what only a file has.
local function of_program(words)
  local document = json.decode(test.printed(words .. " --json - 2>/dev/null", folder))
  document.schema, document.build = nil, nil
  return document
end

local function same(found, expected) test.equal(json.encode(found), json.encode(expected)) end

local scenario = test.file(".lua", [[return { rooflua = 1, kind = "price", model = "llama-3.1-8b",
  hardware = "h100-sxm", price = { { decodes = 8, decode_context_tokens = 8000 } } }]])

test("mfu.add says what the command says, and writes nothing with dry_run", function()
  local found = mfu.add { folder = mine, to = place, dry_run = true }
  test.equal(found.errors, 0)
  test.equal(found.name, "my-gpu")
  test.equal(found.installed, nil)
  test.check(not io.open(place .. "/my-gpu/hardware.toml"), "it is written")
  same(found, of_program(("data add %s --to %s --dry-run"):format(mine, place)))
end)

test("mfu.add installs a folder once, and puts an older one aside where it is asked to", function()
  local found = mfu.add { folder = mine, to = place, name = "other" }
  test.equal(found.installed, place .. "/other")
  test.check(io.open(place .. "/other/hardware.toml"), "it is not there")
  test.equal(mfu.add({ folder = mine, to = place, name = "other" }).installed, place .. "/other")
  local changed = folder .. "/changed"
  assert(os.execute(("cp -r %s %s && echo '# mine' >> %s/hardware.toml"):format(mine, changed, changed)) == 0)
  test.raises("is there already, with other content", function()
    mfu.add { folder = changed, to = place, name = "other" }
  end)
  local replaced = mfu.add { folder = changed, to = place, name = "other", replace = true }
  test.equal(replaced.set_aside, place .. "/.replaced/other-1")
end)

test("a GPU is called what is asked, else what hardware.toml states, else as its folder", function()
  local stated = folder .. "/results-of-tuesday"
  assert(os.execute(("mkdir %s && cp %s/gemm_bf16.csv %s && (echo 'name = \"lab-gpu\"'; cat %s/hardware.toml) "
    .. "> %s/hardware.toml"):format(stated, mine, stated, mine, stated)) == 0)
  local function added(name)
    local found = mfu.add { folder = stated, to = place, name = name }
    test.equal(found.installed, place .. "/" .. found.name)
    local pipe = io.popen(("ROOFLUA_GPUS=%s %s capacity --model llama-3.1-8b --hardware %s"):format(place,
      test.program(), found.name))
    local said = pipe:read "*l"
    pipe:close()
    return found.name, said:match " on ([^,]+),"
  end
  local name, read = added()
  test.equal(name, "lab-gpu")
  test.equal(read, "lab-gpu")
  name, read = added "lab-gpu-2"
  test.equal(name, "lab-gpu-2")
  test.equal(read, "lab-gpu-2", "reports call it so, too")
  test.equal(of_program(("data add %s --to %s"):format(stated, place)).name, "lab-gpu")
end)

test("a folder with errors is not added, and the errors are told", function()
  local wrong = folder .. "/wrong"
  assert(os.execute(("cp -r %s %s && rm %s/hardware.toml"):format(mine, wrong, wrong)) == 0)
  local found = mfu.add { folder = wrong, to = place }
  test.equal(found.errors, 1)
  test.equal(found.problems[1].kind, "no_datasheet")
  test.equal(found.installed, nil)
  same(found, of_program(("data add %s --to %s"):format(wrong, place)))
end)

test("measure.worth is the part of --for", function()
  local found = measure.worth { folder = mine, scenario = scenario, set = { "deployment.tp=2" } }
  local whole = of_program(("data add %s --to %s --dry-run --for %s --set deployment.tp=2"):format(mine, place,
    scenario))
  same(found.scenario, whole.scenario)
  same(found.measure, whole.measure)
  test.has(found.text, "on this GPU rests on:")
end)

test("names of shipped GPUs and wrong arguments are refused", function()
  local function refuses(part, call, given) test.raises(part, function() call(given) end) end
  refuses("means the shipped h100-sxm", mfu.add, { folder = mine, name = "h100-sxm", to = place })
  refuses("mfu.add: unknown", mfu.add, { folder = mine, too = place })
  refuses("mfu.add: folder", mfu.add, { to = place })
  refuses("mfu.add: replace: expected true or false", mfu.add, { folder = mine, replace = 1 })
  refuses("mfu.add: replace: has no effect with dry_run", mfu.add, { folder = mine, replace = true, dry_run = true })
  refuses("measure.worth: scenario", measure.worth, { folder = mine })
  refuses("measure.worth: set[1]", measure.worth, { folder = mine, scenario = scenario, set = { 3 } })
end)

test.finish()
