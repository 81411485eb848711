--- What does it cost to lose one of eight replicas?
---
--- Setup     Llama-3.1-8B, bf16, on eight H100, one replica each; a router by outstanding requests.
--- Method    100 requests/s; after two minutes the third replica fails, and it serves again three minutes later. The
---           same requests with clients that give up, that send again what is lost, and behind a frontend that migrates
---           answers to other replicas; then the same with a router that believes for ten seconds that the lost replica
---           is ready.
--- Measures  Questions that are not answered; tokens that are lost, and prompt tokens that are computed again; what
---           clients wait from their first sending on; how long it takes until 95 % of the goodput is back.
--- Expect    What runs on the replica is lost, an eighth of what is under way. Retries answer it, from the beginning;
---           migration keeps the tokens that clients have, and computes prompts and these tokens again as one prompt.
---           While the loss is not detected, the lost replica has nothing to do: a router by outstanding requests sends
---           it everything. Few retries are not enough then.
--- Limits    The replica is back at once with empty caches when it is repaired; the others hold the load meanwhile.
local loses = { list = { { time_s = 120, replica = 3, repair_s = 180 } } }

local function losing(more)
  local given = { list = loses.list }
  for key, value in pairs(more or {}) do given[key] = value end
  return require "faults.scripted" (given)
end

return {
  rooflua = 1,
  title = "Losing one of eight",
  seed = 41,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  replicas = 8,
  router = "least_outstanding",
  slo = { ttft_s = 2, tpot_s = 0.05 },
  workload = require "workloads.poisson" {
    rate_per_s = 100,
    num_requests = 36000,
    prompt_tokens = { distribution = "lognormal", mean = 800, sigma = 0.6, max = 6000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.5, max = 1200 },
  },
  vary = {
    client = {
      { label = "gives up", value = require "clients.patient" {} },
      { label = "openai", value = require "clients.openai" {} },
      { label = "migrating", value = require "clients.migrating" {} },
    },
    faults = {
      { label = "at once", value = losing() },
      { label = "after 10 s", value = losing { detect_s = 10, connect_s = 0.1 } },
    },
  },
  report = function(results)
    local rows = { { "client and detection", "not answered", "lost requests", "lost tokens", "computed again",
      "E2E p99 s", "recovery s" } }
    for _, result in ipairs(results) do
      local s = result.summary
      local c, f = s.clients or { client_e2e_s = s.e2e_s }, s.faults
      rows[#rows + 1] = { (result.name:gsub("[%a_]+=", "")), s.requests - (c.asked and s.requests - c.asked or 0)
        - (c.answered or s.completed), f.lost_requests, f.lost_tokens, f.recomputed_tokens, c.client_e2e_s.p99,
        f.recovery_s or "never" }
    end
    return rows
  end,
}
