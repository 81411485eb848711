-- The kinds of policies, each a folder of scripts/ and a folder of this name beside a scenario. `rooflua list`, help,
-- completion, stubs, names of runs and the checks of methods read these rows. The key of a scenario that takes a kind
-- names its folder (scenario/keys.lua).
--
-- folder    where policies of the kind are looked for by name
-- doc       what they decide
-- of        what asks them: a run, a plan, or a campaign
-- optional  methods that a policy may leave out: a name that is nearly one of them is refused
local kinds = {}

local rows = {
  { folder = "steps", of = "run", doc = "step models: what a step costs", optional = { "bind", "summary" } },
  { folder = "schedulers", of = "run", doc = "which requests run in a step",
    optional = { "key", "victim", "start_problem", "summary" } },
  { folder = "routers", of = "run", doc = "which replica gets a request",
    optional = { "start", "on_done", "summary" } },
  { folder = "workloads", of = "run", doc = "when requests come, and how long they are" },
  { folder = "lookup", of = "run", doc = "which row of a table answers for an unmeasured shape" },
  { folder = "bucketing", of = "run", doc = "how prompts of a step are grouped" },
  { folder = "corrections", of = "run", doc = "factors and additions to what a step costs",
    optional = { "op", "step", "bind" } },
  { folder = "metrics", of = "run", doc = "metrics that a scenario adds to its reports",
    optional = { "on_step", "on_done" } },
  { folder = "speculators", of = "run", doc = "how many drafts a request gets" },
  { folder = "acceptance", of = "run", doc = "which drafts are accepted" },
  { folder = "drafters", of = "run", doc = "what drafts cost" },
  { folder = "tiers", of = "run", doc = "which KV is loaded from CPU memory and disks, and what is stored there" },
  { folder = "eviction", of = "run", doc = "what leaves such a store when it is full" },
  { folder = "deciders", of = "run",
    doc = "whether a prefill replica computes a prompt, or the decode replica does" },
  { folder = "admission", of = "run",
    doc = "which requests pass to the router, wait in front of it or are refused" },
  { folder = "clients", of = "run", doc = "how long clients wait, and what they send again" },
  { folder = "autoscalers", of = "run", doc = "how many replicas a pool has" },
  { folder = "faults", of = "run", doc = "when replicas and links fail or are slow" },
  { folder = "balancers", of = "run", doc = "when experts move between ranks, and where to" },
  { folder = "candidates", of = "plan", doc = "of a plan: which deployments are tried" },
  { folder = "objectives", of = "plan", doc = "of a plan: what the best deployment is" },
  { folder = "strategies", of = "plan", doc = "of a plan: in which order candidates are simulated" },
  { folder = "power", of = "plan", doc = "of a plan: what GPUs draw" },
  { folder = "campaigns", of = "campaign", doc = "where the shards of a sweep run" },
}

function kinds.rows() return rows end

--- Names of the folders, in order: of all kinds, or of those that one of `of` asks.
function kinds.folders(...)
  local out, of = {}, { ... }
  for _, row in ipairs(rows) do
    local is_asked = #of == 0
    for _, each in ipairs(of) do is_asked = is_asked or row.of == each end
    if is_asked then out[#out + 1] = row.folder end
  end
  return out
end

--- The methods that policies of a folder may leave out.
function kinds.optional(folder)
  for _, row in ipairs(rows) do
    if row.folder == folder then return row.optional or {} end
  end
  return {}
end

return kinds
