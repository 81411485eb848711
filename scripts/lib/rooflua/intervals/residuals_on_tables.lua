-- 5 and 95 % quantiles of log(measured / simulated) of public closed loops, by kind of deployment and load, of
-- simulations that rest on tables. `without`: without the model that is named; `only`: the one model of the kind;
-- `left_out`: if the kind had never been measured; `gpus`: deployments and points of each; `unseen`: of a kind that was
-- never measured. Made by tests/fidelity/closed_loop_intervals.lua; intervals/making.lua says how.
return {
  deployments = 83, points = 783,
  kinds = {
    ["sglang dense hopper"] = {
      unsaturated = {
        deployments = 1, points = 2, only = "gemma-4-31b", gpus = { ["h200-sxm"] = { 1, 2 } },
        tpot = { -0.094, 0.246 }, ttft = { -0.130, 0.639 }, e2e = { -0.093, 0.250 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["sglang dpa blackwell"] = {
      unsaturated = {
        deployments = 1, points = 1, only = "kimi-k2", gpus = { ["b200"] = { 1, 1 } },
        tpot = { -0.094, 0.571 }, ttft = { -0.130, 0.639 }, e2e = { -0.093, 0.555 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.346 } },
      },
    },
    ["sglang moe-tp blackwell"] = {
      saturated = {
        deployments = 2, points = 8, gpus = { ["b200"] = { 2, 8 } },
        tpot = { -0.070, 0.248 }, ttft = { -0.410, 0.560 }, e2e = { -0.069, 0.226 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
        without = {
          ["glm-5"] = { tpot = { -0.071, 0.260 }, ttft = { -0.411, 0.560 }, e2e = { -0.077, 0.249 } },
          ["qwen3.5-397b-a17b"] = { tpot = { -0.071, 0.260 }, ttft = { -0.411, 0.560 }, e2e = { -0.077, 0.249 } },
        },
      },
      unsaturated = {
        deployments = 2, points = 9, gpus = { ["b200"] = { 2, 9 } },
        tpot = { -0.123, 0.224 }, ttft = { -0.126, 0.618 }, e2e = { -0.120, 0.244 },
        left_out = { tpot = { -0.108, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.107, 0.359 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.123, 0.246 }, ttft = { -0.130, 0.639 }, e2e = { -0.120, 0.250 } },
          ["glm-5"] = { tpot = { -0.094, 0.246 }, ttft = { -0.130, 0.639 }, e2e = { -0.088, 0.250 } },
        },
      },
    },
    ["sglang moe-tp hopper"] = {
      saturated = {
        deployments = 1, points = 1, only = "deepseek-v3", gpus = { ["h200-sxm"] = { 1, 1 } },
        tpot = { -0.071, 0.260 }, ttft = { -0.411, 0.560 }, e2e = { -0.077, 0.249 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 2, points = 14, gpus = { ["h200-sxm"] = { 2, 14 } },
        tpot = { -0.160, 0.224 }, ttft = { -0.126, 0.618 }, e2e = { -0.157, 0.244 },
        left_out = { tpot = { -0.104, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.104, 0.359 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.089, 0.246 }, ttft = { -0.130, 0.639 }, e2e = { -0.081, 0.250 } },
          ["gemma-4-26b-a4b"] = { tpot = { -0.143, 0.246 }, ttft = { -0.130, 0.639 }, e2e = { -0.138, 0.250 } },
        },
      },
    },
    ["sglang pd blackwell"] = {
      saturated = {
        deployments = 8, points = 23, only = "deepseek-v3", gpus = { ["gb200"] = { 6, 21 }, ["gb300"] = { 2, 2 } },
        tpot = { -0.073, 0.320 }, ttft = { -0.126, 1.257 }, e2e = { -0.048, 0.361 },
        left_out = { tpot = { -0.190, 0.315 }, ttft = { -0.960, 0.669 }, e2e = { -0.186, 0.325 } },
      },
      unsaturated = {
        deployments = 7, points = 27, only = "deepseek-v3",
        gpus = { ["b200"] = { 1, 2 }, ["gb200"] = { 5, 19 }, ["gb300"] = { 1, 6 } },
        tpot = { -0.109, 0.198 }, ttft = { -0.137, 0.941 }, e2e = { -0.107, 0.346 },
        left_out = { tpot = { -0.124, 0.293 }, ttft = { -0.173, 1.319 }, e2e = { -0.123, 0.301 } },
      },
    },
    ["sglang tep blackwell"] = {
      saturated = {
        deployments = 1, points = 10, only = "deepseek-v3", gpus = { ["b200"] = { 1, 10 } },
        tpot = { -0.071, 0.260 }, ttft = { -0.411, 2.640 }, e2e = { -0.077, 0.282 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 1, points = 17, only = "deepseek-v3", gpus = { ["b200"] = { 1, 17 } },
        tpot = { -0.094, 0.338 }, ttft = { -0.141, 2.670 }, e2e = { -0.093, 0.582 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.319 }, e2e = { -0.120, 0.346 } },
      },
    },
    ["sglang tep hopper"] = {
      saturated = {
        deployments = 1, points = 1, only = "qwen3.5-397b-a17b", gpus = { ["h200-sxm"] = { 1, 1 } },
        tpot = { -0.071, 0.260 }, ttft = { -0.411, 0.560 }, e2e = { -0.077, 0.249 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 1, points = 6, only = "qwen3.5-397b-a17b", gpus = { ["h200-sxm"] = { 1, 6 } },
        tpot = { -0.094, 0.246 }, ttft = { -0.130, 0.639 }, e2e = { -0.093, 0.250 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["trtllm dense blackwell"] = {
      saturated = {
        deployments = 6, points = 29, only = "llama-3.1-70b", gpus = { ["b200"] = { 6, 29 } },
        tpot = { -0.053, 0.217 }, ttft = { -0.145, 0.512 }, e2e = { -0.050, 0.223 },
        left_out = { tpot = { -0.190, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.186, 0.361 } },
      },
      unsaturated = {
        deployments = 6, points = 79, only = "llama-3.1-70b", gpus = { ["b200"] = { 6, 79 } },
        tpot = { -0.066, 0.174 }, ttft = { -0.157, 0.545 }, e2e = { -0.062, 0.195 },
        left_out = { tpot = { -0.127, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["trtllm dense hopper"] = {
      saturated = {
        deployments = 1, points = 7, only = "llama-3.1-70b", gpus = { ["h200-sxm"] = { 1, 7 } },
        tpot = { -0.071, 0.260 }, ttft = { -0.411, 0.560 }, e2e = { -0.096, 0.249 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 1, points = 11, only = "llama-3.1-70b", gpus = { ["h200-sxm"] = { 1, 11 } },
        tpot = { -0.094, 0.246 }, ttft = { -0.130, 0.639 }, e2e = { -0.093, 0.250 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["trtllm dpa blackwell"] = {
      saturated = {
        deployments = 3, points = 13, gpus = { ["b200"] = { 3, 13 } },
        tpot = { -0.190, 0.253 }, ttft = { -0.409, 0.556 }, e2e = { -0.186, 0.253 },
        left_out = { tpot = { -0.077, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.190, 0.269 }, ttft = { -0.411, 0.560 }, e2e = { -0.188, 0.245 } },
          ["gpt-oss-120b"] = { tpot = { -0.063, 0.253 }, ttft = { -0.410, 0.560 }, e2e = { -0.066, 0.253 } },
        },
      },
    },
    ["trtllm moe-tp blackwell"] = {
      saturated = {
        deployments = 3, points = 6, gpus = { ["b200"] = { 3, 6 } },
        tpot = { -0.063, 0.236 }, ttft = { -0.410, 0.556 }, e2e = { -0.066, 0.223 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.070, 0.248 }, ttft = { -0.409, 0.560 }, e2e = { -0.069, 0.245 } },
          ["gpt-oss-120b"] = { tpot = { -0.073, 0.269 }, ttft = { -0.411, 0.560 }, e2e = { -0.077, 0.250 } },
        },
      },
      unsaturated = {
        deployments = 4, points = 56, gpus = { ["b200"] = { 4, 56 } },
        tpot = { -0.094, 0.196 }, ttft = { -0.148, 0.596 }, e2e = { -0.093, 0.221 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.096, 0.202 }, ttft = { -0.152, 0.615 }, e2e = { -0.094, 0.242 } },
          ["gpt-oss-120b"] = { tpot = { -0.095, 0.246 }, ttft = { -0.127, 0.645 }, e2e = { -0.093, 0.257 } },
        },
      },
    },
    ["trtllm pd blackwell"] = {
      saturated = {
        deployments = 11, points = 27, only = "deepseek-v3",
        gpus = { ["b200"] = { 4, 14 }, ["gb200"] = { 4, 8 }, ["gb300"] = { 3, 5 } },
        tpot = { -0.073, 0.269 }, ttft = { -0.960, 0.560 }, e2e = { -0.152, 0.226 },
        left_out = { tpot = { -0.190, 0.320 }, ttft = { -0.417, 1.257 }, e2e = { -0.186, 0.361 } },
      },
      unsaturated = {
        deployments = 10, points = 27, gpus = { ["b200"] = { 4, 9 }, ["gb200"] = { 3, 8 }, ["gb300"] = { 3, 10 } },
        tpot = { -0.099, 0.128 }, ttft = { -0.147, 1.394 }, e2e = { -0.096, 0.235 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 0.941 }, e2e = { -0.122, 0.346 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.095, 0.246 }, ttft = { -0.130, 0.626 }, e2e = { -0.093, 0.257 } },
          ["kimi-k2.5"] = { tpot = { -0.109, 0.137 }, ttft = { -0.157, 1.824 }, e2e = { -0.107, 0.244 } },
        },
      },
    },
    ["trtllm pd hopper"] = {
      saturated = {
        deployments = 3, points = 6, only = "deepseek-v3", gpus = { ["h200-sxm"] = { 3, 6 } },
        tpot = { -0.063, 0.236 }, ttft = { -0.409, 0.556 }, e2e = { -0.066, 0.223 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 1, points = 6, only = "deepseek-v3", gpus = { ["h200-sxm"] = { 1, 6 } },
        tpot = { -0.094, 0.279 }, ttft = { -0.130, 0.825 }, e2e = { -0.093, 0.293 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["trtllm tep blackwell"] = {
      saturated = {
        deployments = 4, points = 8, only = "deepseek-v3", gpus = { ["b200"] = { 4, 8 } },
        tpot = { -0.058, 0.315 }, ttft = { -0.417, 0.669 }, e2e = { -0.061, 0.325 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 4, points = 9, only = "deepseek-v3", gpus = { ["b200"] = { 4, 9 } },
        tpot = { -0.074, 0.293 }, ttft = { -0.107, 0.626 }, e2e = { -0.071, 0.301 },
        left_out = { tpot = { -0.123, 0.242 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["trtllm tep hopper"] = {
      saturated = {
        deployments = 1, points = 2, only = "gpt-oss-120b", gpus = { ["h200-sxm"] = { 1, 2 } },
        tpot = { -0.071, 0.260 }, ttft = { -0.411, 0.560 }, e2e = { -0.077, 0.249 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 1, points = 28, only = "gpt-oss-120b", gpus = { ["h200-sxm"] = { 1, 28 } },
        tpot = { -0.124, 0.246 }, ttft = { -0.130, 0.639 }, e2e = { -0.123, 0.250 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["vllm dense blackwell"] = {
      unsaturated = {
        deployments = 2, points = 24, only = "llama-3.1-70b", gpus = { ["b200"] = { 2, 24 } },
        tpot = { -0.089, 0.224 }, ttft = { -0.129, 0.618 }, e2e = { -0.081, 0.244 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["vllm dense hopper"] = {
      saturated = {
        deployments = 3, points = 4, only = "llama-3.1-70b",
        gpus = { ["h100-sxm"] = { 1, 1 }, ["h200-sxm"] = { 2, 3 } },
        tpot = { -0.063, 0.236 }, ttft = { -0.409, 0.556 }, e2e = { -0.066, 0.223 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 3, points = 41, only = "llama-3.1-70b",
        gpus = { ["h100-sxm"] = { 1, 14 }, ["h200-sxm"] = { 2, 27 } },
        tpot = { -0.083, 0.235 }, ttft = { -0.137, 0.615 }, e2e = { -0.072, 0.235 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["vllm moe-tp blackwell"] = {
      saturated = {
        deployments = 10, points = 39, gpus = { ["b200"] = { 6, 21 }, ["b300"] = { 4, 18 } },
        tpot = { -0.077, 0.217 }, ttft = { -0.145, 0.481 }, e2e = { -0.077, 0.223 },
        left_out = { tpot = { -0.190, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.186, 0.361 } },
        without = {
          ["gpt-oss-120b"] = { tpot = { -0.078, 0.232 }, ttft = { -0.145, 0.512 }, e2e = { -0.072, 0.223 } },
          ["kimi-k2.5"] = { tpot = { -0.074, 0.228 }, ttft = { -0.145, 0.505 }, e2e = { -0.072, 0.223 } },
          ["minimax-m2.5"] = { tpot = { -0.160, 0.227 }, ttft = { -0.259, 0.546 }, e2e = { -0.157, 0.223 } },
        },
      },
      unsaturated = {
        deployments = 12, points = 127, gpus = { ["b200"] = { 8, 98 }, ["b300"] = { 4, 29 } },
        tpot = { -0.094, 0.181 }, ttft = { -0.173, 0.645 }, e2e = { -0.094, 0.187 },
        left_out = { tpot = { -0.127, 0.293 }, ttft = { -0.157, 1.696 }, e2e = { -0.123, 0.359 } },
        without = {
          ["gpt-oss-120b"] = { tpot = { -0.096, 0.183 }, ttft = { -0.173, 0.697 }, e2e = { -0.094, 0.189 } },
          ["kimi-k2.5"] = { tpot = { -0.076, 0.185 }, ttft = { -0.152, 0.592 }, e2e = { -0.071, 0.221 } },
          ["minimax-m2.5"] = { tpot = { -0.096, 0.198 }, ttft = { -0.200, 0.726 }, e2e = { -0.095, 0.229 } },
        },
      },
    },
    ["vllm moe-tp hopper"] = {
      saturated = {
        deployments = 4, points = 4, only = "gpt-oss-120b", gpus = { ["h100-sxm"] = { 2, 2 }, ["h200-sxm"] = { 2, 2 } },
        tpot = { -0.058, 0.313 }, ttft = { -0.259, 0.546 }, e2e = { -0.061, 0.314 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 4, points = 56, only = "gpt-oss-120b",
        gpus = { ["h100-sxm"] = { 2, 28 }, ["h200-sxm"] = { 2, 28 } },
        tpot = { -0.109, 0.246 }, ttft = { -0.107, 0.615 }, e2e = { -0.108, 0.250 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["vllm pd blackwell"] = {
      unsaturated = {
        deployments = 1, points = 5, only = "kimi-k2.5", gpus = { ["gb200"] = { 1, 5 } },
        tpot = { -0.094, 0.246 }, ttft = { -0.157, 0.639 }, e2e = { -0.093, 0.250 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["vllm tep blackwell"] = {
      saturated = {
        deployments = 3, points = 11, only = "minimax-m2.5", gpus = { ["b200"] = { 3, 11 } },
        tpot = { -0.078, 0.236 }, ttft = { -0.409, 0.556 }, e2e = { -0.080, 0.223 },
        left_out = { tpot = { -0.077, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 2, points = 26, only = "minimax-m2.5", gpus = { ["b200"] = { 2, 26 } },
        tpot = { -0.089, 0.246 }, ttft = { -0.126, 0.825 }, e2e = { -0.081, 0.248 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
    ["vllm tep hopper"] = {
      saturated = {
        deployments = 1, points = 2, only = "minimax-m2.5", gpus = { ["h100-sxm"] = { 1, 2 } },
        tpot = { -0.071, 0.260 }, ttft = { -0.411, 0.560 }, e2e = { -0.077, 0.249 },
        left_out = { tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
      },
      unsaturated = {
        deployments = 1, points = 11, only = "minimax-m2.5", gpus = { ["h100-sxm"] = { 1, 11 } },
        tpot = { -0.094, 0.246 }, ttft = { -0.130, 0.742 }, e2e = { -0.093, 0.250 },
        left_out = { tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.359 } },
      },
    },
  },
  unseen = {
    saturated = { deployments = 66, points = 201,
      tpot = { -0.078, 0.320 }, ttft = { -0.960, 1.257 }, e2e = { -0.152, 0.361 } },
    unsaturated = { deployments = 67, points = 582,
      tpot = { -0.123, 0.293 }, ttft = { -0.173, 1.394 }, e2e = { -0.120, 0.346 } },
  },
}
