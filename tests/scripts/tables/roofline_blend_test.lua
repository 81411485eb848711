-- lookup/roofline_blend: laws on synthetic tables, and rows and shapes left out of measured ones.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local Blend = require "lookup.roofline_blend"

local axes = { "m", "k", "n" }

--- The rows near a shape as they are defined, without an index: Euclidean, in doublings.
local function naively_near(table_of, query, count)
  local found = {}
  for i, row in ipairs(table_of.rows) do
    if row.kv_dtype == query.kv_dtype and row.latency_s > 0 then
      local sum, near = 0, { order = i }
      for key, value in pairs(row) do near[key] = value end
      for _, axis in ipairs(table_of.axes) do
        local wanted = query[axis] or 0
        if axis == "heads" or axis == "kv_heads" then wanted = math.max(1, math.floor(wanted / query.tp)) end
        local doublings = math.log(math.max(wanted, 0.5) / math.max(row[axis] or 0, 0.5)) / math.log(2)
        sum = sum + doublings * doublings
      end
      near.distance = math.sqrt(sum)
      found[#found + 1] = near
    end
  end
  table.sort(found, function(a, b)
    if a.distance ~= b.distance then return a.distance < b.distance end
    return a.order < b.order
  end)
  for i = #found, count + 1, -1 do found[i] = nil end
  return found
end

--- What a lookup sees of a table beside its rows.
local function view(table_of)
  table_of.near, table_of.ranges = naively_near, {}
  for _, axis in ipairs(table_of.axes) do
    local range = { least = math.huge, most = -math.huge }
    for _, row in ipairs(table_of.rows) do
      range.least, range.most = math.min(range.least, row[axis]), math.max(range.most, row[axis])
    end
    table_of.ranges[axis] = range
  end
  return table_of
end

--- A GEMM table whose latency is a function of the shape.
local function gemm_table(latency_s, points)
  local rows = {}
  for i, point in ipairs(points) do
    rows[i] = { m = point[1], k = point[2], n = point[3], kv_dtype = "bf16", latency_s = latency_s(unpack(point)) }
  end
  return view { rows = rows, axes = axes, name = "made up", dtype = "bf16", op = "gemm" }
end

local function ask(table_of, m, k, n, parameters)
  return Blend(parameters or {}):lookup(table_of, { op = "gemm", m = m, k = k, n = n, tp = 1, dtype = "bf16",
                                                    kv_dtype = "bf16" })
end

local grid = {}
for _, m in ipairs { 16, 64, 256, 4096 } do
  for _, k in ipairs { 1024, 4096 } do
    for _, n in ipairs { 2048, 8192 } do grid[#grid + 1] = { m, k, n } end
  end
end
local function ideal(m, k, n)  -- 5 us, and a roofline at 100 flop per byte
  return 5e-6 + math.max(2 * m * k * n, 100 * 2 * (m * k + k * n + m * n)) / 1e14
end

test("a measured row is returned as it is", function()
  local table_of = gemm_table(function(m, k, n) return ideal(m, k, n) * (1 + (m * 7 + k + n) % 5 / 10) end, grid)
  for _, row in ipairs(table_of.rows) do
    local latency_s, evidence = ask(table_of, row.m, row.k, row.n)
    test.equal(latency_s, row.latency_s)
    test.equal(evidence, "measured")
  end
end)

test("no prior context is another shape than a prior context of one token", function()
  local shape = { heads = 8, kv_heads = 2, head_dim = 128, batch = 1, new_tokens = 512, kv_dtype = "bf16" }
  local function row(context_tokens, latency_s)
    local out = { context_tokens = context_tokens, latency_s = latency_s }
    for key, value in pairs(shape) do out[key] = value end
    return out
  end
  local function asked(context_tokens, ...)
    local query = row(context_tokens)
    query.op, query.tp = "attention_prefill", 1
    return Blend {}:lookup(view { rows = { ... }, name = "made up", dtype = "bf16",
      axes = { "heads", "kv_heads", "head_dim", "batch", "context_tokens", "new_tokens" } }, query)
  end
  test.equal(select(2, asked(0, row(1, 1e-4), row(64, 2e-4))), "extrapolated")
  test.equal(select(2, asked(1, row(0, 1e-4), row(64, 2e-4))), "interpolated")
  test.equal(asked(0, row(1, 9e-4), row(0, 1e-4)), 1e-4)
  test.equal(asked(1, row(0, 1e-4), row(1, 9e-4)), 9e-4)
end)

test("kernels that are a floor and a roofline are found exactly at shapes without a measurement", function()
  local table_of = gemm_table(function(m, k, n) return ideal(m, k, n) - 5e-6 end, grid)
  for _, x in ipairs { { 100, 2000, 3000 }, { 20, 1024, 8192 }, { 9000, 9000, 9000 }, { 1, 512, 512 } } do
    local latency_s = ask(table_of, x[1], x[2], x[3])
    test.near(latency_s, ideal(x[1], x[2], x[3]) - 5e-6, 1e-12)
  end
end)

test("a factor that all kernels share is kept, whatever the neighbours and their weights", function()
  local one, three = gemm_table(ideal, grid), gemm_table(function(m, k, n) return 3 * ideal(m, k, n) end, grid)
  local choices = { {}, { neighbours = 1 }, { neighbours = 9, power = 0 }, { ridge_flop_per_byte = 300 } }
  for _, parameters in ipairs(choices) do
    test.near((ask(three, 100, 2000, 3000, parameters)), 3 * (ask(one, 100, 2000, 3000, parameters)), 1e-12)
  end
end)

test("between neighbours it interpolates, beyond them it extrapolates, and another head count stands in", function()
  local table_of = gemm_table(ideal, grid)
  test.equal(select(2, ask(table_of, 100, 2000, 3000, { neighbours = 8 })), "interpolated")
  test.equal(select(2, ask(table_of, 5000, 2000, 3000, { neighbours = 8 })), "extrapolated")
  local rows = {}
  for i, context in ipairs { 512, 2048 } do
    rows[i] = { heads = 8, kv_heads = 2, head_dim = 128, batch = 4, context_tokens = context, kv_dtype = "bf16",
                latency_s = context * 1e-8 }
  end
  local decode = view { rows = rows, name = "made up", dtype = "bf16", op = "attention_decode",
                   axes = { "heads", "kv_heads", "head_dim", "batch", "context_tokens" } }
  local function evidence(heads, tp)
    return select(2, Blend {}:lookup(decode, {
      op = "attention_decode", heads = heads, kv_heads = heads / 4, head_dim = 128, batch = 4, context_tokens = 1000,
      tp = tp, kv_dtype = "bf16",
    }))
  end
  test.equal(evidence(32, 4), "interpolated")  -- 8 heads on each rank
  test.equal(evidence(32, 1), "stand_in")
end)

test("an element-wise kernel is blended from rows of that kernel, whose bytes decide", function()
  local folder = test.folder()
  local file = assert(io.open(folder .. "/elementwise.csv", "w"))
  file:write "op,tokens,width,dtype,latency_us\n"
  for kernel, slower in pairs { norm = 4, quantize = 1.5 } do
    for _, tokens in ipairs { 1000, 10000 } do
      for _, width in ipairs { 1024, 8192 } do
        file:write(("%s,%d,%d,bf16,%.17g\n"):format(kernel, tokens, width, slower * tokens * width / 1e5))
      end
    end
  end
  file:close()
  local database = rooflua.mfu.open { path = folder }:with "roofline_blend"
  for kernel, slower in pairs { norm = 4, quantize = 1.5 } do
    local _, estimate = database:lookup { op = "elementwise", kernel = kernel, tokens = 3000, width = 3000 }
    test.near(estimate.latency_s, slower * 90e-6, 1e-9, kernel)
    test.equal(estimate.evidence, "interpolated", kernel)
  end
end)

test("what it cannot answer is an error that says why", function()
  local table_of = gemm_table(ideal, grid)
  test.raises("no roofline of linear_attention", function()
    Blend {}:lookup(table_of, { op = "linear_attention", kv_dtype = "bf16" })
  end)
  test.raises("has no rows of fp8", function()
    Blend {}:lookup(table_of, { op = "gemm", m = 1, k = 1, n = 1, tp = 1, kv_dtype = "fp8" })
  end)
end)

test("the engine finds the rows near a shape that a scan finds, in its order", function()
  local folder = test.folder()
  local file = assert(io.open(folder .. "/gemm_bf16.csv", "w"))
  file:write "m,k,n,latency_us\n"
  local rows = {}
  for i = 0, 999 do
    local row = { m = 1 + i * 7 % 97, k = 64 * (1 + i * 13 % 31), n = 64 * (1 + i * 29 % 17) }
    row.latency_s = (row.m + row.k / 64 + row.n / 64) / 1e6
    file:write(("%d,%d,%d,%.17g\n"):format(row.m, row.k, row.n, row.latency_s * 1e6))
    row.kv_dtype = "bf16"
    rows[#rows + 1] = row
  end
  file:close()
  local plain = { rows = rows, axes = axes }
  local compared, seen = 0, nil
  local db = rooflua.mfu.open { path = folder, hardware = "h100-sxm" }:with(function(table_of, query, tables)
    seen = { count = table_of.count, tables = #tables, same = rawequal(tables[1], table_of) }
    local near, naive = table_of:near(query, 9), naively_near(plain, query, 9)
    test.equal(#near, 9)
    for i = 1, 9 do
      test.equal(near[i].distance, naive[i].distance)
      for _, axis in ipairs(axes) do test.equal(near[i][axis], naive[i][axis]) end
      compared = compared + 1
    end
    test.raises("expected a number of rows", function() table_of:near(query, 0) end)
    test.raises("unknown field", function() return table_of.nearest end)
    test.raises("read-only", function() table_of.count = 1 end)
    return near[1].latency_s, "stand_in"
  end)
  for m = 1, 20 do db:gemm(m * 5, 100 * m, 3000) end
  test.equal(compared, 180)
  test.equal(seen.count, 1000)
  test.equal(seen.tables, 1)
  test.check(seen.same, "the table is another in the list")
end)

test("a table of 35,000 rows answers a new shape in milliseconds", function()
  local folder = test.folder()
  local file = assert(io.open(folder .. "/gemm_bf16.csv", "w"))
  file:write "m,k,n,latency_us\n"
  local count = 0
  for m = 1, 70 do
    for k = 1, 25 do
      for n = 1, 20 do
        count = count + 1
        file:write(("%d,%d,%d,%.17g\n"):format(8 * m, 256 * k, 512 * n, 5e6 * ideal(8 * m, 256 * k, 512 * n)))
      end
    end
  end
  file:close()
  local db = rooflua.mfu.open { path = folder, hardware = "h100-sxm", lookup = "roofline_blend" }
  db:gemm(9, 300, 700)  -- reads the table
  local start = os.clock()
  for i = 1, 50 do db:gemm(9 + i, 300 + i, 700 + i) end
  local seconds = os.clock() - start
  print(("  %d rows: %.1f ms for a shape"):format(count, seconds / 50 * 1e3))
  test.equal(count, 35000)
  test.check(seconds < 5, "50 shapes took " .. seconds .. " s")
end)

-- On InferSim's tables ---------------------------------------------------------------------------

local function open(gpu, lookup)
  return rooflua.mfu.open { path = test.shared "tables/infersim/bench_data", layout = "infersim", gpu = gpu,
                            lookup = lookup }
end

--- Mean errors of several lookups at the GEMMs of each (k, n), with all rows of that (k, n) left out.
local function shapes_left_out(gpu, lookups)
  local groups, order = {}, {}
  for _, row in ipairs(open(gpu):rows("gemm/" .. gpu .. "/data.csv")) do
    local key = row.k .. " " .. row.n
    if not groups[key] then
      groups[key], order[#order + 1] = {}, key
    end
    table.insert(groups[key], row)
  end
  local folder = test.file()
  assert(os.execute(("mkdir -p %s/gemm/%s"):format(folder, gpu)) == 0)
  local errors, count = {}, 0
  for _, left in ipairs(order) do
    local file = assert(io.open(("%s/gemm/%s/data.csv"):format(folder, gpu), "w"))
    file:write "m,k,n,latency_us,mfu\n"
    for _, key in ipairs(order) do
      for _, row in ipairs(key == left and {} or groups[key]) do
        file:write(("%d,%d,%d,%.17g,%.17g\n"):format(row.m, row.k, row.n, row.latency_s * 1e6, row.listed_mfu))
      end
    end
    file:close()
    local database = rooflua.mfu.open { path = folder, layout = "infersim", gpu = gpu }
    for _, row in ipairs(groups[left]) do
      count = count + 1
      for key, lookup in pairs(lookups) do
        local name = type(key) == "string" and key or lookup
        local _, estimate = database:with(lookup):gemm(row.m, row.k, row.n, "fp8")
        errors[name] = (errors[name] or 0) + math.abs(estimate.latency_s / row.latency_s - 1)
      end
    end
  end
  for name, sum in pairs(errors) do errors[name] = sum / count end
  return errors
end

local function said(gpu, errors)
  print(("  %s, a (k, n) left out: nearest %.1f %%, latency_linear %.1f %%, roofline_blend %.1f %%"):format(gpu,
    100 * errors.nearest, 100 * errors.latency_linear, 100 * errors.roofline_blend))
end

test("of the 34 GEMM shapes of InferSim's H20 any one is predicted from the others within 4 %", function()
  local errors = shapes_left_out("h20", { "nearest", "latency_linear", "roofline_blend" })
  said("h20", errors)
  test.check(errors.roofline_blend < 0.04 and errors.roofline_blend < 0.7 * errors.latency_linear)
end)

test("of the 10 GEMM shapes of its H800 no better than by latency_linear, and only with that GPU's ridge", function()
  local blend = Blend { ridge_flop_per_byte = 412 }
  local errors = shapes_left_out("h800", { "nearest", "latency_linear", roofline_blend = blend })
  said("h800", errors)
  test.near(errors.roofline_blend, errors.latency_linear, 0.1)
end)

--- Mean error between rows, with rows left out one by one.
local function rows_left_out(table_of, keep)
  local sum, count = 0, 0
  for i, row in ipairs(table_of.rows) do
    local rest, query = {}, { op = table_of.op, tp = 1, kv_dtype = row.kv_dtype, dtype = table_of.dtype }
    for j, other in ipairs(table_of.rows) do
      if j ~= i then rest[#rest + 1] = other end
    end
    for _, axis in ipairs(table_of.axes) do query[axis] = row[axis] end
    local latency_s, evidence = Blend {}:lookup(view(setmetatable({ rows = rest }, { __index = table_of })), query)
    if evidence == keep then
      sum, count = sum + math.abs(latency_s / row.latency_s - 1), count + 1
    end
  end
  return sum / count, count
end

test("rows left out of InferSim's H20 tables: prefill within 3 %, GEMM 4 %, decode 10 % but for one table", function()
  local seen = {}
  local database = open("h20", function(table_of)
    seen[1] = table_of
    return 1, "assumed"
  end)
  database:gemm(7, 7, 7, "fp8")
  test.check(rows_left_out(seen[1], "interpolated") < 0.04)
  database:prefill(32, 8, 128, 777)
  test.check(rows_left_out(seen[1], "interpolated") < 0.03)
  database:decode(32, 8, 128, 7, 777)
  test.check(rows_left_out(seen[1], "interpolated") < 0.10)
  database:decode(64, 2, 128, 7, 777)
  test.near(rows_left_out(seen[1], "interpolated"), 0.174, 0.05, "the worst table, 64 heads over 2")
end)

test("a scenario uses it by class, by instance and by name, and explains what it rests on", function()
  local times = {}
  for i, lookup in ipairs { Blend, Blend {}, "roofline_blend" } do
    local steps = bound.bind(require "steps.kernels" {}, {
      model = "qwen3-8b", hardware = "h20", mfu = open("h20", lookup), deployment = { weights = "fp8" },
    })
    local tree = rooflua.cost.explain(function() return steps:time(bound.mixed(700, 0, 20, 900)) end)
    times[i] = tree.time_s
    local notes = {}
    for j, row in ipairs(tree.rows) do notes[j] = row.note end
    test.check(table.concat(notes, "\n"):find("lookup roofline_blend over gemm/h20/data.csv", 1, true))
  end
  test.equal(times[1], times[2])
  test.equal(times[1], times[3])
end)

test("a misspelt lookup is suggested", function()
  test.raises("did you mean 'roofline_blend'", function()
    rooflua.mfu.open { gpu = "h20", lookup = "rooflin_blend" }
  end)
end)

test.finish()
