-- How far prices of a GPU are off that nobody measured, or of which there are few rows: each GPU with tables, from (a)
-- its datasheet and the nearest family, and from (b) 20, (c) 100, (d) 1,000 of its rows, to which `rooflua data family`
-- fits constants. What is priced are its other rows, and steps that its whole tables price.
--
--     rooflua lua tests/fidelity/distances.lua           compares scripts/lib/rooflua/intervals/distances.lua with it
--     rooflua lua tests/fidelity/distances.lua --write   writes that file, and the table of docs/GPUS.md
--
-- Takes minutes. Ends of an interval are made of all GPUs but the one that they score.
local bound = dofile "tests/scripts/bound_steps.lua"
local family_rows = require "rooflua.family.rows"
local fitted = require "rooflua.family.fitted"
local mfu = require "rooflua.mfu"
local native = require "rooflua.native"
local quantiles = require "rooflua.quantiles"
local rooflua = require "rooflua"
local spec = require "rooflua.spec"
local statistics = require "rooflua.base.statistics"

local kinds = { "gemm", "attention", "moe" }
local situations = { { name = "a", rows = 0, title = "(a) its datasheet" },
  { name = "b", rows = 20, title = "(b) 20 rows" }, { name = "c", rows = 100, title = "(c) 100 rows" },
  { name = "d", rows = 1000, title = "(d) 1,000 rows" } }
-- GPUs differ, so ends that hold for 92 % of others hold for some 90 % of one that was left out.
local low, high = 0.04, 0.96
local tested = 300 -- rows of a kind

-- The nearest family that was fitted without this one: Hopper's constants, but for Hopper those of the A100's rows, and
-- for each CDNA those of the other.
local nearest = { hopper = { gpu = "a100-sxm-80gb" }, cdna3 = { family = "cdna4" }, cdna4 = { family = "cdna3" } }

--- The same list in another order, the same each time.
local function shuffled(list, seed)
  local out, state = {}, seed
  for i, each in ipairs(list) do out[i] = each end
  for i = #out, 2, -1 do
    state = (state * 16807) % 2147483647
    local j = 1 + state % i
    out[i], out[j] = out[j], out[i]
  end
  return out
end

local function constants_of(family)
  local out = {}
  for _, each in ipairs(native.kernel_constants(family).list) do out[each.name] = each.value end
  return out
end

local function gpu_rows(name)
  local hardware = spec.hardware(name)
  local folder = hardware.source:match "^(.*)/[^/]*$"
  return hardware, family_rows.of(mfu.open { hardware = hardware }, 3000, folder)
end

--- Rows to fit to and rows to price, by kind.
local function divided(by_kind, seed)
  local train, test = {}, {}
  for _, kind in ipairs(kinds) do
    local list = shuffled(by_kind[kind] or {}, seed)
    local count = math.min(tested, math.floor(#list / 2))
    train[kind], test[kind] = {}, {}
    for i, row in ipairs(list) do table.insert(i <= count and test[kind] or train[kind], row) end
    if count == 0 then train[kind], test[kind] = nil, nil end
  end
  return train, test
end

--- Rows of 16-bit GEMMs; of all formats where there are few.
local function plain_gemms(list)
  local out = {}
  for _, row in ipairs(list) do out[#out + 1] = row.query.dtype == "bf16" and row or nil end
  return #out >= 20 and out or list
end

--- So many rows in all, the same number of each kind; of 20 the GEMMs are in 16 bits.
local function some(train, count)
  local out, there = {}, 0
  for _ in pairs(train) do there = there + 1 end
  for kind, list in pairs(train) do
    if count <= 20 and kind == "gemm" then list = plain_gemms(list) end
    out[kind] = {}
    for i = 1, math.min(#list, math.floor(count / there + 0.5)) do out[kind][i] = list[i] end
  end
  return out
end

local models = { { "llama-3.1-8b", 1 }, { "qwen3-32b", 2 }, { "qwen3-30b-a3b", 1 } }
local loads = { decode = { { 1, 1000 }, { 4, 4000 }, { 16, 2000 }, { 64, 1000 }, { 128, 2000 } },
  prefill = { { 256, 0 }, { 1024, 0 }, { 2048, 0 }, { 2048, 6000 }, { 8192, 0 } } }

--- {decode = times, prefill = times} of steps, and the share of each that its tables answer.
local function steps_of(hardware, database)
  local out = {}
  for _, model in ipairs(models) do
    local ok, steps = pcall(bound.bind, require "steps.kernels" {}, { model = model[1], tp = model[2],
      hardware = hardware, mfu = database })
    for what, list in pairs(ok and loads or {}) do
      for _, load in ipairs(list) do
        local batch = what == "decode" and bound.decodes(load[1], load[2]) or bound.prefill(load[1], load[2])
        local priced = rooflua.cost.explain(function() return steps:time(batch) end)
        local known = 0
        for _, row in ipairs(priced.rows) do
          if row.evidence == "measured" or row.evidence == "interpolated" then
            known = known + row.time_s * (row.count or 1)
          end
        end
        local total = 0
        for _, row in ipairs(priced.rows) do total = total + row.time_s * (row.count or 1) end
        out[#out + 1] = { what = what, time_s = total, known = known / total }
      end
    end
  end
  return out
end

--- log(measured / priced) of each kind and of steps, in one situation.
local function residuals(hardware, values, test, truth)
  local database, out = family_rows.modelled(hardware, values), {}
  for kind, list in pairs(test) do
    out[kind] = {}
    for i, row in ipairs(list) do
      local _, estimate = database:lookup(row.query)
      out[kind][i] = math.log(row.measured_s / estimate.latency_s)
    end
  end
  for i, step in ipairs(steps_of(hardware, database)) do
    if truth[i].known > 0.6 then
      out[step.what] = out[step.what] or {}
      table.insert(out[step.what], math.log(truth[i].time_s / step.time_s))
    end
  end
  return out
end

local function found_of(name)
  local hardware, by_kind = gpu_rows(name)
  local train, test = divided(by_kind, 1 + #name)
  local from = nearest[hardware.architecture] or { family = "hopper" }
  local start
  if from.gpu then
    local other, rows = gpu_rows(from.gpu)
    start = fitted.fit(other, some(divided(rows, 1), 1000), true).values
  else
    start = constants_of(from.family)
  end
  hardware = mfu.open({ hardware = hardware, tables = false, model = start }).hardware
  local truth = steps_of(hardware, mfu.open(name))
  local out = { gpu = name, by = {} }
  for _, each in ipairs(situations) do
    local values = start
    if each.rows > 0 then values = fitted.fit(hardware, some(train, each.rows), each.rows > 20).values end
    out.by[each.name] = residuals(hardware, values, test, truth)
  end
  return out
end


-- Ends, and how many lie inside ----------------------------------------------------------------------------------

local groups = { { "gemm", "GEMM" }, { "attention", "attention" }, { "moe", "experts" }, { "decode", "decode steps" },
  { "prefill", "prompts" } }

--- {low, high} of a group in a situation, each GPU with one weight; without one of them.
local function ends_of(all, situation, group, but)
  local list = {}
  for _, each in ipairs(all) do
    local own = each ~= but and each.by[situation][group] or {}
    for _, residual in ipairs(own) do list[#list + 1] = { residual, 1 / #own } end
  end
  return #list > 0 and { quantiles.weighted(list, low), quantiles.weighted(list, high) } or nil
end

--- Share inside of ends that were made without the GPU, and how wide they are: means over GPUs, and the median.
local function scored(all, situation, group)
  local inside, width = {}, {}
  for _, each in ipairs(all) do
    local own = each.by[situation][group]
    local ends = own and ends_of(all, situation, group, each)
    if ends then
      local count = 0
      for _, residual in ipairs(own) do count = count + (residual >= ends[1] and residual <= ends[2] and 1 or 0) end
      inside[#inside + 1], width[#width + 1] = count / #own, math.exp(ends[2] - ends[1])
    end
  end
  return statistics.mean(inside), statistics.median(width)
end

local function median_error(list)
  local absolute = {}
  for i, residual in ipairs(list) do absolute[i] = math.abs(residual) end
  return 100 * (math.exp(statistics.median(absolute)) - 1)
end

-- The page and the file -------------------------------------------------------------------------------------------

local function markdown(header, rows)
  local lines = { "| " .. table.concat(header, " | ") .. " |", "|" .. ("---|"):rep(#header) }
  for _, row in ipairs(rows) do lines[#lines + 1] = "| " .. table.concat(row, " | ") .. " |" end
  return table.concat(lines, "\n")
end

local function tables_of(all)
  local header, errors, shares = {}, {}, {}
  for i, group in ipairs(groups) do header[i] = group[2] end
  for _, each in ipairs(all) do
    local row = { each.gpu }
    for _, group in ipairs(groups) do
      local cells = {}
      for i, situation in ipairs(situations) do
        local list = each.by[situation.name][group[1]]
        cells[i] = list and ("%.0f"):format(median_error(list))
      end
      row[#row + 1] = table.concat(cells, ", ")
    end
    errors[#errors + 1] = row
  end
  for _, situation in ipairs(situations) do
    local row = { situation.title }
    for _, group in ipairs(groups) do
      local inside, width = scored(all, situation.name, group[1])
      row[#row + 1] = ("%.0f %%, %.2f"):format(100 * inside, width)
    end
    shares[#shares + 1] = row
  end
  return markdown({ "GPU", unpack(header) }, errors) .. "\n\n" .. markdown({ "priced from", unpack(header) }, shares)
end

local path, page = "scripts/lib/rooflua/intervals/distances.lua", "docs/GPUS.md"

local function file_of(all)
  local counted, lines = 0, {}
  for _, each in ipairs(all) do counted = counted + (each.by.a.decode and 1 or 0) end
  for i, each in ipairs(situations) do
    local parts = {}
    for k, step in ipairs { "decode", "prefill" } do
      local ends = ends_of(all, each.name, step)
      parts[k] = ("%s = { %.3f, %.3f }"):format(step, ends[1], ends[2])
    end
    lines[i] = ("  { name = %q, rows = %d, %s },"):format(each.name, each.rows, table.concat(parts, ", "))
  end
  return ([[
-- How far the price of a step is off on a GPU of which nobody measured kernels, or of which there are few rows: 4 and
-- 96 %% quantiles of log(measured / priced) of steps of other GPUs that were priced so, each GPU with one weight.
-- `rows`: from so many rows of the GPU on. Made by tests/fidelity/distances.lua; docs/GPUS.md has the errors behind it.
return {
  gpus = %d,
%s
}
]]):format(counted, table.concat(lines, "\n"))
end

local function read(name)
  local file = assert(io.open(name))
  local text = file:read "*a"
  file:close()
  return text
end

--- The page with these tables between its marks.
local function page_of(all)
  local text = read(page)
  local before, after = text:match "^(.*<!%-%- distances %-%->\n).*(<!%-%- end of distances %-%->.*)$"
  return before .. tables_of(all) .. "\n" .. after
end

local all = {}
for _, name in ipairs(spec.gpus()) do
  local _, rows = gpu_rows(name)
  if next(rows) then all[#all + 1] = found_of(name) end
  collectgarbage()
end
for name, text in pairs { [path] = file_of(all), [page] = page_of(all) } do
  if arg[1] == "--write" then
    local file = assert(io.open(name, "w"))
    file:write(text)
    file:close()
  else
    assert(read(name) == text, name .. " is not what the tables give; write it again")
  end
  print(name .. (arg[1] == "--write" and ": written" or ": as the tables give"))
end
