-- Quantiles of log(measured / simulated), 5 and 95 %, by class; `without`: of other models than the one named.
-- Made by tests/fidelity/silicon_intervals.lua from measured closed loops; silicon/intervals.lua says how.
return {
  ["all"] = {
    questions = 1392, tpot = { -0.147, 0.239 }, ttft = { -0.301, 0.775 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.123, 0.211 }, ttft = { -0.261, 0.748 } },
      ["glm-5"] = { tpot = { -0.145, 0.240 }, ttft = { -0.273, 0.776 } },
      ["gpt-oss-120b"] = { tpot = { -0.146, 0.247 }, ttft = { -0.324, 0.804 } },
      ["kimi-k2.5"] = { tpot = { -0.154, 0.243 }, ttft = { -0.305, 0.769 } },
      ["llama-3.1-70b"] = { tpot = { -0.166, 0.254 }, ttft = { -0.323, 0.882 } },
      ["llama-3.1-8b"] = { tpot = { -0.147, 0.222 }, ttft = { -0.273, 0.749 } },
      ["minimax-m2.5"] = { tpot = { -0.166, 0.240 }, ttft = { -0.310, 0.810 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.154, 0.236 }, ttft = { -0.273, 0.788 } },
      ["qwen3-32b"] = { tpot = { -0.141, 0.215 }, ttft = { -0.245, 0.732 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.156, 0.243 }, ttft = { -0.310, 0.788 } },
    },
  },
  ["dense"] = {
    questions = 552, tpot = { -0.090, 0.280 }, ttft = { -0.326, 1.222 },
    without = {
      ["llama-3.1-70b"] = { tpot = { -0.208, 0.343 }, ttft = { -0.588, 1.601 } },
      ["llama-3.1-8b"] = { tpot = { -0.079, 0.247 }, ttft = { -0.305, 1.086 } },
      ["qwen3-32b"] = { tpot = { -0.043, 0.193 }, ttft = { -0.182, 0.668 } },
    },
  },
  ["moe-tp"] = {
    questions = 512, tpot = { -0.121, 0.196 }, ttft = { -0.175, 0.652 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.117, 0.189 }, ttft = { -0.175, 0.620 } },
      ["glm-5"] = { tpot = { -0.116, 0.199 }, ttft = { -0.145, 0.665 } },
      ["gpt-oss-120b"] = { tpot = { -0.129, 0.212 }, ttft = { -0.182, 0.681 } },
      ["kimi-k2.5"] = { tpot = { -0.117, 0.199 }, ttft = { -0.166, 0.619 } },
      ["minimax-m2.5"] = { tpot = { -0.130, 0.196 }, ttft = { -0.186, 0.738 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.123, 0.189 }, ttft = { -0.175, 0.564 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.121, 0.199 }, ttft = { -0.182, 0.652 } },
    },
  },
  ["pd"] = {
    questions = 153, tpot = { -0.223, 0.261 }, ttft = { -0.571, 0.924 },
    without = {
      ["kimi-k2.5"] = { tpot = { -0.223, 0.261 }, ttft = { -0.571, 0.934 } },
      ["qwen3-32b"] = { tpot = { -0.199, 0.261 }, ttft = { -0.571, 0.924 } },
    },
  },
  ["tep"] = {
    questions = 173, tpot = { -0.141, 0.195 }, ttft = { -0.273, 0.688 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.127, 0.190 }, ttft = { -0.350, 0.584 } },
      ["gpt-oss-120b"] = { tpot = { -0.122, 0.214 }, ttft = { -0.324, 0.688 } },
      ["kimi-k2.5"] = { tpot = { -0.164, 0.214 }, ttft = { -0.332, 0.650 } },
      ["minimax-m2.5"] = { tpot = { -0.164, 0.214 }, ttft = { -0.324, 0.688 } },
      ["qwen3-235b-a22b"] = { tpot = { -0.172, 0.247 }, ttft = { -0.107, 0.688 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.172, 0.190 }, ttft = { -0.350, 0.688 } },
    },
  },
}
