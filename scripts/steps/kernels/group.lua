--- How many tokens the ranks of a step run when they step together. Each rank has its own tokens; the experts of a
--- layer see those of all ranks.
---
---     vllm     where the fullest rank fits a CUDA graph, every rank runs the graph of that size; else each rank runs
---              its own tokens
---     sglang   the same while no rank prefills; without a graph every rank is padded to the fullest one, unless a rank
---              prefills or that would more than double the tokens
---     none     each rank runs the graph of its own tokens
---
--- Padded tokens are routed to experts like others, but not by SGLang where ranks hold whole experts. A batch that was
--- made by hand knows of one rank: all others are taken to have as many tokens.
--- Source: vLLM v1/worker/dp_utils.py; SGLang layers/dp_attention.py (DpPaddingMode),
--- model_executor/forward_batch_info.py (enable_num_token_non_padded).
local graphs = require "steps.kernels.graphs"

local group = {}

local rules = {} -- by name

--- Tokens of all ranks where each runs its own.
local function own_tokens(batch, ranks) return batch.group_tokens * ranks / batch.group_ranks end
group.own_tokens = own_tokens

--- The same for a rule of padding.
--- @param batch rooflua.Batch
--- @param ranks integer of the group
--- @param largest integer tokens of the largest graph
--- @param whole_experts boolean whether ranks hold whole experts
--- @return number rows that this rank runs
--- @return number rows that all ranks run together
function rules.vllm(batch, ranks, largest)
  local most = batch.group_max_tokens
  if most > largest then return batch.tokens, own_tokens(batch, ranks) end
  local padded = graphs.padded(most, largest)
  return padded, ranks * padded
end

function rules.sglang(batch, ranks, largest, whole_experts)
  local most, sum = batch.group_max_tokens, own_tokens(batch, ranks)
  if batch.group_prefills == 0 and most <= largest then
    local padded = graphs.padded(most, largest)
    return padded, whole_experts and sum or ranks * padded
  end
  if batch.group_prefills > 0 or 2 * sum < most * ranks then return batch.tokens, sum end
  return most, whole_experts and sum or ranks * most
end

function rules.none(batch, ranks, largest)
  return graphs.padded(batch.tokens, largest), own_tokens(batch, ranks)
end

--- Time of the operations that see tokens, for one of several ranks: experts and the exchange around them see those of
--- all ranks, and as many drafts among them as this rank has. Returns also the tokens of the fullest rank.
--- @param steps steps.Kernels
--- @param batch rooflua.Batch
--- @param drafts integer of this rank
function group.time(steps, batch, drafts)
  local own, all = steps.padding(batch, steps.dp, steps.graph_tokens, steps.ep > 1)
  local there = own_tokens(batch, steps.dp)
  local layers_s = steps.layers_time(own, batch.tokens)
  if drafts == 0 then return layers_s + steps.experts_time(all, there), batch.group_max_tokens end
  local of_all = math.floor(drafts * batch.group_tokens / batch.tokens)
  return layers_s + steps.experts_drafts_time(all, of_all, there), batch.group_max_tokens
end

--- The rule of a name.
function group.rule(name) return rules[name] end

--- Names of the rules.
function group.rules()
  local names = {}
  for name in pairs(rules) do names[#names + 1] = name end
  table.sort(names)
  return names
end

return group
