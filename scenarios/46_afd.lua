--- Attention and experts on GPUs of their own: when does it pay, and where does it lose?
---
--- Setup     32 GPUs that decode. DeepSeek-V3, FP8, on GB200 (an NVLink domain of 72 GPUs) and on H200 (nodes of eight,
---           a network of 50 GB/s for each GPU), Qwen3-235B-A22B, bf16, on GB200; kernels of SGLang. Together: 32
---           data-parallel ranks share the experts (ep 32). AFD: 24 GPUs of attention and 8 of experts, or 16 and
---           16, with one to three micro-batches in flight.
--- Method    One decode step of 6, 24 and 96 requests for each of the 32 GPUs, with contexts of 1,000 and 4,000 tokens.
---           DeepSeek-V3's rows reach their experts with DeepEP on GB200, others are gathered.
--- Measures  Output tokens per second and GPU.
--- Expect    Few requests: AFD loses. Each micro-batch reads the same weights, and a layer waits for links twice. One
---           micro-batch leaves one of both pools idle at any time, and never pays. Many requests: two micro-batches
---           hide experts and links behind attention. Against DeepEP, which sends no more rows than AFD does, that
---           still loses: 16 GPUs of attention take longer than 32. Against gathered rows it pays: on GB200 with two
---           micro-batches, over the network, where links take longest, with three. Pools must be as large as their
---           work: 24 + 8 has too few GPUs of experts but for the longest contexts of the most requests.
--- Limits    No step was measured (docs/AFD.md). Ranks that are together could cut their steps in
---           two as well, to hide their exchange; they are priced without. Experts and ranks are balanced. Both pools
---           have the same GPU. GB200's rows of DeepEP are of four ranks; over H200's network there are none.
local gpus, contexts, requests = 32, { 1000, 4000 }, { 6, 24, 96 }

local settings = {
  { "deepseek-v3", "gb200", exchange = "deepep" },
  { "deepseek-v3", "h200-sxm", corrections = { require "corrections.network" {} } },
  { "qwen3-235b-a22b", "gb200" },
}
local splits = { { 32, 0, 1 }, { 24, 8, 2 }, { 16, 16, 1 }, { 16, 16, 2 }, { 16, 16, 3 } }

--- A step of one rank of attention for each context and number of requests.
local function steps_of(ranks)
  local out = {}
  for _, context in ipairs(contexts) do
    for _, each in ipairs(requests) do
      local decodes = each * gpus / ranks
      out[#out + 1] = { decodes = decodes, decode_context_tokens = decodes * context }
    end
  end
  return out
end

local function name_of(split)
  if split[2] == 0 then return "together" end
  return ("%d + %d, %d batch%s"):format(split[1], split[2], split[3], split[3] > 1 and "es" or "")
end

local variants = {}
for _, setting in ipairs(settings) do
  for _, split in ipairs(splits) do
    local experts = split[2] > 0 and split[2] or gpus
    variants[#variants + 1] = { label = ("%s, %s, %s"):format(setting[1], setting[2], name_of(split)),
      set = { model = setting[1], hardware = setting[2], price = steps_of(split[1]),
        steps = require "steps.kernels" { exchange = setting.exchange }, corrections = setting.corrections or {},
        deployment = { dp = split[1], ep = experts, expert_gpus = split[2], micro_batches = split[3] } } }
  end
end

return {
  rooflua = 1,
  title = "Attention and experts on GPUs of their own",
  model = "deepseek-v3",
  hardware = "gb200",
  engine = "sglang 0.5.14",
  steps = "kernels",
  deployment = {},
  kind = "price",
  price = steps_of(gpus),
  vary = { GPUs = variants },
  report = function(results)
    local rows = { { "model, GPU", "context", "requests" } }
    for i, split in ipairs(splits) do rows[1][3 + i] = name_of(split) end
    for s, setting in ipairs(settings) do
      for k = 1, #contexts * #requests do
        local each = requests[(k - 1) % #requests + 1]
        local row = { table.concat(setting, ", "), contexts[math.ceil(k / #requests)], each }
        for i = 1, #splits do
          row[3 + i] = math.floor(each / results[(s - 1) * #splits + i].price[k].time_s + 0.5)
        end
        rows[#rows + 1] = row
      end
    end
    return rows
  end,
}
