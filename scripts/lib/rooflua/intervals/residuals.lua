-- 5 and 95 % quantiles of log(measured / simulated) of public closed loops, by kind of deployment and load.
-- `without`: without the model that is named; `only`: the one model of the kind; `left_out`: if the kind had
-- never been measured; `gpus`: deployments and points of each; `modelled`: where no table is read. Made by
-- tests/fidelity/closed_loop_intervals.lua; intervals/making.lua says how.
return {
  deployments = 86, points = 887,
  kinds = {
    ["sglang moe-tp blackwell"] = {
      saturated = {
        deployments = 5, points = 25,
        tpot = { -0.073, 0.238 }, ttft = { -0.209, 0.576 }, e2e = { -0.080, 0.238 },
        gpus = { ["b200"] = { 4, 24 }, ["b300"] = { 1, 1 } },
        left_out = { tpot = { -0.233, 0.248 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.082, 0.245 }, ttft = { -0.209, 0.576 }, e2e = { -0.090, 0.238 } },
          ["glm-5"] = { tpot = { -0.078, 0.238 }, ttft = { -0.209, 0.576 }, e2e = { -0.080, 0.238 } },
          ["qwen3.5-397b-a17b"] = { tpot = { -0.082, 0.232 }, ttft = { -0.190, 0.576 }, e2e = { -0.090, 0.238 } },
        },
      },
      unsaturated = {
        deployments = 5, points = 34,
        tpot = { -0.087, 0.202 }, ttft = { -0.097, 0.918 }, e2e = { -0.085, 0.223 },
        gpus = { ["b200"] = { 4, 31 }, ["b300"] = { 1, 3 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.133, 1.838 }, e2e = { -0.105, 0.542 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.106, 0.234 }, ttft = { -0.111, 0.918 }, e2e = { -0.103, 0.244 } },
          ["glm-5"] = { tpot = { -0.096, 0.224 }, ttft = { -0.104, 0.918 }, e2e = { -0.095, 0.233 } },
          ["qwen3.5-397b-a17b"] = { tpot = { -0.087, 0.234 }, ttft = { -0.111, 0.637 }, e2e = { -0.085, 0.244 } },
        },
      },
    },
    ["sglang moe-tp hopper"] = {
      saturated = {
        deployments = 1, points = 1,
        tpot = { -0.105, 0.238 }, ttft = { -0.316, 0.576 }, e2e = { -0.106, 0.238 },
        gpus = { ["h200-sxm"] = { 1, 1 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.548 }, e2e = { -0.230, 0.269 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 1, points = 14,
        tpot = { -0.151, 0.261 }, ttft = { -0.130, 0.742 }, e2e = { -0.149, 0.271 },
        gpus = { ["h200-sxm"] = { 1, 14 } },
        left_out = { tpot = { -0.137, 0.261 }, ttft = { -0.133, 1.838 }, e2e = { -0.085, 0.542 } },
        only = "deepseek-v3", without = {},
      },
    },
    ["sglang pd blackwell"] = {
      saturated = {
        deployments = 8, points = 23,
        tpot = { -0.105, 0.330 }, ttft = { -0.170, 1.262 }, e2e = { -0.061, 0.373 },
        gpus = { ["gb200"] = { 6, 21 }, ["gb300"] = { 2, 2 } },
        left_out = { tpot = { -0.233, 0.248 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.267 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 7, points = 28,
        tpot = { -0.091, 0.230 }, ttft = { -0.141, 0.953 }, e2e = { -0.090, 0.356 },
        gpus = { ["b200"] = { 1, 2 }, ["gb200"] = { 5, 20 }, ["gb300"] = { 1, 6 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.129, 1.838 }, e2e = { -0.105, 0.542 } },
        only = "deepseek-v3", without = {},
      },
    },
    ["sglang tep blackwell"] = {
      saturated = {
        deployments = 1, points = 12,
        tpot = { -0.105, 0.248 }, ttft = { -0.316, 0.856 }, e2e = { -0.106, 0.264 },
        gpus = { ["b200"] = { 1, 12 } },
        left_out = { tpot = { -0.233, 0.248 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 1, points = 21,
        tpot = { -0.108, 0.302 }, ttft = { -0.130, 1.838 }, e2e = { -0.105, 0.382 },
        gpus = { ["b200"] = { 1, 21 } },
        left_out = { tpot = { -0.151, 0.242 }, ttft = { -0.141, 0.953 }, e2e = { -0.092, 0.356 } },
        only = "deepseek-v3", without = {},
      },
    },
    ["sglang tep hopper"] = {
      saturated = {
        deployments = 1, points = 1,
        tpot = { -0.105, 0.238 }, ttft = { -0.316, 0.576 }, e2e = { -0.106, 0.238 },
        gpus = { ["h200-sxm"] = { 1, 1 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        only = "qwen3.5-397b-a17b", without = {},
      },
      unsaturated = {
        deployments = 1, points = 14,
        tpot = { -0.108, 0.261 }, ttft = { -0.130, 0.742 }, e2e = { -0.105, 0.275 },
        gpus = { ["h200-sxm"] = { 1, 14 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.133, 1.838 }, e2e = { -0.106, 0.542 } },
        only = "qwen3.5-397b-a17b", without = {},
      },
    },
    ["trtllm dense blackwell"] = {
      saturated = {
        deployments = 6, points = 29,
        tpot = { -0.073, 0.232 }, ttft = { -0.190, 0.548 }, e2e = { -0.077, 0.238 },
        gpus = { ["b200"] = { 6, 29 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        only = "llama-3.1-70b", without = {},
      },
      unsaturated = {
        deployments = 6, points = 79,
        tpot = { -0.066, 0.194 }, ttft = { -0.159, 0.610 }, e2e = { -0.065, 0.222 },
        gpus = { ["b200"] = { 6, 79 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.127, 1.838 }, e2e = { -0.106, 0.542 } },
        only = "llama-3.1-70b", without = {},
      },
    },
    ["trtllm dense hopper"] = {
      saturated = {
        deployments = 1, points = 7,
        tpot = { -0.105, 0.238 }, ttft = { -0.316, 0.576 }, e2e = { -0.106, 0.238 },
        gpus = { ["h200-sxm"] = { 1, 7 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        only = "llama-3.1-70b", without = {},
      },
      unsaturated = {
        deployments = 1, points = 11,
        tpot = { -0.108, 0.261 }, ttft = { -0.130, 0.742 }, e2e = { -0.105, 0.271 },
        gpus = { ["h200-sxm"] = { 1, 11 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.133, 1.838 }, e2e = { -0.106, 0.542 } },
        only = "llama-3.1-70b", without = {},
      },
    },
    ["trtllm dpa blackwell"] = {
      saturated = {
        deployments = 3, points = 14,
        tpot = { -0.233, 0.248 }, ttft = { -0.190, 0.576 }, e2e = { -0.230, 0.269 },
        gpus = { ["b200"] = { 3, 14 } },
        left_out = { tpot = { -0.105, 0.330 }, ttft = { -0.931, 0.576 }, e2e = { -0.152, 0.294 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.238, 0.238 }, ttft = { -0.316, 0.576 }, e2e = { -0.235, 0.238 } },
          ["gpt-oss-120b"] = { tpot = { -0.082, 0.255 }, ttft = { -0.268, 0.576 }, e2e = { -0.090, 0.269 } },
        },
      },
    },
    ["trtllm moe-tp blackwell"] = {
      saturated = {
        deployments = 3, points = 7,
        tpot = { -0.082, 0.238 }, ttft = { -0.408, 0.576 }, e2e = { -0.090, 0.238 },
        gpus = { ["b200"] = { 3, 7 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.083, 0.232 }, ttft = { -0.190, 0.576 }, e2e = { -0.106, 0.238 } },
          ["gpt-oss-120b"] = { tpot = { -0.105, 0.238 }, ttft = { -0.408, 0.576 }, e2e = { -0.106, 0.238 } },
        },
      },
      unsaturated = {
        deployments = 5, points = 64,
        tpot = { -0.123, 0.240 }, ttft = { -0.156, 0.627 }, e2e = { -0.121, 0.248 },
        gpus = { ["b200"] = { 5, 64 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.129, 1.838 }, e2e = { -0.095, 0.542 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.126, 0.230 }, ttft = { -0.159, 0.643 }, e2e = { -0.123, 0.244 } },
          ["gpt-oss-120b"] = { tpot = { -0.087, 0.257 }, ttft = { -0.119, 0.652 }, e2e = { -0.084, 0.253 } },
        },
      },
    },
    ["trtllm pd blackwell"] = {
      saturated = {
        deployments = 11, points = 28,
        tpot = { -0.167, 0.263 }, ttft = { -0.931, 0.576 }, e2e = { -0.151, 0.238 },
        gpus = { ["b200"] = { 4, 15 }, ["gb200"] = { 4, 8 }, ["gb300"] = { 3, 5 } },
        left_out = { tpot = { -0.233, 0.248 }, ttft = { -0.155, 1.262 }, e2e = { -0.230, 0.269 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 9, points = 29,
        tpot = { -0.086, 0.173 }, ttft = { -0.141, 1.696 }, e2e = { -0.069, 0.237 },
        gpus = { ["b200"] = { 3, 8 }, ["gb200"] = { 3, 11 }, ["gb300"] = { 3, 10 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.133, 1.696 }, e2e = { -0.106, 0.382 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.108, 0.261 }, ttft = { -0.127, 0.726 }, e2e = { -0.105, 0.271 } },
          ["kimi-k2.5"] = { tpot = { -0.095, 0.185 }, ttft = { -0.156, 1.838 }, e2e = { -0.069, 0.251 } },
        },
      },
    },
    ["trtllm pd hopper"] = {
      saturated = {
        deployments = 3, points = 6,
        tpot = { -0.082, 0.232 }, ttft = { -0.190, 0.576 }, e2e = { -0.090, 0.238 },
        gpus = { ["h200-sxm"] = { 3, 6 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 1, points = 6,
        tpot = { -0.108, 0.261 }, ttft = { -0.130, 0.820 }, e2e = { -0.105, 0.275 },
        gpus = { ["h200-sxm"] = { 1, 6 } },
        left_out = { tpot = { -0.109, 0.302 }, ttft = { -0.133, 1.838 }, e2e = { -0.106, 0.542 } },
        only = "deepseek-v3", without = {},
      },
    },
    ["trtllm tep blackwell"] = {
      saturated = {
        deployments = 4, points = 16,
        tpot = { -0.144, 0.270 }, ttft = { -0.437, 0.687 }, e2e = { -0.152, 0.294 },
        gpus = { ["b200"] = { 4, 16 } },
        left_out = { tpot = { -0.233, 0.248 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 4, points = 12,
        tpot = { -0.081, 0.324 }, ttft = { -0.158, 0.652 }, e2e = { -0.077, 0.333 },
        gpus = { ["b200"] = { 4, 12 } },
        left_out = { tpot = { -0.109, 0.283 }, ttft = { -0.129, 1.838 }, e2e = { -0.106, 0.542 } },
        only = "deepseek-v3", without = {},
      },
    },
    ["trtllm tep hopper"] = {
      saturated = {
        deployments = 2, points = 3,
        tpot = { -0.105, 0.232 }, ttft = { -0.268, 0.576 }, e2e = { -0.106, 0.238 },
        gpus = { ["h200-sxm"] = { 2, 3 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.083, 0.238 }, ttft = { -0.316, 0.576 }, e2e = { -0.080, 0.238 } },
          ["gpt-oss-120b"] = { tpot = { -0.105, 0.238 }, ttft = { -0.316, 0.576 }, e2e = { -0.106, 0.238 } },
        },
      },
      unsaturated = {
        deployments = 1, points = 28,
        tpot = { -0.139, 0.261 }, ttft = { -0.130, 0.742 }, e2e = { -0.138, 0.271 },
        gpus = { ["h200-sxm"] = { 1, 28 } },
        left_out = { tpot = { -0.144, 0.261 }, ttft = { -0.133, 1.838 }, e2e = { -0.079, 0.542 } },
        only = "gpt-oss-120b", without = {},
      },
    },
    ["vllm dense blackwell"] = {
      saturated = {
        deployments = 2, points = 2,
        tpot = { -0.083, 0.232 }, ttft = { -0.268, 0.576 }, e2e = { -0.106, 0.238 },
        gpus = { ["b200"] = { 2, 2 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        only = "llama-3.1-70b", without = {},
      },
      unsaturated = {
        deployments = 2, points = 28,
        tpot = { -0.095, 0.244 }, ttft = { -0.129, 0.652 }, e2e = { -0.093, 0.253 },
        gpus = { ["b200"] = { 2, 28 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.133, 1.838 }, e2e = { -0.106, 0.542 } },
        only = "llama-3.1-70b", without = {},
      },
    },
    ["vllm dense hopper"] = {
      saturated = {
        deployments = 3, points = 4,
        tpot = { -0.082, 0.232 }, ttft = { -0.190, 0.576 }, e2e = { -0.090, 0.238 },
        gpus = { ["h100-sxm"] = { 1, 1 }, ["h200-sxm"] = { 2, 3 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        only = "llama-3.1-70b", without = {},
      },
      unsaturated = {
        deployments = 3, points = 41,
        tpot = { -0.087, 0.235 }, ttft = { -0.139, 0.643 }, e2e = { -0.085, 0.244 },
        gpus = { ["h100-sxm"] = { 1, 14 }, ["h200-sxm"] = { 2, 27 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.129, 1.838 }, e2e = { -0.106, 0.542 } },
        only = "llama-3.1-70b", without = {},
      },
    },
    ["vllm moe-tp blackwell"] = {
      saturated = {
        deployments = 10, points = 39,
        tpot = { -0.079, 0.232 }, ttft = { -0.151, 0.505 }, e2e = { -0.090, 0.236 },
        gpus = { ["b200"] = { 6, 21 }, ["b300"] = { 4, 18 } },
        left_out = { tpot = { -0.233, 0.248 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        without = {
          ["gpt-oss-120b"] = { tpot = { -0.083, 0.232 }, ttft = { -0.187, 0.525 }, e2e = { -0.106, 0.238 } },
          ["kimi-k2.5"] = { tpot = { -0.077, 0.232 }, ttft = { -0.170, 0.507 }, e2e = { -0.077, 0.238 } },
          ["minimax-m2.5"] = { tpot = { -0.146, 0.232 }, ttft = { -0.190, 0.576 }, e2e = { -0.143, 0.238 } },
        },
      },
      unsaturated = {
        deployments = 14, points = 140,
        tpot = { -0.081, 0.183 }, ttft = { -0.175, 0.661 }, e2e = { -0.079, 0.185 },
        gpus = { ["b200"] = { 9, 105 }, ["b300"] = { 5, 35 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.127, 1.838 }, e2e = { -0.106, 0.542 } },
        without = {
          ["gpt-oss-120b"] = { tpot = { -0.081, 0.185 }, ttft = { -0.173, 0.662 }, e2e = { -0.079, 0.187 } },
          ["kimi-k2.5"] = { tpot = { -0.074, 0.186 }, ttft = { -0.165, 0.592 }, e2e = { -0.069, 0.195 } },
          ["minimax-m2.5"] = { tpot = { -0.094, 0.221 }, ttft = { -0.186, 0.742 }, e2e = { -0.092, 0.229 } },
        },
      },
    },
    ["vllm moe-tp hopper"] = {
      saturated = {
        deployments = 4, points = 4,
        tpot = { -0.078, 0.313 }, ttft = { -0.190, 0.576 }, e2e = { -0.080, 0.314 },
        gpus = { ["h100-sxm"] = { 2, 2 }, ["h200-sxm"] = { 2, 2 } },
        left_out = { tpot = { -0.233, 0.248 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.267 } },
        only = "gpt-oss-120b", without = {},
      },
      unsaturated = {
        deployments = 4, points = 56,
        tpot = { -0.110, 0.251 }, ttft = { -0.104, 0.643 }, e2e = { -0.110, 0.271 },
        gpus = { ["h100-sxm"] = { 2, 28 }, ["h200-sxm"] = { 2, 28 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.133, 1.838 }, e2e = { -0.105, 0.382 } },
        only = "gpt-oss-120b", without = {},
      },
    },
    ["vllm pd blackwell"] = {
      unsaturated = {
        deployments = 1, points = 11,
        tpot = { -0.108, 0.261 }, ttft = { -0.217, 0.742 }, e2e = { -0.105, 0.271 },
        gpus = { ["gb200"] = { 1, 11 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.110, 1.838 }, e2e = { -0.106, 0.542 } },
        only = "kimi-k2.5", without = {},
      },
    },
    ["vllm tep blackwell"] = {
      saturated = {
        deployments = 3, points = 11,
        tpot = { -0.082, 0.232 }, ttft = { -0.268, 0.576 }, e2e = { -0.090, 0.238 },
        gpus = { ["b200"] = { 3, 11 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        only = "minimax-m2.5", without = {},
      },
      unsaturated = {
        deployments = 2, points = 26,
        tpot = { -0.095, 0.248 }, ttft = { -0.122, 0.918 }, e2e = { -0.093, 0.253 },
        gpus = { ["b200"] = { 2, 26 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.133, 1.838 }, e2e = { -0.106, 0.542 } },
        only = "minimax-m2.5", without = {},
      },
    },
    ["vllm tep hopper"] = {
      saturated = {
        deployments = 1, points = 2,
        tpot = { -0.105, 0.238 }, ttft = { -0.316, 0.576 }, e2e = { -0.106, 0.238 },
        gpus = { ["h100-sxm"] = { 1, 2 } },
        left_out = { tpot = { -0.233, 0.251 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
        only = "minimax-m2.5", without = {},
      },
      unsaturated = {
        deployments = 1, points = 11,
        tpot = { -0.108, 0.261 }, ttft = { -0.130, 0.820 }, e2e = { -0.105, 0.271 },
        gpus = { ["h100-sxm"] = { 1, 11 } },
        left_out = { tpot = { -0.151, 0.261 }, ttft = { -0.133, 1.838 }, e2e = { -0.106, 0.542 } },
        only = "minimax-m2.5", without = {},
      },
    },
  },
  widest = {
    saturated = { tpot = { -0.233, 0.248 }, ttft = { -0.931, 0.576 }, e2e = { -0.230, 0.269 } },
    unsaturated = { tpot = { -0.151, 0.261 }, ttft = { -0.130, 1.838 }, e2e = { -0.105, 0.382 } },
  },
  modelled = {
    borrowed = {
      saturated = { deployments = 36, points = 158,
        tpot = { -0.270, 0.281 }, ttft = { -0.441, 0.666 }, e2e = { -0.268, 0.289 } },
      unsaturated = { deployments = 37, points = 369,
        tpot = { -0.319, 0.318 }, ttft = { -0.258, 0.721 }, e2e = { -0.314, 0.331 } },
    },
    fitted = {
      saturated = { deployments = 12, points = 23,
        tpot = { -0.098, 0.247 }, ttft = { -0.210, 0.983 }, e2e = { -0.122, 0.264 } },
      unsaturated = { deployments = 9, points = 128,
        tpot = { -0.151, 0.294 }, ttft = { -0.063, 0.717 }, e2e = { -0.145, 0.293 } },
    },
  },
}
