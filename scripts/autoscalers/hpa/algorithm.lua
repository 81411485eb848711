--- The algorithm of Kubernetes' HorizontalPodAutoscaler (autoscaling/v2), without a clock of its own.
---
---     ratio = usage / target                     no change while |ratio - 1| <= tolerance
---     desired = ceil(ratio * replicas)           of a metric per pod
---     desired = ceil(usage / target per replica) of one of the whole
---
--- Pods without a metric count as if they met the target where the pool would shrink, and as if they used nothing where
--- it would grow; if that turns the direction, nothing changes. Then the largest recommendation of the window for
--- scaling down holds, and the smallest of that for scaling up; then policies limit how many pods come or go in a
--- period.
---
--- kubernetes/kubernetes pkg/controller/podautoscaler/replica_calculator.go and horizontal.go, 1.23 to 1.34;
--- kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale
local algorithm = {}

local function within(ratio, tolerance) return math.abs(ratio - 1) <= tolerance end

--- Of a metric of each pod.
---@param values number[] of the pods that have one
---@param missing integer pods that have none: they start, or are not ready
---@param current integer replicas now
function algorithm.of_pods(values, missing, target, tolerance, current)
  if #values == 0 then return current end
  local sum = 0
  for _, value in ipairs(values) do sum = sum + value end
  local ratio = sum / #values / target
  if missing == 0 then
    if within(ratio, tolerance) then return current end
    return math.ceil(ratio * #values)
  end
  if ratio < 1 then sum = sum + missing * target end
  local count = #values + missing
  local with_missing = sum / count / target
  local turns = ratio < 1 and with_missing > 1 or ratio > 1 and with_missing < 1
  if turns or within(with_missing, tolerance) then return current end
  local desired = math.ceil(with_missing * count)
  if ratio < 1 and desired > current or ratio > 1 and desired < current then return current end
  return desired
end

--- Of a metric of the whole, against a target per replica (an external metric with AverageValue).
function algorithm.of_whole(usage, target, tolerance, current)
  if current > 0 and within(usage / (target * current), tolerance) then return current end
  return math.ceil(usage / target)
end

--- What an HPA remembers: recommendations, and changes of the number of pods.
function algorithm.new_state() return { recommendations = {}, changes = {} } end

--- The stabilised recommendation.
---@param behavior table {up = {window_s}, down = {window_s}}
local function stabilised(state, now_s, current, desired, behavior)
  local up, down = desired, desired
  local kept = {}
  for _, each in ipairs(state.recommendations) do
    local age_s = now_s - each.at_s
    if age_s < behavior.up.window_s then up = math.min(up, each.replicas) end
    if age_s < behavior.down.window_s then down = math.max(down, each.replicas) end
    if age_s < math.max(behavior.up.window_s, behavior.down.window_s) then kept[#kept + 1] = each end
  end
  kept[#kept + 1] = { at_s = now_s, replicas = desired }
  state.recommendations = kept
  local out = current
  if out < up then out = up end
  if out > down then out = down end
  return out
end

--- Pods that came (sign 1) or went (-1) in the last period_s.
local function changed(state, now_s, period_s, sign)
  local sum = 0
  for _, each in ipairs(state.changes) do
    if now_s - each.at_s < period_s and each.by * sign > 0 then sum = sum + each.by * sign end
  end
  return sum
end

local function limit(state, now_s, current, rules, sign)
  if rules.select == "Disabled" then return current end
  local best
  for _, rule in ipairs(rules.policies) do
    local start = current - sign * changed(state, now_s, rule.period_s, sign)
    local allowed
    if rule.type == "Pods" then
      allowed = start + sign * rule.value
    elseif sign > 0 then
      allowed = math.ceil(start * (1 + rule.value / 100))
    else
      allowed = math.floor(start * (1 - rule.value / 100))
    end
    local further = best == nil or (rules.select == "Min") ~= (sign * allowed > sign * best)
    if further then best = allowed end
  end
  return best or current
end

--- The number of pods from now on.
---@param behavior table {up, down}: {window_s, select = "Max"|"Min"|"Disabled", policies = {{type, value, period_s}}}
function algorithm.step(state, now_s, current, desired, least, most, behavior)
  local wanted = stabilised(state, now_s, current, desired, behavior)
  if wanted > current then
    wanted = math.min(wanted, math.max(limit(state, now_s, current, behavior.up, 1), current), most)
  elseif wanted < current then
    wanted = math.max(wanted, math.min(limit(state, now_s, current, behavior.down, -1), current), least)
  end
  wanted = math.max(least, math.min(most, wanted))
  if wanted ~= current then state.changes[#state.changes + 1] = { at_s = now_s, by = wanted - current } end
  local kept = {}
  for _, each in ipairs(state.changes) do
    if now_s - each.at_s < 1800 then kept[#kept + 1] = each end
  end
  state.changes = kept
  return wanted
end

--- Defaults of autoscaling/v2: up at once, by the larger of doubling and four pods in 15 s; down after 300 s.
--- kubernetes pkg/apis/autoscaling/v2/defaults.go
function algorithm.behavior(up_window_s, down_window_s, up_pods, up_percent, down_percent, period_s)
  return {
    up = { window_s = up_window_s, select = "Max", policies = {
      { type = "Pods", value = up_pods, period_s = period_s },
      { type = "Percent", value = up_percent, period_s = period_s } } },
    down = { window_s = down_window_s, select = "Max",
      policies = { { type = "Percent", value = down_percent, period_s = period_s } } },
  }
end

return algorithm
