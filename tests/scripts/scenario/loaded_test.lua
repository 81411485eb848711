-- Every file of the program that a run opens is in its name: an edit of it, or an update of the program, is no result
-- that was kept before. Files are edited in a copy of the program's.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"
local required = require "rooflua.scenario.required"

local folder = test.folder()
local home = folder .. "/home"

local function shell(command)
  local pipe = assert(io.popen(("cd '%s' && { %s; } 2>&1; echo \"status $?\""):format(folder, command)))
  local text = pipe:read "*a"
  pipe:close()
  local said, status = text:match "^(.-)status (%d+)\n$"
  test.equal(tonumber(status), 0, command .. ": " .. said)
  return said
end

local function write(name, text)
  local handle = assert(io.open(folder .. "/" .. name, "w"))
  handle:write(text)
  handle:close()
end

shell(("mkdir -p home/scripts home/scenarios home/bench_data lib"))
for _, name in ipairs { "lib", unpack(required.folders()) } do
  shell(("cp -r '%s/scripts/%s' home/scripts/"):format(native.home, name))
end
shell(("cp -r '%s/scenarios/models' home/scenarios/"):format(native.home))
shell(("cd '%s/bench_data' && cp -r h100-sxm families *.toml '%s/bench_data/'"):format(native.home, home))

-- What runs: policies that the rule of an engine chooses, and policies that load others when they are asked.
local workload = [[require "workloads.poisson" { rate_per_s = 20, num_requests = 12, prompt_tokens = 300,
  output_tokens = 8 }]]
local scenarios = {
  sglang = ([[return { model = "llama-3.1-8b", hardware = "h100-sxm", engine = "sglang 0.5.9",
    workload = %s }]]):format(workload),
  vllm = ([[return { model = "qwen3-30b-a3b", hardware = "h100-sxm", engine = "vllm 0.24", replicas = 2,
    router = "session", admission = "bands", client = "openai", tiers = { policy = "vllm_cpu",
    stores = { { name = "cpu", capacity_bytes = 1e9 } } }, workload = %s }]]):format(workload),
  trtllm = ([[return { model = "llama-3.1-8b", hardware = "h100-sxm", engine = "trtllm 1.2", workload = %s }]])
    :format(workload),
}

local tried = {} -- paths

--- Files of the program's copy that a run opens, by strace, without that folder; those that no run before has opened.
local function opened_by(name)
  shell(("ROOFLUA_HOME='%s' strace -f -qq -e trace=open,openat -o opened.txt '%s' run %s.lua --quiet"):format(home,
    test.program(), name))
  local out = {}
  for line in io.lines(folder .. "/opened.txt") do
    local path = not line:find "O_DIRECTORY" and line:match '"([^"]+)".* = %d+$'
    path = path and path:gsub("//+", "/")
    if path and path:sub(1, #home + 1) == home .. "/" and not tried[path] and native.file_exists(path) then
      tried[path] = true
      out[#out + 1] = path:sub(#home + 2)
    end
  end
  table.sort(out)
  return out
end

--- Names of a scenario's run: as it is, with each of these files edited, and as it is again.
write("names.lua", [[
local native, opening = require "rooflua.native", require "rooflua.runs.opening"
local opened = opening.file(arg[1])
local function name()
  package.loaded["rooflua.runs.hash"] = nil -- it remembers the files of the program
  local hash = require "rooflua.runs.hash"
  local hasher = hash.of_scenario { given = opened.given, path = opened.path, list = opened.all }
  return (hasher:of(opening.changed(opened, opened.all[1]), "run"))
end
local function write(path, text)
  local handle = assert(io.open(path, "w"))
  handle:write(text)
  handle:close()
end
local before = name()
for path in io.lines(arg[2]) do
  local full = native.home .. "/" .. path
  local text = native.read_file(full)
  write(full, text .. "\n")
  print(path, name() ~= before)
  write(full, text)
end
print("nothing", name() ~= before)
]])

--- Of these files those whose edit leaves the name of a scenario's run, in order.
local function left_out(name, files)
  write("list.txt", table.concat(files, "\n") .. "\n")
  local said = shell(("ROOFLUA_HOME='%s' '%s' lua names.lua %s.lua list.txt"):format(home, test.program(), name))
  local seen, out = 0, {}
  for path, changed in said:gmatch "([^\t\n]+)\t(%a+)\n" do
    seen = seen + 1
    if path == "nothing" then
      test.equal(changed, "false", "nothing has changed")
    elseif changed == "false" then
      out[#out + 1] = path
    end
  end
  test.equal(seen, #files + 1)
  return table.concat(out, " ")
end

for _, name in ipairs { "sglang", "vllm", "trtllm" } do
  test(name .. ": every file of the program that a run opens is in its name", function()
    if os.execute "strace -o /dev/null true > /dev/null 2>&1" ~= 0 then
      test.skip "strace cannot run here"
    end
    write(name .. ".lua", scenarios[name])
    local opened = opened_by(name)
    test.at_least(#opened, 3, "files that it opens")
    test.equal(left_out(name, opened), "")
  end)
end

test("a name that leaves out a folder of the program is noticed, by each of its files", function()
  write("sglang.lua", scenarios.sglang)
  local files = { "bench_data/h100-sxm/hardware.toml", "scenarios/models/llama-3.1-8b.toml",
    "scripts/schedulers/sglang.lua" }
  local hash = home .. "/scripts/lib/rooflua/runs/hash.lua"
  local text = native.read_file(hash)
  local function plant(taken)
    local handle = assert(io.open(hash, "w"))
    handle:write(taken)
    handle:close()
  end
  local function without(pattern, by)
    local taken, count = text:gsub(pattern, by)
    test.equal(count, 1, pattern)
    plant(taken)
    local out = left_out("sglang", files)
    plant(text)
    return out
  end
  test.equal(without(', "/bench_data" }', " }"), files[1])
  test.equal(without('"/scenarios/models", ', ""), files[2])
  test.equal(without("shipped_folders%[#shipped_folders %+ 1%] = [^\n]- end", "local _ = each end"), files[3])
  test.equal(left_out("sglang", files), "")
end)

test("every folder of scripts is one that runs load, or one that none does", function()
  local apart = { "bootstrap.sh", "campaigns", "collect", "lib", "meta", "python", "rooflua", "templates", "test" }
  local known = {}
  for _, list in ipairs { apart, required.folders() } do
    for _, each in ipairs(list) do known[each] = true end
  end
  for each in shell(("ls '%s/scripts'"):format(native.home)):gmatch "[^\n]+" do test.check(known[each], each) end
end)

test("a result that was kept is not that of an edited scheduler", function()
  local scheduler = home .. "/scripts/schedulers/sglang.lua"
  write("sglang.lua", scenarios.sglang)
  local function run()
    return shell(("ROOFLUA_HOME='%s' '%s' run sglang.lua --results r.sqlite"):format(home, test.program()))
  end
  test.check(not run():find "already")
  test.has(run(), "1 of 1 runs were in r.sqlite already")
  local text = native.read_file(scheduler)
  local edited, count = text:gsub("self%.chunked_prefill_size %- mixed", "64 - mixed")
  test.at_least(count, 1, "places to edit")
  local handle = assert(io.open(scheduler, "w"))
  handle:write(edited)
  handle:close()
  test.check(not run():find "already", "it runs again")
end)

test("a run that is kept loads no module of the user's whose name a policy computes", function()
  shell "mkdir -p schedulers"
  write("late.lua", "return 1\n")
  write("schedulers/own.lua", [[
local policy = require "rooflua.policy"
local Own = policy.define { name = "own", doc = "Loads on the way.", extends = require "schedulers.vllm_v1" }
local load = ({ require })[1]
function Own:key(request) return load("la" .. "te") * request.id end
return Own
]])
  write("own.lua", (scenarios.trtllm:gsub('engine = "trtllm 1.2"', 'scheduler = "own"')))
  local said = test.printed("run own.lua --quiet --results r.sqlite", folder)
  test.check(said:find "late.lua: is read by a script that computes its name", "%s", said)
  test.check(not test.printed("run own.lua --quiet", folder):find "computes", "without a file of results it runs")
end)

test.finish()
