-- Results of benchmarks with one fault each. A file with a fault is read as if it had none, perhaps with fewer figures,
-- or it is refused in words that name the file. It is never read as something else without a word. A case is one file.
local fuzzer = dofile "tests/fuzz/fuzzer.lua"
local rooflua = require "rooflua"
local json = rooflua.json
local measured = require "rooflua.formats.measured_runs"

-- Files without a fault ---------------------------------------------------------------------------------------

local function vllm(changes)
  local out = { backend = "vllm", model_id = "m", request_rate = 10, burstiness = 1, max_concurrency = json.null,
    num_prompts = 3, completed = 3, duration = 7, total_input_tokens = 60, total_output_tokens = 12,
    request_throughput = 8, output_throughput = 160, mean_ttft_ms = 16, median_ttft_ms = 18, mean_tpot_ms = 6.5,
    median_tpot_ms = 6.25, mean_e2el_ms = 141 }
  for key, value in pairs(changes or {}) do out[key] = value end
  return out
end

local lists = { input_lens = { 10, 20, 30 }, output_lens = { 3, 4, 5 }, ttfts = { 0.125, 0.25, 0.5 },
  itls = { { 0.01, 0.01 }, { 0.01, 0.01, 0.01 }, { 0.01, 0.01, 0.01, 0.01 } }, errors = { "", "", "" },
  start_times = { 100, 100.5, 101.75 }, mean_ttft_ms = 875 / 3, mean_e2el_ms = 965 / 3 }

local function sglang()
  local out = vllm { backend = "sglang", mean_e2e_latency_ms = 141, max_concurrency = 8, request_rate = "inf" }
  out.mean_e2el_ms, out.burstiness, out.num_prompts = nil, nil, nil
  return out
end

local function figure(value, unit) return { avg = value, p50 = value, unit = unit } end

--- Documents whose keys are changed one by one. `optional`: keys without which a file is a valid one of another kind.
local documents = {
  { vllm(), optional = {} },
  { vllm { request_rate = "inf", max_concurrency = 8 }, optional = {} },
  { vllm(lists), optional = { start_times = true, itls = true } },
  { sglang(), optional = { max_concurrency = true } }, -- early releases have none
  { { num_concurrent_requests = 4, results_num_completed_requests = 20, results_number_errors = 0,
    results_number_input_tokens_mean = 550, results_number_output_tokens_mean = 150, results_ttft_s_mean = 0.5,
    results_ttft_s_quantiles_p50 = 0.4, results_end_to_end_latency_s_mean = 3 }, optional = {} },
  { { input_config = { perf_analyzer = { stimulus = { concurrency = 8 } } }, request_count = figure(40, "count"),
    request_latency = figure(900, "ms"), time_to_first_token = figure(50, "ms"), inter_token_latency = figure(10, "ms"),
    input_sequence_length = figure(200, "tokens"), output_sequence_length = figure(86, "tokens") }, optional = {} },
}

local csv = "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n0,10,3,0.125,0.25\n0.5,20,4,0.25,0.375\n"
  .. "1.75,30,5,0.5,0.625\n"

local texts = { csv, json.encode(vllm()) .. "\n" .. json.encode(vllm { request_rate = 40, mean_ttft_ms = 90 }) .. "\n" }
for _, each in ipairs(documents) do texts[#texts + 1] = json.encode(each[1]) .. "\n" end
for _, name in ipairs { "aiperf_profile_export.jsonl", "guidellm.json", "inference_perf_stage_0.json",
  "llm_d_report.json", "inferencex_rows.json", "otlp_spans.jsonl" } do
  texts[#texts + 1] = fuzzer.read("tests/fixtures/formats/" .. name)
end

-- Faults ------------------------------------------------------------------------------------------------------

local function units(text, before, behind, mark)
  return mark .. text:gsub("[\128-\255]", ""):gsub(".", function(c) return before .. c .. behind end):gsub("\n",
    function() return "\n" end)
end

--- Faults of a text that change nothing of what it says.
local harmless = {
  function(text) return "\239\187\191" .. text end,
  function(text) return units(text, "", "\0", "\255\254") end,
  function(text) return units(text, "\0", "", "\254\255") end,
  function(text) return units(text, "", "\0", "") end,
  function(text) return units(text, "", "\0\0\0", "\255\254\0\0") end,
  function(text) return units(text, "\0\0\0", "", "") end,
  function(text) return (text:gsub("\n", "\r\n")) end,
  function(text) return "\n" .. text .. "\n\n" end,
}

--- Faults of a text after which it is no result.
local broken = {
  function() return "" end,
  function() return "\n \n" end,
  function(text) return text .. ("\0"):rep(64) end,
  function(text, random)
    local at = random:whole(2, #text - 1)
    return text:sub(1, at) .. "\0" .. text:sub(at + 1)
  end,
  function(text, random)
    local at = random:whole(2, #text - 1)
    return text:sub(1, at) .. "\233" .. text:sub(at + 1)
  end,
  function() return "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 512\n" end,
  function() return "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n" end,
  function(text) return "\40\181\47\253" .. text end,
  function(text) return "\31\139\8\0" .. text end,
  function(text) return "PK\3\4" .. text end,
  function(text) return "\255\254" .. text:gsub(".", "%0\0") .. "x" end,
  function(text) return "INFO: results are below\n" .. text end,
}

--- A text that is cut off inside of a line.
local function cut(text, random)
  local at = random:whole(1, #text - 2)
  while text:sub(at, at) == "\n" or text:sub(at + 1, at + 1) == "\n" do at = at - 1 end
  return text:sub(1, at)
end

local wrong_values = { "x", json.null, true, json.array {}, { a = 1 }, -1, 1e300, 0 / 0, 1 / 0, "12 ms", 0.5 }

--- A list of places {table, key} of a document.
local function places(document, out)
  for key, value in pairs(document) do
    out[#out + 1] = { document, key, name = tostring(key) }
    if type(value) == "table" and value ~= json.null then places(value, out) end
  end
  return out
end

--- JSON with Python's words for numbers that are not finite.
local function python(value)
  if value ~= value then return "NaN" end
  if value == 1 / 0 then return "Infinity" end
  if type(value) ~= "table" or value == json.null then return json.encode(value) end
  local parts = {}
  if #value > 0 then
    for i, each in ipairs(value) do parts[i] = python(each) end
    return "[" .. table.concat(parts, ", ") .. "]"
  end
  if getmetatable(value) then return json.encode(value) end
  local keys = {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys)
  for i, key in ipairs(keys) do parts[i] = json.encode(key) .. ": " .. python(value[key]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function copy(value)
  if type(value) ~= "table" or value == json.null then return value end
  local out = {}
  for key, each in pairs(value) do out[key] = copy(each) end
  return out
end

-- Comparing ---------------------------------------------------------------------------------------------------

local function differ(what, found, expected)
  if found ~= expected then
    error(("%s: %s in place of %s, without a word"):format(what, tostring(found), tostring(expected)), 0)
  end
end

--- Whether what was read is what the file without a fault says, of which figures may be missing.
local function agree(found, expected)
  differ("runs", #found, #expected)
  for i, run in ipairs(found) do
    local right = expected[i]
    local doubted = table.concat(run.notes, "; "):find "but its lists have" ~= nil
      or table.concat(run.notes, "; "):find "may be cut off" ~= nil
    if doubted then return end
    differ("load", run.how, right.how)
    differ("requests", #run.requests, #right.requests)
    for k, request in ipairs(run.requests) do
      for _, key in ipairs { "arrival_s", "prompt_tokens", "output_tokens", "ttft_s", "e2e_s" } do
        differ(("request %d: %s"):format(k, key), request[key], right.requests[k][key])
      end
    end
    for metric, value in pairs(run.metrics) do differ(metric, value, right.metrics[metric]) end
  end
end

local expected = {}

--- What a text without a fault says.
local function right(text, path)
  if not expected[text] then
    fuzzer.write(path, text)
    expected[text] = measured.read_all(path)
  end
  return expected[text]
end

local function try(path, text)
  fuzzer.write(path, text)
  local ok, found = fuzzer.try("a result with a fault", measured.read_all, path)
  if not ok and not tostring(found):find(path, 1, true) then
    error("the error names no file: " .. tostring(found), 0)
  end
  return ok, found
end

local kinds = {}

function kinds.harmless(random, path)
  local text = random:pick(texts)
  local reference = right(text, path)
  local ok, found = try(path, random:pick(harmless)(text))
  if not ok then error("refused, though it says the same: " .. tostring(found), 0) end
  agree(found, reference)
end

function kinds.broken(random, path)
  local text = random:pick(texts)
  if try(path, random:pick(broken)(text, random)) then error("read, though it is no result", 0) end
end

function kinds.cut(random, path)
  local text = random:pick(texts)
  local reference = right(text, path)
  local ok, found = try(path, cut(text, random))
  if ok then agree(found, reference) end
end

--- A value of a wrong kind or range, or a key or an entry that is missing.
function kinds.value(random, path)
  local sample = random:pick(documents)
  local reference = right(json.encode(sample[1]) .. "\n", path)
  local document = copy(sample[1])
  local place = random:pick(places(document, {}))
  local new = nil
  if random:chance(0.7) then new = random:pick(wrong_values) end
  if place.name == "max_concurrency" and new == json.null then return end -- there was no limit
  if sample.optional[place.name] and (new == nil or new == json.null or type(new) == "table" and #new == 0) then
    return
  end
  if type(place[2]) == "number" and new == nil then
    table.remove(place[1], place[2])
  else
    place[1][place[2]] = new
  end
  local ok, found = try(path, python(document))
  if not ok then return end
  -- A number in range in place of another is a value, and no fault that a reader could see.
  if type(new) == "number" and new > 0 and new < 1e300 or new == 1 / 0 then return end
  agree(found, reference)
end

function kinds.twice(random, path)
  local sample = random:pick(documents)
  local text = json.encode(sample[1])
  local key = text:match '^{("[%w_]+":)'
  if try(path, "{" .. key .. "0," .. text:sub(2)) then error("read, though a key occurs twice", 0) end
end

local shares = { { 25, "harmless" }, { 20, "broken" }, { 20, "cut" }, { 30, "value" }, { 5, "twice" } }

fuzzer.main(function(random, folder)
  local at = random:whole(1, 100)
  for _, share in ipairs(shares) do
    at = at - share[1]
    if at <= 0 then
      fuzzer.count "files"
      fuzzer.count(share[2])
      return kinds[share[2]](random, folder .. "/result.txt")
    end
  end
end)
