-- A ledger as text, in the words of the engine's own log, and as a document.
local capacity = require "rooflua.serving.capacity"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local Prepared = require "rooflua.machine.prepared"
local units = require "rooflua.text.units"

local text = {}

local gib = 2 ^ 30

local function gib_text(bytes) return ("%.2f"):format(bytes / gib) end

--- { "tp 2", "ep 2" }: the widths of a deployment, without what is 1 but tp.
local function widths(deployment)
  local out = { ("tp %d"):format(deployment.tp) }
  for _, name in ipairs { "pp", "dp", "ep", "cp", "dcp" } do
    if deployment[name] > 1 then out[#out + 1] = ("%s %d"):format(name, deployment[name]) end
  end
  if deployment.expert_gpus > 0 then out[#out + 1] = ("expert_gpus %d"):format(deployment.expert_gpus) end
  if deployment.micro_batches > 1 then out[#out + 1] = ("micro_batches %d"):format(deployment.micro_batches) end
  return out
end

--- "qwen3-32b on h100-sxm, vllm 0.19.0, tp 2".
function text.title(found)
  local facts = found.facts
  return ("%s on %s, %s %s, %s"):format(facts.model.name, facts.hardware.name, facts.engine.name, facts.release,
    table.concat(widths(facts), ", "))
end

--- "prefill 4 x tp 8 + decode 5 x tp 8 = 72 GPUs" of what serving/replicas.lua lists; nil where nothing is split.
function text.split(list)
  local is_split = false
  for _, each in ipairs(list) do is_split = is_split or each.config.role ~= "both" end
  if not is_split then return nil end
  local pools, of, gpus = {}, {}, 0
  for _, each in ipairs(list) do
    local deployment, role = each.deployment, each.config.role
    local name = role .. "|" .. table.concat(widths(deployment), " x ")
    gpus = gpus + deployment.tp * deployment.cp * deployment.pp
    if each.rank == 1 then
      if not of[name] then
        of[name] = { engines = 0 }
        pools[#pools + 1] = name
      end
      of[name].engines, gpus = of[name].engines + 1, gpus + deployment.expert_gpus
    end
  end
  for i, name in ipairs(pools) do
    local role, shape = name:match "^(.*)|(.*)$"
    pools[i] = ("%s %d x %s"):format(role, of[name].engines, shape)
  end
  return ("%s = %d GPUs"):format(table.concat(pools, " + "), gpus)
end

local function parts_text(found)
  local facts, words = found.facts, {}
  local total = facts.hardware.usable_memory_bytes
  for _, each in ipairs(found.parts) do
    if each.bytes ~= 0 then
      words[#words + 1] = ("%s %s%s"):format(each.name, gib_text(each.bytes), #words == 0 and " GiB" or "")
    end
  end
  local kv = found.kv_bytes < 0 and ("no KV cache: %s GiB too little"):format(gib_text(-found.kv_bytes))
    or ("KV cache %s GiB"):format(gib_text(found.kv_bytes))
  words[#words + 1] = ("%s (%s of %s GiB)"):format(kv, gib_text(found.budget_bytes), gib_text(total))
  return table.concat(words, "   ")
end

--- "experts on 16 GPUs: each weights 39.37 GiB, with activations and runtime 41.90 of 124.1 GiB".
local function experts_text(experts)
  return ("experts on %d GPUs: each weights %s GiB, with activations and runtime %s of %s GiB"):format(experts.gpus,
    gib_text(experts.weight_bytes), gib_text(experts.needed_bytes), gib_text(experts.budget_bytes))
end

--- The two lines of the engine's log.
function text.log(found)
  return ("GPU KV cache size: %s tokens\nMaximum concurrency for %s tokens per request: %.2fx"):format(
    units.grouped(found.tokens), units.grouped(found.facts.max_model_len), found.concurrency)
end

--- Both as one line, for the head of a run.
function text.line(found)
  return ("GPU KV cache size: %s tokens, %.2fx of %s tokens per request"):format(units.grouped(found.tokens),
    found.concurrency, units.grouped(found.facts.max_model_len))
end

--- The same of what a scenario serves; nil where it gives a Deployment.
---@param prepared table of machine/prepared.lua
function text.of_prepared(prepared)
  local found = prepared.served and Prepared.ledger(prepared)
  if not found then return nil end
  local facts = found.facts
  return ("%s %s: %s%s"):format(facts.engine.name, facts.release, text.line(found),
    found.starts and "" or "; would not start: " .. found.reason)
end

--- "--max-model-len 37,680" of an option and its value.
local function option_text(engine, key, value)
  local option = capacity.option_of(engine, key)
  if not option then return key:match "[^.]+$" .. " " .. value end
  return option.flag and option.flag .. " " .. value or option.name .. " " .. value
end

--- "tp 2"; where the engine counts other ranks with it, its own option: "--tp-size 16".
local function tp_text(facts, tp)
  local others = core.is_among("tp", facts.engine.counts_all_ranks or {}) and facts.dp * facts.cp or 1
  return others == 1 and "tp " .. tp or option_text(facts.engine, "deployment.tp", tostring(tp * others))
end

--- "fits with --max-model-len 37,680, --gpu-memory-utilization 0.93, or tp 2".
local function fits_text(found, fits)
  local engine, words = found.facts.engine, {}
  if fits.max_model_len then
    words[#words + 1] = option_text(engine, "deployment.max_model_len", ("%d"):format(fits.max_model_len))
  end
  if fits.max_num_seqs then
    words[#words + 1] = option_text(engine, "scheduler.max_num_seqs", ("%d"):format(fits.max_num_seqs))
  end
  if fits.kv_blocks then
    words[#words + 1] = option_text(engine, "engine.kv_blocks", ("%d"):format(fits.kv_blocks))
  end
  if fits.share then
    words[#words + 1] = option_text(engine, "deployment.memory_utilization", ("%.2f"):format(fits.share))
  end
  if fits.tp then words[#words + 1] = tp_text(found.facts, fits.tp) end
  if #words == 0 then return "no share of the memory and no tp up to 64 makes it start" end
  local last = table.remove(words)
  return "it fits with " .. (#words > 0 and table.concat(words, ", ") .. ", or " or "") .. last
end

--- The whole answer.
---@param fits table? of capacity.fits, where it would not start
function text.answer(found, fits)
  local lines = { text.title(found) }
  if found.note then lines[#lines + 1] = found.note end
  lines[#lines + 1] = parts_text(found)
  if found.experts then lines[#lines + 1] = experts_text(found.experts) end
  lines[#lines + 1] = text.log(found)
  if found.groups > 1 then
    lines[#lines + 1] = ("%s blocks of %d tokens in %d groups of layers"):format(units.grouped(found.blocks),
      found.block_size, found.groups)
  end
  for _, row in ipairs(found.tiers or {}) do
    lines[#lines + 1] = ("KV in %s: %s tokens (%.2f GB per %s)"):format(row.name, units.grouped(row.tokens),
      row.capacity_bytes / 1e9, row.per)
  end
  if found.running_requests then
    lines[#lines + 1] = ("max_running_requests: %s"):format(units.grouped(found.running_requests))
  end
  if not found.starts then
    local says_all = found.lacks_experts or found.lacks == "kernels"
    lines[#lines + 1] = "would not start: " .. found.reason
      .. (says_all and "" or "; " .. fits_text(found, fits or {}))
  elseif found.longest_tokens < found.facts.max_model_len then
    lines[#lines + 1] = ("longest request: %s tokens, as many as the cache holds"):format(
      units.grouped(found.longest_tokens))
  end
  return table.concat(lines, "\n")
end

--- A ledger as a document.
function text.document(found, fits)
  local facts, parts = found.facts, json.array {}
  for i, each in ipairs(found.parts) do parts[i] = { name = each.name, bytes = each.bytes } end
  return { schema = 1, kind = "capacity", model = facts.model.name, hardware = facts.hardware.name,
    engine = facts.engine.name, release = facts.release, note = found.note,
    deployment = { tp = facts.tp, pp = facts.pp, dp = facts.dp, ep = facts.ep, cp = facts.cp > 1 and facts.cp or nil,
      dcp = facts.dcp > 1 and facts.dcp or nil, share = facts.share,
      expert_gpus = facts.expert_gpus > 0 and facts.expert_gpus or nil,
      micro_batches = facts.micro_batches > 1 and facts.micro_batches or nil,
      max_num_seqs = facts.seats, max_num_batched_tokens = facts.budget, max_model_len = facts.max_model_len,
      block_size = found.block_size },
    formats = { weights = facts.counts.weights, kv = facts.counts.kv },
    total_bytes = facts.hardware.usable_memory_bytes, budget_bytes = found.budget_bytes, parts = parts,
    kv_bytes = found.kv_bytes, kv_blocks = found.blocks, kv_tokens = found.tokens, groups = found.groups,
    max_concurrency = found.concurrency, longest_tokens = found.longest_tokens,
    max_running_requests = found.running_requests, starts = found.starts, reason = found.reason,
    experts = found.experts, tiers = #(found.tiers or {}) > 0 and json.array(found.tiers) or nil,
    fits = fits and next(fits) and fits or nil }
end

--- What scripts get: the document, with its text.
function text.of(about)
  local found = capacity.of(about)
  local fits = not found.starts and capacity.fits(found) or nil
  local out = text.document(found, fits)
  out.text = text.answer(found, fits)
  return out
end

return text
