--- Norm, rope, activation and KV write: the small kernels of a layer. Each is priced from the first of these:
---
---     elementwise table   the row of its kernel; for another width, the row that moves as many bytes
---     memory table        a copy of as many bytes (embedding, KV write, quantisation)
---     launch table        bytes / (small_kernel_bandwidth * bandwidth) + a graph node
---     none of them        bytes / (small_kernel_bandwidth * bandwidth) + small_kernel_s
---     "host_copy"         bytes / bandwidth of the host's link: rows of tables of n-grams that lie there
---
--- The quantisation in front of an FP8 GEMM is priced from the elementwise table, otherwise by the modelled kernel.
--- It costs nothing where the rows of its GEMM contain it (`includes` in tables.toml).
--- Tables that a GPU borrows (tables_from) count as its own: it borrows their utilisation. No kernel costs less than
--- bytes over bandwidth, and more rows never cost less.
local cost = require "rooflua.cost"

local counted = require("steps.kernels.bounds").counted

local elementwise = {}
elementwise.__index = elementwise

--- Whether a table answers this query, of this GPU or of the one that it borrows from.
local function has_table(database, query)
  if database.hardware then
    local _, estimate = database:lookup(query)
    return estimate.evidence ~= "modelled"
  end
  for _, each in ipairs(database:tables()) do  -- without a GPU nothing is modelled: the lookup would fail
    if each.op == query.op then return true end
  end
  return false
end

local function launch_s(database, kernel, default_s)
  local query = { op = "launch", kernel = kernel }
  if not has_table(database, query) then return default_s, nil end
  local _, estimate = database:lookup(query)
  return estimate.latency_s, estimate.evidence
end

--- @param steps steps.Kernels
function elementwise.of(steps)
  local database, self = steps.database, { steps = steps, queries = {}, kernels = {} }
  self.in_gemms = {}
  if steps.small_kernel_tables then
    self.has_model = database.hardware ~= nil
    self.has_memory = has_table(database, { op = "memory", kernel = "copy", bytes = 2 ^ 20 })
    self.node_s, self.node_evidence = launch_s(database, "graph_node", steps.small_kernel_s)
    self.eager_s = launch_s(database, "launch", steps.eager_kernel_s)
  else
    self.node_s, self.eager_s = steps.small_kernel_s, steps.eager_kernel_s
  end
  return setmetatable(self, elementwise)
end

--- Whether the elementwise table answers for a kernel; the quantisation has a model of its own.
function elementwise:answers(kernel)
  local known = self.kernels[kernel]
  if known == nil then
    known = self.steps.small_kernel_tables
      and has_table(self.steps.database, { op = "elementwise", kernel = kernel, tokens = 1, width = 1024 })
      or kernel == "quantize" and self.has_model or false
    self.kernels[kernel] = known
  end
  return known
end

--- The query for the quantisation of [rows, width].
function elementwise.quantize_query(rows, width)
  return { op = "elementwise", kernel = "quantize", tokens = rows, width = width }
end

--- The query of an operation, made once; false where no table has an answer.
function elementwise:query(op)
  local query = self.queries[op]
  if query ~= nil then return query end
  local kernel = op.kernel  -- nil: a copy of as many bytes
  query = false
  if kernel and self:answers(kernel) then
    query = { op = "elementwise", kernel = kernel, tokens = 1, width = 1024 }
    local _, estimate = self.steps.database:lookup(query)
    query.width = query.width * op.bytes_per_row / estimate.bytes  -- that moves as many bytes
  elseif self.has_memory then
    query = { op = "memory", kernel = "copy", bytes = 1 }
  end
  self.queries[op] = query
  return query
end

--- Whether an operation is part of the all-reduce in front of it.
function elementwise:is_fused(op)
  return self.steps.fuses_norm and (op.name:find "^attention_norm" or op.name:find "^mlp_norm") ~= nil
end

function elementwise:without_rows(op, bytes, rows, there)
  local steps = self.steps
  local fused = self:is_fused(op)
  local node_s = fused and 0 or self.node_s
  local time_s = bytes / (steps.hardware.memory_bytes_per_s * steps.small_kernel_bandwidth) + node_s
  local shape = cost.shapes_wanted() and ("rows=%.14g"):format(rows) or nil
  local note = fused and "bytes over bandwidth, in the kernel of the all-reduce"
    or self.node_evidence and "bytes over bandwidth, and a graph node (" .. self.node_evidence .. ")"
    or "bytes over bandwidth, and small_kernel_s"
  time_s = cost.record(op.name, time_s, "modelled", op.count, 0, bytes, nil, "memory", note, "elementwise", shape)
  counted(op, "rows", there, rows)
  return time_s
end

--- Whether GEMM rows of a format contain the quantisation of their input.
function elementwise:is_in_gemm(dtype)
  local known = self.in_gemms[dtype]
  if known == nil then
    known = self.steps.database:includes("gemm", dtype, "quantize")
    self.in_gemms[dtype] = known
  end
  return known
end

--- Rows that cross the link of the host.
function elementwise:from_host(op, bytes, rows, there)
  local link = self.steps.bounds:host_bandwidth(op.name)
  local time_s = cost.record(op.name, bytes / link, "assumed", op.count, 0, bytes, nil, "link",
                             "bytes over the link of the host", "elementwise")
  counted(op, "rows", there, rows)
  return time_s
end

--- @param rows number that run
--- @param there number? of these, rows that there are
function elementwise:price(op, rows, there)
  there = there or rows
  local bytes = op.bytes_per_row * rows + op.weight_bytes
  if op.kernel == "host_copy" then return self:from_host(op, bytes, rows, there) end
  if op.kernel == "quantize" and self:is_in_gemm(op.dtype) then
    return cost.record(op.name, 0, "measured", op.count, 0, 0, nil, "memory", "in the rows of its GEMM")
  end
  local query, bounds = self:query(op), self.steps.bounds
  if not query or self:is_fused(op) then return self:without_rows(op, bytes, rows, there) end
  local run = bounds:rows_to_run(op, rows, query)
  bounds.ask(op, run, query)
  local time_s = cost.lookup(self.steps.database, query, op.count, op.name)
  if query.op == "memory" then
    counted(op, "bytes", there, run)
  else
    counted(op, "tokens", there, run)
  end
  return bounds:at_least(time_s, 0, bytes, op.dtype, op.count, op.name)
end

return elementwise
