-- The answer of `rooflua trace` as a document (docs/schema/trace.json). Times of operations are of one step: means over
-- the steps that are compared. The sum of operations, unknown kernels and idle times is the step.
local causes = require "rooflua.profile.causes"
local core = require "rooflua.base.core"
local json = require "rooflua.json"

local document = {}

local most_gaps, most_unknown, most_shapes = 1000, 200, 3

local function mean(list, of)
  local sum = 0
  for _, each in ipairs(list) do sum = sum + of(each) end
  return sum / #list
end

--- Sums of the expected operations over the steps, by the names that kernels were given.
local function tables_of(list, found)
  local out, merged = {}, found.operations.attention ~= nil
  for _, step in ipairs(list) do
    for _, each in ipairs(step.expected.list) do
      local name = merged and each.class == "attention" and "attention" or each.name
      local sum = out[name]
      if not sum then
        sum = { table_s = 0, roofline_s = 0, count = 0, evidence = each.evidence, class = each.class,
          shapes = {}, rows = {} }
        out[name] = sum
      end
      sum.table_s, sum.roofline_s = sum.table_s + each.table_s / #list, sum.roofline_s + each.roofline_s / #list
      sum.count = sum.count + each.count / #list
      for i, row in ipairs(each.rows) do
        sum.rows[#sum.rows + 1], sum.shapes[#sum.shapes + 1] = row, each.shapes[i] or ""
      end
    end
  end
  return out
end

--- What was measured of the generic "attention" where a kernel's name says one kind, added to the other.
local function merge_attention(found)
  local all = found.operations.attention
  if not all then return end
  for _, name in ipairs { "attention_prefill", "attention_decode" } do
    local part = found.operations[name]
    if part then
      all.ns, all.full_ns, all.kernels = all.ns + part.ns, all.full_ns + part.full_ns, all.kernels + part.kernels
      for kernel, own in pairs(part.by_kernel) do all.by_kernel[kernel] = own end
      found.operations[name] = nil
    end
  end
end

--- The shapes of an operation that differ, as one text: layers and steps may be of several kinds.
local function shape_of(expected)
  local seen, out = {}, {}
  for _, shape in ipairs(expected and expected.shapes or {}) do
    if shape ~= "" and not seen[shape] then
      seen[shape], out[#out + 1] = true, shape
    end
  end
  local left = #out - most_shapes
  return core.join(out, "; ", 1, math.min(most_shapes, #out)) .. (left > 0 and ("; and %d more"):format(left) or "")
end

--- Operations, those that take longest first: {name, class, runs, measured_s, table_s, roofline_s, evidence, shape,
--- kernel, sum, rows}.
function document.operations(list, found)
  merge_attention(found)
  local out, tables = {}, tables_of(list, found)
  for name, sum in core.sorted_pairs(found.operations) do
    local expected, kernel = tables[name], causes.main_kernel(sum)
    out[#out + 1] = { name = name, class = expected and expected.class or name, runs = sum.kernels / #list,
      measured_s = sum.ns * 1e-9 / #list, table_s = expected and expected.table_s,
      roofline_s = expected and expected.roofline_s, evidence = expected and expected.evidence or "none",
      shape = shape_of(expected), kernel = kernel.name, sum = sum, expected = expected,
      full_s = sum.full_ns * 1e-9 / #list }
  end
  table.sort(out, function(a, b)
    if a.measured_s ~= b.measured_s then return a.measured_s > b.measured_s end
    return a.name < b.name
  end)
  local absent = {}
  for name, expected in core.sorted_pairs(tables) do
    if not found.operations[name] and expected.table_s > 0 then
      absent[#absent + 1] = { name = name, table_s = expected.table_s }
    end
  end
  return out, absent
end

local function plain_operation(each, step_s)
  return { name = each.name, shape = each.shape, runs = each.runs, measured_s = each.measured_s,
    table_s = each.table_s or json.null, roofline_s = each.roofline_s or json.null, evidence = each.evidence,
    share = each.measured_s / step_s, kernel = each.kernel, fallback = each.fallback }
end

--- The batch as logs of steps have it: each prompt as "context+new tokens", and the sum of the decodes' contexts.
local function plain_batch(given)
  local prefills, contexts = json.array {}, 0
  for i, each in ipairs(given.prefills or {}) do
    prefills[i] = ("%d+%d"):format(each.context_tokens or 0, each.new_tokens)
  end
  for _, each in ipairs(given.decode_contexts or {}) do contexts = contexts + each end
  return prefills, #(given.decode_contexts or {}), contexts
end

local function plain_step(step)
  local prefills, decodes, contexts = plain_batch(step.batch.given)
  return { number = step.number, label = step.label, start_s = step.start_ns * 1e-9,
    duration_s = (step.end_ns - step.start_ns) * 1e-9, idle_s = (step.idle_ns or 0) * 1e-9, batch = step.batch.text,
    prefills = prefills, decodes = decodes, decode_context_tokens = contexts,
    table_s = step.expected.total_s, kernels = step.kernels, in_graph = step.in_graph,
    named = step.busy_ns > 0 and step.named_ns / step.busy_ns or 0 }
end

--- @param about {files, gpu, hardware, model, engine, how, ranks, steps, found, operations, absent, causes, notes}
function document.of(about)
  local list, found = about.steps, about.found
  local step_s = mean(list, function(step) return (step.end_ns - step.start_ns) * 1e-9 end)
  local out = { schema = "rooflua.trace/1", files = json.array(about.files), gpu = about.gpu, model = about.model,
    hardware = about.hardware, engine = about.engine, found_by = about.how, ranks = json.array(about.ranks),
    steps = json.array {}, step_s = step_s,
    table_s = mean(list, function(step) return step.expected.total_s end),
    named = mean(list, function(step) return step.busy_ns > 0 and step.named_ns / step.busy_ns or 0 end),
    host_table_s = about.host_s, operations = json.array {}, absent = json.array(about.absent), gaps = json.array {},
    gaps_s = found.gaps_ns * 1e-9 / #list, between_s = found.between_ns * 1e-9 / #list, unknown = json.array {},
    causes = json.array {}, notes = json.array(about.notes) }
  for i, step in ipairs(list) do out.steps[i] = plain_step(step) end
  local roofline_s = 0
  for i, each in ipairs(about.operations) do
    out.operations[i] = plain_operation(each, step_s)
    roofline_s = roofline_s + (each.roofline_s or 0)
  end
  out.roofline_s = roofline_s
  for i = 1, math.min(most_gaps, #found.gaps) do
    local gap = found.gaps[i]
    out.gaps[i] = { step = gap.step, start_s = gap.start_ns * 1e-9, duration_s = (gap.end_ns - gap.start_ns) * 1e-9,
      cause = gap.cause }
  end
  out.gaps_left_out = #found.gaps - #out.gaps
  local rest, unknown_s = {}, 0
  for _, kind in ipairs { "unknown", "extra" } do
    for name, sum in core.sorted_pairs(found[kind]) do
      rest[#rest + 1] = { name = name, measured_s = sum.ns * 1e-9 / #list, runs = sum.kernels / #list,
        operation = kind == "extra" and causes.main_kernel(sum).row.operation or nil }
      unknown_s = unknown_s + sum.ns * 1e-9 / #list
    end
  end
  table.sort(rest, function(a, b)
    if a.measured_s ~= b.measured_s then return a.measured_s > b.measured_s end
    return a.name < b.name
  end)
  for i = 1, math.min(most_unknown, #rest) do out.unknown[i] = rest[i] end
  out.unknown_s = unknown_s
  local tokens = mean(list, function(step) return step.batch.decodes > 0 and 1 or step.batch.tokens end)
  for i, each in ipairs(about.causes) do
    out.causes[i] = { kind = each.kind, name = each.name, text = each.text, saves_s = each.saves_s,
      saves_per_token_s = each.saves_s / tokens }
  end
  return out
end

return document
