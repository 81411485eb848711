--- Every combination of a few values of each axis.
---
--- An axis that is not given takes one value, that of the scenario or the engine's default, and the report names it as
--- not tried. Formats are the model's own unless they are listed: quality is not modelled, and a planner that quantises
--- silently would always win.
local plan = require "rooflua.plan"
local policy = require "rooflua.policy"

--- The parameter of an axis: a list of values; of `split` also words.
local function parameter(axis)
  return { default = axis.values, type = type(axis.values) == "table" and "list" or "any", unit = axis.unit,
    doc = axis.doc, idle = axis.idle }
end

local function name_of(axis) return axis.parameter or axis.name end

--- Axes with parameters. Seats and budgets stand last: they vary while all others stay.
local all, last, params = {}, {}, {}
for _, axis in ipairs(plan.axes()) do
  if axis.values ~= nil then
    params[name_of(axis)] = parameter(axis)
    table.insert(axis.of == "scheduler" and last or all, axis)
  end
end
for _, axis in ipairs(last) do all[#all + 1] = axis end

---@class candidates.Ladder
local Ladder = policy.define {
  name = "ladder",
  doc = "Combinations of a few values of each axis, for every GPU.",
  params = params,
}

local ratios = { { 1, 1 }, { 1, 2 }, { 2, 1 }, { 1, 3 }, { 3, 1 } }

local function splits_of(self, can_split)
  local out = {}
  if self.split ~= "only" and not (type(self.split) == "table" and self.split.only) then out[1] = false end
  if not self.split or not can_split then return out end
  for i, each in ipairs(type(self.split) == "table" and self.split or ratios) do
    if type(each) ~= "table" then
      error(("candidates.ladder: split[%d]: expected {prefill, decode}, found a %s"):format(i, type(each)), 0)
    end
    out[#out + 1] = { prefill = each[1], decode = each[2] }
  end
  return out
end

--- Every combination of the lists: calls `found` with {key = value}.
local function product(lists, i, chosen, found)
  local values = lists[i]
  if not values then return found(chosen) end
  for _, value in ipairs(values) do
    chosen[all[i].name] = value
    product(lists, i + 1, chosen, found)
  end
end

--- The least value of an axis, at which it changes nothing.
local function none_of(axis) return axis.none or axis.default or axis.least end

--- Whether a word stands for a number of an axis: "same" is the number of the engines that decode.
local function is_word(axis, value) return axis.words and axis.words[value] or axis.pool_of and value == "same" end

--- Refuses values of an axis that are no counts, and those of an axis that this model does not have.
local function check_axis(self, axis, has_axis, model)
  local name, known = axis.name, ""
  for _, word in ipairs { "all", "own", "same" } do
    known = known .. (is_word(axis, word) and (" or %q"):format(word) or "")
  end
  for i, value in ipairs(self[name]) do
    local is_count = type(value) == "number" and value >= axis.least and value % 1 == 0
    if not is_count and not is_word(axis, value) then
      local is_shown = type(value) == "number" or type(value) == "string"
      error(("candidates.ladder: %s[%d]: expected a whole number >= %d%s, found %s"):format(name, i, axis.least, known,
        is_shown and value or "a " .. type(value)), 0)
    end
  end
  if has_axis then return end
  for _, value in ipairs(self[name]) do
    if value ~= none_of(axis) and not is_word(axis, value) then
      if axis.of_items then
        error(("candidates.ladder: %s = %s: no request has images or videos; leave %s out"):format(name, value, name),
          0)
      end
      error(("candidates.ladder: %s = %s: %s has no experts, so its attention is not data-parallel and no rank holds "
        .. "whole experts; leave %s out"):format(name, value, model.name, name), 0)
    end
  end
end

--- Refuses values that no combination can have.
local function check_together(self)
  local most_gpus = 0
  for _, value in ipairs(self.expert_gpus) do most_gpus = math.max(most_gpus, value) end
  for _, value in ipairs(self.micro_batches) do
    if value > 1 and most_gpus == 0 then
      error(("candidates.ladder: micro_batches = %d: needs a pool of experts; give expert_gpus as well, or leave it "
        .. "out"):format(value), 0)
    end
  end
  for _, value in ipairs(self.dcp) do
    local divides = false
    for _, tp in ipairs(self.tp) do divides = divides or tp % value == 0 end
    if not divides then
      error(("candidates.ladder: dcp = %d: divides no tp that is tried: %s"):format(value,
        table.concat(self.tp, ", ")), 0)
    end
  end
end

--- The split with the widths of its prefill engines, where they are not those of the candidate. nil: these widths make
--- no sense, or another choice stands for them.
local function split_with_widths(chosen, ep)
  local all_same = chosen.prefill_tp == "same" and chosen.prefill_dp == "same" and chosen.prefill_ep == "same"
  if not chosen.split then return all_same and { none = true } or nil end
  if all_same then return { chosen.split } end
  local function of(name, same) return chosen[name] == "same" and same or chosen[name] end
  local tp, dp = of("prefill_tp", chosen.tp), of("prefill_dp", chosen.dp)
  local ranks = tp * dp * chosen.cp
  local own_ep = chosen.prefill_ep == "all" and ranks or of("prefill_ep", math.min(ep, ranks))
  if own_ep > ranks or tp == chosen.tp and dp == chosen.dp and own_ep == ep then return nil end
  local out = { prefill = chosen.split.prefill, decode = chosen.split.decode }
  out.prefill_tp = tp ~= chosen.tp and tp or nil
  out.prefill_dp = dp ~= chosen.dp and dp or nil
  out.prefill_ep = own_ep ~= ep and own_ep or nil
  return { out }
end

--- The values of an axis in order: of an axis that this model does not have one that changes nothing, and before
--- speculations none.
local function values_of(self, axis, has)
  local own = self[name_of(axis)]
  if axis.type == "split" then return splits_of(self, has[axis.name]) end
  if axis.type == "engine" then return #own > 0 and own or { axis.unstated } end
  if (axis.width or axis.of_items) and not has[axis.name] then return { none_of(axis) } end
  if axis.type ~= "table" then return own end
  local out = { axis.unstated }
  for _, each in ipairs(own) do out[#out + 1] = each end
  return out
end

--- A candidate of chosen values: without those that say nothing.
local function candidate_of(index, chosen, ep, split)
  local out = { gpu = index }
  for _, axis in ipairs(all) do
    local value = chosen[axis.name]
    if value ~= axis.unstated and not axis.pool_of then out[axis.name] = value end
  end
  out.ep, out.split, out.label = ep, split, chosen.speculation and "speculation" or nil
  return out
end

---@param question table model, gpus, capabilities, slo, requests: read-only
---@param emit fun(candidate: table)
function Ladder:each(question, emit)
  local has, lists = question.capabilities.axes, {}
  for _, of_experts in ipairs { false, true } do
    for _, axis in ipairs(all) do
      if axis.type == "count" and axis.of ~= "scheduler" and (axis.of_experts or false) == of_experts then
        check_axis(self, axis, has[axis.pool_of or axis.name], question.model)
      end
    end
  end
  check_together(self)
  for i, axis in ipairs(all) do lists[i] = values_of(self, axis, has) end
  for index in ipairs(question.gpus) do
    product(lists, 1, {}, function(chosen)
      local is_afd = chosen.expert_gpus > 0
      local ranks = is_afd and chosen.expert_gpus or chosen.tp * chosen.dp * chosen.cp
      local ep = chosen.ep == "all" and ranks or chosen.ep
      local split = split_with_widths(chosen, ep)
      if ep > ranks or not split or chosen.tp % chosen.dcp ~= 0 then return end
      if not is_afd and chosen.micro_batches > 1 then return end
      emit(candidate_of(index, chosen, ep, split[1] or nil))
    end)
  end
end

return Ladder
