-- Quantiles of log(measured / simulated), 5 and 95 %, by class; `without`: of other models than the one named.
-- Made by tests/fidelity/silicon_intervals.lua from measured closed loops; silicon/intervals.lua says how.
return {
  ["all"] = {
    questions = 1400, tpot = { -0.208, 0.325 }, ttft = { -0.433, 0.973 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.208, 0.292 }, ttft = { -0.368, 0.806 } },
      ["glm-5"] = { tpot = { -0.199, 0.339 }, ttft = { -0.433, 0.988 } },
      ["gpt-oss-120b"] = { tpot = { -0.208, 0.341 }, ttft = { -0.504, 1.103 } },
      ["kimi-k2.5"] = { tpot = { -0.199, 0.341 }, ttft = { -0.450, 0.988 } },
      ["llama-3.1-70b"] = { tpot = { -0.234, 0.361 }, ttft = { -0.504, 1.187 } },
      ["llama-3.1-8b"] = { tpot = { -0.169, 0.333 }, ttft = { -0.366, 0.935 } },
      ["minimax-m2.5"] = { tpot = { -0.223, 0.341 }, ttft = { -0.475, 1.079 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.215, 0.333 }, ttft = { -0.402, 1.039 } },
      ["qwen3-32b"] = { tpot = { -0.169, 0.271 }, ttft = { -0.404, 0.925 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.223, 0.341 }, ttft = { -0.475, 1.079 } },
    },
  },
  ["dense"] = {
    questions = 551, tpot = { -0.284, 0.296 }, ttft = { -0.504, 1.107 },
    without = {
      ["llama-3.1-70b"] = { tpot = { -0.677, 0.621 }, ttft = { -0.900, 1.922 } },
      ["llama-3.1-8b"] = { tpot = { -0.091, 0.305 }, ttft = { -0.306, 0.786 } },
      ["qwen3-32b"] = { tpot = { -0.284, 0.193 }, ttft = { -0.504, 0.668 } },
    },
  },
  ["moe-tp"] = {
    questions = 517, tpot = { -0.129, 0.311 }, ttft = { -0.217, 0.927 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.122, 0.264 }, ttft = { -0.223, 0.675 } },
      ["glm-5"] = { tpot = { -0.117, 0.317 }, ttft = { -0.157, 0.930 } },
      ["gpt-oss-120b"] = { tpot = { -0.120, 0.325 }, ttft = { -0.299, 0.930 } },
      ["kimi-k2.5"] = { tpot = { -0.129, 0.312 }, ttft = { -0.217, 0.857 } },
      ["minimax-m2.5"] = { tpot = { -0.141, 0.342 }, ttft = { -0.247, 0.955 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.134, 0.305 }, ttft = { -0.148, 0.930 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.135, 0.317 }, ttft = { -0.245, 0.930 } },
    },
  },
  ["pd"] = {
    questions = 156, tpot = { -0.255, 0.420 }, ttft = { -0.981, 1.350 },
    without = {
      ["kimi-k2.5"] = { tpot = { -0.255, 0.456 }, ttft = { -1.065, 1.350 } },
      ["qwen3-32b"] = { tpot = { -0.215, 0.261 }, ttft = { -0.712, 1.187 } },
    },
  },
  ["tep"] = {
    questions = 174, tpot = { -0.164, 0.341 }, ttft = { -0.378, 0.688 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.109, 0.219 }, ttft = { -0.350, 0.596 } },
      ["gpt-oss-120b"] = { tpot = { -0.109, 0.341 }, ttft = { -0.396, 0.697 } },
      ["kimi-k2.5"] = { tpot = { -0.272, 0.341 }, ttft = { -0.411, 0.688 } },
      ["minimax-m2.5"] = { tpot = { -0.172, 0.341 }, ttft = { -0.396, 0.697 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.272, 0.341 }, ttft = { -0.168, 0.739 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.272, 0.341 }, ttft = { -0.417, 0.739 } },
    },
  },
}
