--- Which kinds of attention vLLM divides over ranks of a request, and how these combine what they computed.
return {
  { before = "0.27", cp_of = {},
    source = "issue 47846: 0.24.0 refuses prefill_context_parallel_size above 1; v1/worker/cp_utils.py: "
    .. "supports_pcp of attention back ends" },
  { since = "0.27", cp_of = { "latent" }, seen = "0.28",
    code = "vllm/v1/attention/backend.py: MLAAttentionImpl.supports_pcp",
    source = "pull request 46570: prompts of latent attention, in model runner V2, which pull request 50034 chooses" },
  { dcp_of = {}, dcp_combines = function(_, own)
      return own.dcp_comm_backend == "a2a" and "all_to_all" or "gathered"
    end, seen = "0.28", code = "vllm/config/parallel.py: ParallelConfig.dcp_comm_backend",
    source = "vllm/config/parallel.py: ag_rs unless asked for a2a, which pull request 34883 adds" },
  { seen = "0.28", code = "vllm/config/model.py: ModelConfig.verify_with_parallel_config",
    { since = "0.10.2", dcp_of = { "latent" }, source = "pull request 23734" },
    { since = "0.11.1", dcp_of = { "latent", "full" }, source = "pull requests 24864 and 25438, of 2025-09; "
      .. "vllm/config/model.py, verify_with_parallel_config: dcp <= tp / KV heads" },
    { since = "0.26", dcp_of = { "latent", "full", "delta", "mamba2" },
      source = "pull request 40996 of 2026-07-09: states are whole on each rank; no windows" },
  },
}
