-- Which published files of a folder are read: versions, packed files, broken ones; and what of their rows.
local test = dofile "tests/scripts/harness.lua"
local imported = dofile "tests/scripts/tables/imported.lua"
local folder = require "rooflua.tables.folder"
local native = require "rooflua.native"
local mfu = require "rooflua.mfu"
local names = require "rooflua.tables.names"

local one_gemm = "gemm_dtype,m,n,k,latency\nbfloat16,1,32,64,0.002\n"

local put = test.folder_of
local function run(path, gpu, options) return imported.run(test, path, gpu, options) end
local function open(path, gpu) return mfu.open { path = path, layout = "aic", gpu = gpu or "h100" } end
local function list(path, gpu, version)
  return folder.list(path, gpu or "h100_sxm", { engine_version = version or "", all_rows = false })
end

test("the name of a file says its GPU, table, engine and version", function()
  local name = names.parse "rtx_pro_6000_server_dsv4_csa_context_module_vllm0.24.0.csv.gz"
  test.equal(name.gpu, "rtx_pro_6000_server")
  test.equal(name.table, "dsv4_csa_context_module")
  test.equal(name.engine, "vllm")
  test.equal(name.version, "0.24.0")
  test.equal(names.parse("b300_sxm_wideep_moe_trtllm1.3.0rc10.csv").table, "wideep_moe")
  test.equal(names.parse("h100_sxm_nccl2.29.2.csv").version, "2.29.2")
  test.equal(names.parse("h100_sxm_nccl2.29.2.csv").engine, "")
  test.equal(names.parse("b300_sxm_nccl_trtllm1.3.0rc10.csv").engine, "trtllm")
  test.equal(names.parse "constants.csv", nil)
  test.equal(names.parse "h100_sxm_gemmini_vllm1.csv", nil)
end)

test("a pattern may start or end with a star, and several are separated by spaces", function()
  for _, each in ipairs { { "moe", "moe", true }, { "moe", "moe_x", false }, { "moe*", "moe_x", true },
    { "*moe", "x_moe", true }, { "*moe", "moe_x", false }, { "*o*", "moe", true }, { "*", "", true },
    { "gdn kda", "kda", true }, { "gdn kda", "gdn kda", false }, { "", "", false } } do
    test.equal(names.agrees(each[1], each[2]), each[3], each[1] .. " and " .. each[2])
  end
end)

test("numbers inside versions compare as numbers", function()
  for _, each in ipairs { { "0.9.0", "0.19.0" }, { "1.3.0rc9", "1.3.0rc20" }, { "0.14", "0.14.0" },
    { "0.5.6", "0.5.6.post2" } } do
    test.check(names.older(each[1], each[2]) and not names.older(each[2], each[1]), "%s and %s", each[1], each[2])
  end
end)

test("of several versions of an engine one is read, and the others are named", function()
  local path = put { ["h100_sxm_gemm_vllm0.9.0.csv"] = one_gemm, ["h100_sxm_gemm_vllm0.19.0.csv"] = one_gemm,
    ["h100_sxm_gemm_sglang0.5.14.csv"] = one_gemm, ["h200_sxm_gemm_vllm0.24.0.csv"] = one_gemm }
  local function versions(version)
    local text = ""
    for _, file in ipairs(list(path, nil, version).tables) do
      if file.dtype == "bf16" then text = text .. file.name .. " " .. file.published.version .. "; " end
    end
    return text
  end
  test.equal(versions(), "gemm_bf16_sglang 0.5.14; gemm_bf16_vllm 0.19.0; ")
  local left_out = list(path).left_out
  test.equal(#left_out, 1)
  test.equal(left_out[1].path, path .. "/h100_sxm_gemm_vllm0.9.0.csv")
  test.equal(left_out[1].reason, "another version: vllm 0.19.0 is taken")
  test.equal(versions "0.9.0", "gemm_bf16_sglang 0.5.14; gemm_bf16_vllm 0.9.0; ")
  test.raises("--engine-version: unknown version '0.8.0'", function() versions "0.8.0" end)
  test.raises("vllm 0.19.0", function() versions "0.8.0" end)
  test.raises("holds tables of several GPUs (h100_sxm, h200_sxm)", function() list(path, "") end)
  test.raises("unknown GPU 'b200'", function() run(path, "b200") end)
end)

test("a packed table is read as a plain one, and a broken one is named", function()
  local path = put { ["h100_sxm_gemm_vllm0.24.0.csv"] = one_gemm }
  local file = path .. "/h100_sxm_gemm_vllm0.24.0.csv"
  assert(os.execute("gzip -n " .. file) == 0)
  test.equal(table.concat(folder.gpus(path), " "), "h100_sxm")
  test.equal(open(path):tables()[1].rows, 1)
  assert(os.execute(("truncate -s -5 %s.gz"):format(file)) == 0)
  test.raises("h100_sxm_gemm_vllm0.24.0.csv.gz: ends before the packed data does: the file is truncated",
    function() open(path):tables() end)
end)

test("a Parquet file asks for its CSV form, an unknown file is named", function()
  test.raises("h100_sxm_gemm_vllm0.24.0.parquet: is a Parquet file, which is not read; export it as CSV", function()
    list(put { ["h100_sxm_gemm_vllm0.24.0.parquet"] = "PAR1" })
  end)
  local left_out = list(put { ["h100_sxm_gemm_vllm0.24.0.parquet"] = "PAR1",
    ["h100_sxm_gemm_vllm0.19.0.csv"] = one_gemm, ["h100_sxm_something_vllm0.19.0.csv"] = one_gemm }).left_out
  test.equal(#left_out, 2)
  test.check(left_out[1].reason:find("Parquet", 1, true))
  test.check(left_out[2].reason:find("no published table is called like that", 1, true))
end)

test("a mistake names its file, line and column, and of several mistakes the first is told", function()
  local header = "gemm_dtype,m,n,k,latency\n"
  for text, message in pairs {
    [header .. "bfloat16,1,32,64\n"] = ":2: has 4 cells, and the header names 5 columns",
    ["gemm_dtype,m,n,latency\nbfloat16,1,32,0.002\n"] =
      ":1: no column 'k' (found: gemm_dtype, m, n, latency), and constants.csv does not have it",
    [""] = ": the table is empty",
    [header .. "bfloat16,1,x,64,0.002\n"] = ":2: column 'n': expected a number, found 'x'",
    [header .. "bfloat16,1,2,64,0.002\nbfloat16,1,2,y,0.1\nbfloat16,z,2,64,q\n"] =
      ":3: column 'k': expected a number, found 'y'",
    [header .. "bfloat16,1,x,64,0.002\nbfloat16,1,2\n"] = ":2: column 'n': expected a number, found 'x'",
    [header .. "bfloat16,1,2,64,0.002\nbfloat16,1,2\nbfloat16,1,x,64,1\n"] = ":3: has 3 cells",
    [header .. "bfloat16,1,32,64,0.002\nbfloat16,0,32,64,0.002\n"] = ":3: m 0: expected a whole number, at least 1",
    [header .. "bfloat16,1,32,64,0.002\nbfloat16,-2,32,64,0.002\n"] = ":3: column 'm': is negative: '-2'",
    [header .. "bfloat16,1,32,64,0.002\nbfloat16,1.5,32,64,0.002\n"] = ":3: m 1.5: expected a whole number",
    [header .. "bfloat16,1e300,32,64,0.002\n"] = ":2: column 'm': expected a number, found '1e300'",
    [header .. "bfloat16,0x10,32,64,0.002\n"] = ":2: column 'm': expected a number, found '0x10'",
    [header .. "bfloat16,1,32,64,-0.002\n"] = ":2: a latency of -2 us",
    [header .. "bfloat16,1,32,64,0\n"] = ":2: a latency of 0 us",
    [header .. "bfloat16,1,32,64,1e-320\n"] = ":2: column 'latency': expected a number",
  } do
    local path = put { ["h100_sxm_gemm_vllm0.24.0.csv"] = text }
    local to = test.file "refused"
    test.raises("h100_sxm_gemm_vllm0.24.0.csv" .. message, function()
      require("rooflua.tables.import").run { folder = path, gpu = "h100", to = to, engine_version = "",
        all_rows = false, tolerance = 0 }
    end)
    test.check(not io.open(to), "%s is written all the same", to)
  end
end)

test("a mistake in rows of another format, or that a rule leaves out, is no mistake of a table", function()
  local got = run(put { ["h100_sxm_gemm_vllm0.24.0.csv"] =
    one_gemm .. "odd,x,1,1,1\nbfloat16,17,x,1,1\n" }, "h100")
  test.equal(got.files["gemm_bf16_vllm.csv"], "m,k,n,latency_us\n1,64,32,2\n")
  test.equal(got.rows "no table of ours", 1)
  test.equal(got.rows "no multiple of 16", 1)
end)

test("an unknown format of the KV cache is named with those that are known", function()
  local header = "batch_size,isl,num_heads,num_key_value_heads,head_dim,kv_cache_dtype,step,window_size,latency\n"
  local path = put { ["h100_sxm_generation_attention_vllm0.24.0.csv"] = header .. "2,1,4,1,128,fp8,7,0,0.02\n"
    .. "2,1,4,1,128,fp9,7,0,0.02\n" }
  test.raises("vllm0.24.0.csv:3: unknown dtype 'fp9'; did you mean 'fp8'", function() open(path):tables() end)
end)

test("constants.csv gives columns that all rows share, and is refused without its header", function()
  local file = "h100_sxm_gemm_vllm0.24.0.csv"
  local rows = "gemm_dtype,m,n,latency\nbfloat16,1,32,0.002\n"
  local got = run(put { [file] = rows, ["constants.csv"] = "file,column,value\n" .. file .. ",k,64\n" .. file
    .. ",kernel_source[bfloat16],fast (one)\n" }, "h100")
  test.equal(got.files["gemm_bf16_vllm.csv"], "m,k,n,latency_us\n1,64,32,2\n")
  test.check(got.says("gemm_bf16_vllm", 'kernel = "fast"'))
  test.raises("constants.csv:1: expected the columns file,column,value", function()
    list(put { [file] = rows, ["constants.csv"] = file .. ",k,64\n" })
  end)
end)

test("tables are read when a question first asks for them, of the newest version", function()
  local path = put {
    ["h100_sxm_custom_allreduce_vllm0.9.0.csv"] = "kernel_source,allreduce_dtype,num_gpus,message_size,latency\r\n"
      .. "vLLM_custom_graph,bfloat16,2,512,0.009\r\n",
    ["h100_sxm_custom_allreduce_vllm0.19.0.csv"] = "kernel_source,allreduce_dtype,num_gpus,message_size,latency\r\n"
      .. "vLLM_custom_eager,bfloat16,2,512,0.020\r\nvLLM_custom_graph,bfloat16,2,512,0.004\r\n",
    ["h100_sxm_gemm_vllm0.24.csv"] = "gemm_dtype,m,n,k,latency\r\nfp8,1,32,64,0.002\r\nbfloat16,1,32,64,0.003\r\n",
    ["h200_sxm_gemm_vllm0.24.csv"] = "gemm_dtype,m,n,k,latency\r\nbfloat16,1,32,64,0.005\r\n" }
  local database = open(path, "h100-sxm")
  test.check(database:includes("gemm", "fp8", "quantize"))
  test.equal(database.tables_loaded, 0)
  local function us(query) return 1e6 * select(2, database:lookup(query)).latency_s end
  test.near(us { op = "gemm", m = 1, k = 64, n = 32 }, 3, 1e-12)
  test.equal(database.tables_loaded, 1)
  test.near(us { op = "gemm", m = 1, k = 64, n = 32, dtype = "fp8" }, 2, 1e-12)
  test.near(us { op = "all_reduce", ranks = 2, bytes = 1024 }, 4, 1e-12)
end)

test("an import does not overwrite tables that were measured here", function()
  local path = put { ["h100_sxm_gemm_vllm0.24.0.csv"] = one_gemm }
  local to = put { ["tables.toml"] = "[x]\nkernel = \"mine\"\n" }
  local function import()
    return require("rooflua.tables.import").run { folder = path, gpu = "h100", to = to, engine_version = "",
      all_rows = false, tolerance = 0 }
  end
  test.raises("tables.toml: is of tables that were measured here", import)
  assert(os.remove(to .. "/tables.toml"))
  local report = import()
  test.equal(import(), report, "a second import")
end)

test("thinning leaves out what follows from the neighbours, and single spikes", function()
  local rows = { "gemm_dtype,m,n,k,latency" }
  for i = 0, 9 do -- the root of m: a straight line in logarithms
    local m = 16 * 2 ^ i
    rows[#rows + 1] = ("bfloat16,%d,32,64,%.6f"):format(m, 0.001 * math.sqrt(m) * (i == 4 and 2 or 1))
  end
  local path = put { ["h100_sxm_gemm_vllm0.24.0.csv"] = table.concat(rows, "\n") .. "\n" }
  local got = run(path, "h100", { tolerance = 0.02 })
  test.equal(select(2, got.files["gemm_bf16_vllm.csv"]:gsub("\n", "")), 3)
  test.equal(got.rows "it follows from its neighbours", 7)
  test.equal(got.rows "stands alone", 1)
  test.equal(got.taken, 2)
  test.check(got.says("gemm_bf16_vllm", "rows_before = 10"))
end)

test("100,000 rows of three formats are imported within five seconds", function()
  local rows = { "gemm_dtype,m,n,k,latency" }
  for i = 0, 99999 do
    local format = ({ "bfloat16", "fp8", "nvfp4" })[i % 3 + 1]
    rows[#rows + 1] = ("%s,%d,%d,%d,%.6f"):format(format, 16 * (i % 50 + 1), 64 * (math.floor(i / 50) % 50 + 1),
      64 * (math.floor(i / 2500) + 1), 0.001 + i % 7 * 1e-5)
  end
  local path = put { ["h100_sxm_gemm_vllm0.24.0.csv"] = table.concat(rows, "\n") .. "\n" }
  local start_s = os.clock()
  local got = run(path, "h100")
  local spent_s = os.clock() - start_s
  test.equal(got.taken, 100000)
  print(("100,000 published rows: %.2f s"):format(spent_s))
  test.check(spent_s < 5, "%.2f s", spent_s)
end)

--- The rows of a table of ours: text in front of the latency -> latency in us.
local function rows_of(path)
  local rows, count = {}, 0
  for line in io.lines(path) do
    local shape, latency_us = line:match "^(.*),([^,]*)$"
    if tonumber(latency_us) then rows[shape], count = tonumber(latency_us), count + 1 end
  end
  return rows, count
end

test("shipped rows are rows of the publication", function()
  local from, small, tables, all = test.shared "tables/published_full/README.md", test.file "small", 0, 0
  -- Larger files take seconds.
  local folder_of = "$PWD/" .. from:match "^.*/"
  assert(os.execute(("mkdir %s && find %s -name '*.csv*' -size -70000c -exec ln -s -t %s {} +"):format(small, folder_of,
    small)) == 0)
  assert(os.execute(("ln -sf %sconstants.csv %s"):format(folder_of, small)) == 0)
  for published, ours in pairs { a100_sxm = "a100-sxm-80gb", h200_sxm = "h200-sxm", gb200 = "gb200" } do
    local to = test.file "own"
    require("rooflua.tables.import").run { folder = small, gpu = published, to = to, engine_version = "",
      all_rows = false, tolerance = 0 }
    for name in io.popen("ls " .. to):lines() do
      local shipped = ("bench_data/%s/%s"):format(ours, name)
      if name:find "%.csv$" and native.file_exists(shipped) then
        local imported_us = rows_of(to .. "/" .. name)
        local shipped_us, count = rows_of(shipped)
        for shape, latency_us in pairs(shipped_us) do
          test.check(imported_us[shape], "%s: %s is not published", shipped, shape)
          test.near(latency_us, imported_us[shape], 6e-4, shipped) -- four digits
        end
        tables, all = tables + 1, all + count
      end
    end
  end
  test.at_least(tables, 60)
  test.at_least(all, 50000)
end)

test.finish()
