--- What SGLang logs when it starts, by release: logs/log.lua says what the parts are.
-- Read at sgl-project/sglang: tags v0.4.0, v0.4.3 to v0.5.10, and 10d33370 of 2026-06-13; later lines from logs, as
-- their sources say. ServerArgs has more fields: those that no option here changes are left out. It prints GB and means
-- GiB.
local floor, min, max = math.floor, math.min, math.max

local runner = "python/sglang/srt/model_executor/model_runner.py"
local args = "python/sglang/srt/server_args.py"
local scheduler = "python/sglang/srt/managers/scheduler.py"
local mib, gib = 2 ^ 20, 2 ^ 30
local nvidia = { "hopper", "ampere", "ada", "blackwell" }
local datacenter = { not_named = "rtx" }

local function is_latent(facts) return facts.model ~= nil and facts.model.mla ~= nil end

--- Bytes of a token in layers that grow and in those with windows, and of a request's states.
local function cells_of(facts)
  local growing, window, convolution, state = 0, 0, 0, 0
  for _, each in ipairs(facts.counts.kinds) do
    growing = growing + each.layers * each.growing_bytes
    window = window + each.layers * each.bounded_bytes
    convolution = convolution + each.layers * each.convolution_elements * facts.counts.dtype_bytes
    state = state + each.layers * each.state_elements * facts.values.state_element_bytes
  end
  local part = 1 / facts.pp
  return growing * part, window * part, convolution * part, state * part
end

local function add_range(out, first, last, step)
  for each = first, last, step do out[#out + 1] = each end
end

--- Requests of the captured graphs of decode steps.
local function captured(all, most)
  local out = {}
  if all.captures_dense then
    for _, each in ipairs { 1, 2, 4, 8, 12 } do out[#out + 1] = each end
    add_range(out, 16, 256, 8)
    add_range(out, 272, 511, 16)
    add_range(out, 512, most, 32)
  else
    for _, each in ipairs { 1, 2, 4, 8 } do out[#out + 1] = each end
    add_range(out, 16, 160, 8)
    if all.total > 90 * gib then add_range(out, 168, 256, 8) end
    if all.total > 156 * gib then add_range(out, 272, 512, 16) end
  end
  local kept = {}
  for _, each in ipairs(out) do kept[#kept + 1] = each <= most and each or nil end
  if all.captures_dense and kept[#kept] ~= most then kept[#kept + 1] = most end
  return kept
end

local function add_pools(all, facts)
  local growing, window, convolution, state = cells_of(facts)
  all.swa_tokens = window > 0 and growing > 0 and floor(all.tokens * facts.values.swa_full_tokens_ratio) or nil
  all.kv_half, all.kv_whole = all.tokens * growing / 2, all.tokens * growing
  if growing == 0 then all.kv_half, all.kv_whole = all.tokens * window / 2, all.tokens * window end
  all.swa_half = (all.swa_tokens or 0) * window / 2
  all.slots = (all.slots or 0) > 0 and all.slots or nil
  all.convolution, all.state = convolution * (all.slots or 0), state * (all.slots or 0)
  all.pool = all.kv_whole + 2 * all.swa_half + all.convolution + all.state
end

--- More figures.
local function figures(all, facts, stated)
  local values = facts.values
  add_pools(all, facts)
  all.before = all.total - all.runtime
  all.after_weights = all.before - all.weights
  all.after_pool = all.after_weights - all.pool
  local most = values.cuda_graph_max_bs
  all.graph_most, all.graph_used = most, all.graphs and min(2 * mib * most, max(0, all.after_pool)) or 0
  all.after_graphs = all.after_pool - all.graph_used
  local sizes = captured(all, min(most, all.running or most))
  all.sizes = "[" .. table.concat(sizes, ", ") .. "]"
  all.chunk, all.prefill = all.chunk or values.chunked_prefill_size, values.max_prefill_tokens or 16384
  all.page, all.all_tp = values.page_size or 1, all.tp * all.dp * all.cp
  all.is_stated_backend = stated.attention_backend ~= nil
  all.backend = stated.attention_backend or all.backend
  all.chooses_backend = all.backend and not all.is_stated_backend
  all.quant = stated.quantization or ({ fp8 = "fp8", mxfp4 = "mxfp4", nvfp4 = "modelopt_fp4", awq = "awq" })
    [facts.counts.weights]
  all.quant_word = all.quant and ("quant=%s, "):format(all.quant) or ""
  all.kv_dtype = stated.kv_cache_dtype or "auto"
  all.kv_torch = facts.counts.kv_element_bytes == 1
    and (all.kv_dtype == "fp8_e5m2" and "float8_e5m2" or "float8_e4m3fn")
    or all.dtype
  all.no_cache, all.no_graphs, all.dp_attention = not all.prefix_caching, not all.graphs, all.dp > 1
  all.no_overlap = stated.disable_overlap_schedule == true
  all.stated_length = facts.is_stated "context_length" and all.max_model_len or nil
  all.most_running = stated.max_running_requests or nil
  all.most_tokens = stated.max_total_tokens or nil
  all.quantization, all.conservativeness = stated.quantization, stated.schedule_conservativeness or 1
  all.attention_backend = (all.is_stated_backend or all.resolves_backend) and all.backend or nil
end

--- The word of each rank: data parallel, then tensor, expert and stage, in the order of the release.
local function ranks(all)
  local out = { { by = "api", rank_word = "" } }
  for pp = 0, all.pp - 1 do
    for tp = 0, all.all_tp - 1 do
      local words = { dp = all.dp > 1 and " DP" .. floor(tp / (all.all_tp / all.dp)), pp = all.pp > 1 and " PP" .. pp,
        tp = all.all_tp > 1 and " TP" .. tp,
        ep = all.shows_ep and all.ep > 1 and " EP" .. floor(tp / (all.all_tp / all.ep)) }
      local text = ""
      for name in all.rank_order:gmatch "%a+" do text = text .. (words[name] or "") end
      out[#out + 1] = { by = "worker", rank_word = text, gpu = pp * all.all_tp + tp }
      if pp == 0 and tp == 0 then out[#out + 1] = { by = "lead", rank_word = text } end
    end
  end
  return out
end

local function is_mla(row) row.when = "latent" .. (row.when and " " .. row.when or "") return row end
local function not_mla(row) row.when = "not latent" .. (row.when and " " .. row.when or "") return row end

return {
  host = "127.0.0.1",
  stamp = "%Y-%m-%d %H:%M:%S",
  forms = { log = "[{time}{rank_word}] {message}", raw = "{message}" },
  ranks = ranks,
  figures = figures,

  values = {
    { rank_order = "dp tp ep pp", source = scheduler .. ", run_scheduler_process, v0.4.6.post5 to v0.5.5" },
    { since = "0.4.10", shows_ep = true, source = scheduler .. " of v0.4.10" },
    { since = "0.5.6", rank_order = "dp pp tp ep", source = scheduler .. " of v0.5.6" },
    { since = "0.5.3", captures_dense = true, source = args .. " of v0.5.3, _generate_cuda_graph_batch_sizes" },
    { since = "0.5.6", resolves_backend = true, source = args .. " of v0.5.6" },
    { since = "0.5.19", assumed = "its wording is that of 0.5.18; later ones were not read",
      source = "logs of 2026-08" },
    { architecture = nvidia, backend = "flashinfer", source = runner .. " of v0.4.6.post5" },
    { since = "0.4.6", architecture = "hopper", backend = "fa3", source = runner .. " of v0.4.6.post5" },
    { since = "0.5.6", architecture = "blackwell", gpu = datacenter, backend = "trtllm_mha",
      source = args .. " of v0.5.6" },
    { architecture = { "ampere", "ada" }, when = is_latent, backend = "triton", source = runner .. " of v0.4.6.post5" },
    { since = "0.5.6", architecture = "blackwell", gpu = datacenter, when = is_latent, backend = "trtllm_mla",
      source = args .. " of v0.5.6" },
  },

  config = { between = ", ", adds = true, rows = {
    { "model_path", "{model|repr}" }, { "tokenizer_path", "{model|repr}" }, { "tokenizer_mode", "'auto'" },
    { "skip_tokenizer_init", "False" }, { "load_format", "'auto'" }, { "trust_remote_code", "False" },
    { "context_length", "{stated_length|repr}" }, { "is_embedding", "False" }, { "host", "{host|repr}" },
    { "port", "{port}" }, { "dtype", "'auto'" }, { "quantization", "{quantization|repr}" },
    { "kv_cache_dtype", "{kv_dtype|repr}" }, { "mem_fraction_static", "{share|float}" },
    { "max_running_requests", "{most_running|repr}" }, { "max_total_tokens", "{most_tokens|repr}" },
    { "chunked_prefill_size", "{chunk}" }, { "max_prefill_tokens", "{prefill}" }, { "schedule_policy", "'fcfs'" },
    { "schedule_conservativeness", "{conservativeness|float}" }, { "page_size", "{page}" },
    { "device", "'cuda'" }, { "tp_size", "{all_tp}" }, { "pp_size", "{pp}" }, { "stream_interval", "1" },
    { "random_seed", "1" }, { "log_level", "'info'" }, { "served_model_name", "{served|repr}" }, { "dp_size", "{dp}" },
    { "load_balance_method", "'round_robin'", before = "0.5.10" }, { "load_balance_method", "'auto'",
      since = "0.5.10" },
    { "attn_cp_size", "{cp}", since = "0.5.9" }, { "nnodes", "1" }, { "node_rank", "0" },
    { "attention_backend", "{attention_backend|repr}" }, { "sampling_backend", "'flashinfer'" },
    { "ep_size", "{ep}" }, { "moe_a2a_backend", "'none'", since = "0.5.0" },
    { "disable_radix_cache", "{no_cache|repr}" }, { "cuda_graph_max_bs", "{graph_most}", before = "0.5.13" },
    { "cuda_graph_max_bs_decode", "{graph_most}", since = "0.5.13" },
    { "disable_cuda_graph", "{no_graphs|repr}" }, { "disable_overlap_schedule", "{no_overlap|repr}" },
    { "enable_mixed_chunk", "False" }, { "enable_dp_attention", "{dp_attention|repr}" },
    { "disaggregation_mode", "'null'", since = "0.4.6" },
  } },

  rows = {
    { by = "api", after = "begin_s", text = "server_args=ServerArgs({config})",
      source = "python/sglang/srt/entrypoints/engine.py" },
    not_mla { since = "0.4.5", before = "0.4.9.post6", by = "worker", when = "chooses_backend",
      text = "Attention backend not set. Use {backend} backend by default.", source = runner .. " of v0.4.6.post5" },
    is_mla { since = "0.4.6", before = "0.5.6", by = "worker", when = "chooses_backend",
      text = "MLA optimization is turned on. Use {backend} backend.", source = runner .. " of v0.5.2" },
    not_mla { since = "0.4.9.post6", before = "0.5.6", by = "worker", when = "chooses_backend",
      text = "Attention backend not explicitly specified. Use {backend} backend by default.",
      source = runner .. " of v0.5.2" },
    { since = "0.5.6", before = "0.5.7", by = "api", when = "chooses_backend",
      text = "Attention backend not explicitly specified. Use {backend} backend by default.",
      source = args .. " of v0.5.6" },
    { since = "0.5.7", by = "api", when = "chooses_backend",
      text = "Attention backend not specified. Use {backend} backend by default.", source = args .. " at 10d33370" },
    { by = "worker", after = "serve_s", text = "Init torch distributed begin.", source = runner },
    { since = "0.4.4", before = "0.5.9", by = "worker", text = "Init torch distributed ends. mem "
        .. "usage={runtime|gib2} GB", source = runner .. " of v0.4.4 to v0.5.8" },
    { since = "0.5.9", by = "worker", text = "Init torch distributed ends. elapsed={begin_s|f2} s, mem "
        .. "usage={runtime|gib2} GB", source = runner .. " of v0.5.9" },
    { by = "worker", text = "Load weight begin. avail mem={before|gib2} GB", source = runner },
    { when = "error_unspoken", ends = true },
    { by = "worker", fails = true, when = "oom", text = "Scheduler hit an exception: Traceback (most recent call "
        .. "last):\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried|mib2} MiB. GPU {gpu} has a "
        .. "total capacity of {total|gib2} GiB of which {free_last|mib2} MiB is free.",
      source = scheduler .. "; torch.OutOfMemoryError" },
    { before = "0.4.4", by = "worker", after = "load_s", when = "class", text = "Load weight end. type={class}, "
        .. "dtype=torch.{dtype}, avail mem={after_weights|gib2} GB", source = runner .. " of v0.4.0" },
    { since = "0.4.4", before = "0.5.9", by = "worker", after = "load_s", when = "class", text = "Load weight end. "
        .. "type={class}, dtype=torch.{dtype}, avail mem={after_weights|gib2} GB, mem usage={weights|gib2} GB.",
      source = runner .. " of v0.4.4 to v0.5.8" },
    { since = "0.5.9", before = "0.5.10", by = "worker", after = "load_s", when = "class", text = "Load weight end. "
        .. "elapsed={load_s|f2} s, type={class}, dtype=torch.{dtype}, avail mem={after_weights|gib2} GB, mem "
        .. "usage={weights|gib2} GB.", source = runner .. " of v0.5.9" },
    { since = "0.5.10", by = "worker", after = "load_s", when = "class", text = "Load weight end. "
        .. "elapsed={load_s|f2} s, type={class}, {quant_word}avail mem={after_weights|gib2} GB, mem "
        .. "usage={weights|gib2} GB.", source = "pull request 18651 of 2026-03-03" },
    { before = "0.5.3", by = "worker", fails = true, when = "error_memory", text = "Scheduler hit an exception: "
        .. "Traceback (most recent call last):\nRuntimeError: Not enough memory. Please try to increase "
        .. "--mem-fraction-static.", source = runner .. " of v0.5.2" },
    { since = "0.5.3", before = "0.5.10", by = "worker", fails = true, when = "error_memory",
      text = "Scheduler hit an exception: Traceback (most recent call last):\nRuntimeError: Not enough memory. "
          .. "Please try to increase --mem-fraction-static. Current value: "
          .. "self.server_args.mem_fraction_static={share|float}", source = runner .. " of v0.5.6" },
    { since = "0.5.10", by = "worker", fails = true, when = "error_memory", text = "Scheduler hit an exception: "
        .. "Traceback (most recent call last):\nRuntimeError: Not enough memory. Please try to increase "
        .. "--mem-fraction-static. Current value: mem_fraction_static={share|float}",
      source = runner .. " of v0.5.10" },
    { since = "0.5.3", by = "lead", text = "Using KV cache dtype: torch.{kv_torch}", source = runner .. " of v0.5.3" },
    { since = "0.5.2", by = "worker", when = "swa_tokens", text = "Use Sliding window memory pool. "
        .. "full_layer_tokens={tokens}, swa_layer_tokens={swa_tokens}", source = runner .. " of v0.5.2" },
    { since = "0.5.2", by = "worker", when = "slots", text = "Mamba Cache is allocated. max_mamba_cache_size: "
        .. "{slots}, conv_state size: {convolution|gib2}GB, ssm_state size: {state|gib2}GB ",
      source = "python/sglang/srt/mem_cache/memory_pool.py of v0.5.10" },
    -- layers with windows first: SWAKVPool makes their pool before the other
    { since = "0.5.2", before = "0.5.13", by = "worker", when = "swa_tokens", text = "KV Cache is allocated. "
        .. "#tokens: {swa_tokens}, K size: {swa_half|gib2} GB, V size: {swa_half|gib2} GB", source = "the same" },
    { since = "0.5.13", by = "worker", when = "swa_tokens", text = "KV Cache is allocated. dtype: torch.{kv_torch}, "
        .. "#tokens: {swa_tokens}, K size: {swa_half|gib2} GB, V size: {swa_half|gib2} GB", source = "the same" },
    { since = "0.4.3", before = "0.4.4", by = "worker", text = "KV Cache is allocated. K size: {kv_half|gib2} GB, V "
        .. "size: {kv_half|gib2} GB.", source = "python/sglang/srt/mem_cache/memory_pool.py of v0.4.3" },
    not_mla { since = "0.4.4", before = "0.5.13", by = "worker", text = "KV Cache is allocated. #tokens: {tokens}, "
        .. "K size: {kv_half|gib2} GB, V size: {kv_half|gib2} GB", source = "memory_pool.py of v0.4.6.post5 to "
        .. "v0.5.10" },
    is_mla { since = "0.4.4", before = "0.5.13", by = "worker", text = "KV Cache is allocated. #tokens: {tokens}, "
        .. "KV size: {kv_whole|gib2} GB", source = "the same" },
    not_mla { since = "0.5.13", by = "worker", text = "KV Cache is allocated. dtype: torch.{kv_torch}, #tokens: "
        .. "{tokens}, K size: {kv_half|gib2} GB, V size: {kv_half|gib2} GB", source = "pull request 26205 of "
        .. "2026-05-24" },
    is_mla { since = "0.5.13", by = "worker", text = "KV Cache is allocated. dtype: torch.{kv_torch}, #tokens: "
        .. "{tokens}, KV size: {kv_whole|gib2} GB", source = "the same" },
    { by = "worker", text = "Memory pool end. avail mem={after_pool|gib2} GB", source = runner },
    { before = "0.4.4", by = "worker", when = "graphs", text = "Capture cuda graph begin. This can take up to "
        .. "several minutes.", source = runner .. " of v0.4.0" },
    { since = "0.4.4", before = "0.5.15", by = "worker", when = "graphs", text = "Capture cuda graph begin. This "
        .. "can take up to several minutes. avail mem={after_pool|gib2} GB", source = runner .. " of v0.4.6.post5 "
        .. "to 10d33370" },
    { since = "0.4.6", before = "0.5.15", by = "lead", when = "graphs", text = "Capture cuda graph bs {sizes}",
      source = "python/sglang/srt/model_executor/cuda_graph_runner.py" },
    { since = "0.5.15", before = "0.5.18", by = "worker", when = "graphs", text = "Capture target decode CUDA graph "
        .. "begin. backend=full, num_tokens_per_bs=1, bs={sizes}, avail mem={after_pool|gib2} GB",
      source = "logs of 2026-07-21; not in 10d33370 of 2026-06-13: the release is that of the day" },
    { since = "0.5.18", by = "worker", when = "graphs", text = "Capture target decode CUDA graph begin. "
        .. "backend=full, num_tokens_per_req=1, bs={sizes}, avail mem={after_pool|gib2} GB",
      source = "a log of 2026-08-17: the release is that of the day" },
    { before = "0.4.4", by = "worker", after = "capture_s", when = "graphs", text = "Capture cuda graph end. Time "
        .. "elapsed: {capture_s|f2} s", source = runner .. " of v0.4.0" },
    { since = "0.4.4", before = "0.5.15", by = "worker", after = "capture_s", when = "graphs",
      text = "Capture cuda graph end. Time elapsed: {capture_s|f2} s. mem usage={graph_used|gib2} GB. avail "
          .. "mem={after_graphs|gib2} GB.", source = runner .. " of v0.4.4 to 10d33370" },
    { since = "0.5.15", by = "worker", after = "capture_s", when = "graphs", text = "Capture target decode CUDA "
        .. "graph end. elapsed={capture_s|f2} s, mem usage={graph_used|gib2} GB, avail mem={after_graphs|gib2} GB.",
      source = "logs of 2026-07-21" },
    { before = "0.4.4", by = "worker", text = "max_total_num_tokens={tokens}, max_prefill_tokens={prefill}, "
        .. "max_running_requests={running}, context_len={max_model_len}", source = scheduler .. " of v0.4.0" },
    { since = "0.4.4", before = "0.4.9", by = "worker", text = "max_total_num_tokens={tokens}, "
        .. "chunked_prefill_size={chunk}, max_prefill_tokens={prefill}, max_running_requests={running}, "
        .. "context_len={max_model_len}", source = scheduler .. " of v0.4.6.post5" },
    { since = "0.4.9", by = "lead", text = "max_total_num_tokens={tokens}, chunked_prefill_size={chunk}, "
        .. "max_prefill_tokens={prefill}, max_running_requests={running}, context_len={max_model_len}, "
        .. "available_gpu_mem={after_graphs|gib2} GB", source = scheduler .. " of v0.4.9" },
    { by = "api", after = "serve_s", text = "INFO:     Started server process [1]", source = "uvicorn" },
    { by = "api", text = "INFO:     Waiting for application startup.", source = "uvicorn" },
    { by = "api", text = "INFO:     Application startup complete.", source = "uvicorn" },
    { by = "api", text = "INFO:     Uvicorn running on http://{host}:{port} (Press CTRL+C to quit)",
      source = "uvicorn" },
    { by = "api", after = "serve_s", text = "The server is fired up and ready to roll!",
      source = "python/sglang/srt/entrypoints/http_server.py" },
  },
}
