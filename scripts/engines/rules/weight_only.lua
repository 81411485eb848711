--- Kernels that expand weights to 16 bits inside of a GEMM: what of the bandwidth and of the rate of bf16 they reach.
local nvidia = { "turing", "ampere", "ada", "hopper", "blackwell" }

return {
  fitted = true,
  { architecture = nvidia, weight_only_bandwidth = 0.85, weight_only_rate = 0.67,
    source = "Marlin, vllm pull request 2497: from 256 to 4,000 tokens on Ampere 0.60 to 0.74 of fp16, mean 0.67; its "
      .. "README: near the bandwidth up to 16 tokens. No table of Turing, Hopper and Blackwell was found" },
  { architecture = "ada", weight_only_rate = 1,
    source = "IST-DASLab/marlin issue 21, RTX 6000 Ada: 1.16 at 1,024 tokens, 0.82 at 16,384" },
}
