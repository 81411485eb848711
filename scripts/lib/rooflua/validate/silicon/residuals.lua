-- Quantiles of log(measured / simulated), 5 and 95 %, by class; `without`: of other models than the one named.
-- Made by tests/fidelity/silicon_intervals.lua from measured closed loops; silicon/intervals.lua says how.
return {
  ["all"] = {
    questions = 1400, tpot = { -0.228, 0.361 }, ttft = { -0.475, 1.138 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.208, 0.328 }, ttft = { -0.366, 0.955 } },
      ["glm-5"] = { tpot = { -0.228, 0.362 }, ttft = { -0.475, 1.170 } },
      ["gpt-oss-120b"] = { tpot = { -0.228, 0.384 }, ttft = { -0.527, 1.190 } },
      ["kimi-k2.5"] = { tpot = { -0.228, 0.378 }, ttft = { -0.504, 1.094 } },
      ["llama-3.1-70b"] = { tpot = { -0.255, 0.411 }, ttft = { -0.516, 1.249 } },
      ["llama-3.1-8b"] = { tpot = { -0.197, 0.346 }, ttft = { -0.364, 1.006 } },
      ["minimax-m2.5"] = { tpot = { -0.248, 0.385 }, ttft = { -0.516, 1.190 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.236, 0.371 }, ttft = { -0.433, 1.189 } },
      ["qwen3-32b"] = { tpot = { -0.197, 0.320 }, ttft = { -0.417, 0.979 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.238, 0.362 }, ttft = { -0.516, 1.190 } },
    },
  },
  ["dense"] = {
    questions = 551, tpot = { -0.284, 0.393 }, ttft = { -0.551, 1.107 },
    without = {
      ["llama-3.1-70b"] = { tpot = { -0.677, 0.621 }, ttft = { -0.900, 1.922 } },
      ["llama-3.1-8b"] = { tpot = { -0.091, 0.317 }, ttft = { -0.351, 0.786 } },
      ["qwen3-32b"] = { tpot = { -0.284, 0.225 }, ttft = { -0.614, 0.732 } },
    },
  },
  ["moe-tp"] = {
    questions = 517, tpot = { -0.111, 0.346 }, ttft = { -0.191, 0.935 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.111, 0.302 }, ttft = { -0.204, 0.736 } },
      ["glm-5"] = { tpot = { -0.108, 0.349 }, ttft = { -0.136, 0.955 } },
      ["gpt-oss-120b"] = { tpot = { -0.079, 0.362 }, ttft = { -0.299, 0.990 } },
      ["kimi-k2.5"] = { tpot = { -0.113, 0.349 }, ttft = { -0.201, 0.914 } },
      ["minimax-m2.5"] = { tpot = { -0.123, 0.391 }, ttft = { -0.234, 0.990 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.116, 0.346 }, ttft = { -0.087, 0.988 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.117, 0.342 }, ttft = { -0.223, 0.988 } },
    },
  },
  ["pd"] = {
    questions = 156, tpot = { -0.256, 0.420 }, ttft = { -1.065, 1.350 },
    without = {
      ["kimi-k2.5"] = { tpot = { -0.256, 0.456 }, ttft = { -1.218, 1.350 } },
      ["qwen3-32b"] = { tpot = { -0.238, 0.303 }, ttft = { -0.712, 1.290 } },
    },
  },
  ["tep"] = {
    questions = 174, tpot = { -0.164, 0.341 }, ttft = { -0.126, 0.876 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.101, 0.255 }, ttft = { -0.037, 0.795 } },
      ["gpt-oss-120b"] = { tpot = { -0.094, 0.341 }, ttft = { -0.126, 0.882 } },
      ["kimi-k2.5"] = { tpot = { -0.261, 0.341 }, ttft = { -0.126, 0.739 } },
      ["minimax-m2.5"] = { tpot = { -0.171, 0.341 }, ttft = { -0.126, 0.882 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.261, 0.359 }, ttft = { -0.091, 0.828 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.261, 0.341 }, ttft = { -0.126, 0.915 } },
    },
  },
}
