-- steps/kernels with measured tables of small kernels, which are written here: a row changes the price by the right
-- amount, nothing is faster than the bandwidth, and the evidence names the tables that were read.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local Kernels = require "steps.kernels"

local table_folder = dofile "tests/scripts/tables/folder.lua"

--- A database of these files: {name = text}.
local function open(files, gpu) return table_folder.open(files, { hardware = gpu, lookup = "latency_linear" }) end

--- elementwise.csv of {kernel, tokens, width, microseconds}.
local function elementwise(rows)
  local lines = { "op,tokens,width,dtype,latency_us" }
  for _, row in ipairs(rows) do lines[#lines + 1] = ("%s,%d,%d,bf16,%.12g"):format(row[1], row[2], row[3], row[4]) end
  return table.concat(lines, "\n") .. "\n"
end

--- Llama-3.1-8B: norms of 4096, rope of 5120, an activation of 14336.
local function rows_of_all(scale)
  local rows = {}
  for _, tokens in ipairs { 1, 8, 64, 512, 4096 } do
    for name, width in pairs { norm = 4096, rope = 5120, silu_mul = 14336 } do
      rows[#rows + 1] = { name, tokens, width, scale * (10 + tokens * width / 1e5) }
    end
  end
  return elementwise(rows)
end

local memory = "op,bytes,latency_us\ncopy,65536,5\ncopy,1048576,6\ncopy,268435456,200\n"
local launch = "op,latency_us\nkernel,7\ngraph_node,1.5\n"

local function of(database, parameters, given)
  given = given or {}
  return bound.bind(Kernels(parameters or {}), { model = given.model, hardware = given.hardware, mfu = database })
end

--- Seconds of one run and evidence, by name of the operation.
local function rows_of(steps, batch)
  local out = {}
  for _, row in ipairs(cost.explain(function() return steps:time(batch) end).rows) do
    local same = out[row.name]
    out[row.name] = { time_s = (same and same.time_s or 0) + row.time_s, evidence = same and same.evidence
      or row.evidence, bytes = math.max(same and same.bytes or 0, row.bytes) }
  end
  return out
end

test("a measured row is the price of its kernel, to the last bit", function()
  local rows = rows_of(of(open { ["elementwise.csv"] = rows_of_all(1) }), bound.decodes(64, 500))
  for name, width in pairs { attention_norm = 4096, mlp_norm = 4096, final_norm = 4096, rope = 5120,
                             activation = 14336 } do
    test.near(rows[name].time_s, (10 + 64 * width / 1e5) * 1e-6, 1e-12, name)
    test.equal(rows[name].evidence, "measured", name)
  end
end)

test("between two rows of tokens the price lies between them", function()
  local rows = rows_of(of(open { ["elementwise.csv"] = rows_of_all(1) }), bound.decodes(128, 500))
  test.near(rows.rope.time_s, (10 + 128 * 5120 / 1e5) * 1e-6, 1e-9)
  test.equal(rows.rope.evidence, "interpolated")
end)

test("rows twice as slow make every small kernel that has them twice as slow, and no other operation", function()
  local slow = rows_of(of(open { ["elementwise.csv"] = rows_of_all(2) }), bound.decodes(64, 500))
  for name, row in pairs(rows_of(of(open { ["elementwise.csv"] = rows_of_all(1) }), bound.decodes(64, 500))) do
    local measured = row.evidence == "measured"
    test.near(slow[name].time_s, row.time_s * (measured and 2 or 1), 1e-12, name)
  end
end)

test("another width is the row that moves as many bytes, and a stand-in", function()
  local database = open { ["elementwise.csv"] = elementwise { { "norm", 32, 8192, 12 }, { "norm", 64, 8192, 20 } } }
  local rows = rows_of(of(database), bound.decodes(64, 500))  -- 64 x 4096 is 32 x 8192
  test.near(rows.attention_norm.time_s, 12e-6, 1e-12)
  test.equal(rows.attention_norm.evidence, "stand_in")
  local _, estimate = database:lookup { op = "elementwise", kernel = "rope", tokens = 128, width = 8192 }
  test.near(estimate.latency_s, 20e-6, 1e-12, "two passes of twice the tokens are four passes of a norm")
end)

test("embedding and KV write are copies of as many bytes", function()
  local rows = rows_of(of(open { ["memory.csv"] = memory }), bound.decodes(64, 500))
  test.near(rows.embed.time_s, 6e-6, 1e-12)  -- 64 tokens, 4096 x 2 bytes, read and written: 1 MiB
  test.equal(rows.embed.evidence, "measured")
  test.equal(rows.kv_write.evidence, "interpolated")
  test.equal(rows.rope.evidence, "interpolated")
end)

test("a graph node stands in front of small_kernel_s, a launch in front of eager_kernel_s", function()
  local database = open { ["launch.csv"] = launch }
  local batch = bound.decodes(64, 500)
  local rows, without = rows_of(of(database), batch), rows_of(of(nil), batch)
  test.near(without.rope.time_s - rows.rope.time_s, 3e-6 - 1.5e-6, 1e-12)
  local eager = { largest_graph = 0, host_step_s = 0, host_request_s = 0 }
  local steps = of(database, eager)
  local one = bound.decodes(1, 1)
  test.near(steps:time(one), math.max(steps.kernel_count * 7e-6, steps:gpu_time(one, steps:rows_time(one))), 1e-12)
  test.equal(steps.elementwise.eager_s, 7e-6)
  test.equal(of(nil, eager).elementwise.eager_s, 5e-6)
end)

test("rows faster than the bandwidth are topped up to it", function()
  local hardware = rooflua.spec.hardware "h100-sxm"
  local database = open { ["elementwise.csv"] = rows_of_all(1e-4),
    ["memory.csv"] = "op,bytes,latency_us\ncopy,1024,1e-6\n" }
  for _, n in ipairs { 1, 64, 700, 4096 } do
    for name, row in pairs(rows_of(of(database), bound.prefill(n))) do
      if name:find "norm" or name == "rope" or name == "activation" or name == "embed" or name == "kv_write" then
        test.at_least(row.time_s * (1 + 1e-9), row.bytes / hardware.memory_bytes_per_s, name)
      end
    end
  end
end)

test("more tokens never cost less, however the rows jump", function()
  local rows = {}
  for i, tokens in ipairs { 1, 2, 4, 8, 16, 64, 256, 1024, 8192 } do
    for _, name in ipairs { "norm", "rope", "silu_mul" } do
      rows[#rows + 1] = { name, tokens, 4096, i % 2 == 0 and 40 or 30 }
    end
  end
  local steps, before_s = of(open { ["elementwise.csv"] = elementwise(rows), ["launch.csv"] = launch }), 0
  for _, n in ipairs { 1, 2, 3, 5, 8, 16, 17, 60, 64, 100, 200, 256, 300, 700, 1024, 2000, 4000, 8000 } do
    local time_s = steps.layers_time(n)
    test.at_least(time_s, before_s, n .. " tokens")
    before_s = time_s
  end
end)

test("tables that are not there, or not wanted, change nothing", function()
  local batch = bound.mixed(300, 100, 40, 900)
  local plain_s = of(nil):time(batch)
  local tables = { ["elementwise.csv"] = rows_of_all(1), ["memory.csv"] = memory, ["launch.csv"] = launch }
  test.equal(of(open(tables), { small_kernel_tables = false }):time(batch), plain_s)
  test.check(of(open(tables)):time(batch) ~= plain_s, "the tables should have changed the price")
end)

test("FP8 GEMMs are quantised in front, by SM waves; not where the rows are of whole linear layers", function()
  local given = { deployment = { weights = "fp8" } }
  local steps = bound.bind(Kernels {}, given)
  local row = rows_of(steps, bound.prefill(1320)).quantize_qkv  -- 10 waves of 132 SMs, rows of 4096
  local row_s = math.max(0.96e-6, 3 * 4096 / (5.4 * steps.hardware.clock_hz))
  test.near(row.time_s, 2.2e-6 + 10 * row_s, 1e-9)
  test.equal(row.evidence, "modelled")
  local path = test.shared "tables/aic/README.md":gsub("/README.md$", "")
  given.mfu = rooflua.mfu.open { path = path, layout = "aic", gpu = "h100-sxm", hardware = "h100-sxm" }
  test.equal(rows_of(bound.bind(Kernels {}, given), bound.prefill(1320)).quantize_qkv.time_s, 0)
end)

test("a GPU that borrows takes utilisation along, as a stand-in", function()
  local home = table_folder.path .. "/home"
  os.execute(("mkdir -p %s/big %s/small && cp bench_data/h200-sxm/hardware.toml %s/big/"):format(home, home, home))
  local file = assert(io.open(home .. "/big/elementwise.csv", "w"))
  file:write(elementwise { { "rope", 4096, 5120, 20 }, { "rope", 8192, 5120, 40 } })
  file:close()
  local text = assert(io.open "bench_data/h100-sxm/hardware.toml"):read "*a"
  text = text:gsub("\ntables_from%s*=[^\n]*", "")
  file = assert(io.open(home .. "/small/hardware.toml", "w"))
  file:write('tables_from = "big"\n', text)
  file:close()
  local small = rooflua.spec.hardware(home .. "/small/hardware.toml")
  local lender = rooflua.spec.hardware "h200-sxm"
  local database = rooflua.mfu.open { hardware = small }
  local _, estimate = database:lookup { op = "elementwise", kernel = "rope", tokens = 8192, width = 5120 }
  test.equal(estimate.evidence, "stand_in")
  test.near(estimate.latency_s, 40e-6 * lender.memory_bytes_per_s / small.memory_bytes_per_s, 1e-9)
  local steps = bound.bind(Kernels {}, { hardware = small, mfu = database })
  local row = rows_of(steps, bound.prefill(8192)).rope
  test.equal(row.evidence, "stand_in")
  test.near(row.time_s, 40e-6 * lender.memory_bytes_per_s / small.memory_bytes_per_s, 1e-9)
end)

table_folder.remove()
--- Seconds of the quantisation kernels of one step of an FP8 model with these tables.
local function quantisation_s(tables)
  tables.hardware = "h100"
  local steps = bound.bind(Kernels {}, { model = "qwen3-8b", hardware = "h100", deployment = { weights = "fp8" },
    mfu = rooflua.mfu.open(tables) })
  local sum, kernels = 0, 0
  for _, row in ipairs(cost.explain(function() return steps:time(bound.decodes(64, 500)) end).rows) do
    if row.name:find "^quantize_" then sum, kernels = sum + row.time_s, kernels + 1 end
  end
  test.at_least(kernels, 4)
  return sum
end

test("quantisation that is in the rows of a GEMM is not counted twice, imported or not", function()
  local folder = test.folder()
  assert(os.execute(("mkdir -p %s/aic %s/own"):format(folder, folder)) == 0)
  local csv = assert(io.open(folder .. "/aic/h100_sxm_gemm_vllm0.24.csv", "w"))
  csv:write "gemm_dtype,m,n,k,latency\nfp8,64,4096,4096,0.02\nfp8,64,24576,4096,0.05\nbfloat16,64,4096,4096,0.03\n"
  csv:close()
  test.equal(quantisation_s { path = folder .. "/aic", layout = "aic", gpu = "h100_sxm" }, 0)
  local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
  assert(os.execute(("%s data import %s/aic --layout aic --gpu h100_sxm --to %s/own >%s/said 2>&1"):format(program,
    folder, folder, folder)) == 0)
  local own = folder .. "/own/h100_sxm"
  test.equal(quantisation_s { path = own }, 0)
  assert(os.execute(("sed -i /includes/d %s/tables.toml"):format(own)) == 0)
  test.check(quantisation_s { path = own } > 1e-5, "rows that do not say so contain none")
end)

test("the manual and the stubs name every kernel that a lookup knows", function()
  local database = rooflua.mfu.open "h200-sxm"
  local _, problem = pcall(database.lookup, database, { op = "elementwise", kernel = "?", tokens = 1, width = 1 })
  local known, count = tostring(problem):match "known: ([^)]+)%)", 0
  for _, file in ipairs { "docs/LUA_API.md", "scripts/meta/mfu.lua" } do
    local handle = assert(io.open(file))
    local text = handle:read "*a"
    handle:close()
    for name in known:gmatch "[%w_]+" do
      count = count + 1
      test.check(text:find("%f[%w_]" .. name .. "%f[^%w_]"), "%s does not name %s", file, name)
    end
  end
  test.at_least(count, 2 * 9)
end)

test.finish()
