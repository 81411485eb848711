-- Scenes of clients: what effects_scenes.lua has of them.
local clients = {}

--- A replica that is short of seats, so that requests wait.
function clients.scenes(served)
  return { function(one) return served { client = one, deployment = { max_num_seqs = 4, kv_blocks = 900 } } end }
end

--- Values to try of parameters, and others that they need.
function clients.declare(effects)
  local retries = { first_token_s = 0, total_s = 1, retries = 4, delay_s = 0.1, factor = 3, most_s = 0.5, jitter = 0.2 }
  for _, name in ipairs { "retries", "delay_s", "factor", "most_s", "jitter", "total_s" } do
    effects.needs["clients.impatient." .. name] = retries
  end
  effects.needs["clients.impatient"] = { first_token_s = 0.5 }
  effects.needs["clients.openai"] = { timeout_s = 0.7, max_retries = 6, max_delay_s = 1 }
  effects.values["clients.openai.max_delay_s"] = { 0.2 }
end

return clients
