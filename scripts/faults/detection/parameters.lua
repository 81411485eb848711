--- When routers find out about a replica that has failed: parameters of every policy of faults.
local parameters = {}

local own = {
  detect_s = { default = 0, unit = "s", min = 0,
    doc = "How long routers believe that a replica is ready which has failed; 0: they know at once." },
  connect_s = { default = 0, unit = "s", min = 0,
    doc = "How long a request that is sent to it meanwhile waits until it ends as replica_lost." },
}

--- `params` and these.
function parameters.with(params)
  for name, each in pairs(own) do params[name] = each end
  return params
end

return parameters
