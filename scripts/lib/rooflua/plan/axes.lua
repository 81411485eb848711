-- The axes of a plan: what candidates differ in besides their GPU. Candidates, their names and documents, the ladder,
-- the options of `rooflua plan`, what is refused beside a file and what was not tried follow from these rows.
--
-- 1           the field of a candidate
-- of          what gets the value: the deployment, the scheduler, or another part that asks for it
-- type        count: a whole number; amount: a number above 0; format: of numbers; switch: true or false; table; or one
--             of its own: engine, memory, split (readers in candidates.lua)
-- least       the least count
-- default     the value of a candidate that states none
-- none        the value that is the same as none: such candidates keep their names
-- width       a name has it: "always", or true: where it is more than none
-- word        how else a name has it: a format, or a function of the value
-- key         the key of a scenario that has it; of the deployment its own name
-- of_experts  true: models without experts do not have it
-- of_items    true: only requests with images or videos have it
-- untried     how a report names it where one value was tried
-- values      what the ladder tries by itself; without it the ladder has no such parameter
-- unstated    the value of the ladder that leaves the field out
-- parameter   the ladder's name of it, if it is another
-- unit, doc, idle   of this parameter (policy.define)
-- words       words of the ladder that stand for a number
-- option      { "--seats", "what help says" } of `rooflua plan`: a list of values, with flag = true a flag
-- per_pool    the same axis of the engines that prefill, a key of `split`: what differs in its row
local native = require "rooflua.native"

local axes = {}

local rows = {
  { "engine", type = "engine", word = "%s", values = {}, unstated = false, parameter = "engines",
    doc = "Names of engines; without any that of the scenario.",
    option = { "--engines", "Engines to try, NAME or NAME=RELEASE (that of --engine)" } },
  { "tp", of = "deployment", type = "count", least = 1, default = 1, width = "always", untried = "tp",
    values = { 1, 2, 4, 8 }, unit = "GPUs", doc = "Tensor parallel degrees, up to a node.",
    option = { "--tp", "Tensor parallel degrees to try (1,2,4,8)" },
    per_pool = { values = { "same" },
      doc = "Tensor parallel degrees of prefill engines, where split; \"same\": tp.",
      option = { "--prefill-tp", "With --split: tensor parallel degrees of prefill engines (tp)" } } },
  { "pp", of = "deployment", type = "count", least = 1, default = 1, width = true, untried = "pp",
    values = { 1 }, unit = "stages", doc = "Pipeline stages.",
    option = { "--pp", "Pipeline stages to try (1)" }, per_pool = {} },
  { "dp", of = "deployment", type = "count", least = 1, default = 1, width = true, of_experts = true, untried = "dp",
    values = { 1 }, unit = "ranks", doc = "Data-parallel ranks of the attention; only in models with experts.",
    option = { "--dp", "Data-parallel ranks of the attention to try (1)" },
    per_pool = { values = { "same" }, doc = "The same of dp.",
      option = { "--prefill-dp", "With --split: data-parallel ranks of prefill engines (dp)" } } },
  { "ep", of = "deployment", type = "count", least = 1, default = 1, width = true, of_experts = true, untried = "ep",
    values = { 1, "all" }, words = { all = true }, unit = "ranks",
    doc = "Ranks with whole experts; \"all\": tp x dp x cp, or expert_gpus. Only in models with experts.",
    option = { "--ep", "Expert-parallel ranks to try; all: every rank (1,all for experts)" },
    per_pool = { values = { "same" }, doc = "The same of ep; \"all\": tp x dp x cp of a prefill engine.",
      option = { "--prefill-ep", "With --split: expert-parallel ranks of prefill engines; all: every rank (ep)" } } },
  { "cp", of = "deployment", type = "count", least = 1, none = 1, width = true,
    values = { 1 }, unit = "ranks", doc = "Ranks that divide a prompt, each on tp GPUs of its own.",
    option = { "--cp", "Prefill context parallel ranks to try (1)" } },
  { "dcp", of = "deployment", type = "count", least = 1, none = 1, width = true,
    values = { 1 }, unit = "ranks", doc = "Ranks of tp that divide the KV of a request, where it divides tp.",
    option = { "--dcp", "Decode context parallel ranks to try (1)" } },
  { "expert_gpus", of = "deployment", type = "count", least = 0, none = 0, width = true, of_experts = true,
    values = { 0 }, unit = "GPUs", doc = "GPUs of the routed experts alone; 0: they are on those of the attention.",
    option = { "--expert-gpus", "GPUs of the experts alone to try; 0: none (0)" } },
  { "micro_batches", of = "deployment", type = "count", least = 1, none = 1, width = true, of_experts = true,
    values = { 1 }, unit = "batches", idle = { expert_gpus = { 0 } },
    doc = "Micro-batches between both pools, where there are expert_gpus.",
    option = { "--micro-batches", "Micro-batches between both pools to try (1)" } },
  { "weights", of = "deployment", type = "format", word = "weights %s", untried = "other weights",
    values = { "own" }, unstated = "own", doc = "Formats of the weights; \"own\": as released.",
    option = { "--weights", "Formats of the weights to try (the model's own)" } },
  { "kv", of = "deployment", type = "format", word = "kv %s", untried = "other KV formats",
    values = { "own" }, unstated = "own", doc = "Formats of the KV cache; \"own\": as released.",
    option = { "--kv", "Formats of the KV cache to try (the model's own)" } },
  { "max_num_seqs", of = "scheduler", type = "count", least = 1, default = 256, word = "%d seats",
    values = { 64, 256 }, unit = "requests", doc = "Seats: most requests in a step.",
    option = { "--seats", "Most requests in a step to try (64,256)" } },
  { "max_num_batched_tokens", of = "scheduler", type = "count", least = 1, default = 8192, word = "budget %d",
    values = { 512, 2048, 8192 }, unit = "tokens", doc = "Token budgets of a step.",
    option = { "--budgets", "Most tokens in a step to try (512,2048,8192)" } },
  { "memory_utilization", of = "deployment", type = "amount", word = "memory %.4g" },
  { "prefix_caching", of = "deployment", type = "switch", untried = "prefix caching off",
    word = function(value) return value == false and "prefix caching off" or nil end,
    values = { true }, unstated = true, doc = "Whether equal prefixes share KV blocks." },
  { "host_memory_gb", type = "memory", key = "tiers",
    word = function(value) return ("%s GB of the host for KV"):format(native.number_text(value)) end,
    values = { 0 }, unstated = 0, unit = "GB",
    doc = "Memory of the host of each replica for KV that leaves the GPU; 0: none." },
  { "split", type = "split", key = "replicas[].role", untried = "split", values = false, unstated = false,
    doc = "true: also separate prefill and decode, in the ratios 1:1, 1:2, 2:1, 1:3, 3:1; \"only\": nothing else; or a "
      .. "list of {prefill, decode}.",
    option = { "--split", "Also prefill and decode on separate replicas", flag = true } },
  { "encoders", type = "count", least = 0, none = 0, of_items = true, key = "replicas[].encoder",
    untried = "encoder pools", values = { 0 }, unit = "GPUs",
    doc = "GPUs that only encode, each with an encoder of its own; where requests have images or videos.",
    option = { "--encoders", "GPUs that only encode images to try; 0: replicas encode (0)" } },
  { "speculation", type = "table", key = "speculation", untried = "speculation", values = {}, unstated = false,
    doc = "Speculations to try besides none: tables as the scenario's key `speculation`." },
}

--- The row of an axis for the engines that prefill: a key of `split`.
local function of_pool(row)
  local out = { name = "prefill_" .. row.name, of = "prefill", pool_of = row.name, type = row.type, least = row.least,
    unit = row.unit, words = row.words, of_experts = row.of_experts, idle = { split = false } }
  for key, value in pairs(row.per_pool) do out[key] = value end
  return out
end

local all, of_candidates, of_pools = {}, {}, {}
for _, row in ipairs(rows) do
  row.name = row[1]
  row.key = row.key or row.of == "deployment" and "deployment." .. row.name or nil
  if row.unstated == nil then row.unstated = row.none end
  of_candidates[#of_candidates + 1] = row
  if row.per_pool then of_pools[#of_pools + 1] = of_pool(row) end
  all[#all + 1] = row
  for _, each in ipairs(row.type == "split" and of_pools or {}) do all[#all + 1] = each end
end
for _, row in ipairs(all) do
  row.option_key = row.option and row.option[1]:gsub("^%-%-", ""):gsub("%-", "_") or nil
end

--- Rows in order for which `keep(row)` holds; all without it.
function axes.rows(keep)
  local out = {}
  for _, row in ipairs(all) do
    if not keep or keep(row) then out[#out + 1] = row end
  end
  return out
end

--- Rows of what candidates have, without those of prefill engines.
function axes.of_candidates() return of_candidates end

--- Names of the axes of a part: "deployment", "scheduler", "prefill".
function axes.names(of)
  local out = {}
  for _, row in ipairs(all) do
    if row.of == of then out[#out + 1] = row.name end
  end
  return out
end

--- Fields of a candidate: its GPU, its axes, and `more`.
function axes.fields(more)
  local out = { "gpu" }
  for _, row in ipairs(of_candidates) do out[#out + 1] = row.name end
  for _, name in ipairs(more) do out[#out + 1] = name end
  return out
end

--- Rows with those for which `first(row)` holds before the others.
function axes.sorted(list, first)
  local out = {}
  for _, wanted in ipairs { true, false } do
    for _, row in ipairs(list) do
      if (first(row) or false) == wanted then out[#out + 1] = row end
    end
  end
  return out
end

--- The options of `rooflua plan`, in the order of its help: {key, name, doc, is_flag}. Numbers stand before formats.
function axes.options()
  local out = {}
  local function first(row) return row.type == "engine" or row.type == "count" and not row.pool_of end
  for _, row in ipairs(axes.sorted(all, first)) do
    if row.option then
      out[#out + 1] = { key = row.option_key, name = row.option[1], doc = row.option[2],
        is_flag = row.option.flag or false }
    end
  end
  return out
end

return axes
