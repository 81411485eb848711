-- The kinds of policies, each a folder of scripts/ and a folder of this name beside a scenario. `rooflua list`, help,
-- completion, stubs, names of runs and the checks of methods read these rows. The key of a scenario that takes a kind
-- names its folder (scenario/keys.lua).
--
-- folder    where policies of the kind are looked for by name
-- doc       what they decide
-- of        what asks them where no key of a run does: a plan, a campaign, or the description of a model
-- optional  methods that a policy may leave out: a name that is nearly one of them is refused
local kinds = {}

local rows = {
  { folder = "steps", doc = "step models: what a step costs", optional = { "bind", "summary" } },
  { folder = "schedulers", doc = "which requests run in a step",
    optional = { "key", "victim", "start_problem", "summary" } },
  { folder = "routers", doc = "which replica gets a request", optional = { "start", "on_done", "place", "summary" } },
  { folder = "workloads", doc = "when requests come, and how long they are" },
  { folder = "lookup", doc = "which row of a table answers for an unmeasured shape" },
  { folder = "bucketing", doc = "how prompts of a step are grouped" },
  { folder = "corrections", doc = "factors and additions to what a step costs", optional = { "op", "step", "bind" } },
  { folder = "metrics", doc = "metrics that a scenario adds to its reports", optional = { "on_step", "on_done" } },
  { folder = "speculators", doc = "how many drafts a request gets" },
  { folder = "acceptance", doc = "which drafts are accepted" },
  { folder = "drafters", doc = "what drafts cost" },
  { folder = "tiers", doc = "which KV is loaded from CPU memory and disks, and what is stored there" },
  { folder = "eviction", doc = "what leaves such a store when it is full" },
  { folder = "deciders", doc = "whether a prefill replica computes a prompt, or the decode replica does" },
  { folder = "admission", doc = "which requests pass to the router, wait in front of it or are refused" },
  { folder = "clients", doc = "how long clients wait, and what they send again" },
  { folder = "autoscalers", doc = "how many replicas a pool has" },
  { folder = "faults", doc = "when replicas and links fail or are slow" },
  { folder = "balancers", doc = "when experts move between ranks, and where to" },
  { folder = "candidates", of = "plan", doc = "of a plan: which deployments are tried" },
  { folder = "objectives", of = "plan", doc = "of a plan: what the best deployment is" },
  { folder = "strategies", of = "plan", doc = "of a plan: in which order candidates are simulated" },
  { folder = "power", of = "plan", doc = "of a plan: what GPUs draw" },
  { folder = "processors", of = "model", optional = { "image", "video", "audio" },
    doc = "how many tokens of a prompt an image, a video or a sound becomes, by its size" },
  { folder = "campaigns", of = "campaign", doc = "where the shards of a sweep run" },
}

function kinds.rows() return rows end

--- Names of the folders, in order: of all kinds, or of those that a run loads, and a plan where `plan` is true.
function kinds.folders(of_run, plan)
  local out = {}
  for _, row in ipairs(rows) do
    if not of_run or not row.of or row.of == "model" or plan and row.of == "plan" then out[#out + 1] = row.folder end
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
