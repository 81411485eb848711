-- One fit for all families (`rooflua data family`) against the constants that ship: fitted to 1,000 rows of one GPU,
-- from the constants of another family, and tested on rows of another GPU of the same family.
--
--     rooflua lua tests/fidelity/one_fit.lua         prints medians of |modelled / measured - 1| (docs/GPUS.md)
local family_rows = require "rooflua.family.rows"
local fitted = require "rooflua.family.fitted"
local mfu = require "rooflua.mfu"
local native = require "rooflua.native"
local spec = require "rooflua.spec"
local statistics = require "rooflua.base.statistics"

local kinds, tested, fitted_to = { "gemm", "attention", "moe" }, 300, 333

local function constants_of(family)
  local out = {}
  for _, each in ipairs(native.kernel_constants(family).list) do out[each.name] = each.value end
  return out
end

--- The same list in another order, the same each time.
local function shuffled(list)
  local out, state = {}, 7
  for i, each in ipairs(list) do out[i] = each end
  for i = #out, 2, -1 do
    state = state * 16807 % 2147483647
    local k = 1 + state % i
    out[i], out[k] = out[k], out[i]
  end
  return out
end

--- A GPU, rows to fit to and rows to test on, by kind.
local function rows_of(name)
  local hardware, train, test = spec.hardware(name), {}, {}
  local all = family_rows.of(mfu.open { hardware = hardware }, 3000, hardware.source:match "^(.*)/[^/]*$")
  for _, kind in ipairs(kinds) do
    local list = shuffled(all[kind] or {})
    local count = math.min(tested, math.floor(#list / 2))
    for i, row in ipairs(list) do
      local into = i <= count and test or i <= count + fitted_to and train
      if into then
        into[kind] = into[kind] or {}
        table.insert(into[kind], row)
      end
    end
  end
  return hardware, train, test
end

local function error_of(hardware, values, list)
  local database, errors = family_rows.modelled(hardware, values), {}
  for i, row in ipairs(list) do
    local _, estimate = database:lookup(row.query)
    errors[i] = math.abs(math.log(estimate.latency_s / row.measured_s))
  end
  return 100 * (math.exp(statistics.median(errors)) - 1)
end

for _, each in ipairs { { "h100-sxm", "h200-sxm", "hopper" }, { "h200-sxm", "h100-sxm", "hopper" },
  { "h100-sxm", "h20", "hopper" }, { "h200-sxm", "h800", "hopper" }, { "mi300x", "mi308x", "cdna3" } } do
  local from, train = rows_of(each[1])
  local hardware, _, test = rows_of(each[2])
  local lender = constants_of(each[3] == "hopper" and "cdna3" or "hopper")
  local one = fitted.fit(mfu.open({ hardware = from, tables = false, model = lender }).hardware, train, true).values
  for _, kind in ipairs(kinds) do
    if test[kind] then
      print(("%s from %s: %s %.1f %%, shipped constants %.1f %%"):format(each[2], each[1], kind,
        error_of(hardware, one, test[kind]), error_of(hardware, constants_of(each[3]), test[kind])))
    end
  end
end
