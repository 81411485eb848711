-- Keys of how a model is divided over ranks: what scenes.lua has of them.
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
  add(function()
    return served { model = "qwen3-30b-a3b", steps = "kernels", deployment = { tp = 2, ep = 4, expert_gpus = 4 },
      workload = load { num_requests = 12 } }
  end, { ["deployment.expert_gpus"] = { 8 }, ["deployment.micro_batches"] = { 2 } })
  add(function() return served { deployment = { pp = 2 } } end,
    { ["deployment.pp_batches"] = { 1 }, ["deployment.pp_send_s"] = { 0.001 } })
end

--- Values to try of parameters.
function widths.declare(effects)
  effects.values["candidates.ladder.expert_gpus"] = { { 2 } }
  effects.values["candidates.ladder.micro_batches"] = { { 2 } }
  local function over_network(one)
    return { kind = "price", model = "qwen3-30b-a3b", hardware = "h200", engine = "sglang 0.5.14", steps = one,
      deployment = { dp = 8, ep = 8, expert_gpus = 8 }, price = { { decodes = 200, decode_context_tokens = 200000 } } }
  end
  for _, name in ipairs { "afd_network_latency_s", "afd_network_share" } do
    effects.own["steps.kernels." .. name] = { over_network }
  end
  effects.values["candidates.ladder.cp"], effects.values["candidates.ladder.dcp"] = { { 2 } }, { { 2 } }
end

return widths
