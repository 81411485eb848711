-- Whose rows of the shipped tables answer: those of the engine that is asked for, before those of this project.
local test = dofile "tests/scripts/harness.lua"
local mfu = require "rooflua.mfu"
local spec = require "rooflua.spec"

local gpus = { spec.hardware "h200-sxm", spec.hardware "h100-sxm" }

--- The question that a row of a table answers; nil for an op that is not looked at here.
local function question(info, row)
  if info.op == "gemm" then return { op = "gemm", dtype = info.dtype, m = row.m, k = row.k, n = row.n } end
  if info.op == "attention_decode" then
    return { op = info.op, heads = row.heads, kv_heads = row.kv_heads, head_dim = row.head_dim,
      kv_dtype = row.kv_dtype, batch = row.batch, context_tokens = row.context_tokens }
  end
  if info.op == "attention_prefill" and info.dtype == "bf16" then
    return { op = info.op, heads = row.heads, kv_heads = row.kv_heads, head_dim = row.head_dim,
      batch = row.batch, context_tokens = row.context_tokens, new_tokens = row.new_tokens }
  end
end

--- The tables whose names end with this word, with every so many-th row.
local function each_row(database, origin, step, visit)
  local visited = 0
  for _, info in ipairs(database:tables "all") do
    if info.name:match "[^_]+$" == origin then
      local rows = database:rows(info.name)
      for i = 1, #rows, step do
        local query = question(info, rows[i])
        if query then
          visit(info, rows[i], query)
          visited = visited + 1
        end
      end
    end
  end
  return visited
end

test("a row of the engine answers its own question, whatever this project measured", function()
  for _, gpu in ipairs(gpus) do
    for _, engine in ipairs { "vllm", "sglang", "trtllm" } do
      local database = mfu.open { hardware = gpu, engine = engine }
      local visited = each_row(database, engine, 41, function(info, row, query)
        local _, estimate = database:lookup(query)
        local place = ("%s: %s:%d"):format(gpu.name, info.name, row.line)
        test.equal(estimate.evidence, "measured", place)
        test.near(estimate.latency_s, row.latency_s, 1e-9, place)
      end)
      test.at_least(visited, 200, engine)
    end
  end
end)

test("a shape that only this project timed is measured for every engine, if its table answers", function()
  local answer = { gemm_bf16_rooflua = true, sampling_rooflua = true }  -- of our tables; the others are compared only
  for _, gpu in ipairs(gpus) do
    local own = 0
    for _, info in ipairs(mfu.open { hardware = gpu }:tables "all") do
      if info.name:find "_rooflua$" then
        own = own + 1
        test.equal(info.answers, answer[info.name] or false, gpu.name .. ": " .. info.name)
      end
    end
    test.at_least(own, 7, gpu.name)
    for _, engine in ipairs { "vllm", "sglang", "trtllm" } do
      local database = mfu.open { hardware = gpu, engine = engine }
      local _, estimate = database:lookup { op = "gemm", m = 16, k = 4096, n = 128256 }
      test.equal(estimate.evidence, "measured", engine)
    end
  end
end)

test("rows that must not answer change no price and are there to be read", function()
  local database = mfu.open { hardware = gpus[1] }
  for _, kernel in ipairs { "norm", "rope", "silu_mul" } do
    local _, estimate = database:lookup { op = "elementwise", kernel = kernel, tokens = 64, width = 4096 }
    test.equal(estimate.evidence, "modelled", kernel)
  end
  local _, estimate = database:lookup { op = "memory", kernel = "copy", bytes = 2 ^ 20 }
  test.equal(estimate.evidence, "modelled")
  for _, gpu in ipairs(gpus) do
    for _, op in ipairs { "memory", "launch", "grouped_gemm" } do
      test.equal(mfu.open({ hardware = gpu }):measures(op), false, gpu.name .. ": " .. op)
    end
  end
  test.equal(#database:rows "memory_rooflua", 42)
  test.at_least(#database:leave_one_out { table = "elementwise_rooflua", most_rows = 20 }, 10)
  test.equal(#database:tables "all" - #database:tables(), 6)
  local ok, problem = pcall(database.tables, database, "al")
  test.check(not ok and problem:find('db:tables: expected nothing or "all", found text "al"', 1, true), "%s", problem)
end)

test.finish()
