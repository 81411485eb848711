-- Rows left out, and comparisons of databases, from Lua.
local test = dofile "tests/scripts/harness.lua"
local mfu = require "rooflua.mfu"

local measured = "tests/fixtures/measured"

local function infersim()
  return mfu.open { path = test.shared "tables/infersim", layout = "infersim", gpu = "h20", hardware = "h20",
    lookup = "latency_linear" }
end

test("a row that is taken away is predicted by its neighbours, at a distance", function()
  local db = mfu.open { path = measured, hardware = "h200-sxm" }
  local rows = db:leave_one_out { table = "gemm_bf16" }
  test.equal(#rows, 6)  -- one latency is 0
  local row = rows[2]
  test.equal(row.m, 2)
  test.equal(row.evidence, "interpolated")
  test.near(row.measured_s, 10e-6, 1e-12)
  test.near(row.predicted_s, 10e-6, 1e-12)
  test.near(row.error, 0, 1e-9)
  test.near(row.distance, 1, 1e-9)
end)

test("a mistake is named, with what would be right", function()
  local db = mfu.open { path = measured, hardware = "h200-sxm" }
  test.raises("gemm_bf16", function() db:leave_one_out { table = "gemm_bf15" } end)
  test.raises("latency_linear", function() db:leave_one_out { table = "gemm_bf16", lookup = "latency_liner" } end)
  test.raises("row", function() db:leave_one_out { table = "gemm_bf16", leave = "rows" } end)
  test.raises("table", function() db:leave_one_out { tabel = "gemm_bf16" } end)
  test.raises("Database", function() db:compare "h200-sxm" end)
end)

test("tables agree with themselves", function()
  local db = mfu.open { path = measured, hardware = "h200-sxm" }
  local found = db:compare(db)
  test.check(#found >= 2)
  for _, each in ipairs(found) do
    test.equal(each.evidence, "measured", each.table)
    test.equal(each.median, 1)
    test.equal(each.worst, 1)
  end
end)

test("on measured tables the error of latency_linear grows with the distance", function()
  local db = infersim()
  local near, far = {}, {}
  for _, info in ipairs(db:tables()) do
    if info.op == "gemm" or info.op == "attention_decode" then
      for _, row in ipairs(db:leave_one_out { table = info.name }) do
        local into = row.distance <= 1 and near or far
        into[#into + 1] = math.abs(row.error)
      end
    end
  end
  local function mean(values)
    local sum = 0
    for _, value in ipairs(values) do sum = sum + value end
    return sum / #values
  end
  test.check(#near > 50 and #far > 10, "%d near, %d far", #near, #far)
  print(("mean error of %d rows within a doubling %.1f %%, of %d beyond %.1f %%"):format(#near, 100 * mean(near), #far,
    100 * mean(far)))
  test.check(mean(near) < mean(far))
end)

test.finish()
