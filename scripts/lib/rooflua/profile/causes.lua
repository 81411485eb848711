-- What a step loses against the tables of this GPU, and by what: the causes, those that explain most first.
local core = require "rooflua.base.core"
local units = require "rooflua.text.units"

local causes = {}

local worth_frac = 0.05 -- of an operation's time by tables: differences below are none
local worth_s = 1e-6 -- per step
local collectives = core.set { "all_reduce", "exchange", "all_gather" }
local generations = { volta = 1, turing = 2, ampere = 3, ada = 4, hopper = 5, blackwell = 6, rubin = 7 }
local few_in_graph, least_kernels = 0.1, 100

--- Why a kernel is one that the engine falls back to on this GPU; nil where it is none.
local function fallback_of(row, architecture)
  if not row then return nil end
  if row.fallback then return row.fallback end
  local own, since = generations[architecture or ""], generations[row.older or ""]
  if own and since and own >= since then return "built for GPUs before " .. row.older end
  return nil
end

--- The kernel that most of an operation's time is in.
local function main_kernel(operation)
  local best
  for _, name in ipairs(core.sorted_keys(operation.by_kernel)) do
    local each = operation.by_kernel[name]
    if not best or each.ns > best.ns then best = each end
  end
  return best
end
causes.main_kernel = main_kernel

local function short(name) return #name > 60 and name:sub(1, 57) .. "..." or name end

--- {kind, name, saves_s, text} of operations.
local function of_operations(out, about)
  for _, each in ipairs(about.operations) do
    local over_s = each.table_s and each.measured_s - each.table_s or 0
    local kernel = each.sum and main_kernel(each.sum)
    local why = kernel and fallback_of(kernel.row, about.architecture)
    if why then each.fallback = { kernel = kernel.name, why = why } end
    if each.table_s and each.table_s > 0 and over_s > math.max(worth_s, worth_frac * each.table_s) then
      local class = each.class
      local kind = collectives[class] and "collective" or why and "fallback" or "slow"
      local text = ("%s takes %s, %.3g times its tables (%s, %s)"):format(each.name, units.text(each.measured_s, "s"),
        each.measured_s / each.table_s, units.text(each.table_s, "s"), each.evidence)
      if kind == "collective" then text = text .. ": it is exposed, nothing computes meanwhile" end
      if why then text = text .. (": %s is %s"):format(short(kernel.name), why) end
      out[#out + 1] = { kind = kind, name = each.name, saves_s = over_s, text = text }
    end
  end
end

--- Idle times by the call in which the CPU is; the model's own host time is not lost.
local function of_gaps(out, about)
  local by_cause, steps = {}, about.steps
  for _, gap in ipairs(about.found.gaps) do
    local sum = by_cause[gap.cause] or { ns = 0, count = 0 }
    sum.ns, sum.count = sum.ns + gap.end_ns - gap.start_ns, sum.count + 1
    by_cause[gap.cause] = sum
  end
  local idle_s = about.idle_s
  local lost_frac = idle_s > 0 and math.max(0, idle_s - about.host_s) / idle_s or 0
  for cause, sum in core.sorted_pairs(by_cause) do
    local seconds = sum.ns * 1e-9 / steps
    if seconds * lost_frac > worth_s then
      out[#out + 1] = { kind = "gap", name = cause, saves_s = seconds * lost_frac,
        text = ("the GPU waits %s in %s of %s: %s"):format(units.text(seconds, "s"),
          units.counted(sum.count, "gap"), units.counted(steps, "step"), short(cause)) }
    end
  end
  local between_s = about.found.between_ns * 1e-9 / steps
  if between_s * lost_frac > worth_s then
    local no_graphs = about.graphs_unused
    out[#out + 1] = { kind = no_graphs and "graphs" or "launches",
      name = no_graphs and "graphs not used" or "between kernels", saves_s = between_s * lost_frac,
      text = ("%s between kernels%s"):format(units.text(between_s, "s"),
        no_graphs and ": its decodes run without graphs, every kernel is launched by itself" or "") }
  end
end

--- Kernels of a known kind that no operation takes: they ran twice, or the scenario is of another model.
local function of_extra(out, about)
  for _, sum in core.sorted_pairs(about.found.extra) do
    local seconds = sum.ns * 1e-9 / about.steps
    if seconds > worth_s then
      local kernel = main_kernel(sum)
      local is_twice = about.placed[kernel.name]
      out[#out + 1] = { kind = is_twice and "twice" or "extra", name = kernel.name, saves_s = seconds,
        text = ("%s runs %.3g times a step%s, %s: %s"):format(short(kernel.name), kernel.count / about.steps,
          is_twice and " more than its operation" or " and is no operation of the step",
          units.text(seconds, "s"), kernel.row.operation) }
    end
  end
end

--- Whether steps of decodes alone run without graphs.
function causes.graphs_unused(list)
  local kernels, in_graph, has_prompts = 0, 0, false
  for _, step in ipairs(list) do
    kernels, in_graph = kernels + step.kernels, in_graph + step.in_graph
    has_prompts = has_prompts or step.batch.prompts > 0
  end
  return not has_prompts and kernels > least_kernels * #list and in_graph < few_in_graph * kernels
end

--- All causes, largest first.
---@param about {operations, found, steps: integer, idle_s, host_s, architecture, graphs_unused, placed}
function causes.of(about)
  local out = {}
  of_operations(out, about)
  of_gaps(out, about)
  of_extra(out, about)
  table.sort(out, function(a, b)
    if a.saves_s ~= b.saves_s then return a.saves_s > b.saves_s end
    return a.name < b.name
  end)
  return out
end

return causes
