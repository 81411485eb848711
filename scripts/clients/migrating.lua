--- A frontend that carries answers over to other replicas when theirs is lost.
local policy = require "rooflua.policy"

---@class clients.Migrating: rooflua.Client
---@field migration_limit integer
---@field max_tokens integer
local Migrating = policy.define {
  name = "migrating",
  doc = "A request whose replica is lost goes on at another one: its prompt and the tokens that it has generated so "
    .. "far are computed there, and no token is generated twice.",
  source = "NVIDIA Dynamo 0.7 to 1.7: Request Migration (--migration-limit, --migration-max-seq-len)",
  params = {
    migration_limit = { default = 3, unit = "migrations", min = 0, max = 90000, integer = true,
      doc = "How often a request may migrate. Dynamo's default is 0, no migration; its guide begins with 3." },
    max_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Longer sequences, prompt and answer so far, do not migrate; 0: all do.", idle = { migration_limit = 0 } },
  },
}

function Migrating:again(request, ending)
  if ending.outcome ~= "replica_lost" or ending.attempt >= self.migration_limit then return nil end
  if self.max_tokens > 0 and request.prompt_tokens + ending.output_tokens > self.max_tokens then return nil end
  return 0, true
end

return Migrating
