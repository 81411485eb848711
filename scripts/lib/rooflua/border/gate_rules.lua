-- The rules that a gate's policy declares as fields of its own: parameters, or constants of its class. Fields that it
-- does not have are those of a gate with one queue, first come first served, and fresh signals.
local core = require "rooflua.base.core"

local gate_rules = {}

--- Words of a rule in the order of their enum (engine/serve/contract/admission.h).
gate_rules.words = {
  flow = { "tenant", "program", "session", "class", "request" },
  fair = { "global", "round_robin", "vtc", "las" },
  order = { "fcfs", "edf" },
  count = { "generated", "estimate", "end" },
}

local defaults = { flow = "tenant", fair = "global", order = "fcfs", count = "generated", prompt_weight = 1,
  output_weight = 2, estimate_tokens = 0, half_life_s = 0, max_held = 0, max_held_tokens = 0, staleness_s = 0,
  credit = false, interval_s = 0, most = 0, queue_threshold = 5, kv_threshold = 0.8, expire_queued = false,
  deadline_s = 0 }

--- Rules that are none without another one of the same policy.
local pairs_of = { most = "interval_s", credit = "staleness_s" }

local function number_of(words, name, value, policy)
  for i, word in ipairs(words) do
    if word == value then return i - 1 end
  end
  core.fail("%s: %s: %s", tostring(policy), name, core.unknown_name("word", tostring(value), words))
end

--- The rules of an instance as numbers and booleans; what the engine reads.
---@param instance rooflua.Admission
function gate_rules.of(instance)
  local out = {}
  for name, default in pairs(defaults) do
    local value = instance[name]
    local belongs_to = pairs_of[name] -- a parameter `most` alone is the policy's own
    if belongs_to and instance[belongs_to] == nil then value = nil end
    if value == nil or type(value) == "function" then value = default end
    if gate_rules.words[name] then
      value = number_of(gate_rules.words[name], name, value, instance.name)
    elseif type(value) ~= type(default) then
      core.fail("%s: %s: expected a %s, found %s", tostring(instance.name), name, type(default), core.describe(value))
    end
    out[name] = value
  end
  out.class_deadline_s = instance.class_deadline_s or {}
  out.deadline_s = instance.slo_deadline_s or out.deadline_s
  return out
end

return gate_rules
