-- Quantiles of log(measured / simulated), 5 and 95 %, by class; `without`: of other models than the one named.
-- Made by tests/fidelity/closed_loop_intervals.lua from measured closed loops whose settings are stated;
-- closed_loops/intervals.lua says how.
return {
  ["all"] = {
    questions = 887, tpot = { -0.105, 0.245 }, ttft = { -0.190, 0.661 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.104, 0.159 }, ttft = { -0.165, 0.505 } },
      ["glm-5"] = { tpot = { -0.106, 0.245 }, ttft = { -0.190, 0.662 } },
      ["gpt-oss-120b"] = { tpot = { -0.075, 0.248 }, ttft = { -0.215, 0.736 } },
      ["kimi-k2.5"] = { tpot = { -0.106, 0.248 }, ttft = { -0.190, 0.652 } },
      ["llama-3.1-70b"] = { tpot = { -0.117, 0.251 }, ttft = { -0.217, 0.742 } },
      ["minimax-m2.5"] = { tpot = { -0.113, 0.248 }, ttft = { -0.215, 0.688 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.108, 0.245 }, ttft = { -0.198, 0.652 } },
    },
  },
  ["moe-tp"] = {
    questions = 384, tpot = { -0.109, 0.196 }, ttft = { -0.165, 0.534 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.104, 0.158 }, ttft = { -0.165, 0.556 } },
      ["glm-5"] = { tpot = { -0.109, 0.199 }, ttft = { -0.165, 0.556 } },
      ["gpt-oss-120b"] = { tpot = { -0.081, 0.202 }, ttft = { -0.165, 0.578 } },
      ["kimi-k2.5"] = { tpot = { -0.108, 0.199 }, ttft = { -0.145, 0.446 } },
      ["minimax-m2.5"] = { tpot = { -0.117, 0.202 }, ttft = { -0.173, 0.578 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.110, 0.195 }, ttft = { -0.165, 0.491 } },
    },
  },
  ["pd"] = {
    questions = 131, tpot = { -0.087, 0.263 }, ttft = { -0.848, 1.262 },
    without = {
      ["kimi-k2.5"] = { tpot = { -0.109, 0.270 }, ttft = { -0.848, 1.415 } },
    },
  },
  ["tep"] = {
    questions = 157, tpot = { -0.137, 0.308 }, ttft = { -0.411, 1.319 },
    without = {
      ["deepseek-v3"] = { tpot = { -0.138, 0.234 }, ttft = { -0.082, 0.607 } },
      ["gpt-oss-120b"] = { tpot = { -0.078, 0.324 }, ttft = { -0.411, 1.696 } },
      ["minimax-m2.5"] = { tpot = { -0.144, 0.341 }, ttft = { -0.420, 2.655 } },
      ["qwen3.5-397b-a17b"] = { tpot = { -0.138, 0.285 }, ttft = { -0.411, 1.696 } },
    },
  },
}
