-- Quantiles of log(measured / simulated), 5 and 95 %, by class; `without`: of other models than the one named.
-- Made by tests/fidelity/silicon_intervals.lua from measured closed loops; silicon/intervals.lua says how.
return {
  ["all"] = {
    questions = 1399, tpot = { -0.166, 0.267 }, ttft = { -0.319, 0.835 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.129, 0.257 }, ttft = { -0.269, 0.776 } },
      ["glm-5"] = { tpot = { -0.156, 0.270 }, ttft = { -0.304, 0.882 } },
      ["gpt-oss-120b"] = { tpot = { -0.156, 0.291 }, ttft = { -0.364, 0.913 } },
      ["kimi-k2.5"] = { tpot = { -0.168, 0.271 }, ttft = { -0.324, 0.824 } },
      ["llama-3.1-70b"] = { tpot = { -0.170, 0.293 }, ttft = { -0.361, 0.934 } },
      ["llama-3.1-8b"] = { tpot = { -0.166, 0.262 }, ttft = { -0.305, 0.788 } },
      ["minimax-m2.5"] = { tpot = { -0.169, 0.271 }, ttft = { -0.344, 0.913 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.168, 0.265 }, ttft = { -0.305, 0.913 } },
      ["qwen3-32b"] = { tpot = { -0.151, 0.246 }, ttft = { -0.261, 0.736 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.169, 0.270 }, ttft = { -0.344, 0.913 } },
    },
  },
  ["dense"] = {
    questions = 551, tpot = { -0.090, 0.292 }, ttft = { -0.326, 1.090 },
    without = {
      ["llama-3.1-70b"] = { tpot = { -0.208, 0.360 }, ttft = { -0.588, 1.922 } },
      ["llama-3.1-8b"] = { tpot = { -0.079, 0.270 }, ttft = { -0.305, 0.786 } },
      ["qwen3-32b"] = { tpot = { -0.043, 0.193 }, ttft = { -0.182, 0.668 } },
    },
  },
  ["moe-tp"] = {
    questions = 517, tpot = { -0.130, 0.223 }, ttft = { -0.175, 0.652 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.129, 0.223 }, ttft = { -0.175, 0.647 } },
      ["glm-5"] = { tpot = { -0.117, 0.224 }, ttft = { -0.145, 0.665 } },
      ["gpt-oss-120b"] = { tpot = { -0.129, 0.239 }, ttft = { -0.182, 0.681 } },
      ["kimi-k2.5"] = { tpot = { -0.130, 0.224 }, ttft = { -0.165, 0.620 } },
      ["minimax-m2.5"] = { tpot = { -0.146, 0.224 }, ttft = { -0.186, 0.738 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.138, 0.218 }, ttft = { -0.175, 0.592 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.138, 0.195 }, ttft = { -0.182, 0.665 } },
    },
  },
  ["pd"] = {
    questions = 155, tpot = { -0.223, 0.420 }, ttft = { -0.712, 1.350 },
    without = {
      ["kimi-k2.5"] = { tpot = { -0.223, 0.456 }, ttft = { -0.981, 1.350 } },
      ["qwen3-32b"] = { tpot = { -0.199, 0.302 }, ttft = { -0.571, 0.924 } },
    },
  },
  ["tep"] = {
    questions = 174, tpot = { -0.272, 0.293 }, ttft = { -0.378, 0.688 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.127, 0.219 }, ttft = { -0.350, 0.584 } },
      ["gpt-oss-120b"] = { tpot = { -0.331, 0.293 }, ttft = { -0.396, 0.688 } },
      ["kimi-k2.5"] = { tpot = { -0.334, 0.341 }, ttft = { -0.411, 0.688 } },
      ["minimax-m2.5"] = { tpot = { -0.331, 0.341 }, ttft = { -0.396, 0.688 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.334, 0.341 }, ttft = { -0.183, 0.723 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.334, 0.341 }, ttft = { -0.417, 0.723 } },
    },
  },
}
