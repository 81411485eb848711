-- The policies of drafts that a launch command asks for.
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local reader = require "rooflua.scenario.reader"

local drafting = {}

--- A policy at a key of `speculation`, by its name or as it is given, with parameters.
local function policy_of(key, given, parameters)
  return policy.with(policies.of(reader.new "command", "speculation." .. key, given), parameters or {})
end

--- What is accepted: of a tree as many drafts as it has steps. An acceptance that is given is that of the tree, as
--- engines print it; the one that holds by default is that of a chain.
local function acceptance_of(found, given)
  if not found.topk then return given or "constant" end
  local inner = policy_of("acceptance", given or "constant")
  return require "acceptance.tree" { chain = inner, steps = found.steps, draft_tokens = found.draft_tokens,
    topk = given == nil and found.topk or 1, scope = inner.scope or "request" }
end

--- The key `speculation`.
--- @param found table {drafter, draft_tokens, parameters?, steps?, topk?} of the engine's `drafts`
--- @param given table of the scenario: its drafter and its acceptance hold
function drafting.keys(found, given)
  local own = found.parameters or found.topk and { steps = found.steps, topk = found.topk }
  return { speculator = policy_of("speculator", "fixed", { draft_tokens = found.draft_tokens }),
    drafter = given.drafter or own and policy_of("drafter", found.drafter, own) or found.drafter,
    acceptance = acceptance_of(found, given.acceptance) }
end

return drafting
