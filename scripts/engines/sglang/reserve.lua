--- The share of a GPU's memory for weights and KV cache that SGLang takes where nobody states one: rows of
--- mem_fraction_static by release (python/sglang/srt/server_args.py, _handle_gpu_memory_settings; from 2026-09 on
--- arg_groups/memory_hook.py).
local encoders = require "engines.sglang.encoders"
local prompt_graphs = require "engines.sglang.prompt_graphs"

local mib, gib = 2 ^ 20, 2 ^ 30

--- All GPUs of an engine, which the formulas count.
local function gpus_of(facts) return facts.tp * facts.dp * facts.cp * facts.pp end

--- What graphs of data-parallel attention need: each rank's hold the tokens of all ranks.
local function divided_graphs_mib(facts, graph_size)
  if facts.dp == 1 then return 0 end
  return graph_size * facts.dp * 3 * (graph_size > 300 and 1.5 or 1)
end

--- What a drafter and its graphs need: none looks up drafts in the prompt, a model of its own is larger.
local function drafter_gib(facts)
  if not facts.drafts or facts.drafter == "free" then return 0 end
  return facts.drafter == "draft_model" and 6 or 2
end

local is_amd = { cdna3 = true, cdna4 = true }
local has_own_backend = { deepseek_v32 = true, glm_moe_dsa = true, deepseek_v4 = true }

--- Whether AITER runs the attention: on AMD by default heads with their own keys, and latent ones where a rank has 16
--- or 128 of them. Sparse and compressed ones have other back ends.
local function runs_aiter(facts, own)
  local model = facts.model
  if own.attention_backend then return own.attention_backend == "aiter" end
  if not is_amd[facts.hardware.architecture] or has_own_backend[model.family] then return false end
  local heads = model.kv_heads / (facts.tp * facts.dp * facts.cp)
  return model.mla == nil or heads == 16 or heads == 128
end

--- What AITER leaves where requests may be longer than 8,192 tokens: its workspace takes the rest.
local function aiter_share(facts, own)
  if facts.model == nil or not runs_aiter(facts, own) then return 1 end
  return (own.context_length or facts.model.max_model_len) > 8192 and 0.85 or 1
end

local function share_of(facts, own, reserve_bytes)
  local share = math.floor((1 - reserve_bytes / facts.hardware.usable_memory_bytes) * 1000 + 0.5) / 1000
  return share * encoders.share(facts) * aiter_share(facts, own)
end

--- A floor for GPUs of more than 60 GiB.
local function at_least_ten(facts, reserve_bytes)
  if facts.hardware.usable_memory_bytes <= 60 * gib then return reserve_bytes end
  return math.max(reserve_bytes, 10 * gib)
end

local function activations_mib(tokens) return 512 + 1.5 * math.max(2048, tokens) end

--- Tokens of the largest step of prompts.
local function prompt_tokens(own)
  return own.chunked_prefill_size > 0 and own.chunked_prefill_size or own.max_prefill_tokens
end

--- What graphs of prompts need besides memory that PyTorch uses again.
local function prompt_graphs_mib(facts, own)
  if not own.graphs_with_prefill then return 0 end
  if facts.model ~= nil and facts.model.mla ~= nil then return 1536 end
  return 8 * prompt_graphs.count(facts, own)
end

--- By activations, graphs and buffers of communication.
local function by_chunk(facts, own)
  if not facts.hardware then return nil end
  local graph_size = own.cuda_graph_max_bs
  local bytes = (activations_mib(prompt_tokens(own)) + gpus_of(facts) / 8 * 1024 + 2 * graph_size
    + divided_graphs_mib(facts, graph_size)) * mib
  return share_of(facts, own, at_least_ten(facts, bytes) + drafter_gib(facts) * gib)
end

--- The same with graphs of prompts. Drafters and their KV are in the share.
local function with_prompt_graphs(facts, own)
  if not facts.hardware then return nil end
  local graph_size = own.cuda_graph_max_bs
  local bytes = (activations_mib(prompt_tokens(own)) + gpus_of(facts) / 8 * 1024 + 2 * graph_size
    + divided_graphs_mib(facts, graph_size) + prompt_graphs_mib(facts, own)) * mib
  return share_of(facts, own, at_least_ten(facts, bytes))
end

--- Tokens of a step by what a server does: decodes alone have those of their requests.
local function tokens_of_role(facts, own, stated)
  if facts.role ~= "decode" then return prompt_tokens(own) end
  return (stated or own.cuda_graph_max_bs) * (1 + (facts.drafts or 0))
end

--- The same by what a server does, with DeepEP's buffers above the floor where `counts_deepep`.
local function by_role(facts, own, counts_deepep)
  if not facts.hardware then return nil end
  local decodes, prompts = facts.role ~= "prefill", facts.role ~= "decode"
  local graph_size, is_deepep = own.cuda_graph_max_bs, counts_deepep and own.moe_a2a_backend == "deepep"
  local is_stated = facts.role == "decode" and own.max_running_requests < 2048 * facts.dp
  local stated = is_stated and own.max_running_requests or nil
  local graphs = decodes and 2 * graph_size + divided_graphs_mib(facts, graph_size) or 0
  if prompts then graphs = graphs + prompt_graphs_mib(facts, own) end
  if prompts and own.graphs_with_prefill and is_deepep then graphs = graphs + 1024 end
  local mibs = activations_mib(tokens_of_role(facts, own, stated)) + gpus_of(facts) / 8 * 1024 + graphs
  return share_of(facts, own, at_least_ten(facts, mibs * mib) + (decodes and is_deepep and 2 * gib or 0))
end

local function with_deepep(facts, own) return by_role(facts, own, true) end

--- A table by the size of the GPU.
local function of_table(facts, own)
  if not facts.hardware then return nil end
  local size, gpus = facts.hardware.usable_memory_bytes / gib, gpus_of(facts)
  local reserve_gib = size < 60 and 2.8 + gpus / 10 or size < 90 and 9.5 + gpus / 2 or size < 160 and 12 + gpus / 2
    or 32
  local share = (size - reserve_gib - (facts.dp > 1 and 4 or 0) - (facts.drafts and 2 or 0)) / size
  return share * encoders.share(facts) * aiter_share(facts, own)
end

--- By the ranks alone.
local function by_tp(facts)
  local ranks = facts.tp * facts.dp
  for _, each in ipairs { { 16, 0.79 }, { 8, 0.81 }, { 4, 0.85 }, { 2, 0.87 } } do
    if ranks >= each[1] then return each[2] end
  end
  return 0.88
end

return {
  seen = "0.5.20",
  code = "python/sglang/srt/arg_groups/memory_hook.py: handle_gpu_memory_settings, reserve_for_graph_mb",
  { before = "0.4.6", mem_fraction_static = by_tp, source = "python/sglang/srt/server_args.py of 0.4" },
  { since = "0.4.6", before = "0.5.3", mem_fraction_static = of_table,
    source = "python/sglang/srt/server_args.py" },
  { since = "0.5.3", before = "0.5.14", mem_fraction_static = by_chunk, source = "python/sglang/srt/server_args.py" },
  { since = "0.5.14", before = "0.5.15", mem_fraction_static = with_prompt_graphs,
    source = "pull request 23862 of 2026-06-12: no flat reserve for drafters; graphs of prompts: issue 29092, "
      .. "arg_groups/memory_hook.py, reserve_for_graph_mb; SGLANG_ENABLE_POST_CAPTURE_KV_SIZING is off by default" },
  { since = "0.5.15", before = "0.5.16", mem_fraction_static = by_role,
    source = "pull request 29615 of 2026-07-04: what a server of one role does" },
  { since = "0.5.16", mem_fraction_static = with_deepep,
    source = "pull request 30157 of 2026-07-07: DeepEP's buffers. Of all: 0.95 and less with an encoder of images "
      .. "(pull request 6881), 0.85 with AITER (6564)" },
}
