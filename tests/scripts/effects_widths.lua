-- Keys of how a model is divided over ranks: what effects_scenes.lua has of them.
local widths = {}

--- @param served fun(more: table): any a scene
--- @param load fun(more: table): table a workload
function widths.add(add, served, load)
  add(function()
    return served { model = "qwen3-30b-a3b", deployment = { dp = 2, ep = 2 }, workload = load { num_requests = 12 },
      steps = "kernels" }
  end, { ["deployment.dp"] = { 4 }, ["deployment.ep"] = { 1 }, ["deployment.moe_tp"] = { 2 },
    ["deployment.dp_sync_s"] = { 0.01 } })
  add(function()
    return served { model = "deepseek-v3", hardware = "h200", steps = "kernels", engine = "sglang 0.5.14",
      deployment = { tp = 4, kv_blocks = 4000, weights = "fp4" }, workload = load { num_requests = 12 } }
  end, { ["deployment.cp"] = { 2 }, ["deployment.dcp"] = { 2 } })
  add(function() return served { deployment = { pp = 2 } } end,
    { ["deployment.pp_batches"] = { 1 }, ["deployment.pp_send_s"] = { 0.001 } })
end

--- Values to try of parameters.
function widths.declare(effects)
  effects.values["candidates.ladder.cp"], effects.values["candidates.ladder.dcp"] = { { 2 } }, { { 2 } }
end

return widths
