-- The kernels of a trace as tables in our layout (docs/DATA.md): a folder that is a GPU, with the tables of the GPU
-- that the trace is compared with, and in front of them a row for each shape of the steps.
local core = require "rooflua.base.core"
local cost = require "rooflua.cost"
local folder = require "rooflua.tables.folder"
local json = require "rooflua.json"
local native = require "rooflua.native"
local quoting = require "rooflua.text.quoting"
local shapes = require "rooflua.tables.shapes"

local tables = {}

local spread = "power_law_1.01" -- of tokens over experts: the word for the routing of a model, which prices ask for
local usual_context = 1024
local width = 1024 -- of the elementwise kernel whose bytes say the width of another one

--- The names of the columns of an op's tables, in front of the latency; nil where it has no table.
local function columns_of(op)
  local known = folder.op_tables(op)
  if not known then return nil end
  local out = {}
  for i, column in ipairs(known.columns) do out[i] = column.name end
  return out
end

--- The bytes that a kernel of the elementwise table moves per token and column.
local function elementwise_cells(row, prepared)
  local name = row.name:match "[^.]*$"
  for _, op in ipairs(cost.layers(prepared.model, prepared.deployment)) do
    if op.name == name then
      local rows = cost.shape_fields(row.shape).rows
      if not rows then return nil end
      if not op.kernel then
        return "memory", { op = "copy", bytes = math.floor(op.bytes_per_row * rows + op.weight_bytes) }
      end
      local ok, _, estimate = pcall(prepared.mfu.lookup, prepared.mfu,
        { op = "elementwise", kernel = op.kernel, tokens = 1, width = width })
      if not ok then return nil end
      return "elementwise", { op = op.kernel, tokens = rows, dtype = "bf16",
        width = math.floor(width * op.bytes_per_row / estimate.bytes + 0.5) }
    end
  end
  return nil
end

--- The seconds of attention at a row of the grid, as the tables that are there say them.
local function attention_s(row, cells, prepared)
  local query = { op = row.kind, heads = cells[1], kv_heads = cells[2], head_dim = cells[3] }
  if row.kind == "attention_decode" then
    query.kv_dtype, query.batch, query.context_tokens = cells[4], cells[5], cells[6]
  else
    query.kv_dtype = prepared.deployment.kv
    query.batch, query.context_tokens, query.new_tokens = cells[4], cells[5], cells[6]
  end
  local ok, _, estimate = pcall(prepared.mfu.lookup, prepared.mfu, query)
  return ok and estimate.latency_s or nil
end

--- Rows of the grid of attention. A price of decodes is at least that of fewer requests with `usual_context` tokens
--- each (steps/kernels/monotone.lua), so these get rows as well.
local function grid_of(kind, list)
  local out = { unpack(list) }
  for _, row in ipairs(kind == "attention_decode" and list or {}) do
    if row[6] < usual_context then
      local fewer = { unpack(row) }
      fewer[5], fewer[6] = math.max(1, math.floor(row[5] * row[6] / usual_context)), usual_context
      out[#out + 1] = fewer
    end
  end
  return out
end

--- The rows of one priced operation: {table, op, cells (by column), seconds}; none where no table has its shape.
---@param ratio number measured over priced
local function rows_of(row, prepared, ratio)
  if row.kind == "elementwise" and not row.note:find("in the kernel of", 1, true) then
    local name, cells = elementwise_cells(row, prepared)
    return name and { { table = name, op = name, cells = cells, seconds = row.time_s * ratio } } or {}
  end
  local place, kind = shapes.of(row, prepared), row.kind
  if place and kind == "grouped_gemm" and place.fields.ranks == place.fields.tp then
    -- The kernels of a trace are those of a whole layer: the choice of experts, their GEMMs and the sum.
    kind = "moe_layer"
    place = { table = place.table:gsub("^grouped_gemm", kind), rows = {}, fields = core.copy(place.fields, { ep = 1 }) }
  end
  local columns = place and kind ~= "elementwise" and columns_of(kind)
  if not columns then return {} end
  local out = {}
  for _, list in ipairs(grid_of(kind, place.rows)) do
    local cells, seconds = {}, row.time_s
    for i, column in ipairs(columns) do cells[column] = list[i] end
    if row.kind == "gemm" then cells.m = tonumber(row.shape:match "m=(%d+)") end -- that ran: "m=32 as m=64"
    if row.kind:find "^attention_" then seconds = attention_s(row, list, prepared) end
    if seconds then
      out[#out + 1] = { table = place.table, op = row.kind, cells = cells, seconds = seconds * ratio }
    end
  end
  if #place.rows == 0 then
    local cells = core.copy(place.fields)
    for key, value in pairs(cost.shape_fields(row.priced and row.priced.shape or row.shape)) do cells[key] = value end
    for _, column in ipairs(columns) do
      if cells[column] == nil then
        cells[column] = (row.priced and row.priced.shape or row.shape):match(column .. "=([%w_.]+)")
      end
      if cells[column] == nil and column == "distribution" then cells[column] = spread end
      if cells[column] == nil then return {} end
    end
    out[1] = { table = place.table, op = kind, cells = cells, seconds = row.time_s * ratio }
  end
  return out
end

--- Adds a row to those of its table; rows of one shape become their mean.
local function add(all, row, weight, name)
  local columns = columns_of(row.op)
  local cells = {}
  for i, column in ipairs(columns) do
    local value = row.cells[column]
    cells[i] = type(value) == "number" and ("%.14g"):format(value) or tostring(value)
  end
  local key = core.join(cells, ",")
  local own = all[row.table] or { op = row.op, columns = columns, by_key = {}, kernels = {} }
  all[row.table] = own
  local known = own.by_key[key] or { seconds = 0, weight = 0 }
  known.seconds, known.weight = known.seconds + weight * row.seconds, known.weight + weight
  own.by_key[key], own.kernels[name] = known, true
end

local function csv_text(own)
  local lines = { core.join(own.columns, ",") .. ",latency_us" }
  for _, key in ipairs(core.sorted_keys(own.by_key)) do
    local known = own.by_key[key]
    lines[#lines + 1] = ("%s,%s"):format(key, ("%.6g"):format(1e6 * known.seconds / known.weight))
  end
  return core.join(lines, "\n") .. "\n"
end

--- What a row holds besides its op, where the tables behind it do: those parts have no kernels of their own here.
local parts = { "activation", "conv", "delta_rule", "kv_write", "launch", "norm", "permutation", "quantize",
  "reduction", "rope", "routing" }

--- What tables.toml says of a table of a trace.
local function provenance(name, own, about)
  local kernels = core.sorted_keys(own.kernels)
  local lines = { ("[%s]"):format(name) }
  local function say(key, value) lines[#lines + 1] = ("%s = %s"):format(key, value) end
  say("op", quoting.toml(own.op))
  local format = name:sub(#own.op + 2)
  if format ~= "" then say("dtype", quoting.toml(format)) end
  local held = {}
  for _, part in ipairs(format ~= "" and parts or {}) do
    if about.prepared.mfu:includes(own.op, format, part) then held[#held + 1] = quoting.toml(part) end
  end
  if #held > 0 then say("includes", "[" .. core.join(held, ", ") .. "]") end
  say("kernel", quoting.toml(core.join(kernels, ", ", 1, math.min(4, #kernels))))
  say("timer", quoting.toml "kernels of a profiler's trace")
  say("repeats", ("%d"):format(about.steps))
  say("statistic", quoting.toml "mean")
  say("inputs", quoting.toml "requests of a server")
  if about.gpu ~= "" then say("gpu", quoting.toml(about.gpu)) end
  say("flop", quoting.toml(own.op == "attention_prefill" and "causal_half" or own.op == "elementwise" and "none"
    or own.op == "memory" and "none" or own.op == "all_reduce" and "none" or "2mkn"))
  say("note", quoting.toml(("from %s, hash %s; attention at the points of the grid around its shape, scaled by the "
    .. "tables that were there"):format(core.join(about.files, ", "), about.hash)))
  return core.join(lines, "\n") .. "\n"
end

--- {files: {files: {name = text}, behind: the folder whose tables stand behind them}, tables: what was written}.
---@param about table of command.answer
---@param given table {files, data}
function tables.of(about, given)
  local prepared, all, left = about.engine.prepared, {}, {}
  local source = prepared.hardware.source
  if not source or not native.file_exists(source) then
    core.fail("--data: %s is no GPU with a folder of its own", prepared.hardware.name)
  end
  for _, each in ipairs(about.operations) do
    local expected = each.expected
    local is_written = false
    for _, row in ipairs(expected and expected.table_s > 0 and expected.rows or {}) do
      for _, one in ipairs(rows_of(row, prepared, each.measured_s / expected.table_s)) do
        add(all, one, row.count or 1, each.kernel)
        is_written = true
      end
    end
    if not is_written then left[#left + 1] = each.name end
  end
  local files, toml, list = {}, {}, json.array {}
  local hash = native.content_name(json.array(given.files), json.array {})
  local told = { prepared = prepared, files = given.files, hash = hash, steps = #about.steps, gpu = about.gpu or "" }
  for _, name in ipairs(core.sorted_keys(all)) do
    local own, count = all[name], 0
    for _ in pairs(own.by_key) do count = count + 1 end
    files[name .. ".csv"] = csv_text(own)
    toml[#toml + 1] = provenance(name, own, told)
    list[#list + 1] = { table = name, rows = count }
  end
  files["tables.toml"] = core.join(toml, "\n")
  return { files = { files = files, behind = source:match "^(.*)/[^/]*$" }, tables = { folder = given.data,
    hash = told.hash, written = list, left_out = json.array(left) } }
end

return tables
