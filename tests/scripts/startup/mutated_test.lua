-- Files of a start that are changed at random: nothing crashes or hangs, every line is accounted for, a figure that is
-- read stands in its line, and no secret is shown. ROOFLUA_MUTATIONS=all: 5,000 of each form; else a few.
local test = dofile "tests/scripts/harness.lua"
local deployment = require "rooflua.startup.deployment"
local facts = require "rooflua.startup.facts"
local files = require "rooflua.program.files"
local json = require "rooflua.json"
local native = require "rooflua.native"
local reading = require "rooflua.startup.reading"
local wordings = dofile "tests/scripts/startup/wordings.lua"

local count = os.getenv "ROOFLUA_MUTATIONS" == "all" and 5000 or 400
local longest_s = 2

local mutation = dofile "tests/scripts/startup/mutation.lua"
local is_clean = mutation.is_clean

local pieces = { "[", "(", "{", "'", '"', "\\", "<", "=", ",", "%", "\0", "\27[31m", "█", "\n", "\r", "\255\254",
  "None", "1e999", "-", "99999999999999999999", "nan", ("["):rep(30), ("("):rep(200), ("a=("):rep(100),
  "{'a': {'a': {'a': ", "INFO 09-23 18:12:34 [a.py:1] ", "vLLM API server version 0.9.0\n", "server_args=ServerArgs(",
  "GPU KV cache size: 7 tokens\n", "\n[TensorRT-LLM] TensorRT LLM version: 1.0.0\n", ("x"):rep(5000),
  "', 'max_model_len': 1" }

local function mutated(text) return mutation.mutated(text, pieces) end

local function lines_of(text)
  local out = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do out[#out + 1] = line end
  return out
end

--- The numbers of a line, each as it stands and with its thousands together.
local function numbers_of(line)
  local numbers = {}
  for _, text in ipairs { line, (line:gsub(",(%d%d%d)%f[%D]", "%1")), (line:gsub("(%d),(%d%d%d)", "%1%2")) } do
    for word in text:gmatch "%d+%.?%d*[eE]?[+-]?%d*" do
      local number = tonumber(word) or tonumber(word:match "%d+%.?%d*")
      numbers[#numbers + 1] = number
    end
  end
  return numbers
end

local function is_near(one, other) return math.abs(one - other) <= 1e-9 * math.abs(other) end

--- Whether a number stands in a line, or is the sum of two that stand there.
local function stands_in(value, line)
  local numbers = numbers_of(line)
  value = math.abs(value)
  for i, one in ipairs(numbers) do
    if is_near(one, value) then return true end
    for j = i + 1, #numbers do
      if is_near(one + numbers[j], value) then return true end
    end
  end
  return false
end

--- Facts that are sums over lines.
local sums = { graphs_gib = true }

local function check_record(record, text, what)
  if record.form ~= "log" then return end
  local sum = record.understood + record.not_understood + record.later + record.empty
  test.equal(sum, record.count, what .. ": lines that are accounted for")
  local lines = lines_of((text:gsub("\27%[[%d;?]*%a", ""))) -- colours inside a number leave it what it is
  for name, ranks in pairs(record.facts) do
    for _, each in pairs(ranks) do
      if facts.by_name[name].kind ~= "text" and not sums[name] then
        test.check(stands_in(each.value, lines[each.line]), "%s: %s = %s does not stand in line %d: %s", what, name,
          tostring(each.value), each.line, lines[each.line])
      end
    end
  end
end

local secret = "TOPSECRET123"

--- The property for one text.
local function holds(path, text, what, is_listed)
  local before = os.clock()
  local ok, record = pcall(reading.record, path, text)
  test.check(ok or is_clean(record), "%s: %s", what, tostring(record))
  if ok and record then check_record(record, text, what) end
  local handle = assert(io.open(path, "wb"))
  handle:write(text)
  handle:close()
  local read, found = pcall(deployment.of, { from = { path } })
  test.check(read or is_clean(found), "%s: %s", what, tostring(found))
  local listed, answer = true, { text = "", document = {} }
  if is_listed then listed, answer = pcall(files.run, { path }, true, true) end
  test.check(listed, "%s: files: %s", what, tostring(answer))
  local shown = native.printable(answer.text) .. json.encode(answer.document) .. (read and json.encode(found.options)
    .. table.concat(found.told, "\n") or tostring(found))
  local leak = shown:match("[^\n]*api_key['\"]?%s*[:=]%s*[%['\"]*" .. secret .. "[^\n]*")
  test.check(not leak, "%s: a secret is shown: %s", what, leak)
  test.check(os.clock() - before < longest_s, "%s: took %.1f s", what, os.clock() - before)
end

local function check_form(name, text)
  test(("%s: %d mutations are read, refused or accounted for"):format(name, count), function()
    local path = test.file(name .. ".txt", "")
    holds(path, text, name .. " as it is", true)
    for i = 1, count do holds(path, mutated(text), ("%s, mutation %d"):format(name, i), i % 4 == 0) end
  end)
end

local by_engine = { vllm = {}, sglang = {}, trtllm = {} }
for _, wording in ipairs(wordings.list) do
  local text = wordings.text(wording, wordings.figures):gsub("sk%-secret%-0123456789", secret):gsub("hidden", secret)
  table.insert(by_engine[wording.engine], text)
end
for engine, texts in pairs(by_engine) do
  local all = texts
  test(("logs of %s: %d mutations are read, refused or accounted for"):format(engine, count), function()
    local path = test.file(engine .. ".log", "")
    for i = 1, count do
      holds(path, mutated(all[1 + i % #all]), ("log of %s, mutation %d"):format(engine, i), i % 4 == 0)
    end
  end)
end
check_form("metrics", 'vllm:cache_config_info{block_size="16",cache_dtype="auto",engine="0",'
  .. 'gpu_memory_utilization="0.9",num_gpu_blocks="28234",kv_cache_size_tokens="451744",'
  .. 'enable_prefix_caching="True"} 1.0\n'
  .. 'vllm:num_requests_running{engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"} 0.0\n')
check_form("server_info", json.encode { model_path = "meta-llama/Llama-3.1-8B-Instruct", mem_fraction_static = 0.85,
  tp_size = 2, version = "0.5.9", max_total_num_tokens = 400000, api_key = secret,
  internal_states = { { memory_usage = { weight = 7.5, kvcache = 25.5, token_capacity = 399999 } } } })
check_form("startup_plan", json.encode { schema = 1, fingerprint = "ab12", kv_cache_memory_bytes = 2 ^ 34,
  free_memory_baseline = 2 ^ 36 })
check_form("models", '{"object":"list","data":[{"id":"zz","object":"model","owned_by":"vllm","root":'
  .. '"meta-llama/Llama-3.1-8B-Instruct","max_model_len":4096}]}')

test.finish()
