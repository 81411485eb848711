-- Joules per token of a deployment: its figure, the bounds of it, and what they rest on.
local units = require "rooflua.text.units"

local energy = {}

--- Watts of one GPU: as measured (--watts), else by the power policy; what to put in front of the figure; low and high,
--- nil of a policy that says none.
local function watts_of(question, candidate, result)
  local gpu = question.gpus[candidate.gpu]
  local measured = question.watts and question.watts[gpu.name]
  if measured then return measured, "measured", measured, measured end
  return question.power:watts(gpu.hardware, result.busy_frac, result.work)
end

--- Watts of all paid GPUs: those that serve, and those of their nodes that are paid and idle. An idle GPU draws what
--- the power policy says of one that is never busy.
local function all_watts(question, candidate, result)
  local each_w, bound, low, high = watts_of(question, candidate, result)
  local idle = result.paid_gpus - result.gpus
  if not each_w then return nil end
  if idle == 0 then
    return each_w * result.gpus, bound, low and low * result.gpus, high and high * result.gpus
  end
  local idle_w, of_idle, idle_low, idle_high = question.power:watts(question.gpus[candidate.gpu].hardware, 0)
  if not idle_w then idle_w, of_idle, idle_low, idle_high = each_w, "at most", 0, high end
  local function all(own, of) return own and of and own * result.gpus + of * idle end
  return each_w * result.gpus + idle_w * idle, of_idle, all(low, idle_low), all(high, idle_high)
end

--- Adds to the result of a run: joules_per_token, joules_low, joules_high, power_bound.
---@param output_per_s number tokens
function energy.add(question, candidate, result, output_per_s)
  local watts, bound, low, high = all_watts(question, candidate, result)
  if not watts then return end
  result.joules_per_token, result.power_bound = watts / output_per_s, bound
  result.joules_low, result.joules_high = low and low / output_per_s, high and high / output_per_s
end

--- " (0.14 to 0.93)"; "" where the policy says no bounds, and of a figure that was measured.
function energy.range(result)
  local low, high = result.joules_low, result.joules_high
  if not (low and high) or low == high then return "" end
  return (" (%s to %s)"):format(units.significant(low, 3), units.significant(high, 3))
end

--- "0.933 (0.14 to 0.933)"; nil where nothing is known.
function energy.text(result)
  return result.joules_per_token and units.significant(result.joules_per_token, 3) .. energy.range(result)
end

--- What the watts of a GPU rest on.
function energy.basis(question, gpu)
  if question.watts and question.watts[gpu.name] then
    return ("%g W as given for each GPU"):format(question.watts[gpu.name])
  end
  local power = question.power
  return power.basis and power:basis(gpu.hardware) or ("policy %s, which says no bounds"):format(power.name)
end

--- What the joules of deployments rest on, each text once with its GPUs: "H200: ...". A text of all names none.
---@param items {candidate: table, result: table}[]
function energy.bases(question, items)
  local out, by_text, seen, count = {}, {}, {}, 0
  for _, item in ipairs(items) do
    local gpu = question.gpus[item.candidate.gpu]
    if item.result.joules_per_token and not seen[gpu.label] then
      seen[gpu.label], count = true, count + 1
      local text = energy.basis(question, gpu)
      if not by_text[text] then
        by_text[text] = { text = text, of = {} }
        out[#out + 1] = by_text[text]
      end
      table.insert(by_text[text].of, gpu.label)
    end
  end
  local lines = {}
  for i, each in ipairs(out) do
    lines[i] = #each.of == count and each.text or ("%s: %s"):format(table.concat(each.of, ", "), each.text)
  end
  return lines
end

return energy
