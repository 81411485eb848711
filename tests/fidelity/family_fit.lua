-- Fits the constants of modelled kernels of a family of GPUs (bench_data/families) to rows of kernels, and again
-- without the rows of each kind, whose errors with these constants it prints.
--
--     rooflua lua tests/fidelity/family_fit.lua GPU TABLES... -- CONSTANT=START...
--
-- TABLES are CSVs in our layout (gemm_FORMAT..., moe_layer_..., attention_..., mla_decode_..., all_reduce_...). A kind
-- is the rows of one file. Minimised is the mean over kinds of the median |ln(modelled / measured)| in each decade of
-- time, one constant after another, in steps that get smaller.
local mfu = require "rooflua.mfu"
local native = require "rooflua.native"
local statistics = require "rooflua.base.statistics"

local gpu, files, names, behind = arg[1], {}, {}, false
for i = 2, #arg do
  if arg[i] == "--" then
    behind = true
  else
    table.insert(behind and names or files, arg[i])
  end
end
if #names == 0 then error("usage: rooflua lua tests/fidelity/family_fit.lua GPU TABLES... -- CONSTANT...", 0) end

--- The question that a row answers.
local function query_of(op, dtype, row)
  local out = { op = op, dtype = dtype }
  for name, value in pairs(row) do
    if name ~= "latency_us" and name ~= "line" and name ~= "experts" then out[name] = value end
  end
  if op == "moe_layer" then out.experts = row.experts end
  if out.mode then out.eager, out.mode = out.mode == "eager" or nil, nil end
  if op:find "attention" or op == "mla_decode" then
    out.kv_dtype, out.dtype, out.tp = row.kv_dtype or dtype, nil, 1
  end
  if op == "all_reduce" then out.dtype = nil end
  return out
end

--- At most 300 rows of a file, spread over it.
local function rows_of(path)
  local name = path:match "([^/]+)%.csv$"
  local op, dtype
  for _, each in ipairs { "moe_layer", "gemm", "attention_prefill", "attention_decode", "mla_decode", "all_reduce" } do
    if name:find("^" .. each .. "_") then op, dtype = each, name:sub(#each + 2):gsub("_%a+$", "") end
  end
  if not op then error(path .. ": no kind of kernel is fitted to it", 0) end
  local list, out = native.csv_read(path, true), {}
  local step = math.max(1, math.floor(#list / 300))
  for i = 1, #list, step do
    out[#out + 1] = { query = query_of(op, dtype, list[i]), measured_s = list[i].latency_us * 1e-6 }
  end
  return { name = name, rows = out }
end

local kinds = {}
for i, path in ipairs(files) do kinds[i] = rows_of(path) end

local function database(values)
  return mfu.open { hardware = gpu, tables = false, model = values }
end

--- Median |ln| of a kind, decade by decade.
local function error_of(db, kind)
  local by_decade = {}
  for _, row in ipairs(kind.rows) do
    local _, estimate = db:lookup(row.query)
    local decade = math.floor(math.log(row.measured_s) / math.log(10))
    by_decade[decade] = by_decade[decade] or {}
    table.insert(by_decade[decade], math.abs(math.log(estimate.latency_s / row.measured_s)))
  end
  local out = {}
  for _, list in pairs(by_decade) do if #list > 2 then out[#out + 1] = statistics.median(list) end end
  return statistics.mean(out) or 0
end

local function objective(values, left_out)
  local db, sum, count = database(values), 0, 0
  for _, kind in ipairs(kinds) do
    if kind ~= left_out then sum, count = sum + error_of(db, kind), count + 1 end
  end
  return count > 0 and sum / count or 0
end

local function fit(start, left_out)
  local values, best = start, objective(start, left_out)
  for _, step in ipairs { 1.5, 1.2, 1.07 } do
    local moved = true
    for _ = 1, 6 do
      if not moved then break end
      moved = false
      for _, name in ipairs(names) do
        for _, factor in ipairs { step, 1 / step } do
          local tried = {}
          for key, value in pairs(values) do tried[key] = value end
          tried[name] = values[name] * factor
          local ok, found = pcall(objective, tried, left_out)
          if ok and found < best - 1e-6 then values, best, moved = tried, found, true end
        end
      end
    end
  end
  return values, best
end

local start = {}
for _, each in ipairs(names) do
  local name, value = each:match "^([%w_]+)=(.+)$"
  start[name] = tonumber(value)
end
names = {}
for name in pairs(start) do names[#names + 1] = name end
table.sort(names)

local function text(values)
  local out = {}
  for i, name in ipairs(names) do out[i] = ("%s=%.4g"):format(name, values[name]) end
  return table.concat(out, " ")
end

local all, best = fit(start)
print(("all: %.1f %% (before %.1f %%): %s"):format(100 * best, 100 * objective(start), text(all)))
for _, kind in ipairs(kinds) do
  local without = #kinds > 1 and fit(start, kind) or all
  print(("%s: before %.1f %%, with all %.1f %%, left out %.1f %%: %s"):format(kind.name,
    100 * error_of(database(start), kind), 100 * error_of(database(all), kind),
    100 * error_of(database(without), kind), text(without)))
end
