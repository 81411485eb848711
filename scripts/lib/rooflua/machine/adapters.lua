-- Low-rank adapters: the key `adapters` of a scenario, as its parts read it (docs/ADAPTERS.md). Of one rank of a
-- replica:
--
--     bytes = r (slices k + n) * element bytes, over the GEMMs [m, k] x [k, n] of the target modules and their layers
--
-- A GEMM that an engine made of several projections has as many slices: each has a matrix A of its own. k and n are
-- those of the rank: a module whose output is divided has all of A and its part of B, one whose input is divided its
-- part of A and all of B. [vLLM vllm/lora/layers/column_parallel_linear.py, row_parallel_linear.py; without
-- --fully-sharded-loras]
local core = require "rooflua.base.core"
local cost = require "rooflua.cost"
local native = require "rooflua.native"
local schema = require "rooflua.scenario.schema"
local spec = require "rooflua.spec"

local adapters = {}

local default_modules = { "qkv", "o", "gate_up", "down" }
local slices = { qkv = 3, gate_up = 2 }
local most_adapters = 65535
local most_copy_s = 1e6

local function default(name) return schema.entry("adapters." .. name).default end

local function whole(reader, given, name, least, most)
  local value = given[name]
  if value == nil then return nil end
  return reader:whole(name, value, least, most)
end

--- One number per adapter: the list that is given, or one number for all.
local function list_of(reader, name, given, count, check)
  local out = {}
  if type(given) ~= "table" then
    for i = 1, count do out[i] = check(name, given) end
    return out
  end
  local plain = core.plain(given)
  if #plain ~= count then reader:fail(name, "expected %d, one per adapter, found %d", count, #plain) end
  for i, value in ipairs(plain) do out[i] = check(("%s[%d]"):format(name, i), value) end
  return out
end

--- The base name of an operation, without its kind of layers.
local function base_name(op) return (op.name:match "^[^@]*") end

--- GEMMs of one rank that adapters change: {name, k, n, count, slices}.
local function modules_of(reader, wanted, model, deployment)
  local names, found, known = core.set(wanted or default_modules), {}, {}
  for _, op in ipairs(cost.layers(model, deployment)) do
    local name = base_name(op)
    if op.op == "gemm" and name ~= "lm_head" then
      known[name] = true
      if names[name] then
        found[#found + 1] = { name = op.name, k = op.k, n = op.n, count = op.count, slices = slices[name] or 1 }
      end
    end
  end
  for _, name in ipairs(wanted or {}) do
    if not known[name] then
      reader:fail("target_modules", "%s", native.unknown_name("module", tostring(name), core.sorted_keys(known)))
    end
  end
  if wanted and #wanted == 0 then
    reader:fail("target_modules", "expected at least one of %s", table.concat(core.sorted_keys(known), ", "))
  end
  if #found == 0 then
    reader:fail("target_modules", "is missing: %s has none of %s; its GEMMs are %s", model.name,
      table.concat(default_modules, ", "), table.concat(core.sorted_keys(known), ", "))
  end
  return found
end

--- Bytes of one rank of an adapter, on one GPU.
local function rank_bytes(modules, element_bytes)
  local bytes = 0
  for _, each in ipairs(modules) do
    bytes = bytes + each.count * (each.slices * each.k + each.n) * element_bytes
  end
  return bytes
end

--- Seconds between the host's memory and a slot, and before that from where the adapters are kept, by adapter.
local function times_of(reader, given, made)
  local hardware = made.hardware
  local to_slot = reader:amount("host_bytes_per_s", given.host_bytes_per_s, true) or hardware.host_bytes_per_s
  if to_slot == 0 then
    reader:fail("host_bytes_per_s", "is missing, and %s states no bandwidth to its host (host_gb_per_s in "
      .. "hardware.toml)", hardware.name)
  end
  local store = reader:amount("store_bytes_per_s", given.store_bytes_per_s, true)
  local load_s = reader:amount("load_s", given.load_s) or default "load_s"
  local slot_s, fetch_s = {}, {}
  for i, rank in ipairs(made.ranks) do
    slot_s[i] = load_s + rank * made.rank_bytes / to_slot
    fetch_s[i] = store and rank * made.whole_rank_bytes / store or 0
    if slot_s[i] > most_copy_s then
      reader:fail(given.load_s and load_s > most_copy_s and "load_s" or "host_bytes_per_s",
        "a copy of an adapter takes %.3g s; at most %g s are right", slot_s[i], most_copy_s)
    end
    if fetch_s[i] > most_copy_s then
      reader:fail("store_bytes_per_s", "an adapter takes %.3g s into the memory of the host; at most %g s are right",
        fetch_s[i], most_copy_s)
    end
  end
  return slot_s, fetch_s, store
end

--- How many slots there are, and how many adapters the host keeps.
local function slots_of(reader, given, count)
  local slots = whole(reader, given, "max_loras", 1, most_adapters) or default "max_loras"
  local on_host = whole(reader, given, "max_cpu_loras", 1, most_adapters) or slots
  if on_host < slots then
    reader:fail("max_cpu_loras", "found %d; at least max_loras = %d is right", on_host, slots)
  end
  if given.max_cpu_loras and not given.store_bytes_per_s then
    reader:fail("max_cpu_loras", "has no effect: without store_bytes_per_s all %d adapters are in the memory of the "
      .. "host", count)
  end
  return slots, given.store_bytes_per_s and on_host or math.max(count, slots)
end

--- Probabilities of no adapter and of each: `weights`, or 1 / k^zipf.
local function weights_of(reader, given, count)
  local share = reader:amount("share", given.share) or default "share"
  if share > 1 then reader:fail("share", "expected a part from 0 to 1, found %.14g", share) end
  if given.weights ~= nil and given.zipf ~= nil then
    reader:fail("weights", "and zipf both say how popular adapters are; give one of them")
  end
  local out, sum = {}, 0
  local exponent = reader:amount("zipf", given.zipf) or default "zipf"
  local own = given.weights and list_of(reader, "weights", given.weights, count, function(name, value)
    return reader:amount(name, value)
  end)
  for i = 1, count do
    out[i + 1] = own and own[i] or i ^ -exponent
    sum = sum + out[i + 1]
  end
  if sum == 0 then reader:fail("weights", "all are 0; one of them must be above 0") end
  for i = 2, count + 1 do out[i] = out[i] / sum * share end
  out[1] = 1 - share
  return out
end

--- The largest rank that a slot has room for.
local function largest_rank(reader, given, ranks)
  local largest = 0
  for _, rank in ipairs(ranks) do largest = math.max(largest, rank) end
  local stated = whole(reader, given, "max_lora_rank", 1, 65536)
  if stated and stated < largest then
    reader:fail("max_lora_rank", "found %d, and an adapter has the rank %d", stated, largest)
  end
  return stated or largest
end

--- What a step model or a correction must say of itself where it prices adapters.
local function check_steps(reader, steps, made)
  if steps.prices_adapters then return end
  if made.gemms or made.load == "step" then
    reader:fail("gemms", "the step model %s prices no adapters; `steps.kernels` does, or say gemms = false and "
      .. "load = \"admission\", and price them by a correction", tostring(steps.name))
  end
end

--- The same deployment on one GPU, for what the file of an adapter holds.
local function alone(model, hardware)
  return spec.deployment { model = model, hardware = hardware, kv_blocks = 1 }
end

--- The adapters of one replica; nil where the scenario has none. {count, ranks, rank, modules, rank_bytes, slot_bytes,
--- slots, cpu_slots, load, gemms, slot_s, fetch_s, weights, signature}
---@param given table the scenario
---@param made table {model, hardware, deployment, step_policy}
function adapters.of(reader, given, made)
  if given.adapters == nil then return nil end
  local group, inside = schema.check_group(reader, "adapters", given.adapters), reader:child "adapters"
  local model, deployment = made.model, made.deployment
  if group.count == nil then inside:fail("count", "is missing; for example 8") end
  local count = whole(inside, group, "count", 1, most_adapters)
  for _, name in ipairs { "target_modules", "weights" } do
    if group[name] ~= nil and type(group[name]) ~= "table" then
      inside:fail(name, "expected a list, found %s", core.describe(group[name]))
    end
  end
  local wanted = group.target_modules and core.plain(group.target_modules)
  local out = { count = count, load = group.load or default "load", model = model, hardware = made.hardware }
  if group.gemms ~= nil then out.gemms = group.gemms else out.gemms = default "gemms" end
  out.ranks = list_of(inside, "rank", group.rank or default "rank", count, function(name, value)
    return inside:whole(name, value, 1, 65536)
  end)
  out.rank = largest_rank(inside, group, out.ranks)
  out.modules = modules_of(inside, wanted, model, deployment)
  local element_bytes = 2 -- [vLLM lora_dtype: that of the model, 16 bits]
  out.rank_bytes = rank_bytes(out.modules, element_bytes) / deployment.pp
  out.whole_rank_bytes = rank_bytes(modules_of(inside, wanted, model, alone(model, made.hardware)), element_bytes)
  out.slots, out.cpu_slots = slots_of(inside, group, count)
  out.slot_bytes = out.rank * out.rank_bytes
  out.slot_s, out.fetch_s = times_of(inside, group, out)
  out.weights = weights_of(inside, group, count)
  check_steps(inside, made.step_policy, out)
  local names = {}
  for i, each in ipairs(out.modules) do names[i] = each.name end
  out.signature = ("%d %s %s %s"):format(out.rank, out.load, tostring(out.gemms), table.concat(names, " "))
  return out
end

--- Finds what is wrong with a scenario's adapters on a GPU, whatever the deployment.
function adapters.check(reader, given, model, hardware, step_policy)
  adapters.of(reader, given, { model = model, hardware = hardware, deployment = alone(model, hardware),
    step_policy = step_policy })
end

--- Why a candidate of a plan cannot serve adapters; nil if it can.
---@param class table its scheduler
function adapters.refusal(candidate, class)
  for _, name in ipairs { "cp", "dcp", "expert_gpus" } do
    if candidate[name] then return ("adapters are not priced with %s %d"):format(name, candidate[name]) end
  end
  if not class.follows_adapters then
    return ("the scheduler of %s has no rule for requests whose adapter has no slot"):format(candidate.engine)
  end
end

--- What the engine gets of a replica's.
function adapters.config(own)
  if not own then return nil end
  return { slots = own.slots, cpu_slots = own.cpu_slots, load = own.load, slot_s = own.slot_s, fetch_s = own.fetch_s }
end

--- The same of the cluster: how likely no adapter and each of them is.
function adapters.choice(own) return own and { weights = own.weights } or nil end

return adapters
