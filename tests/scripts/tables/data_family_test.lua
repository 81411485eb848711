-- Constants of the kernel model from rows of a folder: what is fitted, what is kept, what is written and read again.
local test = dofile "tests/scripts/harness.lua"
local command = require "rooflua.family.command"
local json = require "rooflua.json"
local mfu = require "rooflua.mfu"
local rooflua = require "rooflua"
local spec = rooflua.spec

local folder = test.folder()

--- A folder with the datasheet of the RTX 3090 and a GEMM table.
local function gpu(name, lines)
  local path = folder .. "/" .. name
  assert(os.execute(("mkdir %s && sed '/^aliases/,/\\]/d' bench_data/rtx-3090/hardware.toml > %s/hardware.toml"):format(
    path, path)) == 0)
  local file = assert(io.open(path .. "/gemm_bf16.csv", "w"))
  file:write("m,k,n,latency_us\n", table.concat(lines, "\n"), "\n")
  file:close()
  return path
end

local truth = { memory_efficiency = 0.6, gemm_math = 0.5, kernel_launch_s = 6e-6 }

--- Rows of GEMMs as a kernel model with these constants has them.
local function rows_of(constants, shapes, sizes)
  local database, lines = mfu.open { hardware = "rtx-3090", tables = false, model = constants }, {}
  for _, shape in ipairs(shapes) do
    for _, m in ipairs(sizes) do
      local _, estimate = database:gemm(m, shape[1], shape[2], "bf16")
      lines[#lines + 1] = ("%d,%d,%d,%.4f"):format(m, shape[1], shape[2], estimate.latency_s * 1e6)
    end
  end
  return lines
end

local shapes = { { 4096, 4096 }, { 4096, 12288 }, { 2048, 8192 }, { 11008, 4096 }, { 512, 2048 } }
local mine = gpu("mine", rows_of(truth, shapes, { 1, 64, 1024, 4096 }))

local found = command.run { folder = mine }

test("20 rows of GEMM are enough for GEMM: shapes left out are off by less than a tenth", function()
  local kind = found.document.kinds[1]
  test.equal(kind.kernels .. kind.rows .. " " .. kind.shapes, "gemm20 5")
  test.at_least(kind.error_before, 0.2)
  test.at_least(0.1, kind.error_left_out)
  test.equal(kind.fitted, true)
  for _, each in ipairs(kind.constants) do
    if truth[each.name] then test.near(each.after, truth[each.name], 0.25, each.name) end
    test.equal(each.at_bound, each.after == each.max, each.name)
  end
  test.equal(io.open(mine .. "/family.toml"), nil, "written without write")
end)

test("what has no row, or few, keeps the value of the nearest family", function()
  local few = command.run { folder = gpu("few", rows_of(truth, { shapes[1] }, { 1, 64, 1024 })) }
  for _, kind in ipairs(few.document.kinds) do test.equal(kind.fitted, false, kind.kernels) end
  test.has(few.text, "fewer than 4 rows: kept", "no row: kept", "no constant was fitted")
  local same = command.run { folder = gpu("same", rows_of({}, shapes, { 1, 1024 })) }
  test.has(same.text, "no better on shapes left out: kept")
end)

test("--write makes a file that answers for the folder, with its sources, and nothing else changes", function()
  local before = spec.hardware(mine)
  local printed = test.printed("data family " .. mine .. " --write", folder)
  test.has(printed, "written: " .. mine .. "/family.toml", "left out")
  local after = spec.hardware(mine)
  test.near(after.constants.kernel_launch_s, truth.kernel_launch_s, 0.25)
  test.equal(after.constants.attention_math, before.constants.attention_math)
  test.has(after.fit_note, "own rows (20 of GEMM), else on Hopper", "none on other kernels of mine")
end)

test("an answer for a GPU with few rows of its own is wider, and says from how many", function()
  local function answered(model)
    local words = ("step --model %s --hardware %s --engine 'vllm 0.19' --decode 1000x4 --json -"):format(model, mine)
    return json.decode(test.printed(words .. " 2>/dev/null", folder)).variants[1].intervals
  end
  test.equal(answered("qwen3-8b").distance.rows, 0, "20 rows of GEMM say nothing of attention")
  local handle = assert(io.open(mine .. "/family.toml"))
  local text = handle:read "*a"
  handle:close()
  handle = assert(io.open(mine .. "/family.toml", "w"))
  handle:write((text:gsub("gemm = 20", "%0\nattention = 7")))
  handle:close()
  local dense = answered "qwen3-8b"
  test.equal(dense.distance.rows, 20)
  test.has(table.concat(dense.text, "\n"), "20 or more of its rows")
  test.equal(answered("gpt-oss-20b").distance.rows, 0, "nor of experts")
end)

test("a file that is not of this form is refused by its name", function()
  local function raises(part, text)
    local file = assert(io.open(mine .. "/family.toml", "w"))
    file:write(text)
    file:close()
    test.raises(part, function() spec.hardware(mine) end)
  end
  local model, gemm = "answers = 'model'\n", "[rows]\ngemm = 4\n"
  local rest = "[constants]\ngemm_math = 0.5\n[sources]\ngemm_math = 'a'\n"
  raises("rows: is missing", model .. rest)
  raises("family.toml: unknown key 'colour'", "colour = 1\n" .. model .. gemm .. rest)
  raises("answers: expected", "answers = 'rows'\n" .. gemm .. rest)
  raises("unknown kind 'gem'", model .. "[rows]\ngem = 4\n" .. rest)
  raises("has none of gemm_math", model .. gemm .. "[constants]\ngemm_math = 0.5\n[sources]\n")
  raises("family.toml: constants", model .. gemm .. rest:gsub("0.5", "7"))
end)

test("a shipped GPU is not written, and a folder without a datasheet is none", function()
  test.raises("is shipped", function() command.run { folder = "bench_data/l40s", write = true } end)
  test.raises("holds no hardware.toml", function() command.run { folder = folder } end)
end)

test.finish()
