-- The report of a validation names the tables that it opened, the number of cases of a group, the evidence of its
-- numbers, and the source of each parameter.
local test = dofile "tests/scripts/harness.lua"
local engines = require "rooflua.validate.engines"
local json = require "rooflua.json"
local validate = require "rooflua.validate.command"

local folder = test.folder() .. "/measured"
os.execute("mkdir " .. folder .. " " .. test.folder() .. "/tables_of_one " .. test.folder() .. "/tables_of_one/aic")

local function write(path, content)
  local file = assert(io.open(path, "w"))
  file:write(content)
  file:close()
end

write(folder .. "/rows.csv", "a,b\n1,2\n")
write(folder .. "/steps.csv", "cycle_us,decode_reqs,prefill_reqs,prefill_tokens\n9000,8,0,0\n")
local line = "%s,%s,own,%s,,llama-3.1-8b,%s,1,bf16,vLLM 0.15.1,closed loop c=4 in=200 out=20,x,%s,\n"
write(folder .. "/cases.csv", "case_id,rating,dataset,file,selector,model,gpu,tp,precision,engine,workload,metrics,"
  .. "measured,notes\n" .. line:format("e2e", "C", "rows.csv", "H100", "e2e_ms=400")
  .. line:format("tpot", "C", "rows.csv", "H100", "tpot_ms=8")
  .. line:format("step", "A", "steps.csv", "H100", "see file")
  .. line:format("other", "C", "rows.csv", "H200", "e2e_ms=400"))

--- A table of a few GEMMs, in the layout of aiconfigurator.
local gemms = { "gemm_dtype,m,n,k,latency" }
for _, m in ipairs { 1, 16, 256, 4096 } do
  for _, shape in ipairs { { 6144, 4096 }, { 4096, 4096 }, { 28672, 4096 }, { 4096, 14336 } } do
    gemms[#gemms + 1] = ("bfloat16,%d,%d,%d,%g"):format(m, shape[1], shape[2], 0.05 + 1e-5 * m)
  end
end
write(test.folder() .. "/tables_of_one/aic/h100_sxm_gemm_vllm0.24.csv", table.concat(gemms, "\n") .. "\n")

local function run(options)
  options = options or {}
  return validate.run { folder = folder, steps = options.steps or {}, tables = options.tables, only = options.only }
end

local bare, tabled = run(), run { tables = test.folder() .. "/tables_of_one" }

--- The line after a heading that starts with the given text.
local function line_of(text, heading, start)
  local from = text:find(heading, 1, true) or 1
  for each in text:sub(from):gmatch "[^\n]+" do
    if each:sub(1, #start) == start then return each end
  end
  return ""
end

test("tables that were not opened are not named, and the row that would be the same is left out", function()
  test.check(bare.text:find("Kernel tables: bench_data of ", 1, true), "the header does not name shipped tables")
  for _, word in ipairs { "aiconfigurator", "aic", "shipped" } do
    test.check(not bare.text:find("[^%w]" .. word .. "[^%w]"), "the report names %s", word)
  end
  test.equal(bare.document.others["kernels, shipped data"], nil)
  for _, case in ipairs(bare.document.cases) do
    test.check(case.tables:find "^bench_data of ", "%s: %s", case.case_id, case.tables)
  end
  local named = run { steps = { "kernels", "kernels, shipped data" } }
  test.check(named.document.others["kernels, shipped data"] ~= nil, "a step model that was asked for is left out")
end)

test("tables that were opened are named, with how many cases they served", function()
  local header = "Kernel tables: aic 3, bench_data of h200-sxm 1 (" .. test.folder() .. "/tables_of_one)"
  test.check(tabled.text:find(header, 1, true),
    tabled.text:match "Kernel tables[^\n]*")
  test.check(tabled.document.others["kernels, shipped data"] ~= nil, "shipped data is another question here")
  local loop = "What a belief costs: vLLM 16 bit on h100-sxm, closed loop"
  test.check(line_of(tabled.text, loop, "kernels  "):find(" aic ", 1, true), line_of(tabled.text, loop, "kernels  "))
  test.check(line_of(tabled.text, loop, "kernels, shipped"):find(" bench_data of ", 1, true),
    "shipped data is not named")
  local without = "What a belief costs: vLLM 16 bit on h200-sxm, closed loop"
  test.equal(line_of(tabled.text:match(without:gsub("%-", "%%-") .. ".-\n\n"), without, "kernels, shipped"), "")
end)

test("tables that are asked for and are not there, or cannot be read, are errors", function()
  test.raises("--tables /no/where: there is no such folder", function() run { tables = "/no/where" } end)
  local broken = test.folder() .. "/tables_broken"
  os.execute("mkdir -p " .. broken .. "/aic")
  write(broken .. "/aic/h100_sxm_gemm_vllm0.24.csv", "gemm_dtype,m,n,k,latency\nbfloat16,1,x,32,0.0026\n")
  local case = run({ tables = broken, steps = { "kernels" }, only = "e2e" }).document.cases[1]
  test.check(case.problem and case.problem:find("csv:2: column 'n': expected a number", 1, true), "%s",
    tostring(case.problem))
end)

test("a model's own layer profile is found, whatever ran on its GPU before", function()
  local own, root = test.folder() .. "/profiled", test.folder() .. "/tables_of_one/llmservingsim"
  local profile = root .. "/RTXPRO6000/llama-3.1-8b/bf16/tp1"
  os.execute("mkdir -p " .. own .. " " .. test.folder() .. "/scratch " .. profile)
  write(profile .. "/dense.csv", "layer,tokens,time_us\nqkv_proj,1,30\nqkv_proj,4096,900\n")
  write(profile .. "/per_sequence.csv", "layer,sequences,time_us\nlm_head,1,600\n")
  write(profile .. "/attention.csv", "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n256,0,0,0,30\n"
    .. "0,0,8,512,20\n")
  local row = "%s,C,own,rows.csv,,%s,RTX PRO 6000,1,,vLLM 0.15.1,closed loop c=4 in=200 out=20,x,e2e_ms=400,\n"
  write(own .. "/rows.csv", "a,b\n1,2\n")
  write(own .. "/cases.csv", "case_id,rating,dataset,file,selector,model,gpu,tp,precision,engine,workload,metrics,"
    .. "measured,notes\n" .. row:format("without", "llama-2-7b") .. row:format("with", "llama-3.1-8b"))
  local found = validate.run { folder = own, steps = { "kernels" }, tables = test.folder() .. "/tables_of_one",
    scratch = test.folder() .. "/scratch" }.document.cases
  test.equal(found[1].tables, "bench_data of rtx-pro-6000", tostring(found[1].problem))
  test.equal(found[2].tables, "llmservingsim", tostring(found[2].problem))
end)

test("a group counts its cases, not those that have its commonest figure", function()
  for group, count in pairs { all = 4, ["vLLM 16 bit on h100-sxm, closed loop"] = 2, ["engine vLLM 0.15.1"] = 4,
    ["gpu h100-sxm"] = 3 } do
    test.equal(tabled.document.groups[group].cases, count, group)
    local row = line_of(tabled.text, "Mean of |error| by group", group .. " ")
    test.equal(tonumber(row:sub(#group + 1):match "%d+"), count, group)
  end
  test.equal(tabled.document.totals.all.e2e_mean.cases, 2)
  test.equal(tabled.document.totals.all.tpot_mean.cases, 1)
end)

test("every number of a group says what it rests on: the mean of its cases", function()
  local shares = {}
  for _, case in ipairs(tabled.document.cases) do
    if case.errors.e2e_mean then
      for name, share in pairs(case.evidence) do shares[name] = (shares[name] or 0) + share / 2 end
    end
  end
  for name, share in pairs(tabled.document.totals.all.e2e_mean.evidence) do
    test.near(share, shares[name], 1e-9, name)
    shares[name] = nil
  end
  test.equal(next(shares), nil)
  for group, metrics in pairs(tabled.document.totals) do
    for metric, total in pairs(metrics) do
      local sum = 0
      for _, share in pairs(total.evidence) do sum = sum + share end
      test.near(sum, 1, 1e-9, group .. " " .. metric)
    end
    test.check(next(tabled.document.groups[group].evidence) ~= nil, "%s: no evidence", group)
  end
  test.check(line_of(tabled.text, "by group", "all "):find "modelled %d+ %%", line_of(tabled.text, "by group", "all "))
end)

test("the page has the same counts and evidence", function()
  local page = json.encode(validate.run({ folder = folder, only = "e2e", steps = { "kernels" }, page = true }).page)
  for _, part in ipairs { '"kernel tables","time rests on"', '"vLLM 16 bit on h100-sxm, closed loop","1"',
    "interpolated " } do
    test.check(page:find(part, 1, true), "no %s", part)
  end
end)

test("every parameter of the report has a source", function()
  local from = bare.text:find("Parameters; none", 1, true)
  local count = 0
  for each in bare.text:sub(from):gmatch "\n([^\n]+)" do
    count = count + 1
    test.check(each:find "^.-  +[%w_]+  +%S+  +%S+", "no source: %s", each)
  end
  test.at_least(count, 20)
  for _, text in ipairs { "vLLM 0.11.0", "vLLM 0.21", "vLLM 2024 (V0)", "TRT-LLM 0.9.0 static batch" } do
    for name, each in pairs(engines.of(text).parameters) do
      test.check(type(each[2]) == "string" and each[2] ~= "", "%s: %s has no source", text, name)
    end
  end
end)

test.finish()
