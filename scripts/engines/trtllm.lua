-- Flags of `trtllm-serve` by release, and the settings that it reads from a YAML file. Its tp counts the ranks of the
-- attention's data parallelism as well; its memory fraction is that of what the weights leave.
local function switch(on, off) return function(value) return value and on or off end end

return {
  name = "trtllm",
  command = "trtllm-serve",
  oldest = "1.0.0",
  newest = "1.3.0",
  image = "nvcr.io/nvidia/tensorrt-llm/release:%s",
  port = 8000,
  model = "",
  host = { "--host", "--port" },
  source = "TensorRT-LLM documentation, trtllm-serve (--config and --extra_llm_api_options are one option by 1.3) and "
    .. "LLM API options; tensorrt_llm/commands/serve.py",
  kv_names = { fp8 = "fp8", bf16 = "auto", fp16 = "auto" },
  weight_flags = {},
  counts_all_ranks = true,
  no_split = "a disaggregated cluster of TensorRT-LLM takes a configuration of its own",
  --- Lines of the YAML file by drafter, of a number of drafts; `free` is the look-up in the prompt. `not_async`: why
  --- steps are not prepared ahead with these drafts. Before 1.3 another key counts the drafts of MTP (`before`).
  speculation = {
    mtp = { source = "TensorRT-LLM docs/source/features/speculative-decoding.md, 1.3; examples of 1.0.0: "
        .. "num_nextn_predict_layers",
      before = { release = "1.3.0", lines = function(drafts)
        return { "speculative_config:", "  decoding_type: MTP", ("  num_nextn_predict_layers: %d"):format(drafts) }
      end },
      lines = function(drafts)
        return { "speculative_config:", "  decoding_type: MTP", ("  max_draft_len: %d"):format(drafts) }
      end },
    free = { source = "TensorRT-LLM docs/source/features/speculative-decoding.md, NGram: its example disables the "
        .. "overlap scheduler and matches four tokens; some releases match none by default",
      not_async = "TensorRT-LLM looks up drafts in the prompt without its overlap scheduler",
      lines = function(drafts)
        return { "speculative_config:", "  decoding_type: NGram", ("  max_draft_len: %d"):format(drafts),
          "  max_matching_ngram_size: 4" }
      end },
  },
  flags = {
    { parameter = "backend", flag = "--backend" },
    { parameter = "tp", flag = "--tp_size" },
    { parameter = "pp", flag = "--pp_size" },
    { parameter = "ep", flag = "--ep_size" },
    { parameter = "max_num_seqs", flag = "--max_batch_size" },
    { parameter = "max_num_batched_tokens", flag = "--max_num_tokens" },
    { parameter = "max_model_len", flag = "--max_seq_len" },
    { parameter = "free_fraction", flag = "--kv_cache_free_gpu_memory_fraction" },
    { parameter = "options_file", flag = "--extra_llm_api_options", before = "1.3.0" },
    { parameter = "options_file", flag = "--config", since = "1.3.0" },
    { parameter = "role", switch = switch("", "") },
  },
  --- Lines of the YAML file, by parameter.
  yaml = {
    { parameter = "dp_attention", line = "enable_attention_dp: %s" },
    { parameter = "chunked", line = "enable_chunked_prefill: %s" },
    { parameter = "async", line = "disable_overlap_scheduler: %s", inverted = true },
    { line = "kv_cache_config:" },
    { parameter = "prefix_caching", line = "  enable_block_reuse: %s" },
    { parameter = "kv", line = "  dtype: %s" },
    { parameter = "block_size", line = "  tokens_per_block: %s" },
  },
}
