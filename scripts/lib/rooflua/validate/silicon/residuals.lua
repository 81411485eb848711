-- Quantiles of log(measured / simulated), 5 and 95 %, by class; `without`: of other models than the one named.
-- Made by tests/fidelity/silicon_intervals.lua from measured closed loops; silicon/intervals.lua says how.
return {
  ["all"] = {
    questions = 1400, tpot = { -0.291, 0.346 }, ttft = { -0.504, 1.450 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.248, 0.343 }, ttft = { -0.366, 1.079 } },
      ["glm-5"] = { tpot = { -0.309, 0.352 }, ttft = { -0.504, 1.474 } },
      ["gpt-oss-120b"] = { tpot = { -0.291, 0.366 }, ttft = { -0.562, 1.601 } },
      ["kimi-k2.5"] = { tpot = { -0.287, 0.362 }, ttft = { -0.511, 1.474 } },
      ["llama-3.1-70b"] = { tpot = { -0.341, 0.384 }, ttft = { -0.540, 1.626 } },
      ["llama-3.1-8b"] = { tpot = { -0.256, 0.343 }, ttft = { -0.368, 1.415 } },
      ["minimax-m2.5"] = { tpot = { -0.334, 0.366 }, ttft = { -0.536, 1.601 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.322, 0.352 }, ttft = { -0.447, 1.568 } },
      ["qwen3-32b"] = { tpot = { -0.284, 0.312 }, ttft = { -0.433, 1.319 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.322, 0.339 }, ttft = { -0.536, 1.586 } },
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
    questions = 517, tpot = { -0.161, 0.343 }, ttft = { -0.198, 0.988 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.161, 0.312 }, ttft = { -0.204, 0.944 } },
      ["glm-5"] = { tpot = { -0.157, 0.346 }, ttft = { -0.136, 0.988 } },
      ["gpt-oss-120b"] = { tpot = { -0.179, 0.362 }, ttft = { -0.299, 1.198 } },
      ["kimi-k2.5"] = { tpot = { -0.157, 0.343 }, ttft = { -0.201, 0.988 } },
      ["minimax-m2.5"] = { tpot = { -0.183, 0.366 }, ttft = { -0.252, 1.162 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.169, 0.343 }, ttft = { -0.089, 0.992 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.143, 0.311 }, ttft = { -0.238, 0.945 } },
    },
  },
  ["pd"] = {
    questions = 156, tpot = { -0.371, 0.352 }, ttft = { -1.065, 2.747 },
    without = {
      ["kimi-k2.5"] = { tpot = { -0.371, 0.514 }, ttft = { -1.218, 2.747 } },
      ["qwen3-32b"] = { tpot = { -0.371, 0.281 }, ttft = { -0.736, 2.647 } },
    },
  },
  ["tep"] = {
    questions = 174, tpot = { -0.164, 0.331 }, ttft = { -0.126, 1.059 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.135, 0.291 }, ttft = { -0.037, 0.958 } },
      ["gpt-oss-120b"] = { tpot = { -0.162, 0.346 }, ttft = { -0.126, 1.059 } },
      ["kimi-k2.5"] = { tpot = { -0.370, 0.346 }, ttft = { -0.126, 1.098 } },
      ["minimax-m2.5"] = { tpot = { -0.171, 0.346 }, ttft = { -0.126, 1.059 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.370, 0.417 }, ttft = { -0.096, 1.098 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.370, 0.305 }, ttft = { -0.126, 0.876 } },
    },
  },
}
