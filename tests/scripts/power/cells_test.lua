-- Watts from published readings (power_by_load.csv): laws of the curve, its errors on kinds that it did not see, and
-- the GPUs that it stands in for. The errors stand in docs/records/fitted.md, "Power".
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local curve = require "power.model.curve"
local spec = rooflua.spec
local Measured = require "power.measured"

local with_cells = { "b200", "gb200", "h200-sxm" }

local function kept(rows, wanted)
  local out = {}
  for _, row in ipairs(rows) do if row.op == "idle" or wanted(row) then out[#out + 1] = row end end
  return out
end

--- Mean error of a curve over rows, relative to their watts.
local function mean_error(of, rows)
  local sum, count = 0, 0
  for _, row in ipairs(rows) do
    if row.op ~= "idle" then
      sum, count = sum + math.abs(curve.watts(of, row) / row.watts - 1), count + 1
    end
  end
  return sum / count, count
end

test("watts never fall with work, begin at the idle GPU's, end at the limit, and lie within their bounds", function()
  for _, name in ipairs { "b200", "gb200", "h200-sxm", "h100-sxm", "h100-pcie", "gh200" } do
    local gpu, policy, draws = spec.hardware(name), Measured {}, rooflua.random.streams(7):stream(name, 1)
    local idle = policy:watts(gpu, 0, { mfu = 0, bandwidth_frac = 0 })
    local function draw() return draws:uniform(0, 1) end
    for _ = 1, 300 do
      local busy = draw()
      local work = { mfu = busy * draw(), bandwidth_frac = busy * draw() }
      local watts, _, low, high = policy:watts(gpu, busy, work)
      test.check(low <= watts and watts <= high and high <= gpu.tdp_w, "%s: %g, %g to %g", name, watts, low, high)
      test.check(watts >= idle, "%s: %g below idle", name, watts)
      local more_busy = busy + (1 - busy) * draw()
      for _, more in ipairs { { more_busy, work },
        { busy, { mfu = work.mfu * 1.1, bandwidth_frac = work.bandwidth_frac } },
        { busy, { mfu = work.mfu, bandwidth_frac = work.bandwidth_frac * 1.1 } } } do
        test.check(policy:watts(gpu, more[1], more[2]) >= watts - 1e-9, "%s: more work draws less", name)
      end
    end
  end
end)

test("cells are given back: the mean error is that of readings of one cell", function()
  for name, most in pairs { b200 = 0.105, gb200 = 0.16, ["h200-sxm"] = 0.115 } do
    local gpu = spec.hardware(name)
    local rows = spec.power(gpu)
    local of = curve.fit(rows, gpu.tdp_w)
    local off, count = mean_error(of, rows)
    local within, sum = 0, 0
    for _, row in ipairs(rows) do
      if row.op ~= "idle" then
        local watts, low, high = curve.watts(of, row)
        within, sum = within + (low <= row.watts_p50 and row.watts_p50 <= high and 1 or 0), sum + row.watts_p90
          - row.watts_p25
        test.check(low <= watts and watts <= high, "%s: %g in %g to %g", row.load, watts, low, high)
      end
    end
    print(("%s: %d cells, mean error %.1f %%, %.0f %% of medians within low and high, p25 to p90 of a cell %.0f W")
      :format(name, count, 100 * off, 100 * within / count, sum / count))
    test.check(off < most, "%s: %.3f", name, off)
    test.check(within / count > 0.6, "%s: %.2f within", name, within / count)
  end
end)

test("a GPU that was left out is given by another of its architecture and the limits of both", function()
  for _, each in ipairs { { "b200", "gb200", 0.22 }, { "gb200", "b200", 0.15 }, { "h200-sxm", "h100-sxm", 0.09 },
    { "h100-sxm", "h200-sxm", 0.19 } } do
    local from, to = spec.hardware(each[1]), spec.hardware(each[2])
    local of = curve.scaled(curve.fit(spec.power(from), from.tdp_w), to.tdp_w, 0.2)
    local off = mean_error(of, spec.power(to))
    print(("%s from %s: mean error %.1f %%"):format(each[2], each[1], 100 * off))
    test.check(off < each[3], "%s from %s: %.3f", each[2], each[1], off)
  end
end)

test("an op, a format or an engine that was left out is given by the others", function()
  for key, most in pairs { op = 0.2, dtype = 0.18, engine = 0.16 } do
    local sum, count = 0, 0
    for _, name in ipairs(with_cells) do
      local gpu, seen = spec.hardware(name), {}
      local rows = spec.power(gpu)
      for _, row in ipairs(rows) do
        local kind = row[key]
        local others = kept(rows, function(other) return other[key] ~= kind end)
        if row.op ~= "idle" and not seen[kind] and #others > 20 then
          seen[kind] = true
          local own = kept(rows, function(other) return other[key] == kind end)
          local off = mean_error(curve.fit(others, gpu.tdp_w), own)
          print(("%s without %s: mean error %.1f %%"):format(name, kind, 100 * off))
          sum, count = sum + off, count + 1
        end
      end
    end
    print(("%s: mean over %d %.1f %%"):format(key, count, 100 * sum / count))
    test.check(sum / count < most, "%s: %.3f", key, sum / count)
  end
end)

test("a GPU without rows has those of its architecture as a stand-in, with wider bounds, and says so", function()
  local policy, work = Measured {}, { mfu = 0.1, bandwidth_frac = 0.4 }
  for name, of in pairs { ["h100-pcie"] = "h100-sxm", gh200 = "h100-sxm" } do
    local gpu, own = spec.hardware(name), spec.hardware(of)
    policy:check(gpu)
    local watts, bound, low, high = policy:watts(gpu, 1, work)
    local own_w, _, own_low, own_high = policy:watts(own, 1, work)
    test.equal(bound, "about")
    test.near(watts / gpu.tdp_w, own_w / own.tdp_w, 1e-9)
    test.check(low / gpu.tdp_w < own_low / own.tdp_w and high / gpu.tdp_w >= own_high / own.tdp_w, "not wider")
    test.check(policy:basis(gpu):find("stand-in, scaled by the limits: the " .. of, 1, true), policy:basis(gpu))
  end
  local told = policy:basis(spec.hardware "b200")
  test.check(told:find "^69,173 readings of published kernels %(vLLM 0.22.0, TensorRT%-LLM", told)
end)

test("rows of cells that are none are errors with their line and column", function()
  local folder = test.folder() .. "/b200"
  local function with(line)
    os.execute(("mkdir -p %s && cp bench_data/b200/hardware.toml %s"):format(folder, folder))
    local file = assert(io.open(folder .. "/power_by_load.csv", "w"))
    file:write("op,dtype,engine,mfu,bandwidth_frac,rows,watts_p25,watts_p50,watts_p75,watts_p90\n", line, "\n")
    file:close()
    return spec.hardware(folder)
  end
  for line, told in pairs {
    ["gemm,bf16,vllm 1,0.1,0.2,30,500,600,550,700"] = "power_by_load.csv:2: watts_p75: below watts_p50",
    ["gemm,bf16,vllm 1,1.2,0.2,30,500,600,650,700"] = "power_by_load.csv:2: mfu: expected a share, found 1.2",
    ["gemm,bf16,vllm 1,0.2,0.2,30,500,high,650,700"] = "power_by_load.csv:2: watts_p50: expected a number",
  } do
    test.raises(told, function() spec.power(with(line)) end)
  end
  local rows, about = spec.power(with "gemm,bf16,vllm 1,0.1,0.2,30,500,600,650,700")
  test.equal(#rows, 1)
  test.equal(about, "30 readings of published kernels (tables.toml does not say whose), from their p25 to their "
    .. "p90 beside the curve")
  test.raises("expected a row `idle` and three loads", function()
    Measured {}:check(with "gemm,bf16,vllm 1,0.1,0.2,30,500,600,650,700")
  end)
end)

test.finish()
