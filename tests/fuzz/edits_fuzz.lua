-- Edits of inputs. A case draws a scenario that names files in several ways at once, sees which files of its folder a
-- run opens, and edits some of them: each edit gives the run another name, so that no result of the old content is
-- served. The way back gives the old name. The scenario's own file counts by what it returns, so that a comment changes
-- nothing. Without strace the case counts nothing.
local fuzzer = dofile "tests/fuzz/fuzzer.lua"
local native = require "rooflua.native"

local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
local pipe = io.popen "pwd"
local here = pipe:read "*l"
pipe:close()
if program:sub(1, 1) ~= "/" then program = here .. "/" .. program end
local can_trace = os.execute "strace -o /dev/null true > /dev/null 2>&1" == 0

local folder -- of the case

local function shell(command)
  local out = io.popen(("cd '%s' && { %s ; } 2>&1; echo \"status $?\""):format(folder, command))
  local text = out:read "*a"
  out:close()
  local said, status = text:match "^(.-)status (%d+)\n$"
  if status ~= "0" then error(command .. ": " .. said:sub(-600), 0) end
  return said
end

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "wb"))
  file:write(text)
  file:close()
end

local l40s = native.read_file(native.home .. "/bench_data/l40s/hardware.toml")
local rows = "arrival_s,prompt_tokens,output_tokens\n0,10,3\n1,20,3\n2,30,4\n"
local class = [[
local policy = require "rooflua.policy"
%s
return policy.define { name = "%s", doc = "Of a fuzzer.", extends = require "%s" }
]]

local function lay_out()
  shell "rm -rf work && mkdir -p work"
  folder = folder .. "/work"
  shell "mkdir -p hw lent deep/er m lib schedulers routers lookup metrics corrections workloads"
  for _, gpu in ipairs { "hw", "deep/er" } do
    write(gpu .. "/hardware.toml", l40s)
    for _, name in ipairs { "tables.toml", "gemm_bf16_vllm.csv", "attention_decode_bf16_vllm.csv" } do
      write(gpu .. "/" .. name, native.read_file(native.home .. "/bench_data/l40s/" .. name))
    end
  end
  write("lent/hardware.toml", (l40s:gsub("\narchitecture", '\ntables_from = "hw"\narchitecture', 1)))
  write("m/config.json", [[{"model_type": "llama", "hidden_size": 1024, "num_attention_heads": 8,
 "num_hidden_layers": 4, "vocab_size": 32000, "intermediate_size": 4096, "max_position_embeddings": 4096,
 "torch_dtype": "bfloat16"}]])
  write("m/generation_config.json", '{"top_p": 0.5}')
  write("m.toml", 'name = "small"\nlayers = 4\nhidden_size = 1024\nheads = 8\nkv_heads = 8\nhead_dim = 128\n'
    .. "intermediate_size = 4096\nvocab_size = 32000\nmax_model_len = 4096\n")
  write("t.csv", rows)
  write("t.jsonl", '{"timestamp": 0, "input_length": 20, "output_length": 3, "hash_ids": [1]}\n'
    .. '{"timestamp": 5, "input_length": 30, "output_length": 3, "hash_ids": [1]}\n')
  write("rounds.csv", "rounds\n2 3 1\n1 4\n")
  write("lib/one.lua", "return { 1 }\n")
  write("lib/two.lua", 'return { require("lib.one")[1] }\n')
  write("schedulers/mine.lua", class:format('local two = require "lib.two"', "mine", "schedulers.vllm_v1"))
  write("routers/mine.lua", class:format("", "mine", "routers.round_robin"))
  write("corrections/mine.lua", class:format('local one = require "lib.one"', "mine", "corrections.step_overhead"))
  write("workloads/mine.lua", class:format("", "mine", "workloads.poisson"))
  write("metrics/mine.lua", class:format("", "mine", "metrics.ttft_above_frac"))
  write("lookup/mine.lua", "return function() return 1e-4, 'assumed' end\n")
end

-- Ways to say a key of a scenario; "" leaves it out.
local ways = {
  hardware = { 'hardware = "hw"', 'hardware = "./hw/"', 'hardware = "hw/hardware.toml"', 'hardware = "lent"',
    'hardware = "deep/er"', 'hardware = { from = "hw", name = "x" }',
    "hardware = require('rooflua.spec').hardware 'hw'",
    'hardware = "h100-sxm", mfu = { path = "hw" }', 'hardware = "l40s", mfu = { lookup = "mine" }',
    'hardware = { from = "h100-sxm", tables_from = "hw", name = "x" }', 'hardware = "l40s"' },
  model = { 'model = "m"', 'model = "m.toml"', 'model = "m/config.json"', 'model = { from = "m", layers = 2 }',
    "model = require('rooflua.spec').model 'm.toml'", 'model = "llama-3.1-8b"' },
  workload = { 'workload = require "workloads.trace" { path = "t.csv" }',
    'workload = require "workloads.trace" { path = "t.jsonl" }',
    'workload = require "workloads.mine" { num_requests = 3, prompt_tokens = 20, output_tokens = 3 }',
    'workload = require "workloads.poisson" { num_requests = 3, prompt_tokens = 20, output_tokens = 3 }' },
  scheduler = { "", 'scheduler = "mine"', 'scheduler = require "schedulers.mine" {}' },
  router = { "", 'router = "mine", replicas = 2', 'replicas = { { hardware = "hw" }, { hardware = "lent" } }' },
  corrections = { "", 'corrections = { require "corrections.mine" {} }', 'corrections = { "mine" }' },
  metrics = { "", 'metrics = { own = "mine" }', 'metrics = { own = require "metrics.mine" {} }' },
  speculation = { "", "", [[speculation = { speculator = require "speculators.fixed" {},
    drafter = require "drafters.draft_model" { model = "m.toml", host_pass_s = 0, host_row_s = 0 },
    acceptance = require "acceptance.trace" { path = "rounds.csv" } }]] },
  vary = { "", "", "vary = { seed = { 1, 2 } }", 'vary = { hardware = { "hw", "deep/er" } }',
    'vary = { model = { "m", "m.toml" } }', 'vary = { scheduler = { "mine", "vllm_v1" } }' },
}
local keys = { "hardware", "model", "workload", "scheduler", "router", "corrections", "metrics", "speculation", "vary" }

local function scenario(random)
  local parts = { "rooflua = 1" }
  for _, key in ipairs(keys) do
    local way = random:pick(ways[key])
    if way ~= "" then parts[#parts + 1] = way end
  end
  return "return { " .. table.concat(parts, ",\n  ") .. " }\n"
end

--- Files of the folder that a run opens.
local function opened_files()
  shell(("strace -f -qq -e trace=open,openat -o opened.txt '%s' run s.lua --quiet > /dev/null"):format(program))
  local out, seen = {}, {}
  for line in io.lines(folder .. "/opened.txt") do
    local path = not line:find "O_DIRECTORY" and line:match '"([^"]+)".* = %d+$'
    if path and path:sub(1, #folder + 1) == folder .. "/" then path = path:sub(#folder + 2) end
    path = path and path:gsub("//+", "/"):gsub("^%./", "")
    local is_own = path and path:sub(1, 1) ~= "/" and path ~= "" and path ~= "s.lua" and not seen[path]
    if is_own and native.file_exists(folder .. "/" .. path) then
      seen[path] = true
      out[#out + 1] = path
    end
  end
  table.sort(out)
  return out
end

--- The text with one change that a person could make: another digit, a line break, a space, a line less or twice.
local function edited(random, text)
  local digits = {}
  for at in text:gmatch "()%d" do digits[#digits + 1] = at end
  local kind = random:whole(1, 4)
  if kind == 1 and #digits > 0 then
    local at = random:pick(digits)
    return text:sub(1, at - 1) .. (tonumber(text:sub(at, at)) + random:whole(1, 9)) % 10 .. text:sub(at + 1)
  elseif kind == 2 then
    local at = text:find("\n", random:whole(1, #text), true) or #text
    return text:sub(1, at) .. "\n" .. text:sub(at + 1)
  elseif kind == 3 then
    return text .. " "
  end
  local first, last = text:match("()[^\n]+()\n", random:whole(1, math.max(1, #text - 40)))
  if not first then return text .. "\n" end
  return random:chance(0.5) and text:sub(1, first - 1) .. text:sub(last + 1) or text:sub(1, last) .. text:sub(first)
end

--- The names of the scenario's runs, and what is said where it cannot be read: that is no old result, either.
local function name()
  local ok, said = pcall(shell, ("'%s' lua '%s/tests/scripts/scenario/run_name.lua' s.lua ''"):format(program, here))
  return ok and said or "refused", said
end

fuzzer.main(function(random, scratch)
  if not can_trace then return end
  folder = scratch
  lay_out()
  local text = scenario(random)
  write("s.lua", text)
  local fine, opened = pcall(opened_files)
  if not fine then
    if not opened:find "rooflua: " then error(opened .. "\n" .. text, 0) end
    return fuzzer.count "refused"
  end
  if #opened == 0 then return fuzzer.count "fileless" end
  local before, said = name()
  if before == "refused" then error("a scenario that runs has no name: " .. said .. "\n" .. text, 0) end
  for _ = 1, 6 do
    local path = random:pick(opened)
    local content = native.read_file(folder .. "/" .. path)
    local other = edited(random, content)
    if other ~= content then
      write(path, other)
      local after = name()
      write(path, content)
      if after == before then error(("an edit of %s leaves the name of\n%s"):format(path, text), 0) end
      fuzzer.count "edits"
    end
  end
  if name() ~= before then error("the way back gives another name", 0) end
end)
