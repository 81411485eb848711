--- What do windows, sparse attention and recurrent layers save at 128k tokens?
---
--- Setup     gpt-oss-120b (half of the layers see a window of 128 tokens) on one H200, Qwen3-Next-80B-A3B (three of
---           four layers are recurrent) on two, DeepSeek-V3.2 (an index selects 2,048 tokens) on eight, which divide
---           the experts and attend to requests of their own. Each as it is published, and in a full reading: the
---           same model, in which every layer attends to all tokens.
--- Method    A decode step of 3 requests with 131,072 tokens each, and the last 8,192 tokens of such a prompt, on
---           each group of GPUs that attends together.
--- Measures  Time of both steps, the share of attention in the decode, and what a request keeps on each GPU.
--- Expect    The decode of gpt-oss saves about half of what attention takes in the full reading, that of Qwen3-Next
---           three quarters, and their caches shrink by as much. DeepSeek-V3.2 reads 64 times fewer latents, but its
---           index reads something of every token: the decode saves less than half of that time, and the cache grows
---           by the index. Its prompts gain the most, three times, because an index entry is scored with a
---           fifteenth of the flop of attention.
--- Limits    One step, no queue. No model was trained with a full reading, whose weights are those of other layers.
---           The speed of the index is assumed (index_mfu).
local spec = require "rooflua.spec"

local tokens, requests, chunk = 131072, 3, 8192

--- A kind of attention that sees every token, with the heads of this one, or those of the model.
local function full_of(kind)
  if not kind.latent then return { kind = "full", layers = kind.layers } end
  local out = { kind = "latent", layers = kind.layers, heads = kind.heads }
  for key, value in pairs(kind.latent) do out[key] = value end
  return out
end

--- The model with the same layers, all of which attend to everything.
local function full_reading(name)
  local kinds = {}
  for i, kind in ipairs(spec.model(name).attention) do kinds[i] = full_of(kind) end
  return { from = name, name = name .. ", full", attention = kinds }
end

local cases = {
  { name = "gpt-oss-120b", tp = 1 }, { name = "qwen3-next-80b-a3b", tp = 2 },
  { name = "deepseek-v3.2", tp = 1, dp = 8 },
}
local models, variants = {}, {}
for _, case in ipairs(cases) do
  for i, model in ipairs { case.name, full_reading(case.name) } do
    local groups = case.dp or 1
    models[#models + 1] = { model = spec.model(model), hardware = "h200-sxm", tp = case.tp, dp = groups, ep = groups }
    variants[#variants + 1] = { label = i == 1 and case.name or case.name .. ", full",
                                set = { model = model, ["deployment.tp"] = case.tp, ["deployment.dp"] = groups,
                                        ["deployment.ep"] = groups } }
  end
end

--- Share of attention, with its index and its selection, and of recurrent layers in the time of a step, in percent.
local function attention_percent(priced)
  local sum = 0
  for _, row in ipairs(priced.rows) do
    local name = row.name
    if name:find "^attention_decode" or name:find "^attention_module" or name:find "^index_scores"
      or name:find "^linear_attention" then
      sum = sum + row.time_s
    end
  end
  return 100 * sum / priced.time_s
end

--- What a request of so many tokens keeps on each GPU, in GB.
local function cache_gb(options)
  local deployment = spec.deployment(options)
  return (tokens / deployment.block_size * deployment.kv_bytes_per_block + deployment.seat_bytes) / 1e9
end

return {
  rooflua = 1,
  title = "Kinds of attention at 128k tokens, beside a full reading of the same model",
  kind = "price",
  model = cases[1].name,
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  deployment = { max_model_len = tokens + 1 },
  steps = require "steps.kernels" {},
  price = {
    { name = "decode", decodes = requests, decode_context_tokens = requests * tokens },
    { name = "prefill", prefills = { { new_tokens = chunk, context_tokens = tokens - chunk } } },
  },
  vary = { model = variants },
  report = function(results)
    local rows = { { "model", "GPUs", "decode ms", "attention %", "prefill ms", "cache GB" } }
    for i, result in ipairs(results) do
      local decode, prefill = result.price[1], result.price[2]
      rows[#rows + 1] = { variants[i].label, models[i].tp * models[i].dp, decode.time_s * 1000,
        attention_percent(decode), prefill.time_s * 1000, cache_gb(models[i]) }
    end
    return rows
  end,
}
