-- The stages of a deployment with pipeline parallelism: what a step spends between them.
local core = require "rooflua.base.core"
local figures = require "rooflua.scenario.figures"
local units = require "rooflua.text.units"

local stages = {}

--- {shares, links = {{pp_send_s, s_per_token}}}, as the engine gets them; nil where there is one stage.
---@param pp_send_s number? of the scenario
function stages.of(deployment, pp_send_s)
  if deployment.pp == 1 then return nil end
  pp_send_s = pp_send_s or figures.row("stage_link", "pp_send_s").default
  local out = { shares = {}, links = {} }
  for i, stage in ipairs(core.plain(deployment.stages)) do
    out.shares[i] = stage.share
    if i > 1 then out.links[i - 1] = { pp_send_s = pp_send_s, s_per_token = stage.send_s_per_token } end
  end
  return out
end

local function sum_of(links, field)
  local sum = 0
  for _, link in ipairs(links) do sum = sum + link[field] end
  return sum
end

--- Seconds of the transfers between stages for a step of so many tokens: by bandwidth, and by latency.
function stages.sends(all, tokens)
  return tokens * sum_of(all.links, "s_per_token"), sum_of(all.links, "pp_send_s")
end

--- Adds the transfers between stages to the price of a step of all stages: two rows after the others. Latencies are
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
  local bandwidth_s, latency_s = stages.sends(all, tokens)
  add("modelled", bandwidth_s, ("%d tokens %s"):format(tokens, over))
  add("assumed", latency_s, "latency " .. over)
  local shares = {}
  for name, each in pairs(seconds) do shares[name] = each / time_s end
  return time_s, shares
end

return stages
