-- Which operation each kernel of a step is: the sequence of its kernels aligned with the sequence of operations. What a
-- name alone says (a GEMM) becomes what its place says (the GEMM after attention).
local core = require "rooflua.base.core"
local ffi = require("rooflua.border.abi").ffi

local placing = {}

local leave_kernel = 2 -- a kernel of a known kind that no operation takes
local leave_small = 0.9 -- the same of a small one
local leave_other = 0.05 -- one that prepares inputs or copies, or whose name is unknown
local stay = 0.02 -- one more kernel of the same operation
local generic = 0.4 -- a kernel of no particular kind as a part of a small operation
local most_cells = 4e7
local padding = 64 -- to a multiple of which engines pad the vocabulary, over all ranks or over each

--- Costs of a kernel of one kind as an operation of another; nil: never.
local also = {
  attention_prefill = { attention = 0 }, attention_decode = { attention = 0 },
  elementwise = { norm = generic, rope = generic, activation = generic, kv_write = generic, elementwise = 0.1,
    experts = generic, embed = generic, quantize = generic, sampler = generic, linear_attention = 2 * generic },
  all_gather = { all_reduce = 0.5 }, all_reduce = { all_gather = 0.5 }, exchange = { all_reduce = 0.8 },
  activation = { experts = 0.1, elementwise = 0.1 }, quantize = { experts = 0.1, gemm = 0.3, attention = 0.6 },
  gemm = { experts = 0.5 }, norm = { elementwise = 0.1, linear_attention = 0.3, rope = 0.2 }, -- of queries and keys
  -- Where tables of attention hold the write of the cache, and queries in its format, no other operation is there.
  kv_write = { attention = 0.6 },
  sampler = { experts = 0.3 }, embed = { sampler = 0.5, elementwise = 0.3 }, copy = { kv_write = 0.6 },
}
-- Rows of a whole attention block have its projections, norms and rope inside.
for _, class in ipairs { "gemm", "attention", "attention_prefill", "attention_decode", "norm", "rope", "quantize",
  "kv_write", "elementwise" } do
  also[class] = also[class] or {}
  also[class].block = class:find "^attention" and 0 or 0.2
end
local is_small = core.set { "norm", "rope", "activation", "quantize", "kv_write", "elementwise", "embed" }
local is_other = core.set { "inputs", "copy", "unknown" }

local function cost_of(kernel, entry)
  if kernel.class == entry.class then return 0 end
  local known = also[kernel.class]
  return known and known[entry.class]
end

--- The dimensions of a GEMM's operands: m, k, n of [[m,k],[k,n]] or [[m,k],[n,k]]; nil where they are not such.
local function product_of(shape)
  local lists = {}
  for list in (shape or ""):gmatch "%[([%d,]+)%]" do
    local dims = {}
    for number in list:gmatch "[^,]+" do dims[#dims + 1] = tonumber(number) end
    if #dims == 2 then lists[#lists + 1] = dims end
  end
  local a, b = lists[#lists - 1], lists[#lists]
  if not a then return nil end
  if a[2] == b[1] then return a[1], a[2], b[2] end
  if a[2] == b[2] then return a[1], a[2], b[1] end
  return nil
end

--- Whether recorded operands contradict an operation's shape.
local function contradicts(kernel, entry)
  if kernel.class ~= "gemm" or entry.class ~= "gemm" or not kernel.shape then return false end
  local _, k, n = product_of(kernel.shape)
  if not k then return false end
  local is_known = false
  for _, shape in ipairs(entry.operation.shapes) do
    local own_k, own_n = shape:match "k=(%d+)", shape:match "n=(%d+)"
    if own_k then
      is_known = true
      if tonumber(own_k) == k and math.abs(tonumber(own_n) - n) < padding then return false end
    end
  end
  return is_known
end

--- The cost of a kernel as the operation at a place of the sequence.
local function costs_of(kernels, sequence)
  local has_experts = false -- by their names; else GEMMs may be theirs
  for _, kernel in ipairs(kernels) do has_experts = has_experts or kernel.kind.class == "experts" end
  local costs = {} -- by class and entry
  return function(kernel, j)
    local row = costs[kernel]
    if row == nil then
      row = {}
      costs[kernel] = row
      local by_entry = {}
      for e = 1, #sequence do
        local entry = sequence[e]
        local known = by_entry[entry]
        if known == nil then
          local never = contradicts(kernel, entry)
            or has_experts and kernel.class == "gemm" and entry.class == "experts"
          known = not never and cost_of(kernel, entry) or math.huge
          by_entry[entry] = known
        end
        row[e] = known
      end
    end
    return row[j]
  end
end

--- The places that the costs lead to, from the last kernel on.
local function traced(n, m, how_c, how_m)
  local width = m + 1
  local out, i, j, in_m = {}, n, m, false
  while i > 0 do
    local at = i * width + j
    if not in_m and how_c[at] == 2 and j > 0 then
      j = j - 1
    elseif not in_m and (how_c[at] == 3 or j == 0) then
      out[i], i = 0, i - 1
    else
      local how = how_m[at]
      if how == 3 then
        out[i], i, in_m = 0, i - 1, true
      else
        out[i], i = j, i - 1
        in_m = how == 2
        if how == 1 then j = j - 1 end
      end
    end
  end
  return out
end

--- For each kernel the place of its operation in the sequence; 0: none.
---@param kernels {kind: {class: string, shape: string?, after: boolean?, before: boolean?}}[]
---@param sequence table of expected.sequence
function placing.align(kernels, sequence)
  local n, m = #kernels, #sequence
  if n * m > most_cells then
    core.fail("trace: a step of %d kernels against %d operations: no step of this model; name others with --steps, or "
      .. "the right scenario", n, m)
  end
  local width = m + 1
  -- C: the best so far; M: the operation j has a kernel already. How each was reached is kept in a byte.
  local c, cp = ffi.new("double[?]", width), ffi.new("double[?]", width)
  local h, hp = ffi.new("double[?]", width), ffi.new("double[?]", width)
  local how_c, how_m = ffi.new("uint8_t[?]", (n + 1) * width), ffi.new("uint8_t[?]", (n + 1) * width)
  local cost = costs_of(kernels, sequence)
  cp[0], hp[0] = 0, math.huge
  for j = 1, m do cp[j], hp[j], how_c[j] = cp[j - 1] + sequence[j].skip, math.huge, 2 end
  for i = 1, n do
    local kernel, base = kernels[i].kind, i * width
    local leave = is_other[kernel.class] and leave_other or is_small[kernel.class] and leave_small or leave_kernel
    c[0], h[0], how_c[base] = cp[0] + leave, math.huge, 3
    for j = 1, m do
      local entry = sequence[j]
      local by = cost(kernel, j)
      local begin, more, over = cp[j - 1] + by, math.huge, hp[j] + leave
      if entry.many or kernel.after or i > 1 and kernels[i - 1].kind.before then more = hp[j] + by + stay end
      local best, how = begin, 1
      if more < best then best, how = more, 2 end
      if over < best then best, how = over, 3 end
      h[j], how_m[base + j] = best, how
      local skipped, left = c[j - 1] + entry.skip, cp[j] + leave
      local way = 1
      if skipped < best then best, way = skipped, 2 end
      if left < best then best, way = left, 3 end
      c[j], how_c[base + j] = best, way
    end
    c, cp, h, hp = cp, c, hp, h
  end
  return traced(n, m, how_c, how_m)
end

return placing
