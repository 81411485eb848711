-- What rules of engines may set besides the options of their commands, one entry each.
--
-- name   as rules write it
-- key    of a scenario, which it is the default of; without one the named module asks for it
-- unit, doc, read_by   for help
local function entry(name, unit, doc, more)
  local out = { name = name, unit = unit, doc = doc }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

--- What steps/kernels.lua reads.
local function of_kernels(name, unit, doc) return entry(name, unit, doc, { read_by = "steps.kernels" }) end
--- What balancers/eplb.lua reads.
local function of_balancers(name, unit, doc) return entry(name, unit, doc, { read_by = "balancers.eplb" }) end
--- What serving/encoding.lua reads.
local function of_encoder(name, unit, doc) return entry(name, unit, doc, { read_by = "serving.encoding" }) end
--- A parameter of the step model of the same name.
local function of_steps(name, unit, doc) return entry(name, unit, doc, { key = "steps." .. name }) end

--- What the memory rule of an engine reads (applied/ledger.lua).
local function of_memory(name, unit, doc) return entry(name, unit, doc, { read_by = "applied.ledger" }) end

return {
  entry("scheduler", nil, "policy of scripts/schedulers that schedules as the engine does", { key = "scheduler" }),
  entry("chunk_unit_size", "tokens", "of which a cut prompt is a multiple", { key = "scheduler.chunk_unit_size" }),
  entry("chunk_size", "tokens", "budget of a step where the engine's scheduler counts it so",
    { key = "scheduler.chunk_size" }),
  entry("align_states", nil, "whether prompts are cut where states of recurrent layers are kept",
    { key = "scheduler.align_states" }),
  entry("keep_junctions", nil, "whether a state is kept where prompts stop having blocks in common",
    { key = "scheduler.keep_junctions" }),
  entry("states_take_blocks", nil, "whether states that are kept take blocks of the KV cache",
    { read_by = "serving.replicas" }),
  entry("drafts_wait", nil, "whether a step with drafts begins when it is known what the last one accepted, so that "
    .. "nothing hides the host's time", { read_by = "machine.prepared" }),
  entry("max_speculative_seqs", "requests", "most requests with drafts; 0 = the most of all",
    { key = "scheduler.max_speculative_seqs" }),
  entry("random_text_tokens", "1", "tokens of the server for one of a client that makes up random text",
    { read_by = "validate" }),
  entry("handover_s", "s", "of a prompt besides its bytes, from an engine that prefills to one that decodes",
    { read_by = "validate" }),
  entry("split_front_ends", "1", "front ends of engines that a prompt passes in turn where it is split",
    { read_by = "validate" }),
  entry("split_texts", "1", "of these, how many make tokens of its text", { read_by = "validate" }),
  entry("pipeline_steps", "steps", "under way at once in a pipeline (deployment.pp_batches)",
    { read_by = "serving.replicas" }),
  entry("router", nil, "policy of scripts/routers that deals requests to the ranks of deployment.dp",
    { key = "router" }),
  of_steps("host_step_s", "s", "host time of a step"),
  of_steps("host_request_s", "s", "host time of a request and step"),
  of_steps("sampler_s", "s", "sampling of a step"),
  entry("sorted_logit_s", "s", "sorting a logit of a request, where the model's own sampling is top-p or top-k",
    { key = "steps.sorted_logit_s", holds = function(resolved)
      local model = resolved.facts.model
      return resolved.values.own_sampling and model and model.sampling and model.sampling.sorts
    end }),
  of_steps("dp_padding", nil, "how ranks that step together pad their tokens"),
  of_steps("recurrent_copies", "kernels", "kernels that put what a recurrent layer projects in its order"),
  entry("norm_apart_s", "s", "what an all-reduce and the norm after it take longer as two kernels",
    { correction = "norm_apart", parameter = "longer_s" }),
  entry("piecewise_layer_s", "s", "what a layer of decodes takes longer in a CUDA graph of its own",
    { correction = "piecewise_graphs", parameter = "layer_s" }),
  of_kernels("compiled_operation_s", "s", "host time of an operation of compiled layers outside of CUDA graphs"),
  of_kernels("eager_operation_s", "s", "host time of an operation where no graph is captured and nothing compiled"),
  of_kernels("expert_operations", "operations", "on the host for a layer of routed experts outside of CUDA graphs"),
  of_kernels("attention_operations", "operations", "the same of a layer of latent or recurrent attention of prompts"),
  of_kernels("routing_kernels", "kernels", "small ones around a layer of routed experts that rows do not contain"),
  of_kernels("layer_kernels", "kernels", "further small ones of a layer"),
  of_kernels("latent_kernels", "kernels", "further small ones of a layer with latent attention"),
  of_kernels("head_norm_kernels", "kernels", "of the norms of queries and keys per head, in a layer that has them"),
  of_kernels("prompt_overhead", "1", "what prompts take besides their kernels, as a part of these"),
  of_kernels("graphs_with_prefill", nil, "whether steps with prefill chunks run in CUDA graphs, up to the largest; or "
    .. "tokens of the largest of their own"),
  of_kernels("verifies_in_graphs", nil, "whether a step that verifies drafts is one CUDA graph: true, false, or the "
    .. "format of KV in which it is; else attention and recurrent layers run in Python between graphs, as drafters do"),
  of_kernels("recurrent_operations", "operations", "on the host for a recurrent layer of such a step"),
  of_kernels("fuses_static_fp8", nil, "whether the kernels in front of a GEMM write its input in FP8, static scales"),
  of_kernels("fuses_norm", nil, "whether a norm is part of the all-reduce in front of it"),
  of_kernels("ropes_in_attention", nil, "whether one kernel of the attention turns queries and keys and writes KV"),
  of_kernels("weight_only_bandwidth", "1", "part of the bandwidth with which weights are read that a GEMM expands"),
  of_kernels("weight_only_rate", "1", "rate of a GEMM that expands weights to 16 bits, to that of one in bf16"),
  of_kernels("heads_apart", nil, "whether query heads read KV apart where a call holds more than one query a request"),
  of_kernels("launch_apart_s", "s", "of a kernel of a CUDA graph that is launched after the one in front"),
  of_kernels("launches_apart", nil, "whether no kernel is launched before the one in front ends"),
  of_kernels("blocks_launch_apart", nil, "whether those of block-scaled FP8 are not, where others are"),
  of_kernels("shared_beside", "tokens", "largest graph in which shared experts run at the same time as routed ones"),
  of_kernels("router_gemm", nil, "how the logits of a router are computed: in the format of its weights, in fp32, in "
    .. "tf32; behind few_ with a kernel of the engine's own for few tokens"),
  of_kernels("exchange", nil, "how tokens reach experts of other data-parallel ranks"),
  of_kernels("dcp_combines", nil, "how ranks of dcp combine what they computed: gathered or all_to_all"),
  entry("encoder_mode", nil, "how ranks share an encoder of images: weights (a part each) or data (whole images each)",
    { read_by = "machine.encoder" }),
  entry("pixel_s", "s", "host time of a pixel of an image or frame, before the encoder sees it",
    { read_by = "machine.encoder" }),
  entry("cp_of", nil, "kinds of attention whose prompts an engine divides over ranks of deployment.cp",
    { read_by = "applied.context_parallel" }),
  entry("dcp_of", nil, "kinds of attention whose KV it divides over ranks of deployment.dcp",
    { read_by = "applied.context_parallel" }),
  entry("experts_apart", nil, "whether an engine runs attention and experts on GPUs of their own",
    { read_by = "applied.afd" }),
  of_kernels("all_reduce_across_nodes", nil, "kernels of an all-reduce between nodes: own or nccl"),
  of_balancers("eplb_step_interval", "steps", "between two rebalancings of experts"),
  of_balancers("eplb_window_size", "steps", "last ones whose tokens of each expert are counted"),
  of_balancers("eplb_head_start", "1", "part of the first interval that has passed at the start"),
  of_balancers("eplb_use_async", nil, "whether experts move while steps go on"),
  of_kernels("expert_block", "rows", "rows of a block of experts in block-scaled FP8; 0 = none"),
  of_kernels("expert_block_below", "ranks", "tensor-parallel ranks of the experts from which on there are no blocks"),
  of_memory("runtime_bytes", "B", "context, workspaces and communication buffers of a GPU"),
  of_memory("sampler_bytes", "B", "of a seat and word of the vocabulary, in the sampler of the dummy run"),
  of_memory("other_sampler_bytes", "B", "the same of the sampler that runs where another package is installed"),
  of_memory("first_graph_bytes", "B", "of the largest CUDA graph"),
  of_memory("graph_layer_bytes", "B", "of one layer in each further graph"),
  of_memory("piecewise_graph_share", "1", "part of it that a further piecewise graph of prompts takes"),
  of_memory("model_runner", nil, "which of the model runners of an engine a deployment has, as its authors call them"),
  of_memory("graphs_counted", nil, "whether an estimate of the CUDA graphs is taken from the KV cache"),
  of_memory("group_slack", "1", "layers of the most frequent kind to the rarest, below which they fill a group"),
  of_memory("kv_plain_layers", "layers", "at each end of the model whose KV cache has the model's own format"),
  of_memory("layer_groups", nil, "whether windows and states have KV blocks of their own"),
  of_memory("pools_by_window", nil, "whether windows have pools of their own, whose share is not modelled"),
  entry("memory_band", nil, "releases that divide the memory alike, as reports call them",
    { read_by = "validate.capacity" }),
  of_memory("prints_requests", nil, "whether the size of the cache in tokens is requests times their length"),
  of_memory("state_element_bytes", "B", "of an element of a recurrent state"),
  of_memory("state_page_alignment", "tokens", "of which a page of attention beside states is a multiple"),
  of_memory("sparse_latent_bytes", "B", "of a token and layer of sparse latent attention in FP8"),
  of_memory("mxfp4_padding", nil, "{hidden, width}: multiples to which kernels pad experts in MXFP4"),
  of_memory("nvfp4_scale_copies", nil, "further copies of the scales of experts in NVFP4"),
  of_memory("index_buffer_requests", nil, "requests of the greatest length whose index entries a prompt step gathers"),
  of_memory("latent_prefix_tokens", "tokens", "of cached prefixes whose keys and values the dummy run has room for"),
  of_memory("compressed_pages", nil, "how pages of compressed attention are laid out: tuples, slots or dense"),
  of_memory("index_format", nil, "of entries of the index beside compressed attention: fp8 or mxfp4"),
  of_memory("counted_by_bytes", nil, "whether a request counts in bytes, over those of a block of its first group"),
  of_memory("in_flight_steps", "steps", "whose tokens windows hold beside their own"),
  of_memory("mamba_full_memory_ratio", "1", "memory of states to that of the KV cache"),
  of_memory("swa_full_tokens_ratio", "1", "tokens that layers with windows keep, to those of the others"),
  of_memory("states_as_windows", nil, "whether a state that is inputs of the last tokens alone is kept as a window"),
  of_memory("cached_state_blocks", "blocks", "of states that a request holds in a group where prefixes are cached"),
  of_memory("state_slots", "slots", "of states that a running request may hold where prefixes are cached"),
  of_memory("spare_state_slots", "slots", "of states that no request gets"),
  of_memory("states_hold_seats", nil, "whether the engine stops where blocks of states are fewer than its seats"),
  of_memory("holds_longest", nil, "whether the engine stops where its KV cache is too small for the longest request"),
  of_encoder("encoder_by_step", nil, "whether a pass of the encoder and its cache have as many embeddings as a step "
    .. "has tokens; else neither has a limit"),
  of_encoder("encoder_cache_bytes", "B", "of embeddings that are kept"),
  of_memory("encoder_reserve_bytes", "B", "that the KV cache leaves to embeddings of images and to their pixels"),
  of_encoder("encoder_shares", nil, "whether an image that is kept serves other requests"),
  of_encoder("encoder_pins", nil, "whether a prompt waits for room in the cache, and keeps it until it is computed"),
  of_encoder("encoder_splits", nil, "whether a chunk of a prompt may end inside of an image"),
  of_encoder("encoder_whole", nil, "whether all images of a prompt are computed with its first chunk, as one entry"),
  entry("longest_leaves_blocks", "blocks", "of the KV cache that a request leaves, whose length is cut to what it "
    .. "holds", { read_by = "serving.replicas" }),
  of_memory("no_kernels", nil, "what the engine has no kernels for on the GPU, so that it stops"),
  of_memory("built", nil, "whether an engine is built first, so that nothing is run to measure its memory"),
  entry("longer_context", nil, "words that scale the positions of a model to N tokens", { read_by = "machine.fits" }),
  entry("cuts_prompts", nil, "whether a prompt that exceeds the budget of a step is cut", { read_by = "plan" }),
  entry("budget_holds_seats", nil, "whether the engine refuses a budget below its seats", { read_by = "plan" }),
  entry("generation", nil, "what its authors call this generation of the engine", { read_by = "validate" }),
  entry("other_budgets", nil, "further token budgets that a server may have by default", { read_by = "validate" }),
  entry("client_frontend_s", "s", "time of a request outside of the engine, as a client sees it",
    { read_by = "validate" }),
  entry("frontend_chat_s", "s", "of a server of the front end for a chat", { read_by = "serving.frontend" }),
  entry("frontend_completion_s", "s", "the same for a prompt without a template", { read_by = "serving.frontend" }),
  entry("frontend_prompt_token_s", "s", "the same for each token of a prompt", { read_by = "serving.frontend" }),
  entry("frontend_chunk_s", "s", "the same for each chunk of a stream", { read_by = "serving.frontend" }),
  entry("frontend_turns", "turns", "of a request in the event loop of its front end", { read_by = "serving.frontend" }),
  entry("frontend_servers", "processes", "of the front end of an engine", { read_by = "serving.frontend" }),
  entry("server_frontend_s", "s", "time of a request outside of the engine, as the server's process sees it",
    { read_by = "validate" }),
  entry("own_sampling", nil, "whether requests are sampled as the model's generation_config.json asks",
    { read_by = "validate.sampling" }),
}
