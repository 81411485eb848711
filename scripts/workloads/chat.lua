--- Chats of people: multi_turn with lengths and turns of public collections of conversations, and a system prompt.
---
--- The collections give means and standard deviations of tokens per turn. Of a lognormal distribution
--- sigma^2 = ln(1 + (deviation / mean)^2). Turns of WildChat: mean 2.54; 41 % of the chats have more than one turn,
--- 3.7 % more than ten. The lognormal distribution, rounded and at least 1, has 2.54, 41 % and 3.2 %. Of the other two
--- only the mean is public; they have the sigma of WildChat. No collection has system prompts: their length is assumed.
local MultiTurn = require "workloads.multi_turn"
local policy = require "rooflua.policy"

local function lognormal(mean, sigma, max)
  return { distribution = "lognormal", mean = mean, sigma = sigma, max = max }
end
local most_tokens, most_turns = 16384, 100

---@class workloads.Chat: workloads.MultiTurn
local Chat = policy.define {
  name = "chat",
  doc = "Chats of people, with lengths of public collections and a system prompt, for one tenant or several.",
  source = "WildChat (arXiv 2405.01470, table 1 and section 3: WildChat, ShareGPT, LMSYS-Chat-1M; Llama-2 tokens)",
  extends = MultiTurn,
  params = {
    turns = { default = lognormal(2.318, 1.2, most_turns), type = "any", unit = "turns",
      doc = "Turns of a session: a number or { distribution = ... }." },
    system_tokens = { default = 1000, unit = "tokens", min = 0, integer = true, source = "assumed",
      doc = "System prompt of a tenant." },
    prompt_tokens = { default = lognormal(295.58, 1.85, most_tokens), type = "any", unit = "tokens",
      doc = "New prompt tokens of a turn." },
    output_tokens = { default = lognormal(441.34, 0.79, most_tokens), type = "any", unit = "tokens",
      doc = "Answer length of a turn." },
  },
  presets = {
    wildchat = {},
    sharegpt = { turns = lognormal(3.365, 1.2, most_turns), prompt_tokens = lognormal(94.46, 1.95, most_tokens),
      output_tokens = lognormal(348.45, 0.69, most_tokens) },
    lmsys = { turns = lognormal(1.727, 1.2, most_turns), prompt_tokens = lognormal(69.83, 1.29, most_tokens),
      output_tokens = lognormal(215.71, 2.08, most_tokens) },
  },
}

return Chat
