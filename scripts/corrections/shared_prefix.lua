--- Decodes whose prompts begin alike read that part of the KV cache from the last-level cache of the GPU, if they run
--- at the same time; the first of them brings it there.
---
---     wave    = multiprocessors / KV heads of a rank         requests whose attention runs at the same time
---     first   = groups (1 - (1 - 1 / groups)^wave)           of them that are the first of their group
---     shared  = prefix / context * (1 - first / wave)        part of all bytes
---     time   *= 1 - (1 - l2_part) * shared
---
--- Requests of a wave start together and read their blocks in the same order, so that the cache holds what lies between
--- the first and the last of them. Cascade attention, which reads a prefix once, needs it to be that of all requests.
local policy = require "rooflua.policy"

---@class corrections.SharedPrefix
---@field prefix_tokens number
---@field context_tokens number
---@field groups number
---@field l2_part number
local SharedPrefix = policy.define {
  name = "shared_prefix",
  doc = "Decode attention reads prefixes that several requests of a wave share from the last-level cache.",
  source = "vLLM's paged kernels: a block of threads for a request and a KV head, in the order of requests",
  params = {
    prefix_tokens = { default = 0, unit = "tokens", min = 0, doc = "That a group shares; 0 changes nothing." },
    context_tokens = { default = 1000, unit = "tokens", min = 1, doc = "Mean context of a decode, prefix included.",
      idle = { prefix_tokens = 0 } },
    groups = { default = 1, unit = "groups", min = 1, doc = "Different prefixes at a replica, equally often.",
      idle = { prefix_tokens = 0 } },
    l2_part = { default = 0.6, unit = "1", min = 0, max = 1, idle = { prefix_tokens = 0 },
      doc = "Time of a byte from the last-level cache, to that of one from memory.",
      source = "assumed: H100 3.35 TB/s of memory, 5.5 TB/s and more of its L2" },
  },
}

function SharedPrefix:bind(context)
  local model, deployment, hardware = context.model, context.deployment, context.hardware
  local heads = model.mla and 1 or math.max(1, model.kv_heads / deployment.tp)
  self.wave = math.max(1, math.floor(hardware.sms / heads))
  self.request_bytes = self.context_tokens * deployment.kv_bytes_per_block / deployment.block_size
end

--- The factor on attention of so many decodes.
function SharedPrefix:factor(decodes)
  local wave = math.min(decodes, self.wave)
  if wave <= 1 or self.prefix_tokens == 0 then return 1 end
  local first = self.groups * (1 - (1 - 1 / self.groups) ^ wave)
  local shared = math.min(1, self.prefix_tokens / self.context_tokens) * (1 - first / wave)
  return 1 - (1 - self.l2_part) * shared
end

function SharedPrefix:op(op, time_s)
  if op.kind ~= "attention_decode" and op.kind ~= "mla_decode" then return time_s end
  return time_s * self:factor(op.bytes * op.count / self.request_bytes)
end

return SharedPrefix
