--- All drafts in one pass: parallel EAGLE and DFlash run their layers over the tokens of the step and, for each request
--- that drafts, over `k` placeholders after its last token. MLP and Medusa heads are the same without attention.
local policy = require "rooflua.policy"
local decoder = require "drafters.passes.decoder"
local parameters = require "drafters.passes.parameters"
local small = require "drafters.passes.small"

---@class drafters.BlockParallel: rooflua.Drafter
---@field layers integer
---@field vocab_size integer
---@field intermediate_size integer
---@field shares_cache boolean
---@field pass_s number
---@field host_pass_s number
---@field host_row_s number
local BlockParallel = policy.define {
  name = "block_parallel",
  doc = "All drafts in one pass: parallel EAGLE, DFlash.",
  source = "vLLM v1/spec_decode (parallel drafting); P-EAGLE; DFlash",
  params = {
    layers = { default = 1, unit = "layers", min = 1, max = 100, integer = true, doc = "Layers of the drafter.",
      source = "1: parallel EAGLE; DFlash has 5 to 8" },
    vocab_size = { default = 0, unit = "tokens", min = 0, max = 1e6, integer = true,
      doc = "Rows of its LM head; 0 = the target's vocabulary.", source = "DFlash shares the target's" },
    intermediate_size = parameters.intermediate_size(),
    shares_cache = parameters.shares_cache(),
    pass_s = parameters.pass_s(),
    host_pass_s = parameters.host_pass_s(),
    host_row_s = parameters.host_row_s(),
  },
}

BlockParallel.lookahead = "k"
BlockParallel.reserve = "k"  -- each request has so many placeholders in the pass
BlockParallel.drops_last_hit = true

function BlockParallel:bind(context)
  local model = small.model(context.model, self)
  local deployment = decoder.deployment(model, context, 0)
  self.decoder = decoder.of(context, { model = model, deployment = deployment,
    operations = decoder.two_inputs(model, deployment, self.shares_cache), fuses = 3, beside = self })
end

---@param batch rooflua.Batch
---@return number time_s
function BlockParallel:time(batch) return self.decoder:parallel_time(batch) end

---@return number weight_bytes of one rank, without an LM head that is the target's
---@return number kv_bytes_per_token of one rank
function BlockParallel:memory()
  local shared = self.vocab_size == 0 and "lm_head" or nil
  return self.decoder:weight_bytes(shared), self.decoder:kv_bytes_per_token()
end

return BlockParallel
