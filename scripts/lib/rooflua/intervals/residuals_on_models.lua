-- 5 and 95 % quantiles of log(measured / simulated) of public closed loops, by kind of deployment and load, of
-- simulations that rest on models. `without`: without the model that is named; `only`: the one model of the kind;
-- `left_out`: if the kind had never been measured; `gpus`: deployments and points of each; `unseen`: of a kind that was
-- never measured. Made by tests/fidelity/closed_loop_intervals.lua; intervals/making.lua says how.
return {
  deployments = 82, points = 865,
  kinds = {
    ["sglang dense cdna3"] = {
      unsaturated = {
        deployments = 2, points = 5, gpus = { ["mi300x"] = { 2, 5 } },
        tpot = { -0.294, 0.530 }, ttft = { -0.569, 4.582 }, e2e = { -0.197, 0.541 },
        left_out = { tpot = { -0.336, 0.377 }, ttft = { -0.435, 1.187 }, e2e = { -0.335, 0.444 } },
        without = {
          ["gemma-4-31b"] = { tpot = { -0.294, 0.530 }, ttft = { -0.569, 4.582 }, e2e = { -0.213, 0.541 } },
          ["ministral-3-14b"] = { tpot = { -0.214, 0.332 }, ttft = { -0.214, 0.868 }, e2e = { -0.213, 0.382 } },
        },
      },
    },
    ["sglang dpa cdna3"] = {
      unsaturated = {
        deployments = 1, points = 1, only = "deepseek-v3", gpus = { ["mi300x"] = { 1, 1 } },
        tpot = { -0.220, 0.346 }, ttft = { -0.226, 1.491 }, e2e = { -0.207, 0.443 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["sglang dpa hopper"] = {
      saturated = {
        deployments = 1, points = 2, only = "deepseek-v3.2", gpus = { ["h800"] = { 1, 2 } },
        tpot = { -0.221, 0.266 }, ttft = { -0.421, 0.626 }, e2e = { -0.222, 0.264 },
        left_out = { tpot = { -0.456, 0.291 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 1, points = 1, only = "deepseek-v3.2", gpus = { ["h800"] = { 1, 1 } },
        tpot = { -0.220, 0.484 }, ttft = { -0.226, 0.968 }, e2e = { -0.207, 0.456 },
        left_out = { tpot = { -0.336, 0.367 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.444 } },
      },
    },
    ["sglang moe-tp blackwell"] = {
      saturated = {
        deployments = 8, points = 45, gpus = { ["b200"] = { 7, 44 }, ["b300"] = { 1, 1 } },
        tpot = { -0.185, 0.286 }, ttft = { -0.402, 0.563 }, e2e = { -0.183, 0.278 },
        left_out = { tpot = { -0.456, 0.286 }, ttft = { -0.684, 0.982 }, e2e = { -0.452, 0.286 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.196, 0.286 }, ttft = { -0.415, 0.563 }, e2e = { -0.201, 0.278 } },
          ["glm-4.6"] = { tpot = { -0.189, 0.286 }, ttft = { -0.348, 0.563 }, e2e = { -0.192, 0.278 } },
          ["glm-4.7-flash"] = { tpot = { -0.189, 0.266 }, ttft = { -0.402, 0.563 }, e2e = { -0.192, 0.259 } },
          ["glm-5"] = { tpot = { -0.189, 0.266 }, ttft = { -0.402, 0.558 }, e2e = { -0.192, 0.259 } },
          ["qwen3-coder-next"] = { tpot = { -0.189, 0.286 }, ttft = { -0.402, 0.563 }, e2e = { -0.192, 0.278 } },
          ["qwen3.5-397b-a17b"] = { tpot = { -0.196, 0.742 }, ttft = { -1.164, 0.563 }, e2e = { -0.201, 0.725 } },
        },
      },
      unsaturated = {
        deployments = 12, points = 85, gpus = { ["b200"] = { 11, 82 }, ["b300"] = { 1, 3 } },
        tpot = { -0.169, 0.397 }, ttft = { -0.235, 0.909 }, e2e = { -0.161, 0.456 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.444 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.174, 0.484 }, ttft = { -0.243, 0.909 }, e2e = { -0.168, 0.512 } },
          ["deepseek-v3.2"] = { tpot = { -0.174, 0.423 }, ttft = { -0.243, 0.909 }, e2e = { -0.168, 0.456 } },
          ["glm-4.6"] = { tpot = { -0.174, 0.484 }, ttft = { -0.203, 0.909 }, e2e = { -0.168, 0.456 } },
          ["glm-4.7-flash"] = { tpot = { -0.174, 0.300 }, ttft = { -0.205, 0.903 }, e2e = { -0.168, 0.342 } },
          ["glm-5"] = { tpot = { -0.174, 0.484 }, ttft = { -0.243, 0.909 }, e2e = { -0.168, 0.512 } },
          ["gpt-oss-120b"] = { tpot = { -0.174, 0.468 }, ttft = { -0.243, 0.909 }, e2e = { -0.168, 0.456 } },
          ["nemotron-3-nano-30b-a3b"] = { tpot = { -0.174, 0.423 }, ttft = { -0.243, 0.909 }, e2e = { -0.168, 0.456 } },
          ["qwen3-coder-next"] = { tpot = { -0.174, 0.484 }, ttft = { -0.205, 0.909 }, e2e = { -0.168, 0.456 } },
          ["qwen3-next-80b-a3b"] = { tpot = { -0.174, 0.468 }, ttft = { -0.243, 0.909 }, e2e = { -0.168, 0.456 } },
          ["qwen3.5-397b-a17b"] = { tpot = { -0.160, 0.586 }, ttft = { -0.247, 0.796 }, e2e = { -0.153, 0.584 } },
        },
      },
    },
    ["sglang moe-tp cdna3"] = {
      saturated = {
        deployments = 1, points = 1, only = "deepseek-v3", gpus = { ["mi300x"] = { 1, 1 } },
        tpot = { -0.221, 0.286 }, ttft = { -0.618, 0.626 }, e2e = { -0.222, 0.264 },
        left_out = { tpot = { -0.456, 0.291 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 3, points = 13, gpus = { ["mi300x"] = { 3, 13 } },
        tpot = { -0.197, 0.346 }, ttft = { -0.383, 1.106 }, e2e = { -0.191, 0.427 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.206, 0.321 }, ttft = { -0.201, 1.074 }, e2e = { -0.200, 0.379 } },
          ["gemma-4-26b-a4b"] = { tpot = { -0.206, 0.367 }, ttft = { -0.383, 1.106 }, e2e = { -0.200, 0.427 } },
          ["kimi-linear-48b-a3b"] = { tpot = { -0.206, 0.369 }, ttft = { -0.383, 1.109 }, e2e = { -0.200, 0.427 } },
        },
      },
    },
    ["sglang moe-tp hopper"] = {
      saturated = {
        deployments = 2, points = 2, gpus = { ["h200-sxm"] = { 2, 2 } },
        tpot = { -0.219, 0.243 }, ttft = { -0.403, 0.626 }, e2e = { -0.219, 0.264 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.221, 0.266 }, ttft = { -0.421, 0.626 }, e2e = { -0.222, 0.264 } },
          ["glm-5.1"] = { tpot = { -0.221, 0.266 }, ttft = { -0.421, 0.626 }, e2e = { -0.222, 0.264 } },
        },
      },
      unsaturated = {
        deployments = 4, points = 18, gpus = { ["h200-sxm"] = { 4, 18 } },
        tpot = { -0.228, 0.299 }, ttft = { -0.186, 0.859 }, e2e = { -0.225, 0.333 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.191, 0.318 }, ttft = { -0.201, 0.859 }, e2e = { -0.183, 0.351 } },
          ["gemma-4-26b-a4b"] = { tpot = { -0.232, 0.318 }, ttft = { -0.201, 0.793 }, e2e = { -0.225, 0.351 } },
          ["glm-5.1"] = { tpot = { -0.232, 0.318 }, ttft = { -0.201, 0.859 }, e2e = { -0.225, 0.351 } },
          ["nemotron-3-super-120b-a12b"] = { tpot = { -0.232, 0.318 }, ttft = { -0.201, 0.859 },
            e2e = { -0.226, 0.351 } },
        },
      },
    },
    ["sglang pd blackwell"] = {
      unsaturated = {
        deployments = 2, points = 3, only = "deepseek-v3", gpus = { ["b200"] = { 1, 2 }, ["gb200"] = { 1, 1 } },
        tpot = { -0.206, 0.326 }, ttft = { -0.207, 1.889 }, e2e = { -0.197, 0.444 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.106 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["sglang tep blackwell"] = {
      saturated = {
        deployments = 2, points = 21, gpus = { ["b200"] = { 2, 21 } },
        tpot = { -0.219, 0.281 }, ttft = { -0.403, 2.709 }, e2e = { -0.219, 0.301 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.301 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.221, 0.266 }, ttft = { -0.421, 0.626 }, e2e = { -0.222, 0.264 } },
          ["minimax-m2.5"] = { tpot = { -0.221, 0.281 }, ttft = { -0.421, 0.982 }, e2e = { -0.222, 0.278 } },
        },
      },
      unsaturated = {
        deployments = 2, points = 24, gpus = { ["b200"] = { 2, 24 } },
        tpot = { -0.206, 0.337 }, ttft = { -0.207, 1.491 }, e2e = { -0.197, 0.456 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.223, 0.336 }, ttft = { -0.227, 0.924 }, e2e = { -0.213, 0.443 } },
          ["minimax-m2.5"] = { tpot = { -0.223, 0.346 }, ttft = { -0.227, 1.491 }, e2e = { -0.213, 0.456 } },
        },
      },
    },
    ["sglang tep cdna3"] = {
      unsaturated = {
        deployments = 1, points = 3, only = "qwen3-coder-480b-a35b", gpus = { ["mi300x"] = { 1, 3 } },
        tpot = { -0.220, 0.336 }, ttft = { -0.226, 0.968 }, e2e = { -0.207, 0.443 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["sglang tep hopper"] = {
      saturated = {
        deployments = 1, points = 1, only = "qwen3.5-397b-a17b", gpus = { ["h200-sxm"] = { 1, 1 } },
        tpot = { -0.221, 0.266 }, ttft = { -0.421, 0.626 }, e2e = { -0.222, 0.264 },
        left_out = { tpot = { -0.456, 0.291 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 1, points = 22, only = "qwen3.5-397b-a17b", gpus = { ["h200-sxm"] = { 1, 22 } },
        tpot = { -0.220, 0.346 }, ttft = { -0.226, 0.968 }, e2e = { -0.207, 0.443 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["trtllm dense blackwell"] = {
      saturated = {
        deployments = 6, points = 31, only = "llama-3.1-70b", gpus = { ["b200"] = { 6, 31 } },
        tpot = { -0.192, 0.286 }, ttft = { -0.348, 0.555 }, e2e = { -0.195, 0.278 },
        left_out = { tpot = { -0.456, 0.286 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 6, points = 77, only = "llama-3.1-70b", gpus = { ["b200"] = { 6, 77 } },
        tpot = { -0.177, 0.310 }, ttft = { -0.144, 0.711 }, e2e = { -0.175, 0.333 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["trtllm dense hopper"] = {
      saturated = {
        deployments = 1, points = 7, only = "llama-3.1-70b", gpus = { ["h200-sxm"] = { 1, 7 } },
        tpot = { -0.221, 0.266 }, ttft = { -0.421, 0.626 }, e2e = { -0.222, 0.264 },
        left_out = { tpot = { -0.456, 0.291 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 1, points = 11, only = "llama-3.1-70b", gpus = { ["h200-sxm"] = { 1, 11 } },
        tpot = { -0.220, 0.336 }, ttft = { -0.226, 0.968 }, e2e = { -0.207, 0.443 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["trtllm dpa blackwell"] = {
      saturated = {
        deployments = 3, points = 15, gpus = { ["b200"] = { 3, 15 } },
        tpot = { -0.456, 0.240 }, ttft = { -0.400, 0.619 }, e2e = { -0.452, 0.261 },
        left_out = { tpot = { -0.270, 0.300 }, ttft = { -0.732, 0.982 }, e2e = { -0.268, 0.310 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.471, 0.266 }, ttft = { -0.421, 0.626 }, e2e = { -0.468, 0.264 } },
          ["gpt-oss-120b"] = { tpot = { -0.206, 0.243 }, ttft = { -0.414, 0.626 }, e2e = { -0.206, 0.264 } },
        },
      },
    },
    ["trtllm moe-tp blackwell"] = {
      saturated = {
        deployments = 3, points = 11, gpus = { ["b200"] = { 3, 11 } },
        tpot = { -0.264, 0.236 }, ttft = { -0.433, 0.619 }, e2e = { -0.262, 0.259 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.291, 0.243 }, ttft = { -0.400, 0.626 }, e2e = { -0.285, 0.264 } },
          ["gpt-oss-120b"] = { tpot = { -0.219, 0.266 }, ttft = { -0.433, 0.626 }, e2e = { -0.219, 0.264 } },
        },
      },
      unsaturated = {
        deployments = 5, points = 69, gpus = { ["b200"] = { 5, 69 } },
        tpot = { -0.336, 0.284 }, ttft = { -0.226, 0.736 }, e2e = { -0.335, 0.323 },
        left_out = { tpot = { -0.250, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.249, 0.456 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.346, 0.321 }, ttft = { -0.234, 0.859 }, e2e = { -0.343, 0.351 } },
          ["gpt-oss-120b"] = { tpot = { -0.181, 0.326 }, ttft = { -0.203, 0.902 }, e2e = { -0.178, 0.420 } },
        },
      },
    },
    ["trtllm pd blackwell"] = {
      saturated = {
        deployments = 4, points = 15, only = "deepseek-v3", gpus = { ["b200"] = { 4, 15 } },
        tpot = { -0.201, 0.234 }, ttft = { -0.732, 0.558 }, e2e = { -0.204, 0.243 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.437, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 5, points = 11, gpus = { ["b200"] = { 3, 8 }, ["gb200"] = { 2, 3 } },
        tpot = { -0.181, 0.284 }, ttft = { -0.163, 0.736 }, e2e = { -0.176, 0.323 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.228, 0.337 }, ttft = { -0.235, 0.977 }, e2e = { -0.220, 0.443 } },
          ["kimi-k2.5"] = { tpot = { -0.190, 0.299 }, ttft = { -0.187, 0.773 }, e2e = { -0.182, 0.333 } },
        },
      },
    },
    ["trtllm pd hopper"] = {
      saturated = {
        deployments = 3, points = 6, only = "deepseek-v3", gpus = { ["h200-sxm"] = { 3, 6 } },
        tpot = { -0.218, 0.236 }, ttft = { -0.400, 0.982 }, e2e = { -0.217, 0.264 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.732, 0.649 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 1, points = 6, only = "deepseek-v3", gpus = { ["h200-sxm"] = { 1, 6 } },
        tpot = { -0.220, 0.336 }, ttft = { -0.226, 0.979 }, e2e = { -0.207, 0.443 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["trtllm tep blackwell"] = {
      saturated = {
        deployments = 4, points = 24, only = "deepseek-v3", gpus = { ["b200"] = { 4, 24 } },
        tpot = { -0.221, 0.291 }, ttft = { -0.441, 0.690 }, e2e = { -0.222, 0.310 },
        left_out = { tpot = { -0.456, 0.286 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.278 } },
      },
      unsaturated = {
        deployments = 4, points = 15, only = "deepseek-v3", gpus = { ["b200"] = { 4, 15 } },
        tpot = { -0.188, 0.326 }, ttft = { -0.435, 0.773 }, e2e = { -0.182, 0.333 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.383, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["trtllm tep hopper"] = {
      saturated = {
        deployments = 2, points = 4, gpus = { ["h200-sxm"] = { 2, 4 } },
        tpot = { -0.219, 0.243 }, ttft = { -0.403, 0.626 }, e2e = { -0.219, 0.264 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
        without = {
          ["deepseek-v3"] = { tpot = { -0.221, 0.266 }, ttft = { -0.421, 0.626 }, e2e = { -0.222, 0.264 } },
          ["gpt-oss-120b"] = { tpot = { -0.221, 0.266 }, ttft = { -0.421, 0.626 }, e2e = { -0.222, 0.264 } },
        },
      },
      unsaturated = {
        deployments = 1, points = 28, only = "gpt-oss-120b", gpus = { ["h200-sxm"] = { 1, 28 } },
        tpot = { -0.220, 0.336 }, ttft = { -0.226, 0.968 }, e2e = { -0.207, 0.443 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["vllm dense blackwell"] = {
      saturated = {
        deployments = 2, points = 4, only = "llama-3.1-70b", gpus = { ["b200"] = { 2, 4 } },
        tpot = { -0.219, 0.243 }, ttft = { -0.403, 0.626 }, e2e = { -0.219, 0.264 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 2, points = 32, only = "llama-3.1-70b", gpus = { ["b200"] = { 2, 32 } },
        tpot = { -0.206, 0.369 }, ttft = { -0.207, 0.868 }, e2e = { -0.197, 0.443 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["vllm dense cdna4"] = {
      saturated = {
        deployments = 1, points = 5, only = "llama-3.3-70b", gpus = { ["mi355x"] = { 1, 5 } },
        tpot = { -0.221, 0.266 }, ttft = { -0.421, 0.626 }, e2e = { -0.222, 0.264 },
        left_out = { tpot = { -0.456, 0.291 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 1, points = 5, only = "llama-3.3-70b", gpus = { ["mi355x"] = { 1, 5 } },
        tpot = { -0.301, 0.423 }, ttft = { -0.226, 0.968 }, e2e = { -0.291, 0.443 },
        left_out = { tpot = { -0.336, 0.396 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["vllm dense hopper"] = {
      saturated = {
        deployments = 2, points = 3, only = "llama-3.1-70b", gpus = { ["h200-sxm"] = { 2, 3 } },
        tpot = { -0.219, 0.243 }, ttft = { -0.403, 0.626 }, e2e = { -0.219, 0.264 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 2, points = 27, only = "llama-3.1-70b", gpus = { ["h200-sxm"] = { 2, 27 } },
        tpot = { -0.206, 0.326 }, ttft = { -0.207, 0.868 }, e2e = { -0.197, 0.382 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["vllm moe-tp blackwell"] = {
      saturated = {
        deployments = 6, points = 21, gpus = { ["b200"] = { 6, 21 } },
        tpot = { -0.270, 0.236 }, ttft = { -0.348, 0.555 }, e2e = { -0.268, 0.240 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
        without = {
          ["gpt-oss-120b"] = { tpot = { -0.224, 0.240 }, ttft = { -0.402, 0.625 }, e2e = { -0.223, 0.261 } },
          ["kimi-k2.5"] = { tpot = { -0.270, 0.236 }, ttft = { -0.366, 0.555 }, e2e = { -0.268, 0.243 } },
          ["minimax-m2.5"] = { tpot = { -0.311, 0.234 }, ttft = { -0.400, 0.563 }, e2e = { -0.310, 0.243 } },
        },
      },
      unsaturated = {
        deployments = 11, points = 118, gpus = { ["b200"] = { 9, 112 }, ["b300"] = { 2, 6 } },
        tpot = { -0.256, 0.228 }, ttft = { -0.321, 0.723 }, e2e = { -0.253, 0.256 },
        left_out = { tpot = { -0.336, 0.468 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
        without = {
          ["gpt-oss-120b"] = { tpot = { -0.250, 0.265 }, ttft = { -0.311, 0.796 }, e2e = { -0.242, 0.287 } },
          ["kimi-k2.5"] = { tpot = { -0.265, 0.257 }, ttft = { -0.295, 0.629 }, e2e = { -0.253, 0.276 } },
          ["minimax-m2.5"] = { tpot = { -0.256, 0.299 }, ttft = { -0.322, 0.796 }, e2e = { -0.249, 0.333 } },
        },
      },
    },
    ["vllm moe-tp hopper"] = {
      saturated = {
        deployments = 2, points = 2, only = "gpt-oss-120b", gpus = { ["h200-sxm"] = { 2, 2 } },
        tpot = { -0.219, 0.266 }, ttft = { -0.403, 0.626 }, e2e = { -0.219, 0.278 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 2, points = 28, only = "gpt-oss-120b", gpus = { ["h200-sxm"] = { 2, 28 } },
        tpot = { -0.206, 0.326 }, ttft = { -0.207, 0.868 }, e2e = { -0.197, 0.382 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["vllm pd blackwell"] = {
      unsaturated = {
        deployments = 1, points = 6, only = "kimi-k2.5", gpus = { ["gb200"] = { 1, 6 } },
        tpot = { -0.220, 0.336 }, ttft = { -0.337, 0.968 }, e2e = { -0.207, 0.443 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
    ["vllm tep blackwell"] = {
      saturated = {
        deployments = 3, points = 10, only = "minimax-m2.5", gpus = { ["b200"] = { 3, 10 } },
        tpot = { -0.225, 0.236 }, ttft = { -0.400, 0.619 }, e2e = { -0.224, 0.259 },
        left_out = { tpot = { -0.456, 0.300 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
      },
      unsaturated = {
        deployments = 2, points = 27, only = "minimax-m2.5", gpus = { ["b200"] = { 2, 27 } },
        tpot = { -0.206, 0.326 }, ttft = { -0.207, 1.109 }, e2e = { -0.197, 0.382 },
        left_out = { tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
      },
    },
  },
  unseen = {
    saturated = { deployments = 57, points = 230,
      tpot = { -0.456, 0.291 }, ttft = { -0.732, 0.982 }, e2e = { -0.452, 0.310 } },
    unsaturated = { deployments = 73, points = 635,
      tpot = { -0.336, 0.423 }, ttft = { -0.435, 1.889 }, e2e = { -0.335, 0.456 } },
  },
}
