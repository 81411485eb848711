-- A run's name covers every file that the run opens, however the scenario names it: for runs, for plans, and for the
-- copies of a campaign.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"

local pipe = assert(io.popen "pwd")
local here = pipe:read "*l"
pipe:close()
local program = os.getenv "ROOFLUA_PROGRAM" or native.program or "build/release/bin/rooflua"
if program:sub(1, 1) ~= "/" then program = here .. "/" .. program end
local folder = os.tmpname()
os.remove(folder)

local function shell(command)
  local output = assert(io.popen(("cd '%s' && { %s; } 2>&1; echo \"status $?\""):format(folder, command)))
  local text = output:read "*a"
  output:close()
  local said, status = text:match "^(.-)status (%d+)\n$"
  return said, tonumber(status)
end

local function must(command)
  local said, status = shell(command)
  test.check(status == 0, "%s: %s", command, said)
  return said
end

local function write(name, text)
  local handle = assert(io.open(folder .. "/" .. name, "w"))
  handle:write(text)
  handle:close()
end

-- The files ----------------------------------------------------------------------------------------------------------

os.execute(("mkdir -p '%s'/{hw,lent,only,gpus/far,m,sub,schedulers,engines,lib}"):format(folder)
  :gsub("'/{(.-)}$", function(names)
    local out = { "'" }
    for name in names:gmatch "[^,]+" do out[#out + 1] = (" '%s/%s'"):format(folder, name) end
    return table.concat(out)
  end))
for _, gpu in ipairs { "hw", "gpus/far" } do
  for _, name in ipairs { "hardware.toml", "tables.toml", "gemm_bf16_vllm.csv", "attention_decode_bf16_vllm.csv" } do
    os.execute(("cp '%s/bench_data/l40s/%s' '%s/%s/'"):format(native.home, name, folder, gpu))
  end
end
local l40s = native.read_file(native.home .. "/bench_data/l40s/hardware.toml")
write("lent/hardware.toml", (l40s:gsub("\narchitecture", '\ntables_from = "hw"\narchitecture', 1)))
write("only/gpu.toml", l40s)
write("m/config.json", [[{"model_type": "llama", "hidden_size": 1024, "num_attention_heads": 8, "num_hidden_layers": 4,
 "vocab_size": 32000, "intermediate_size": 4096, "max_position_embeddings": 4096, "torch_dtype": "bfloat16"}]])
write("m/generation_config.json", '{"top_p": 0.5}')
write("m.toml", [[
name = "small"
layers = 4
hidden_size = 1024
heads = 8
kv_heads = 8
head_dim = 128
intermediate_size = 4096
vocab_size = 32000
max_model_len = 4096
]])
local rows = "arrival_s,prompt_tokens,output_tokens\n0,10,3\n1,20,3\n2,30,4\n"
write("t.csv", rows)
write("sub/near.csv", rows)
write("rounds.csv", "rounds\n2 3 1\n1 4\n")
write("schedulers/mine.lua", [[
local policy = require "rooflua.policy"
return policy.define { name = "mine", doc = "As vLLM.", extends = require "schedulers.vllm_v1" }
]])
write("schedulers/reader.lua", [[
local policy, spec = require "rooflua.policy", require "rooflua.spec"
local V1 = require "schedulers.vllm_v1"
local Reader = policy.define { name = "reader", doc = "Its method reads a GPU's folder.", extends = V1 }
function Reader:key(request) -- isn't "quoted" well
  self.sms = self.sms or spec.hardware('hw').sms + spec.model "m".layers + require("lib.late")
  return self.sms * request.id
end
return Reader
]])
write("lib/late.lua", "return 1\n")
write("engines/mine.lua", [[return { name = "mine", extends = "other", releases = { "1.0" },
  rules = { { scheduler = "mine", max_num_seqs = 8, source = "ours" } } }]])
write("engines/other.lua", [[return { name = "other", extends = "vllm 0.19", releases = { "1.0" },
  rules = { { max_num_seqs = 9, source = "theirs" } } }]])
write("gpu.lua", "return require('rooflua.spec').hardware 'hw'\n")

-- The scenarios ------------------------------------------------------------------------------------------------------

local own_model, own_gpu = 'model = "m"', 'hardware = "hw"'
local speculator = 'speculator = require "speculators.fixed" {}'
local fields = 'name = "changed"'

--- What names files, and the keys of a scenario that do.
local forms = {
  { "a GPU's folder", own_gpu }, { "a folder behind a dot", 'hardware = "./hw"' },
  { "a folder with a slash", 'hardware = "hw/"' }, { "a hardware.toml", 'hardware = "hw/hardware.toml"' },
  { "a folder below", 'hardware = "gpus/far"' }, { "a GPU's file of another name", 'hardware = "only/gpu.toml"' },
  { "a folder that borrows tables", 'hardware = "lent"' },
  { "a table from a folder", 'hardware = { from = "hw", ' .. fields .. " }" },
  { "a table that borrows from a folder", 'hardware = { from = "h100-sxm", tables_from = "hw", ' .. fields .. " }" },
  { "GPUs that vary", "vary = { hardware = { 'hw', 'lent' } }" },
  { "labelled values", "vary = { hardware = { { label = 'a', value = 'hw' }, { label = 'b', value = 'l40s' } } }" },
  { "--set of a GPU", "", set = "hardware=hw" }, { "--set of a model", "", set = "model=m" },
  { "replicas", 'replicas = { { hardware = "hw" }, { hardware = "lent" } }' },
  { "replicas of models", 'replicas = { { model = "m" } }' },
  { "tables of a GPU", 'mfu = { hardware = "hw" }' },
  { "tables by their path", 'mfu = { path = "hw" }' },
  { "a GPU of the scenario's own making", "hardware = require('rooflua.spec').hardware 'hw'" },
  { "a GPU of a module", "hardware = require 'gpu'" },
  { "a computed name", "hardware = require('rooflua.spec').hardware('h' .. 'w')" },
  { "a model's folder", own_model }, { "a config.json", 'model = "./m/config.json"' },
  { "a model's file", 'model = "m.toml"' }, { "a changed model", 'model = { from = "m", num_hidden_layers = 2 }' },
  { "models that vary", "vary = { model = { 'm', 'm.toml' } }" },
  { "a model of the scenario's own making", "model = require('rooflua.spec').model { from = 'm.toml', layers = 2 }" },
  { "a drafter", 'speculation = { drafter = require "drafters.draft_model" { model = "m", host_pass_s = 0, '
    .. "host_row_s = 0 }, acceptance = require 'acceptance.constant' {}, " .. speculator .. " }" },
  { "accepted drafts", 'speculation = { drafter = require "drafters.draft_model" { model = "m.toml", host_pass_s = 0, '
    .. 'host_row_s = 0 }, acceptance = require "acceptance.trace" { path = "rounds.csv" }, ' .. speculator .. " }" },
  { "a trace", 'workload = require "workloads.trace" { path = "t.csv" }' },
  { "a trace beside the scenario", 'workload = require "workloads.trace" { path = "near.csv" }', place = "sub/s.lua" },
  { "traces that vary", 'workload = require "workloads.trace" { path = "t.csv" }, vary = { ["workload.path"] = '
    .. '{ "t.csv", "sub/near.csv" } }' },
  { "a policy of a folder", 'scheduler = "mine"' }, { "a policy whose method reads", 'scheduler = "reader"' },
  { "an engine", 'engine = "mine 1.0"' }, { "an engine with options", 'engine = { "mine 1.0", max_num_seqs = 4 }' },
  { "a search", 'kind = "search", model = "m.toml", search = { goal = "cheapest", slo = { tpot_s_mean = 1 }, '
    .. 'deployments = { { name = "a", cost_per_hour = 1, set = { hardware = "hw" } } } }' },
  { "batches", 'kind = "price", price = { { decodes = 4, decode_context_tokens = 400 } }, hardware = "hw"' },
  { "a plan", 'kind = "plan", model = "m.toml", plan = { load = { rate_per_s = 2 }, slo = { ttft_s_p99 = 5 }, '
    .. 'requests = 20, gpus = { { "hw", most = 1, price_per_hour = 1 }, { "lent", most = 1, price_per_hour = 2 } } }' },
}

local function scenario(form)
  write(form.place or "s.lua", ("local own = { rooflua = 1, %s }\n"):format(form[2]) .. [[
own.model = own.model or "llama-3.1-8b"
own.hardware = own.hardware or own.kind ~= "plan" and "h200-sxm" or nil
own.workload = own.workload or own.kind ~= "price" and require "workloads.constant" { rate_per_s = 50,
  num_requests = 3, prompt_tokens = 30, output_tokens = 3 } or nil
return own
]])
end

--- Files of the folder that a run opens, by strace.
local function opened_files(form)
  os.remove(folder .. "/opened.txt")
  must(("strace -f -qq -e trace=open,openat -o opened.txt '%s' run %s --quiet --seed 0 %s > /dev/null"):format(program,
    form.place or "s.lua", form.set and "--set " .. form.set or ""))
  local out, seen = {}, {}
  for line in io.lines(folder .. "/opened.txt") do
    local path = not line:find "O_DIRECTORY" and line:match '"([^"]+)".* = %d+$'
    if path and path:sub(1, #folder + 1) == folder .. "/" then path = path:sub(#folder + 2) end
    path = path and path:gsub("//+", "/"):gsub("^%./", "")
    if path and path:sub(1, 1) ~= "/" and path ~= "" and not seen[path] and not path:find "s%.lua$"
      and native.file_exists(folder .. "/" .. path) then
      seen[path] = true
      out[#out + 1] = path
    end
  end
  table.sort(out)
  return out
end

local function name_of(form)
  return must(("'%s' lua '%s/tests/scripts/scenario/run_name.lua' %s '%s'"):format(program, here, form.place or "s.lua",
    form.set or ""))
end

local can_trace = os.execute "strace -o /dev/null true > /dev/null 2>&1" == 0

--- Files that a run of a form opens and whose edit leaves its name, in order.
local function left_out(form)
  if not can_trace then test.skip "strace cannot run here" end
  scenario(form)
  local opened, out = opened_files(form), {}
  test.check(#opened > 0, "opens no file of its own")
  local before = name_of(form)
  test.equal(name_of(form), before, "nothing has changed")
  for _, path in ipairs(opened) do
    local text = native.read_file(folder .. "/" .. path)
    write(path, text .. "\n")
    if name_of(form) == before then out[#out + 1] = path end
    write(path, text)
  end
  return table.concat(out, " ")
end

for _, form in ipairs(forms) do
  test(form[1] .. ": every file that a run opens is in its name", function() test.equal(left_out(form), "") end)
  test(form[1] .. ": the copies of a campaign have the results of the scenario", function()
    scenario(form)
    local set = form.set and "--set " .. form.set or ""
    local place = form.place or "s.lua"
    local expected = must(("'%s' run %s --quiet %s"):format(program, place, set))
    must(("rm -rf c moved && '%s' campaign submit %s --on parallel --shards 1 --dir c %s"):format(program, place, set))
    must("mkdir moved && mv c/scenario moved/")
    local found = must(("cd moved/scenario && '%s' run s.lua --quiet %s"):format(program, set))
    test.equal(found, expected)
    must "rm -r c moved"
  end)
end

test("two files that would have one place among the copies are told, where they differ", function()
  local form = { "", 'workload = require "workloads.trace" { path = "near.csv" }, hardware = "hw"',
    place = "sub/s.lua" }
  scenario(form)
  local submit = ("'%s' campaign submit sub/s.lua --on parallel --shards 1 --dir c --set mfu.path=hw"):format(program)
  for _, copied in ipairs { "hw/hardware.toml", "hw/tables.toml" } do
    must "rm -rf c sub/hw && cp -r hw sub/hw"
    test.check(not must(submit):find "is not copied", "they are alike")
    write("sub/" .. copied, native.read_file(folder .. "/" .. copied) .. "\n")
    local said = must(submit)
    test.check(said:find(copied .. ": is not copied, because", 1, true), "%s", said)
  end
  must "rm -r c sub/hw"
end)

test("a file that a run opens and that is not in its name is noticed", function()
  local form = { "", 'scheduler = "reader"' }
  local reader = native.read_file(folder .. "/schedulers/reader.lua")
  local computed, count = reader:gsub("spec.hardware%('hw'%)", "spec.hardware('h' .. 'w')")
  test.equal(count, 1, "places to edit")
  write("schedulers/reader.lua", computed)
  local out = left_out(form)
  write("schedulers/reader.lua", reader)
  test.has(out, "hw/hardware.toml")
  test.check(not out:find("reader.lua", 1, true), "%s", out)
end)

test("a run that is kept reads no file whose name its script computes", function()
  scenario { "", 'scheduler = "reader"' }
  local reader = native.read_file(folder .. "/schedulers/reader.lua")
  write("schedulers/reader.lua", (reader:gsub("spec.hardware%('hw'%)", "spec.hardware('h' .. 'w')")))
  must(("'%s' run s.lua --quiet"):format(program))
  for _ = 1, 2 do
    local said, status = shell(("'%s' run s.lua --quiet --results r.sqlite"):format(program))
    test.equal(status, 1)
    test.check(said:find("hw/.-: is read by a script that computes its name"), "%s", said)
  end
  write("schedulers/reader.lua", reader)
  for _ = 1, 2 do must(("'%s' run s.lua --quiet --results r.sqlite"):format(program)) end
end)

os.execute(("rm -r '%s'"):format(folder))
test.finish()
