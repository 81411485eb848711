--- Every combination of a few values of each axis.
---
--- An axis that is not given takes one value, that of the scenario or the engine's default, and the report names it as
--- not tried. Formats are the model's own unless they are listed: quality is not modelled, and a planner that quantises
--- silently would always win.
local policy = require "rooflua.policy"

local function list(default, unit, doc, idle)
  return { default = default, type = "list", unit = unit, doc = doc, idle = idle }
end

local no_split, no_expert_gpus = { split = false }, { expert_gpus = { 0 } }

---@class candidates.Ladder
local Ladder = policy.define {
  name = "ladder",
  doc = "Combinations of a few values of each axis, for every GPU.",
  params = {
    engines = list({}, nil, "Names of engines; without any that of the scenario."),
    tp = list({ 1, 2, 4, 8 }, "GPUs", "Tensor parallel degrees, up to a node."),
    pp = list({ 1 }, "stages", "Pipeline stages."),
    dp = list({ 1 }, "ranks", "Data-parallel ranks of the attention; only in models with experts."),
    ep = list({ 1, "all" }, "ranks", "Ranks with whole experts; \"all\": tp x dp x cp, or expert_gpus. Only in models "
      .. "with experts."),
    cp = list({ 1 }, "ranks", "Ranks that divide a prompt, each on tp GPUs of its own."),
    dcp = list({ 1 }, "ranks", "Ranks of tp that divide the KV of a request, where it divides tp."),
    expert_gpus = list({ 0 }, "GPUs", "GPUs of the routed experts alone; 0: they are on those of the attention."),
    micro_batches = list({ 1 }, "batches", "Micro-batches between both pools, where there are expert_gpus.",
      no_expert_gpus),
    max_num_seqs = list({ 64, 256 }, "requests", "Seats: most requests in a step."),
    max_num_batched_tokens = list({ 512, 2048, 8192 }, "tokens", "Token budgets of a step."),
    weights = list({ "own" }, nil, "Formats of the weights; \"own\": as released."),
    kv = list({ "own" }, nil, "Formats of the KV cache; \"own\": as released."),
    split = { default = false, type = "any", doc = "true: also separate prefill and decode, in the ratios 1:1, 1:2, "
      .. "2:1, 1:3, 3:1; \"only\": nothing else; or a list of {prefill, decode}." },
    prefill_tp = list({ "same" }, "GPUs", "Tensor parallel degrees of prefill engines, where split; \"same\": tp.",
      no_split),
    prefill_dp = list({ "same" }, "ranks", "The same of dp.", no_split),
    prefill_ep = list({ "same" }, "ranks", "The same of ep; \"all\": tp x dp x cp of a prefill engine.", no_split),
    prefix_caching = list({ true }, nil, "Whether equal prefixes share KV blocks."),
    host_memory_gb = list({ 0 }, "GB", "Memory of the host of each replica for KV that leaves the GPU; 0: none."),
    speculation = list({}, nil, "Speculations to try besides none: tables as the scenario's key `speculation`."),
  },
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
local function product(axes, i, chosen, found)
  local axis = axes[i]
  if not axis then return found(chosen) end
  for _, value in ipairs(axis[2]) do
    chosen[axis[1]] = value
    product(axes, i + 1, chosen, found)
  end
end

--- Words that stand for a number of an axis.
local words_of = { ep = { all = true }, prefill_tp = { same = true }, prefill_dp = { same = true },
  prefill_ep = { all = true, same = true } }

--- Refuses values of an axis that are no counts, and those of an axis that this model does not have.
local function check_axis(self, name, has_axis, model)
  local words, known = words_of[name] or {}, ""
  for _, word in ipairs { "all", "same" } do known = known .. (words[word] and (" or %q"):format(word) or "") end
  for i, value in ipairs(self[name]) do
    local none = name == "expert_gpus" and 0 or 1
    local is_count = type(value) == "number" and value >= none and value % 1 == 0
    if not is_count and not words[value] then
      local is_shown = type(value) == "number" or type(value) == "string"
      error(("candidates.ladder: %s[%d]: expected a whole number >= %d%s, found %s"):format(name, i, none, known,
        is_shown and value or "a " .. type(value)), 0)
    end
  end
  if has_axis then return end
  for _, value in ipairs(self[name]) do
    if value ~= (name == "expert_gpus" and 0 or 1) and not words[value] then
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

---@param question table model, gpus, capabilities, slo, requests: read-only
---@param emit fun(candidate: table)
function Ladder:each(question, emit)
  local axes = question.capabilities.axes
  local one = { 1 }
  for _, name in ipairs { "tp", "pp", "cp", "dcp" } do check_axis(self, name, true) end
  for _, name in ipairs { "dp", "ep" } do
    check_axis(self, name, axes[name], question.model)
    check_axis(self, "prefill_" .. name, axes[name], question.model)
  end
  for _, name in ipairs { "expert_gpus", "micro_batches" } do check_axis(self, name, axes[name], question.model) end
  check_axis(self, "prefill_tp", true)
  check_together(self)
  local speculations = { false }
  for _, each in ipairs(self.speculation) do speculations[#speculations + 1] = each end
  local engines = #self.engines > 0 and self.engines or { false }
  local all = { { "engine", engines }, { "tp", self.tp }, { "pp", axes.pp and self.pp or one },
    { "dp", axes.dp and self.dp or one }, { "ep", axes.ep and self.ep or one }, { "cp", axes.cp and self.cp or one },
    { "dcp", axes.dcp and self.dcp or one },
    { "expert_gpus", axes.expert_gpus and self.expert_gpus or { 0 } },
    { "micro_batches", axes.micro_batches and self.micro_batches or one }, { "weights", self.weights },
    { "kv", self.kv }, { "prefix_caching", self.prefix_caching }, { "host_memory_gb", self.host_memory_gb },
    { "split", splits_of(self, axes.split) }, { "prefill_tp", self.prefill_tp }, { "prefill_dp", self.prefill_dp },
    { "prefill_ep", self.prefill_ep },
    { "speculation", speculations }, { "max_num_seqs", self.max_num_seqs },
    { "max_num_batched_tokens", self.max_num_batched_tokens } }
  for index in ipairs(question.gpus) do
    product(all, 1, {}, function(chosen)
      local is_afd = chosen.expert_gpus > 0
      local ranks = is_afd and chosen.expert_gpus or chosen.tp * chosen.dp * chosen.cp
      local ep = chosen.ep == "all" and ranks or chosen.ep
      local split = split_with_widths(chosen, ep)
      if ep > ranks or not split or chosen.tp % chosen.dcp ~= 0 then return end
      if not is_afd and chosen.micro_batches > 1 then return end
      local candidate = { gpu = index, engine = chosen.engine or nil, tp = chosen.tp, pp = chosen.pp, dp = chosen.dp,
        ep = ep, cp = chosen.cp > 1 and chosen.cp or nil, dcp = chosen.dcp > 1 and chosen.dcp or nil,
        expert_gpus = is_afd and chosen.expert_gpus or nil,
        micro_batches = chosen.micro_batches > 1 and chosen.micro_batches or nil,
        weights = chosen.weights ~= "own" and chosen.weights or nil, kv = chosen.kv ~= "own" and chosen.kv or nil,
        split = split[1], speculation = chosen.speculation or nil,
        label = chosen.speculation and "speculation" or nil,
        max_num_seqs = chosen.max_num_seqs, max_num_batched_tokens = chosen.max_num_batched_tokens }
      if chosen.prefix_caching == false then candidate.prefix_caching = false end
      if chosen.host_memory_gb ~= 0 then candidate.host_memory_gb = chosen.host_memory_gb end
      emit(candidate)
    end)
  end
end

return Ladder
