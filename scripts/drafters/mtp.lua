--- Multi-token prediction: the model's own extra layer, which reads the last hidden state and the embedding of the last
--- token, and shares embedding and LM head with the model. Further passes run the same layer again.
---
--- The layer is like the model's last one: its attention, and experts where the model has some.
local policy = require "rooflua.policy"
local decoder = require "drafters.passes.decoder"
local parameters = require "drafters.passes.parameters"
local last_layer = require "drafters.passes.last_layer"

---@class drafters.Mtp: rooflua.Drafter
---@field pass_s number
---@field host_pass_s number
---@field host_row_s number
---@field steps integer
---@field topk integer
local Mtp = policy.define {
  name = "mtp",
  doc = "Multi-token prediction: one more layer like the model's last, with the model's LM head.",
  source = "DeepSeek-V3 technical report, arXiv 2412.19437, 2.2; vLLM v1/spec_decode/eagle.py",
  params = {
    pass_s = parameters.pass_s(),
    host_pass_s = parameters.host_pass_s(),
    host_row_s = parameters.host_row_s(),
    steps = parameters.steps(),
    topk = parameters.topk(),
  },
}

Mtp.lookahead = "k"
Mtp.drops_last_hit = true

function Mtp:bind(context)
  local model, deployment = context.model, context.deployment
  self.decoder = decoder.of(context, { model = model, deployment = deployment, fuses = 2, fuses_in_every_pass = true,
    operations = last_layer.operations(model, deployment), beside = self })
end

---@param batch rooflua.Batch
---@return number time_s
function Mtp:time(batch) return self.decoder:time(batch) end

---@return number weight_bytes of one rank, without the LM head that it shares
---@return number kv_bytes_per_token of one rank
function Mtp:memory() return self.decoder:weight_bytes "lm_head", self.decoder:kv_bytes_per_token() end

return Mtp
