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
        tpot = { -0.071, 0.227 }, ttft = { -0.222, 0.556 }, e2e = { -0.077, 0.228 },
        gpus = { ["b200"] = { 4, 24 }, ["b300"] = { 1, 1 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.078, 0.227 }, ttft = { -0.222, 0.556 }, e2e = { -0.093, 0.228 } },
          ["glm-5"] = { tpot = { -0.073, 0.227 }, ttft = { -0.222, 0.556 }, e2e = { -0.080, 0.228 } },
          ["qwen3.5-397b-a17b"] = { tpot = { -0.078, 0.222 }, ttft = { -0.192, 0.556 }, e2e = { -0.093, 0.228 } },
        },
      },
      unsaturated = {
        deployments = 5, points = 34,
        tpot = { -0.086, 0.201 }, ttft = { -0.100, 0.911 }, e2e = { -0.082, 0.221 },
        gpus = { ["b200"] = { 4, 31 }, ["b300"] = { 1, 3 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.096, 0.370 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.096, 0.220 }, ttft = { -0.115, 0.915 }, e2e = { -0.095, 0.235 } },
          ["glm-5"] = { tpot = { -0.095, 0.202 }, ttft = { -0.107, 0.915 }, e2e = { -0.094, 0.230 } },
          ["qwen3.5-397b-a17b"] = { tpot = { -0.079, 0.220 }, ttft = { -0.115, 0.639 }, e2e = { -0.076, 0.235 } },
        },
      },
    },
    ["sglang moe-tp hopper"] = {
      saturated = {
        deployments = 1, points = 1,
        tpot = { -0.118, 0.222 }, ttft = { -0.313, 0.556 }, e2e = { -0.118, 0.228 },
        gpus = { ["h200-sxm"] = { 1, 1 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.546 }, e2e = { -0.161, 0.282 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 1, points = 14,
        tpot = { -0.150, 0.246 }, ttft = { -0.130, 0.738 }, e2e = { -0.143, 0.250 },
        gpus = { ["h200-sxm"] = { 1, 14 } },
        left_out = { tpot = { -0.080, 0.290 }, ttft = { -0.142, 1.824 }, e2e = { -0.081, 0.370 } },
        only = "deepseek-v3", without = {},
      },
    },
    ["sglang pd blackwell"] = {
      saturated = {
        deployments = 8, points = 23,
        tpot = { -0.118, 0.320 }, ttft = { -0.152, 1.257 }, e2e = { -0.066, 0.361 },
        gpus = { ["gb200"] = { 6, 21 }, ["gb300"] = { 2, 2 } },
        left_out = { tpot = { -0.188, 0.227 }, ttft = { -0.960, 0.556 }, e2e = { -0.186, 0.249 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 7, points = 28,
        tpot = { -0.109, 0.202 }, ttft = { -0.137, 0.941 }, e2e = { -0.107, 0.346 },
        gpus = { ["b200"] = { 1, 2 }, ["gb200"] = { 5, 20 }, ["gb300"] = { 1, 6 } },
        left_out = { tpot = { -0.144, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.095, 0.370 } },
        only = "deepseek-v3", without = {},
      },
    },
    ["sglang tep blackwell"] = {
      saturated = {
        deployments = 1, points = 12,
        tpot = { -0.118, 0.232 }, ttft = { -0.313, 0.861 }, e2e = { -0.118, 0.250 },
        gpus = { ["b200"] = { 1, 12 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.186, 0.249 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 1, points = 21,
        tpot = { -0.096, 0.290 }, ttft = { -0.142, 1.824 }, e2e = { -0.095, 0.370 },
        gpus = { ["b200"] = { 1, 21 } },
        left_out = { tpot = { -0.150, 0.234 }, ttft = { -0.137, 0.941 }, e2e = { -0.107, 0.346 } },
        only = "deepseek-v3", without = {},
      },
    },
    ["sglang tep hopper"] = {
      saturated = {
        deployments = 1, points = 1,
        tpot = { -0.118, 0.222 }, ttft = { -0.313, 0.556 }, e2e = { -0.118, 0.228 },
        gpus = { ["h200-sxm"] = { 1, 1 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        only = "qwen3.5-397b-a17b", without = {},
      },
      unsaturated = {
        deployments = 1, points = 14,
        tpot = { -0.096, 0.248 }, ttft = { -0.130, 0.738 }, e2e = { -0.095, 0.288 },
        gpus = { ["h200-sxm"] = { 1, 14 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.096, 0.359 } },
        only = "qwen3.5-397b-a17b", without = {},
      },
    },
    ["trtllm dense blackwell"] = {
      saturated = {
        deployments = 6, points = 29,
        tpot = { -0.070, 0.222 }, ttft = { -0.192, 0.546 }, e2e = { -0.074, 0.228 },
        gpus = { ["b200"] = { 6, 29 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        only = "llama-3.1-70b", without = {},
      },
      unsaturated = {
        deployments = 6, points = 79,
        tpot = { -0.062, 0.196 }, ttft = { -0.157, 0.615 }, e2e = { -0.061, 0.214 },
        gpus = { ["b200"] = { 6, 79 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.137, 1.824 }, e2e = { -0.096, 0.370 } },
        only = "llama-3.1-70b", without = {},
      },
    },
    ["trtllm dense hopper"] = {
      saturated = {
        deployments = 1, points = 7,
        tpot = { -0.118, 0.222 }, ttft = { -0.313, 0.556 }, e2e = { -0.118, 0.228 },
        gpus = { ["h200-sxm"] = { 1, 7 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        only = "llama-3.1-70b", without = {},
      },
      unsaturated = {
        deployments = 1, points = 11,
        tpot = { -0.096, 0.246 }, ttft = { -0.130, 0.738 }, e2e = { -0.095, 0.250 },
        gpus = { ["h200-sxm"] = { 1, 11 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.096, 0.370 } },
        only = "llama-3.1-70b", without = {},
      },
    },
    ["trtllm dpa blackwell"] = {
      saturated = {
        deployments = 3, points = 14,
        tpot = { -0.188, 0.232 }, ttft = { -0.192, 0.556 }, e2e = { -0.186, 0.249 },
        gpus = { ["b200"] = { 3, 14 } },
        left_out = { tpot = { -0.153, 0.269 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.190, 0.222 }, ttft = { -0.313, 0.556 }, e2e = { -0.188, 0.228 } },
          ["gpt-oss-120b"] = { tpot = { -0.097, 0.243 }, ttft = { -0.222, 0.556 }, e2e = { -0.093, 0.250 } },
        },
      },
    },
    ["trtllm moe-tp blackwell"] = {
      saturated = {
        deployments = 3, points = 7,
        tpot = { -0.078, 0.222 }, ttft = { -0.410, 0.556 }, e2e = { -0.093, 0.228 },
        gpus = { ["b200"] = { 3, 7 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.097, 0.222 }, ttft = { -0.192, 0.556 }, e2e = { -0.096, 0.228 } },
          ["gpt-oss-120b"] = { tpot = { -0.118, 0.222 }, ttft = { -0.410, 0.556 }, e2e = { -0.118, 0.228 } },
        },
      },
      unsaturated = {
        deployments = 5, points = 64,
        tpot = { -0.089, 0.220 }, ttft = { -0.142, 0.615 }, e2e = { -0.086, 0.235 },
        gpus = { ["b200"] = { 5, 64 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.096, 0.370 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.096, 0.212 }, ttft = { -0.148, 0.639 }, e2e = { -0.096, 0.235 } },
          ["gpt-oss-120b"] = { tpot = { -0.089, 0.238 }, ttft = { -0.117, 0.645 }, e2e = { -0.086, 0.244 } },
        },
      },
    },
    ["trtllm pd blackwell"] = {
      saturated = {
        deployments = 11, points = 27,
        tpot = { -0.118, 0.269 }, ttft = { -0.960, 0.556 }, e2e = { -0.152, 0.228 },
        gpus = { ["b200"] = { 4, 14 }, ["gb200"] = { 4, 8 }, ["gb300"] = { 3, 5 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.145, 1.257 }, e2e = { -0.161, 0.282 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 10, points = 30,
        tpot = { -0.098, 0.171 }, ttft = { -0.137, 1.394 }, e2e = { -0.096, 0.230 },
        gpus = { ["b200"] = { 4, 9 }, ["gb200"] = { 3, 11 }, ["gb300"] = { 3, 10 } },
        left_out = { tpot = { -0.144, 0.246 }, ttft = { -0.142, 1.696 }, e2e = { -0.096, 0.370 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.096, 0.246 }, ttft = { -0.129, 0.717 }, e2e = { -0.095, 0.250 } },
          ["kimi-k2.5"] = { tpot = { -0.118, 0.174 }, ttft = { -0.154, 1.824 }, e2e = { -0.117, 0.235 } },
        },
      },
    },
    ["trtllm pd hopper"] = {
      saturated = {
        deployments = 3, points = 6,
        tpot = { -0.078, 0.222 }, ttft = { -0.192, 0.556 }, e2e = { -0.093, 0.228 },
        gpus = { ["h200-sxm"] = { 3, 6 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 1, points = 6,
        tpot = { -0.096, 0.279 }, ttft = { -0.130, 0.825 }, e2e = { -0.095, 0.293 },
        gpus = { ["h200-sxm"] = { 1, 6 } },
        left_out = { tpot = { -0.098, 0.290 }, ttft = { -0.142, 1.824 }, e2e = { -0.096, 0.370 } },
        only = "deepseek-v3", without = {},
      },
    },
    ["trtllm tep blackwell"] = {
      saturated = {
        deployments = 4, points = 16,
        tpot = { -0.153, 0.269 }, ttft = { -0.437, 0.669 }, e2e = { -0.161, 0.282 },
        gpus = { ["b200"] = { 4, 16 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.186, 0.249 } },
        only = "deepseek-v3", without = {},
      },
      unsaturated = {
        deployments = 4, points = 12,
        tpot = { -0.076, 0.293 }, ttft = { -0.157, 0.626 }, e2e = { -0.071, 0.301 },
        gpus = { ["b200"] = { 4, 12 } },
        left_out = { tpot = { -0.098, 0.279 }, ttft = { -0.139, 1.824 }, e2e = { -0.096, 0.370 } },
        only = "deepseek-v3", without = {},
      },
    },
    ["trtllm tep hopper"] = {
      saturated = {
        deployments = 2, points = 3,
        tpot = { -0.118, 0.222 }, ttft = { -0.222, 0.556 }, e2e = { -0.118, 0.228 },
        gpus = { ["h200-sxm"] = { 2, 3 } },
        left_out = { tpot = { -0.188, 0.236 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.071, 0.222 }, ttft = { -0.313, 0.556 }, e2e = { -0.077, 0.228 } },
          ["gpt-oss-120b"] = { tpot = { -0.118, 0.222 }, ttft = { -0.313, 0.556 }, e2e = { -0.118, 0.228 } },
        },
      },
      unsaturated = {
        deployments = 1, points = 28,
        tpot = { -0.124, 0.246 }, ttft = { -0.130, 0.738 }, e2e = { -0.123, 0.250 },
        gpus = { ["h200-sxm"] = { 1, 28 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.075, 0.370 } },
        only = "gpt-oss-120b", without = {},
      },
    },
    ["vllm dense blackwell"] = {
      saturated = {
        deployments = 2, points = 2,
        tpot = { -0.097, 0.222 }, ttft = { -0.222, 0.556 }, e2e = { -0.096, 0.228 },
        gpus = { ["b200"] = { 2, 2 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        only = "llama-3.1-70b", without = {},
      },
      unsaturated = {
        deployments = 2, points = 28,
        tpot = { -0.094, 0.235 }, ttft = { -0.129, 0.645 }, e2e = { -0.088, 0.244 },
        gpus = { ["b200"] = { 2, 28 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.096, 0.370 } },
        only = "llama-3.1-70b", without = {},
      },
    },
    ["vllm dense hopper"] = {
      saturated = {
        deployments = 3, points = 4,
        tpot = { -0.078, 0.222 }, ttft = { -0.192, 0.556 }, e2e = { -0.093, 0.228 },
        gpus = { ["h100-sxm"] = { 1, 1 }, ["h200-sxm"] = { 2, 3 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        only = "llama-3.1-70b", without = {},
      },
      unsaturated = {
        deployments = 3, points = 41,
        tpot = { -0.080, 0.235 }, ttft = { -0.139, 0.639 }, e2e = { -0.082, 0.235 },
        gpus = { ["h100-sxm"] = { 1, 14 }, ["h200-sxm"] = { 2, 27 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.096, 0.370 } },
        only = "llama-3.1-70b", without = {},
      },
    },
    ["vllm moe-tp blackwell"] = {
      saturated = {
        deployments = 10, points = 39,
        tpot = { -0.080, 0.222 }, ttft = { -0.145, 0.505 }, e2e = { -0.087, 0.228 },
        gpus = { ["b200"] = { 6, 21 }, ["b300"] = { 4, 18 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        without = {
          ["gpt-oss-120b"] = { tpot = { -0.097, 0.222 }, ttft = { -0.181, 0.521 }, e2e = { -0.096, 0.228 } },
          ["kimi-k2.5"] = { tpot = { -0.074, 0.222 }, ttft = { -0.152, 0.506 }, e2e = { -0.077, 0.228 } },
          ["minimax-m2.5"] = { tpot = { -0.160, 0.222 }, ttft = { -0.192, 0.556 }, e2e = { -0.157, 0.228 } },
        },
      },
      unsaturated = {
        deployments = 14, points = 140,
        tpot = { -0.094, 0.181 }, ttft = { -0.186, 0.645 }, e2e = { -0.094, 0.186 },
        gpus = { ["b200"] = { 9, 105 }, ["b300"] = { 5, 35 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.137, 1.824 }, e2e = { -0.096, 0.370 } },
        without = {
          ["gpt-oss-120b"] = { tpot = { -0.095, 0.183 }, ttft = { -0.173, 0.662 }, e2e = { -0.094, 0.187 } },
          ["kimi-k2.5"] = { tpot = { -0.068, 0.185 }, ttft = { -0.165, 0.592 }, e2e = { -0.065, 0.195 } },
          ["minimax-m2.5"] = { tpot = { -0.096, 0.202 }, ttft = { -0.200, 0.726 }, e2e = { -0.095, 0.221 } },
        },
      },
    },
    ["vllm moe-tp hopper"] = {
      saturated = {
        deployments = 4, points = 4,
        tpot = { -0.073, 0.313 }, ttft = { -0.192, 0.556 }, e2e = { -0.080, 0.314 },
        gpus = { ["h100-sxm"] = { 2, 2 }, ["h200-sxm"] = { 2, 2 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.186, 0.249 } },
        only = "gpt-oss-120b", without = {},
      },
      unsaturated = {
        deployments = 4, points = 56,
        tpot = { -0.109, 0.246 }, ttft = { -0.107, 0.645 }, e2e = { -0.108, 0.248 },
        gpus = { ["h100-sxm"] = { 2, 28 }, ["h200-sxm"] = { 2, 28 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.095, 0.370 } },
        only = "gpt-oss-120b", without = {},
      },
    },
    ["vllm pd blackwell"] = {
      unsaturated = {
        deployments = 1, points = 11,
        tpot = { -0.096, 0.246 }, ttft = { -0.224, 0.738 }, e2e = { -0.095, 0.250 },
        gpus = { ["gb200"] = { 1, 11 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.122, 1.824 }, e2e = { -0.096, 0.370 } },
        only = "kimi-k2.5", without = {},
      },
    },
    ["vllm tep blackwell"] = {
      saturated = {
        deployments = 3, points = 11,
        tpot = { -0.078, 0.222 }, ttft = { -0.268, 0.556 }, e2e = { -0.093, 0.228 },
        gpus = { ["b200"] = { 3, 11 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        only = "minimax-m2.5", without = {},
      },
      unsaturated = {
        deployments = 2, points = 26,
        tpot = { -0.094, 0.248 }, ttft = { -0.122, 0.911 }, e2e = { -0.088, 0.248 },
        gpus = { ["b200"] = { 2, 26 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.096, 0.370 } },
        only = "minimax-m2.5", without = {},
      },
    },
    ["vllm tep hopper"] = {
      saturated = {
        deployments = 1, points = 2,
        tpot = { -0.118, 0.222 }, ttft = { -0.313, 0.556 }, e2e = { -0.118, 0.228 },
        gpus = { ["h100-sxm"] = { 1, 2 } },
        left_out = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
        only = "minimax-m2.5", without = {},
      },
      unsaturated = {
        deployments = 1, points = 11,
        tpot = { -0.096, 0.246 }, ttft = { -0.130, 0.825 }, e2e = { -0.095, 0.250 },
        gpus = { ["h100-sxm"] = { 1, 11 } },
        left_out = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.096, 0.370 } },
        only = "minimax-m2.5", without = {},
      },
    },
  },
  widest = {
    saturated = { tpot = { -0.118, 0.320 }, ttft = { -0.960, 0.556 }, e2e = { -0.161, 0.282 } },
    unsaturated = { tpot = { -0.150, 0.246 }, ttft = { -0.142, 1.824 }, e2e = { -0.095, 0.370 } },
  },
  modelled = {
    borrowed = {
      saturated = { deployments = 36, points = 162,
        tpot = { -0.270, 0.243 }, ttft = { -0.421, 0.649 }, e2e = { -0.262, 0.261 } },
      unsaturated = { deployments = 37, points = 365,
        tpot = { -0.305, 0.295 }, ttft = { -0.275, 0.711 }, e2e = { -0.302, 0.305 } },
    },
    fitted = {
      saturated = { deployments = 12, points = 23,
        tpot = { -0.110, 0.237 }, ttft = { -0.209, 0.982 }, e2e = { -0.129, 0.264 } },
      unsaturated = { deployments = 9, points = 128,
        tpot = { -0.157, 0.299 }, ttft = { -0.068, 0.723 }, e2e = { -0.157, 0.298 } },
    },
  },
}
