--- A small model of its own that reads the same text: its prompt is prefilled in the first pass, each further draft is
--- one of its decodes.
local policy = require "rooflua.policy"
local cost = require "rooflua.cost"
local decoder = require "drafters.passes.decoder"
local parameters = require "drafters.passes.parameters"
local spec = require "rooflua.spec"

---@class drafters.DraftModel: rooflua.Drafter
---@field model any
---@field pass_s number
---@field host_pass_s number
---@field host_row_s number
---@field steps integer
---@field topk integer
---@field tp integer
local DraftModel = policy.define {
  name = "draft_model",
  doc = "A small model that reads the same text: all its layers in every pass.",
  source = "vLLM v1/spec_decode/draft_model.py; Leviathan, Kalman, Matias, 2023",
  params = {
    model = { default = "qwen2.5-1.5b", type = "any", doc = "The drafter: a shipped name, a file or its keys.",
      source = "no default; the smallest shipped one" },
    pass_s = parameters.pass_s(),
    host_pass_s = parameters.host_pass_s(),
    host_row_s = parameters.host_row_s(),
    steps = parameters.steps(),
    topk = parameters.topk(),
    tp = parameters.tp(),
  },
}

DraftModel.lookahead = "k"
DraftModel.reserve = 1  -- its first pass has one token more for each request

function DraftModel:bind(context)
  local model = spec.model(self.model)
  local deployment = decoder.deployment(model, context, self.tp)
  self.decoder = decoder.of(context, { model = model, deployment = deployment,
    operations = cost.layers(model, deployment), beside = self })
  self.bytes = deployment.weight_bytes
end

---@param batch rooflua.Batch
---@return number time_s
function DraftModel:time(batch) return self.decoder:time(batch) end

---@return number weight_bytes of one rank
---@return number kv_bytes_per_token of one rank
function DraftModel:memory() return self.bytes, self.decoder:kv_bytes_per_token() end

return DraftModel
