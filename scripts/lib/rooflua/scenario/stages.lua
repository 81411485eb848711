-- The stages of a deployment with pipeline parallelism: what a step spends between them.
local core = require "rooflua.base.core"
local schema = require "rooflua.scenario.schema"
local units = require "rooflua.text.units"

local stages = {}

local longest_s = 9.2e6 -- the clock shows 106 days

--- {shares, links = {{latency_s, s_per_token}}}, as the engine is told of them; nil where there is one stage.
---@param given table keys of a deployment, of which pp_send_s is read
function stages.of(reader, deployment, given)
  local latency_s = given.pp_send_s or schema.entry("deployment.pp_send_s").default
  reader:at("deployment", core.not_negative, latency_s, "deployment.pp_send_s")
  if latency_s > longest_s then
    reader:child("deployment"):fail("pp_send_s", "expected at most %g s, found %.14g", longest_s, latency_s)
  end
  if deployment.pp == 1 then return nil end
  local out = { shares = {}, links = {} }
  for i, stage in ipairs(core.plain(deployment.stages)) do
    out.shares[i] = stage.share
    if i > 1 then out.links[i - 1] = { latency_s = latency_s, s_per_token = stage.send_s_per_token } end
  end
  return out
end

local function sum_of(links, field)
  local sum = 0
  for _, link in ipairs(links) do sum = sum + link[field] end
  return sum
end

--- Adds the transfers between stages to the price of a step of all stages: two rows behind the others. Latencies are
--- assumed, the rest is modelled from bandwidths.
---@param evidence table shares of time_s
---@return number time_s
---@return table evidence shares of it
function stages.add_sends(all, tokens, rows, evidence, time_s)
  local seconds = {}
  for name, share in pairs(evidence) do seconds[name] = share * time_s end
  local function add(name, added_s, shape)
    if added_s == 0 then return end
    rows[#rows + 1] = { name = "stage_send", kind = "send", time_s = added_s, count = 1, flop = 0, bytes = 0,
      evidence = name, bound = "link", shape = shape, note = "" }
    seconds[name] = (seconds[name] or 0) + added_s
    time_s = time_s + added_s
  end
  local over = "over " .. units.counted(#all.links, "link")
  add("modelled", tokens * sum_of(all.links, "s_per_token"), ("%d tokens %s"):format(tokens, over))
  add("assumed", sum_of(all.links, "latency_s"), "latency " .. over)
  local shares = {}
  for name, each in pairs(seconds) do shares[name] = each / time_s end
  return time_s, shares
end

return stages
