-- Stored results are used again only if no file that they depend on has changed.
local test = dofile "tests/scripts/harness.lua"
local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"

local folder = test.file("")
os.remove(folder)
assert(os.execute(("mkdir -p '%s/schedulers' '%s/more'"):format(folder, folder)) == 0)

local function write(name, text)
  local handle = assert(io.open(folder .. "/" .. name, "w"))
  handle:write(text)
  handle:close()
end

--- Whether a run takes its one result from the results file.
local function is_reused(options)
  local pipe = assert(io.popen(("%s run %s/s.lua --results %s/r.sqlite %s 2>&1 > /dev/null"):format(program, folder,
    folder, options or "")))
  local text = pipe:read "*a"
  pipe:close()
  test.check(not text:find "error" and not text:find "FAILED", "%s", text)
  return text:find "were in" ~= nil, text
end

--- A change of each file makes another result; without a change it is used again.
local function check_changes(changes)
  test.check(not is_reused(), "nothing is stored yet")
  test.check(is_reused(), "nothing has changed")
  for _, change in ipairs(changes) do
    write(change[1], change[2])
    test.check(not is_reused(), "%s has changed", change[1])
    test.check(is_reused(), "nothing has changed since")
  end
end

local function scenario(before, keys)
  return before .. [[

return { rooflua = 1, hardware = "h200-sxm", ]] .. keys .. [[,
  workload = require "workloads.constant" { rate_per_s = 50, num_requests = 5, prompt_tokens = 30,
    output_tokens = 3 } }
]]
end

local model = [[
name = "small"
layers = %d
hidden_size = 1024
heads = 8
kv_heads = 8
head_dim = 128
intermediate_size = 4096
vocab_size = 32000
max_model_len = 4096
]]

test("files that a trusted script reads while it loads, by whatever function", function()
  write("lines.txt", "30\n")
  write("opened.txt", "3")
  write("done.lua", "return 5")
  write("s.lua", scenario([[
local folder = ]] .. ("%q"):format(folder) .. [[

local prompt = tonumber((io.lines(folder .. "/lines.txt")()))
local file = io.open(folder .. "/opened.txt")
local rate = tonumber(file:read "*a")
file:close()
local seed = dofile(folder .. "/done.lua")
local written = io.open(folder .. "/written.txt", "w")
written:write(tostring(os.clock()))
written:close()]], [[model = "llama-3.1-8b", seed = seed, title = "at " .. rate .. " for " .. prompt]]))
  test.check(not is_reused "--trusted", "nothing is stored yet")
  local reused, text = is_reused "--trusted"
  test.check(reused, "nothing has changed")
  test.check(text:find("files that they read during a run, or by commands, are not compared", 1, true), "%s", text)
  for _, change in ipairs { { "lines.txt", "31\n" }, { "opened.txt", "4" }, { "done.lua", "return 6 -- six" } } do
    write(change[1], change[2])
    test.check(not is_reused "--trusted", "%s has changed", change[1])
    test.check(is_reused "--trusted", "nothing has changed since")
  end
end)

test("a module that is first required inside a method, and what that requires", function()
  write("schedulers/late.lua", [[
local policy = require "rooflua.policy"
local V1 = require "schedulers.vllm_v1"
local Late = policy.define { name = "late", doc = "Asks a module that it requires late.", extends = V1 }
function Late:key(request) return require "order" (request) end -- luacheck: ignore
return Late
]])
  write("order.lua", "local sign = require('more.sign')\nreturn function(request) return sign * request.id end\n")
  write("more/sign.lua", "return 1\n")
  write("s.lua", scenario("", 'model = "llama-3.1-8b", scheduler = "late"'))
  check_changes { { "more/sign.lua", "return -1\n" }, { "order.lua", "return function() return 0 end\n" } }
end)

test("a module whose name is computed", function()
  write("schedulers/late.lua", [[
local policy = require "rooflua.policy"
local Late = policy.define { name = "late", doc = "Computes a name.", extends = require "schedulers.vllm_v1" }
function Late:key(request) return require("or" .. "der")(request) end -- luacheck: ignore
return Late
]])
  check_changes { { "order.lua", "return function() return 1 end\n" } }
end)

test("a model file after spec.model", function()
  write("m.toml", model:format(4))
  write("s.lua", scenario("local spec = require 'rooflua.spec'",
    ("model = spec.model '%s/m.toml', scheduler = 'vllm_v1'"):format(folder)))
  check_changes { { "m.toml", model:format(5) } }
end)

local config = [[
{"model_type": "llama", "hidden_size": 1024, "num_attention_heads": 8, "num_hidden_layers": 4, "vocab_size": 32000,
 "intermediate_size": 4096, "max_position_embeddings": 4096, "torch_dtype": "bfloat16"}
]]
local formats = '{"quantization": {"quant_algo": "%s"}}'

test("the files beside a config.json, of which one may not be there, and no other file of its folder", function()
  assert(os.execute(("mkdir -p '%s/m'"):format(folder)) == 0)
  local seed = 0 -- tells the runs apart: their content would be the same
  for _, source in ipairs { "model = %q", "model = spec.model %q", "model = spec.model { from = %q, layers = nil }" } do
    for _, name in ipairs { "/m", "/m/config.json" } do
      write("m/config.json", config)
      write("m/weights.bin", "first")
      os.remove(folder .. "/m/hf_quant_config.json")
      os.remove(folder .. "/m/generation_config.json")
      seed = seed + 1
      write("s.lua", scenario("local spec = require 'rooflua.spec'", (source .. ", scheduler = 'vllm_v1', seed = %d")
        :format(folder .. name, seed)))
      check_changes { { "m/hf_quant_config.json", formats:format "FP8" },
        { "m/hf_quant_config.json", formats:format "NVFP4" }, { "m/generation_config.json", '{"top_p": 0.5}' } }
      write("m/weights.bin", "second")
      test.check(is_reused(), "a file that is not read has changed")
    end
  end
end)

test("a table of a model that the scenario computes", function()
  write("s.lua", scenario("local spec, name = require 'rooflua.spec', require 'more.name'",
    "model = spec.model(name), scheduler = 'vllm_v1'"))
  write("more/name.lua", "return 'llama-3.1-8b'\n")
  check_changes { { "more/name.lua", "return 'qwen3-8b'\n" } }
end)

test("a trace beside the scenario", function()
  local rows = "arrival_s,prompt_tokens,output_tokens\n0,10,%d\n1,20,3\n"
  write("t.csv", rows:format(3))
  write("s.lua", [[
return { rooflua = 1, model = "llama-3.1-8b", hardware = "h200-sxm",
  workload = require "workloads.trace" { path = "t.csv" } }
]])
  check_changes { { "t.csv", rows:format(4) } }
end)

test("what cannot matter: comments, the title, the report; and what can: a policy of the scenario's own", function()
  local plain = 'model = "llama-3.1-8b", scheduler = "vllm_v1"'
  write("s.lua", scenario("", plain))
  test.check(not is_reused(), "nothing is stored yet")
  write("s.lua", scenario("-- a remark", plain .. ', title = "other", report = function() return "own" end'))
  test.check(is_reused(), "a remark, a title and a report are no content")
  write("s.lua", scenario("", plain .. ", rooflua = 1, seed = 9"))
  test.check(not is_reused(), "the seed is content")
  local own = [[
local policy = require "rooflua.policy"
local Own = policy.define { name = "own", doc = "Orders by id.", extends = require "schedulers.vllm_v1" }
function Own:key(request) return %s * request.id end
]]
  local with_own = 'model = "llama-3.1-8b", scheduler = Own {}'
  write("s.lua", scenario(own:format "1", with_own))
  test.check(not is_reused(), "another scheduler")
  test.check(is_reused(), "nothing has changed")
  write("s.lua", scenario(own:format "-1", with_own))
  test.check(not is_reused(), "its method has changed")
end)

test("two policies of one name that a function of the scenario makes are two contents", function()
  write("s.lua", scenario([[
local policy = require "rooflua.policy"
local function make(sign)
  local Own = policy.define { name = "own", doc = "Orders by id.", extends = require "schedulers.vllm_v1" }
  function Own:key(request) return sign * request.id end
  return Own {}
end]], 'model = "llama-3.1-8b", vary = { scheduler = { { label = "up", value = make(1) }, '
    .. '{ label = "down", value = make(-1) } } }'))
  os.remove(folder .. "/r.sqlite")
  is_reused()
  local pipe = io.popen(("%s results list %s/r.sqlite"):format(program, folder))
  local listed = pipe:read "*a"
  pipe:close()
  test.check(listed:find("\n2 runs", 1, true), "%s", listed)
end)

test("the place of the scenario and the working directory are no content", function()
  write("schedulers/mine.lua", [[
local policy = require "rooflua.policy"
return policy.define { name = "mine", doc = "As vLLM.", extends = require "schedulers.vllm_v1" }
]])
  write("t.csv", "arrival_s,prompt_tokens,output_tokens\n0,10,3\n1,20,3\n")
  write("m.toml", model:format(4))
  write("s.lua", ([[
return { rooflua = 1, model = %q, hardware = "h200-sxm", scheduler = "mine",
  workload = require "workloads.trace" { path = "t.csv" } }
]]):format(folder .. "/m.toml"))
  assert(os.execute(("cd '%s' && mkdir -p copy && cp -r s.lua t.csv schedulers copy"):format(folder)) == 0)
  test.check(not is_reused(), "nothing is stored yet")
  local absolute = program:sub(1, 1) == "/" and program or os.getenv "PWD" .. "/" .. program
  for _, from in ipairs { { ".", "s.lua" }, { ".", "./s.lua" }, { "more", "../s.lua" }, { ".", "copy/s.lua" },
    { "copy", "s.lua" }, { "/", folder .. "/copy/s.lua" } } do
    local pipe = assert(io.popen(("cd '%s' && cd '%s' && %s run %s --results %s/r.sqlite 2>&1 > /dev/null"):format(
      folder, from[1], absolute, from[2], folder)))
    local text = pipe:read "*a"
    pipe:close()
    test.check(text:find("1 of 1 runs were in", 1, true), "%s in %s: %s", from[2], from[1], text)
  end
  write("copy/t.csv", "arrival_s,prompt_tokens,output_tokens\n0,10,3\n1,21,3\n")
  local pipe = assert(io.popen(("%s run %s/copy/s.lua --results %s/r.sqlite 2>&1 > /dev/null"):format(program, folder,
    folder)))
  test.check(not pipe:read "*a":find("were in", 1, true), "another trace is other content")
  pipe:close()
end)

test("a page, a document and a text are those of a new run, whatever the file of results has", function()
  write("s.lua", scenario("", 'model = "llama-3.1-8b"'))
  local function made(options)
    local name = folder .. "/out"
    options = options:gsub("OUT", name)
    local command = ("%s run %s/s.lua %s > %s.txt 2> /dev/null"):format(program, folder, options, name)
    test.equal(os.execute(command), 0, command)
    local texts = {}
    for i, ending in ipairs { ".txt", ".json", ".html" } do
      local file = io.open(name .. ending)
      texts[i] = file and file:read "*a" or ""
      if file then file:close() end
      os.remove(name .. ending)
    end
    return table.concat(texts, "\0")
  end
  local page, document = "--json OUT.json --html OUT.html", "--json OUT.json"
  local new = { [page] = made(page), [document] = made(document) }
  test.check(#new[page] > #new[document] + 1000, "the page is there")
  for _, order in ipairs { { document, page, document, page }, { page, document, page, document } } do
    os.remove(folder .. "/r.sqlite")
    for i, options in ipairs(order) do
      local found = made(("%s --results %s/r.sqlite"):format(options, folder))
      test.check(found == new[options], "%s is another one as number %d", options, i)
    end
  end
end)

test("a folder of the program's scripts is content with all folders in it", function()
  local native, json = require "rooflua.native", require "rooflua.json"
  local function content() return native.content_name({ folder .. "/more" }, json.array {}) end
  assert(os.execute(("mkdir -p '%s/more/vllm'"):format(folder)) == 0)
  write("more/vllm/pools.lua", "return {}")
  local before = content()
  test.equal(content(), before)
  write("more/vllm/pools.lua", "return { 1 }")
  test.check(content() ~= before, "a row of an engine that was edited makes no other content")
end)

test("every Lua file that a run has read is among the files of its content", function()
  for _, name in ipairs { "02_chunk_size", "03_schedulers", "07_disaggregation", "12_replay", "13_own_scheduler",
    "21_speculation" } do
    local code = ([[
      local opening = require "rooflua.runs.opening"
      local chunks = require "rooflua.sandbox.chunks"
      local opened = opening.file "scenarios/%s.lua"
      local hasher = require("rooflua.runs.hash").of_scenario { given = opened.given, path = opened.path,
        list = opened.all }
      local changed = opening.changed(opened, opened.all[1])
      local _, files = hasher:of(changed, "run")
      changed.workload = require("rooflua.policy").with(changed.workload, changed.workload.num_requests
        and { num_requests = 5 } or {})
      local before = {}
      for _, path in ipairs(chunks.files_of_scenario()) do before[path] = true end
      require("rooflua.runs.single").run("serve", opened.reader, changed, {})
      for _, path in ipairs(chunks.files()) do
        local is_of_engines = path:find("/scripts/engines/", 1, true) -- a folder of which all is in the content
        if not (before[path] or files[path] or is_of_engines) then print("not in the content: " .. path) end
      end
      print "looked"]]):format(name)
    write("read.lua", code)
    local pipe = io.popen(("%s lua %s/read.lua 2>&1"):format(program, folder))
    local said = pipe:read "*a"
    pipe:close()
    test.check(said == "looked\n", "%s: %s", name, said)
  end
end)

os.execute(("rm -r '%s'"):format(folder))
test.finish()
