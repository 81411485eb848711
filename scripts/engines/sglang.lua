-- Flags of `python -m sglang.launch_server` by release. Its tp counts the ranks of the attention's data parallelism as
-- well, and its memory fraction is that of weights and KV cache together.
local function switch(on, off) return function(value) return value and on or off end end

return {
  name = "sglang",
  command = "python -m sglang.launch_server",
  oldest = "0.5.0",
  newest = "0.5.14",
  image = "lmsysorg/sglang:v%s",
  port = 30000,
  model = "--model-path",
  host = { "--host", "--port" },
  source = "SGLang docs/advanced_features/server_arguments.md; python/sglang/srt/server_args.py",
  kv_names = { fp8 = "fp8_e4m3", fp8_e4m3 = "fp8_e4m3", fp8_e5m2 = "fp8_e5m2", bf16 = "auto", fp16 = "auto" },
  weight_flags = { fp8 = { "--quantization", "fp8" } },
  counts_all_ranks = true,  -- of tp and of seats
  --- Words by drafter, of a number of drafts. Its n-gram drafts are a tree, which is not what was priced. Drafts turn
  --- the overlap scheduler off, unless `async_environment` is set.
  speculation = {
    mtp = { source = "SGLang docs/advanced_features/speculative_decoding.md, Multi Token Prediction and SpecV2; "
        .. "python/sglang/srt/server_args.py, 0.5.6",
      async_environment = "SGLANG_ENABLE_SPEC_V2=True", async_since = "0.5.6",
      words = function(drafts)
        return { "--speculative-algorithm", "EAGLE", "--speculative-num-steps", ("%d"):format(drafts),
          "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", ("%d"):format(drafts + 1) }
      end },
  },
  flags = {
    { parameter = "tp", flag = "--tp-size" },
    { parameter = "pp", flag = "--pp-size" },
    { parameter = "dp", flag = "--dp-size" },
    { parameter = "dp_attention", switch = switch("--enable-dp-attention", "") },
    { parameter = "ep", flag = "--ep-size" },
    { parameter = "max_num_seqs", flag = "--max-running-requests" },
    { parameter = "max_num_batched_tokens", flag = "--chunked-prefill-size" },
    { parameter = "static_fraction", flag = "--mem-fraction-static" },
    { parameter = "max_model_len", flag = "--context-length" },
    { parameter = "block_size", flag = "--page-size" },
    { parameter = "prefix_caching", switch = switch("", "--disable-radix-cache") },
    { parameter = "async", switch = switch("", "--disable-overlap-schedule") },
    { parameter = "kv", flag = "--kv-cache-dtype" },
    { parameter = "role", flag = "--disaggregation-mode", values = { prefill = "prefill", decode = "decode" } },
  },
}
