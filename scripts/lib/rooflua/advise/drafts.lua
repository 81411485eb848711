-- Drafts of a model's own prediction layers as a change of settings: the options with which its engine makes them.
local core = require "rooflua.base.core"
local drafting = require "rooflua.applied.drafting"
local writing = require "rooflua.engines.launch.writing"

local drafts = {}

local numbers = { 1, 2, 3 }

--- The engine's rule for multi-token prediction in its release; nil where it has none.
local function rule_of(resolved)
  local own = resolved.engine.speculation and resolved.engine.speculation.mtp
  return own and resolved.engine.drafts and own.options and own or nil
end

--- What a launch command that asks for so many drafts has: the first flag, and what follows it; of an engine that reads
--- them from a YAML file the group of its keys, and these.
local function words_of(resolved, rule, count)
  local options = rule.options(count)
  if not writing.file(resolved.engine, options) then
    local words = writing.words(resolved.engine, resolved.release, options, "")
    return words[1], core.join(words, " ", 2, #words)
  end
  local group, parts = nil, {}
  for name, value in core.sorted_pairs(options) do
    group = group or name:match "^[^.]+"
    parts[#parts + 1] = ("%s=%s"):format(name:match "[^.]+$", tostring(value))
  end
  return group, core.join(parts, " ")
end

--- Moves that begin to draft, as moves.of has them; none where the scenario drafts already, the model has no prediction
--- layers or its engine does not draft with them.
---@param given table the scenario
---@param resolved table of engines/values.lua
---@param model table
---@param is_command boolean
function drafts.of(given, resolved, model, is_command)
  local rule, out = rule_of(resolved), {}
  if not rule or given.speculation ~= nil or model.mtp_layers == 0 then return out end
  for _, count in ipairs(numbers) do
    local set, after = "speculation", ("mtp, %d"):format(count)
    if is_command then set, after = words_of(resolved, rule, count) end
    if set then
      out[#out + 1] = { option = "speculation", set = set, path = "speculation", key = "speculation", after = after,
        value = drafting.keys({ drafter = "mtp", draft_tokens = count }, {}) }
    end
  end
  return out
end

--- What is assumed where drafts are proposed.
drafts.note = "what part of the drafts is accepted is assumed: as much as acceptance.constant says by default"

return drafts
