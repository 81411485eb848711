--- Which CUDA graphs of prompts SGLang captures: pieces that torch.compile makes, before 0.5.15, and graphs that break
--- at the attention from 0.5.15 on. Sources: python/sglang/srt/server_args.py; from 2026-09 on
--- python/sglang/srt/arg_groups/cuda_graph_hook.py and memory_hook.py.
local has_states = require "engines.rules.states"

local prompt_graphs = {}

--- Sizes in tokens: first, last and step of each part, of which the last part has no end.
local ladder = { { 4, 32, 4 }, { 48, 256, 16 }, { 288, 512, 32 }, { 576, 1024, 64 }, { 1280, 4096, 256 },
  { 4608, math.huge, 512 } }

--- How many sizes are captured up to so many tokens, and the largest of them.
local function up_to(tokens)
  local count, largest = 0, 0
  for _, part in ipairs(ladder) do
    local last = math.min(part[2], tokens)
    if last >= part[1] then
      local steps = math.floor((last - part[1]) / part[3])
      count, largest = count + steps + 1, part[1] + steps * part[3]
    end
  end
  return count, largest
end

local function is_latent(facts) return facts.model ~= nil and facts.model.mla ~= nil end
local function is_blackwell(facts) return facts.hardware ~= nil and facts.hardware.architecture == "blackwell" end

--- Whether a user turns them off.
local function is_off(own)
  return own.disable_cuda_graph or own.disable_prefill_cuda_graph or own.cuda_graph_backend_prefill == "disabled"
end

local function chunk_of(own) return own.chunked_prefill_size > 0 and own.chunked_prefill_size or math.huge end

--- Tokens of the largest piecewise graph of prompts; false where there is none: attention that is divided, stages, an
--- exchange of tokens, drafts, states (layers outside of the pieces), and latent attention on Blackwell (trtllm_mla).
function prompt_graphs.piecewise(facts, own)
  local exchange = own.moe_a2a_backend or "none"
  if own.disable_piecewise_cuda_graph or is_off(own) or facts.dp > 1 or facts.pp > 1 or exchange ~= "none"
    or facts.drafts or has_states(facts.model) or facts.role ~= nil and facts.role ~= "both"
    or is_latent(facts) and is_blackwell(facts) then
    return false
  end
  return own.piecewise_cuda_graph_max_tokens or is_latent(facts) and 2048 or math.min(4096, chunk_of(own))
end

local exchanges = { none = true, deepep = true, megamoe = true, flashinfer = true }

--- Why breakable graphs are off although nobody turns them off. A stated back end holds in all of these.
local function is_incompatible(facts, own)
  return facts.pp > 1 or facts.cp > 1 or facts.dcp > 1 or facts.role == "decode"
    or own.enable_two_batch_overlap or own.enable_unified_memory
    or not exchanges[own.moe_a2a_backend or "none"]
end

--- The back end of prompts of latent attention: trtllm_mla on Blackwell where none is stated.
local function runs_trtllm_mla(facts, own)
  local backend = own.prefill_attention_backend or own.attention_backend
  if backend == nil then return is_blackwell(facts) end
  return backend == "trtllm_mla"
end

local is_apart = { kimi_linear = true, kimi_k3 = true, deepseek_v4 = true }
local falls_back = { deepseek_v3 = true, kimi_k2 = true }

--- Families with an encoder that are let in, by the row of the release.
local let_in = { none = {}, qwen = { qwen3_5 = true, qwen3_5_moe = true },
  more = { qwen3_5 = true, qwen3_5_moe = true, muse_glimmer = true, kimi_k3 = true, kimi_k25 = true } }

--- Models for which they are off: delta attention by channel, compressed attention (memory), DeepSeek-V3's class with
--- trtllm_mla, and models with an encoder of images or sound, of which some classes are let in.
local function is_excluded(facts, own, families)
  local model = facts.model
  if model == nil then return false end
  if is_apart[model.family] or falls_back[model.family] and runs_trtllm_mla(facts, own) then return true end
  return model.vision ~= nil and not families[model.family]
end

--- Tokens of the largest graph before divided attention makes the chunk smaller.
local function most_tokens(facts, own)
  return own.cuda_graph_max_bs_prefill or is_latent(facts) and 2048 or own.chunked_prefill_size
end

--- Which breakable graphs a release has.
---@param families table of let_in, by name
---@param by_rank boolean whether the largest graph has the chunk of one rank of divided attention
---@return fun(facts, own): integer|false tokens of the largest breakable graph of prompts; false where there is none
function prompt_graphs.breakable(families, by_rank)
  return function(facts, own)
    if is_off(own) then return false end
    local is_stated = own.cuda_graph_backend_prefill ~= nil
    if not is_stated and (is_incompatible(facts, own) or is_excluded(facts, own, let_in[families])) then
      return false
    end
    if own.cuda_graph_bs_prefill then return math.max(unpack(own.cuda_graph_bs_prefill)) end
    local most = most_tokens(facts, own)
    if by_rank and not own.cuda_graph_max_bs_prefill then
      most = math.min(most, math.floor(own.chunked_prefill_size / facts.dp))
    end
    local count, largest = up_to(math.min(most, own.max_total_tokens or math.huge))
    return count > 0 and largest
  end
end

--- How many graphs of prompts the memory is divided for: those of the chunk of all ranks.
function prompt_graphs.count(facts, own)
  if not own.graphs_with_prefill then return 0 end
  if own.cuda_graph_bs_prefill then return #own.cuda_graph_bs_prefill end
  if facts.dp == 1 then return (up_to(own.graphs_with_prefill)) end
  return (up_to(math.min(most_tokens(facts, own), own.max_total_tokens or math.huge)))
end

return prompt_graphs
