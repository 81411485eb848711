-- Quantiles of log(measured / simulated), 5 and 95 %, by class; `without`: of other models than the one named.
-- Made by tests/fidelity/silicon_intervals.lua from measured closed loops; silicon/intervals.lua says how.
return {
  ["all"] = {
    questions = 1400, tpot = { -0.255, 0.410 }, ttft = { -0.475, 1.441 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.219, 0.384 }, ttft = { -0.366, 1.079 } },
      ["glm-5"] = { tpot = { -0.261, 0.415 }, ttft = { -0.475, 1.448 } },
      ["gpt-oss-120b"] = { tpot = { -0.255, 0.428 }, ttft = { -0.560, 1.586 } },
      ["kimi-k2.5"] = { tpot = { -0.255, 0.428 }, ttft = { -0.504, 1.457 } },
      ["llama-3.1-70b"] = { tpot = { -0.310, 0.453 }, ttft = { -0.527, 1.601 } },
      ["llama-3.1-8b"] = { tpot = { -0.234, 0.407 }, ttft = { -0.366, 1.351 } },
      ["minimax-m2.5"] = { tpot = { -0.284, 0.449 }, ttft = { -0.536, 1.586 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.262, 0.440 }, ttft = { -0.433, 1.550 } },
      ["qwen3-32b"] = { tpot = { -0.234, 0.362 }, ttft = { -0.419, 1.333 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.275, 0.362 }, ttft = { -0.527, 1.550 } },
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
    questions = 517, tpot = { -0.123, 0.407 }, ttft = { -0.191, 1.020 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.123, 0.362 }, ttft = { -0.204, 0.960 } },
      ["glm-5"] = { tpot = { -0.117, 0.410 }, ttft = { -0.136, 1.023 } },
      ["gpt-oss-120b"] = { tpot = { -0.105, 0.428 }, ttft = { -0.299, 1.228 } },
      ["kimi-k2.5"] = { tpot = { -0.125, 0.410 }, ttft = { -0.201, 1.023 } },
      ["minimax-m2.5"] = { tpot = { -0.144, 0.441 }, ttft = { -0.234, 1.184 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.130, 0.411 }, ttft = { -0.087, 1.024 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.117, 0.342 }, ttft = { -0.223, 0.988 } },
    },
  },
  ["pd"] = {
    questions = 156, tpot = { -0.365, 0.481 }, ttft = { -1.065, 2.747 },
    without = {
      ["kimi-k2.5"] = { tpot = { -0.365, 0.597 }, ttft = { -1.218, 2.747 } },
      ["qwen3-32b"] = { tpot = { -0.329, 0.315 }, ttft = { -0.728, 2.649 } },
    },
  },
  ["tep"] = {
    questions = 174, tpot = { -0.164, 0.440 }, ttft = { -0.126, 1.067 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.101, 0.377 }, ttft = { -0.037, 0.985 } },
      ["gpt-oss-120b"] = { tpot = { -0.081, 0.453 }, ttft = { -0.126, 1.067 } },
      ["kimi-k2.5"] = { tpot = { -0.261, 0.453 }, ttft = { -0.126, 1.114 } },
      ["minimax-m2.5"] = { tpot = { -0.171, 0.453 }, ttft = { -0.126, 1.067 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.261, 0.458 }, ttft = { -0.091, 1.114 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.261, 0.341 }, ttft = { -0.126, 0.915 } },
    },
  },
}
