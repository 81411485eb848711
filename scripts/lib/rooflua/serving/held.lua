-- What a deployment holds beside its weights: slots of adapters, copies of experts, and a drafter. Runs take it where
-- their parts are made; this says it where no run is made.
local core = require "rooflua.base.core"
local Prepared = require "rooflua.machine.prepared"
local spec = require "rooflua.spec"
local specs = require "rooflua.border.specs"
local speculation = require "rooflua.serving.speculation"

local held = {}

--- Whether a drafter has weights of its own: not those of the model's prediction layers, which the ledger counts.
local function has_drafter(merged)
  local group = merged.speculation and core.plain(merged.speculation) or {}
  if group.speculator == nil or group.drafter == nil or group.drafter == "free" then return false end
  return group.drafter ~= "mtp" or spec.model(merged.model).mtp_layers == 0
end

--- Options of spec.deployment: {adapter_bytes, redundant_expert_bytes, drafter_weight_bytes,
--- drafter_kv_bytes_per_token}; empty where there is nothing.
---@param merged table the scenario as served.of has it
---@param applied table of served.of
function held.of(reader, merged, applied)
  local drafts = has_drafter(merged)
  if not (merged.adapters or merged.experts or drafts) or specs.is(merged.deployment, "Deployment") then return {} end
  -- With one block the memory is not divided, so nothing can be too large.
  local given = core.copy(merged, { deployment = core.copy(merged.deployment, { kv_blocks = 1 }) })
  local all = Prepared.of(reader, given, core.copy(applied, { given = given }))
  if drafts then
    all.draft_depth = speculation.depth(reader, merged.speculation)
    speculation.of(reader, merged.speculation, all, Prepared.steps(all))
  end
  return all.held
end

return held
