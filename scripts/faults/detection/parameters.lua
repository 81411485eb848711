--- When routers find out about a replica that has failed, and what becomes of transfers that stand still: parameters of
--- policies of faults.
local parameters = {}

local of_replicas = {
  detect_s = { default = 0, unit = "s", min = 0,
    doc = "How long routers believe that a replica is ready which has failed; 0: they know at once." },
  connect_s = { default = 0, unit = "s", min = 0,
    doc = "How long a request that is sent to it meanwhile waits until it ends as replica_lost.",
    idle = { detect_s = 0 } },
}

local of_links = {
  timeout_s = { default = 30, unit = "s", min = 0, max = 1e6, exclusive_min = true,
    doc = "A transfer fails that stands still for so long.",
    source = "kvcache-ai/Mooncake transfer engine, MC_TRANSFER_TIMEOUT" },
  kv_load_failure_policy = { default = "fail", values = { "fail", "recompute" },
    doc = "Whether a request whose KV fails to come ends as replica_lost, or is computed where it waits.",
    source = "vLLM vllm/config/kv_transfer.py: the default of first releases was 'recompute'" },
}

local function with(params, own)
  for name, each in pairs(own) do params[name] = each end
  return params
end

--- `params` and those of replicas that fail.
function parameters.of_replicas(params) return with(params, of_replicas) end

--- `params` and those of links that fail.
function parameters.of_links(params) return with(params, of_links) end

return parameters
