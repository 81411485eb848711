-- For results.sh: many short runs.
return {
  rooflua = 1, title = "Many results", model = "llama-3.1-8b", hardware = "h200-sxm",
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 8192 },
  workload = require "workloads.poisson" { num_requests = 2, prompt_tokens = 300, output_tokens = 10 },
  vary = { ["workload.rate_per_s"] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 },
    seed = (function()
      local seeds = {}
      for i = 1, 1000 do seeds[i] = i end
      return seeds
    end)() },
}
