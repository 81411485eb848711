-- power/measured gives the loads that were measured, those too that it did not see, and never guesses silently.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local rooflua = require "rooflua"
local Measured = require "power.measured"
local spec = rooflua.spec

local pipe = io.popen "mktemp -d"
local scratch = pipe:read "*l"
pipe:close()

local gpu = spec.hardware "h100-sxm"
local lines = {}
for line in io.lines "bench_data/h100-sxm/power.csv" do lines[#lines + 1] = line end

local folders = 0

--- The H100 with other rows of power.csv.
local function with_rows(rows)
  folders = folders + 1
  local folder = ("%s/h100-%d"):format(scratch, folders)
  os.execute(("mkdir -p %s && cp bench_data/h100-sxm/hardware.toml %s"):format(folder, folder))
  local file = assert(io.open(folder .. "/power.csv", "w"))
  file:write(lines[1], "\n", table.concat(rows, "\n"), "\n")
  file:close()
  return spec.hardware(folder)
end

local function error_of(policy, hardware, row)
  local watts, bound, low, high = policy:watts(hardware, row.busy_frac, row)
  test.equal(bound, "about")
  test.check(low <= watts and watts <= high, "%g in %g to %g", watts, low, high)
  return math.abs(watts / row.watts - 1)
end

--- Arithmetic on the tensor cores is what flop count; exponentials of prefill attention are not.
local function is_counted(row) return not row.load:find "^attention_prefill" end

test("every load that was measured is given back within 8 %, in the mean within 2.5 %", function()
  local policy, sum, count = Measured {}, 0, 0
  for _, row in ipairs(spec.power(gpu)) do
    if is_counted(row) then
      local off = error_of(policy, gpu, row)
      test.check(off < 0.08, "%s, busy %g: %.3f", row.load, row.busy_frac, off)
      sum, count = sum + off, count + 1
    end
  end
  test.equal(count, 31)
  test.check(sum / count < 0.025, "%g", sum / count)
end)

test("a load that the fit did not see is given within 10 %, in the mean within 3 %", function()
  local rows, policy, sum, count = spec.power(gpu), Measured {}, 0, 0
  for left_out = 2, #rows do  -- the first is the idle one
    if is_counted(rows[left_out]) then
      local others = {}
      for i = 2, #lines do if i ~= left_out + 1 then others[#others + 1] = lines[i] end end
      local off = error_of(policy, with_rows(others), rows[left_out])
      test.check(off < 0.1, "%s, busy %g: %.3f", rows[left_out].load, rows[left_out].busy_frac, off)
      sum, count = sum + off, count + 1
    end
  end
  test.equal(count, 30)
  test.check(sum / count < 0.03, "%g", sum / count)
end)

test("more work draws more, up to the limit and not beyond; an idle GPU draws what was measured", function()
  local policy, before = Measured {}, 0
  test.near((policy:watts(gpu, 0)), 118.2, 1e-9)
  test.near((policy:watts(gpu, 0, { mfu = 0, bandwidth_frac = 0 })), 118.2, 1e-9)
  for i = 0, 20 do
    local watts = policy:watts(gpu, i / 20, { mfu = i / 20, bandwidth_frac = i / 40 })
    test.check(watts > before or watts == 700, "%g", watts)
    before = watts
  end
  test.equal(before, 700)
  test.near((Measured { facility_factor = 2 }:watts(gpu, 0)), 2 * 118.2, 1e-9)
end)

test("without the work of a run the answer is a bound, and says so", function()
  local watts, bound = Measured {}:watts(gpu, 0.5)
  test.equal(bound, "at most")
  test.near(watts, (118.2 + 700) / 2, 1e-9)
  test.equal((Measured {}:watts(gpu)), 700)
end)

test("a GPU that was not measured is an error that says what else there is", function()
  for _, name in ipairs { "l40s", "mi300x", "b300" } do -- the limit of the last is not stated
    local other = spec.hardware(name)
    test.equal(spec.power(other), nil)
    test.raises("no watts were measured on " .. name .. " or on a GPU of its architecture", function()
      Measured {}:watts(other, 0.5, { mfu = 0.1, bandwidth_frac = 0.5 })
    end)
    test.raises("--watts " .. name .. "=WATTS", function() Measured {}:check(other) end)
  end
  Measured {}:check(gpu)
end)

test("rows that tell nothing are an error, and so is a row that is none", function()
  local idle, copy = "idle,,,1.0,100,100,1980,36,0,0,0,1", "memory,bf16,copy,%s,300,300,1980,40,1,0,%s,1"
  test.raises("expected a row `idle` and three loads", function() Measured {}:check(with_rows { idle }) end)
  test.raises("expected a row `idle`", function() Measured {}:check(with_rows { copy:format(1, 2000) }) end)
  test.raises("three loads or more below 679 W", function()
    Measured {}:check(with_rows { idle, copy:format(1, 2000), copy:format(0.5, 2000) })
  end)
  test.raises("power.csv:3: gb_per_s: expected a number", function()
    spec.power(with_rows { idle, copy:format(1, "fast") })
  end)
  test.raises("power.csv:3: busy: expected a share", function()
    spec.power(with_rows { idle, copy:format(25, 2000) })
  end)
end)

test("a plan draws what the policy says of the work of its run, between idle and the limit", function()
  local function energy(power, gpus)
    local done = setup.report({ power = power, gpus = gpus or { { "h100-sxm", most = 16, price_per_hour = 3 } },
      ranks = 1, candidates = require "candidates.listed" { list = { { tp = 1, max_num_seqs = 32,
        max_num_batched_tokens = 1024 } } } }, { steps = require "steps.kernels" {} })
    return done.document.ranks[1], done
  end
  local measured, done = energy(Measured {})
  local most = energy "tdp"
  local result = done.plan.ranks[1].result
  test.check(result.work.mfu > 0 and result.work.bandwidth_frac > 0, "no work")
  local watts = Measured {}:watts(gpu, result.busy_frac, result.work)
  test.check(watts > 150 and watts < 700, "%g W", watts)
  test.check(measured.joules_per_token < most.joules_per_token, "%g", measured.joules_per_token)
  test.near(measured.joules_per_token / most.joules_per_token, watts / 700, 1e-9)
  test.equal(measured.power, "about")
  test.check(measured.joules.low < measured.joules_per_token, "no bounds")
  test.raises("no watts were measured on l40s", function()
    energy(Measured {}, { { "l40s", most = 16, price_per_hour = 1 } })
  end)
end)

os.execute("rm -rf " .. scratch)
test.finish()
