-- Replicas of a measured cluster that an autoscaler adds, as other_settings says it in words:
--
--     start 1 replica per role, at most 4; triggers: backlog 1.5 s, KV use .8; HPA sync 15 s
--
-- Triggers are KEDA's, in front of an HPA: replicas = the largest of ceil(sum over replicas / target), but for a
-- tolerance of a tenth, and fewer only when fewer were enough for 300 s. Seconds of backlog are waiting prompt tokens
-- over the tokens per second that the row states in `notes` ("peak prefill ... 15375-15569 tok/s").
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"

local scaling = {}

--- Whether replicas come and go in the run of a row.
function scaling.is_scaled(row)
  return (" " .. row.needs .. " "):find(" autoscale ", 1, true) ~= nil and row.arm ~= "static"
    and not row.other_settings:find "no scaling"
end

--- Prompt tokens per second of a replica: the middle of what is stated.
local function prefill_speed(row)
  local low, high = row.notes:match "peak prefill[^%d]*(%d+)%-(%d+) tok/s"
  local one = row.notes:match "peak prefill[^%d]*(%d+) tok/s"
  if low then return (tonumber(low) + tonumber(high)) / 2 end
  return tonumber(one) or core.fail("%s: needs autoscale: a trigger is in seconds of backlog, and notes state no "
    .. "peak prefill in tok/s", row.where)
end

local function triggers_of(row)
  local backlog = tonumber(row.other_settings:match "backlog ([%d.]+) s")
  local kv = tonumber(row.other_settings:match "KV use ([%d.]+)")
  local out = {}
  if backlog then out[#out + 1] = { metric = "backlog_s", target = backlog } end
  if kv then out[#out + 1] = { metric = "kv_used_frac", target = kv } end
  if #out == 0 then
    core.fail("%s: needs autoscale: other_settings state no triggers (backlog 1.5 s, KV use .8)", row.where)
  end
  return out
end

--- Triggers of one pool: engines that decode have no prompts that wait.
local function triggers_for(row, role)
  local all, out = triggers_of(row), {}
  for _, each in ipairs(all) do
    if role ~= "decode" or each.metric ~= "backlog_s" then out[#out + 1] = each end
  end
  return #out > 0 and out or all
end

--- The entry of `replicas`, or what it has besides its pool's own members.
---@param pool table? of a split layout: {role, count}
function scaling.pool(row, notes, pool)
  local said = row.other_settings
  local triggers, most = triggers_for(row, pool and pool.role), tonumber(said:match "at most (%d+)")
  if not most then
    core.fail("%s: needs autoscale: other_settings do not state the most replicas (at most 4)", row.where)
  end
  local first = table.remove(triggers, 1)
  local given = { metric = first.metric, target = first.target, triggers = triggers,
    interval_s = tonumber(said:match "HPA sync ([%d.]+) s") }
  if first.metric == "backlog_s" then given.prefill_tokens_per_s = prefill_speed(row) end
  local keda = policies.of(Reader.new "validate", "autoscaler", "keda")
  notes[#notes + 1] = "the start time of a replica is not stated: the default of replicas[].start"
  return { autoscaler = policy.with(keda, given), min = 1, max = most,
    count = tonumber(said:match "start (%d+) replica") or pool and pool.count or row.replicas or 1 }
end

return scaling
