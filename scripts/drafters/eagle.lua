--- EAGLE-3: one layer of the target's width that reads hidden states of the target beside the last token's embedding,
--- and an LM head over a reduced vocabulary.
---
---     first pass    all tokens of the step: one GEMM makes a hidden state of three of the target's; then the layer,
---                   whose q, k and v read that state and the embedding side by side
---     later passes  the layer and the LM head, one token per request
---
--- Every pass takes `pass_s` besides its kernels. Where steps are not planned ahead (async_depth 1), the host prepares
--- each row of each step on the critical path: `host_row_s`.
local policy = require "rooflua.policy"
local decoder = require "drafters.passes.decoder"
local parameters = require "drafters.passes.parameters"
local small = require "drafters.passes.small"

---@class drafters.Eagle: rooflua.Drafter
---@field layers integer
---@field vocab_size integer
---@field heads integer
---@field kv_heads integer
---@field head_dim integer
---@field intermediate_size integer
---@field shares_cache boolean
---@field pass_s number
---@field host_pass_s number
---@field host_row_s number
---@field steps integer
---@field topk integer
---@field tp integer
local Eagle = policy.define {
  name = "eagle",
  doc = "EAGLE-3: a layer of the target's width over its hidden states, and a reduced LM head.",
  source = "Li, Wei, Zhang, Zhang. EAGLE-3, arXiv 2503.01840; vLLM v1/spec_decode/eagle.py",
  params = {
    layers = { default = 1, unit = "layers", min = 1, max = 100, integer = true, doc = "Layers of the drafter.",
      source = "1 in every published EAGLE-3" },
    vocab_size = { default = 32000, unit = "tokens", min = 0, max = 1e6, integer = true,
      doc = "Rows of its LM head; 0 = the target's vocabulary.",
      source = "draft_vocab_size of published EAGLE-3 heads: 32,000 for Llama 3.1 and gpt-oss (SpecForge)" },
    heads = { default = 0, unit = "heads", min = 0, max = 1024, integer = true,
      doc = "Query heads; 0 = the target's.", source = "published heads repeat the target's" },
    kv_heads = { default = 0, unit = "heads", min = 0, max = 1024, integer = true,
      doc = "Heads of keys and values; 0 = the target's.", source = "published heads repeat the target's" },
    head_dim = { default = 0, unit = "1", min = 0, max = 4096, integer = true,
      doc = "Width of a head; 0 = the target's.", source = "published heads repeat the target's" },
    intermediate_size = parameters.intermediate_size(),
    shares_cache = parameters.shares_cache(),
    pass_s = parameters.pass_s(),
    host_pass_s = parameters.host_pass_s(),
    host_row_s = parameters.host_row_s(),
    steps = parameters.steps(),
    topk = parameters.topk(),
    tp = parameters.tp(),
  },
}

Eagle.lookahead = "k"
Eagle.drops_last_hit = true

function Eagle:bind(context)
  local model = small.model(context.model, self)
  local deployment = decoder.deployment(model, context, self.tp)
  self.decoder = decoder.of(context, { model = model, deployment = deployment,
    operations = decoder.two_inputs(model, deployment, self.shares_cache), fuses = 3, beside = self })
end

---@param batch rooflua.Batch
---@return number time_s
function Eagle:time(batch) return self.decoder:time(batch) end

---@return number weight_bytes of one rank; the embedding is the target's
---@return number kv_bytes_per_token of one rank
function Eagle:memory() return self.decoder:weight_bytes(), self.decoder:kv_bytes_per_token() end

return Eagle
