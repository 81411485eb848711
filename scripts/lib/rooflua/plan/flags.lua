-- The command line of an engine: every number that was priced, also where it is the engine's default, because defaults
-- differ by GPU and release. The tables are scripts/engines.
local afd = require "rooflua.applied.afd"
local axes = require "rooflua.plan.axes"
local catalogue = require "rooflua.engines.catalogue"
local checkpoint = require "rooflua.plan.checkpoint"
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local experts = require "rooflua.machine.experts"
local pools = require "rooflua.plan.pools"
local release = require "rooflua.engines.release"
local schema = require "rooflua.scenario.schema"
local writing = require "rooflua.engines.launch.writing"

local flags = {}

local fail = core.fail

--- The engine of a name.
function flags.engine(name) return catalogue.of(name) end

--- The release whose flags are written, and a note where it is not the one that was asked for.
function flags.version(engine, asked)
  local newest = catalogue.newest(engine)
  if asked == nil then return newest end
  if type(asked) ~= "string" or not asked:find "^%d+%.%d+" or not release.parse(asked) then
    fail("%s=%s: expected a release, as in %s=%s", engine.name, tostring(asked), engine.name, newest)
  end
  if release.earlier(asked, engine.oldest_command) then
    fail("%s %s: flags are known from %s on; older releases have other defaults", engine.name, asked,
      engine.oldest_command)
  end
  if release.earlier(newest, asked) then
    return asked, ("%s %s is newer than the table of flags: those of %s"):format(engine.name, asked, newest)
  end
  return asked
end

--- Whether steps are prepared while the one before runs.
local function is_async(question) return (question.base.async_depth or schema.entry("async_depth").default) > 1 end

--- The flags of adapters, by the names of the tables; nothing where the scenario has none.
local function add_adapters(out, question, candidate, engine)
  if question.base.adapters == nil then return end
  local own = deploy.adapters(question, candidate)
  local takes = engine.adapters and engine.adapters.ranks
  if not takes then
    fail("%s: flags of %s for adapters are not known", candidate.name, candidate.engine)
  end
  if not core.is_among(own.rank, takes) then
    fail("%s: %s takes --max-lora-rank %s, and adapters.max_lora_rank is %d; state one of these", candidate.name,
      candidate.engine, core.join(takes, ", "), own.rank)
  end
  out.lora, out.max_loras, out.max_lora_rank, out.max_cpu_loras = true, own.slots, own.rank, own.cpu_slots
end

--- What a deployment sets, by the names of the tables; also what other engines count in another way.
function flags.values(question, candidate, role)
  local own, given = candidate.deployment, deploy.deployment(question, candidate)
  local engine = flags.engine(candidate.engine)
  local cp, dcp = candidate.cp or 1, candidate.dcp or 1
  local ranks = candidate.tp * candidate.dp * cp
  if engine.whole_ep and candidate.ep > 1 and candidate.ep ~= ranks then
    fail("%s: " .. engine.whole_ep, candidate.name, candidate.ep, ranks)
  end
  local kv = candidate.kv and engine.kv_names[candidate.kv] or candidate.kv == nil and "auto" or nil
  if not kv then fail("%s: %s has no flag for a KV cache in %s", candidate.name, candidate.engine, candidate.kv) end
  local hardware = question.gpus[candidate.gpu].hardware
  local kv_bytes = own.kv_blocks * own.kv_bytes_per_block
  local usable = hardware.usable_memory_bytes
  local function down(value) return math.floor(value * 1000) / 1000 end
  local out = { divides_prompts = cp > 1 or nil, expert_parallel = candidate.ep > 1, dp_attention = candidate.dp > 1,
    memory_utilization = own.memory_utilization,
    static_fraction = given.kv_blocks == nil and own.memory_utilization or down((own.weight_bytes + kv_bytes) / usable),
    free_fraction = given.kv_blocks == nil and own.memory_utilization
      or down(math.min(0.95, kv_bytes / math.max(1, usable - own.weight_bytes))),
    max_model_len = given.max_model_len or deploy.stated_length(question, candidate), block_size = own.block_size / dcp,
    prefix_caching = given.prefix_caching ~= false, async = is_async(question), kv = kv, role = role,
    backend = "pytorch", chunked = false }
  for _, axis in ipairs(axes.of_candidates()) do
    if axis.of and out[axis.name] == nil then out[axis.name] = candidate[axis.name] end
  end
  add_adapters(out, question, candidate, engine)
  for _, name in ipairs(engine.counts_all_ranks or {}) do
    out[name] = out[name] * candidate.dp * (name == "tp" and cp or 1) -- ranks of cp have the same requests
  end
  return out
end

--- Refuses drafts that the engine runs in another way than they were priced.
local function check_async(question, candidate, row, version)
  if not is_async(question) then return end
  local problem = row.not_async
  if row.async_since and release.earlier(version, row.async_since) then
    problem = ("%s before %s drafts without preparing steps ahead"):format(candidate.engine, row.async_since)
  end
  if problem then fail("%s: %s; price it so: async_depth = 1 in the scenario", candidate.name, problem) end
end

--- What turns steps ahead on beside drafts; nil where a release has them without.
local function async_options(row, version)
  local before = row.async_options_before
  if before and not release.earlier(version, before) then return nil end
  return row.async_options
end

--- Drafts of a step and the engine's entry for a drafter; nil without speculation. Only a fixed number of drafts has
--- flags, and only drafters whose weights need no name.
local function speculation_of(question, candidate, engine, version)
  local given = candidate.speculation
  if not given then return nil end
  local speculator, drafter = given.speculator.name, given.drafter and given.drafter.name or "free"
  if speculator ~= "fixed" then
    fail("%s: no engine has a flag for the speculator %s; only for a fixed number of drafts", candidate.name,
      speculator)
  end
  local row = engine.speculation and engine.speculation[drafter]
  if not row then
    fail("%s: flags of %s for the drafter %s are not known; known are those of %s", candidate.name, candidate.engine,
      drafter, table.concat(core.sorted_keys(engine.speculation or {}), ", "))
  end
  check_async(question, candidate, row, version)
  if row.before and release.earlier(version, row.before.release) then row = row.before end
  return row, given.speculator.draft_tokens
end

--- The checkpoint that a candidate's engine is started with (checkpoint.lua).
function flags.checkpoint(question, candidate)
  local known = flags.engine(candidate.engine).weight_options
  return checkpoint.of(question, candidate, function(format) return known[format] ~= nil end)
end

--- Refuses an engine on several nodes: its command would need their addresses, which a plan does not know.
local function check_node(question, candidate)
  local gpus, per_node = deploy.gpus_of_engine(candidate), question.gpus[candidate.gpu].per_node
  if gpus > per_node then
    fail("%s: one engine on %d GPUs takes %d nodes of %d; commands of several nodes need their addresses and are not "
      .. "written", candidate.name, gpus, math.ceil(gpus / per_node), per_node)
  end
end

--- Refuses what no command says.
local function check_commands(question, candidate, version)
  local problem = afd.without_command(candidate)
    or pools.without_command(candidate, flags.engine(candidate.engine), version)
    or experts.without_command(question.reader, question.base)
  if problem then fail("%s: %s", candidate.name, problem) end
end

--- What a deployment sets, as options of its engine by name.
function flags.options(question, candidate, version, role)
  candidate = deploy.pool(candidate, role)
  local engine, values, out = flags.engine(candidate.engine), flags.values(question, candidate, role), {}
  if role and engine.no_split then fail("%s: %s", candidate.name, engine.no_split) end
  check_commands(question, candidate, version)
  check_node(question, candidate)
  for _, option in ipairs(engine.options) do
    local value
    if option.parameter and release.holds(option, version) then value = values[option.parameter] end
    if value ~= nil then
      if option.inverted then value = not value end
      if option.values_of then value = option.values_of[value] end
      out[option.name] = value
    end
  end
  local start = flags.checkpoint(question, candidate)
  local speculation, drafts = speculation_of(question, candidate, engine, version)
  local more = { start.quantised and engine.weight_options[start.format] or {} }
  if speculation and role ~= "prefill" then
    more[2] = speculation.options(drafts)
    more[3] = is_async(question) and async_options(speculation, version) or nil
  end
  if role ~= "decode" then more[#more + 1] = deploy.host_memory(candidate) end
  for _, list in ipairs(more) do
    for name, value in pairs(list) do out[name] = value end
  end
  return out
end

--- Words of the command after the model: a list.
---@param role string? "prefill", "decode", "encode"
function flags.words(question, candidate, version, role)
  local engine, out = flags.engine(candidate.engine), {}
  if role ~= "encode" then
    out = writing.words(engine, version, flags.options(question, candidate, version, role), "options.yaml")
  end
  for _, each in ipairs(pools.words(candidate, engine, role)) do out[#out + 1] = each end
  return out
end

--- The words of the engine's command, after what its environment needs: a list.
function flags.command(question, candidate, version)
  local engine = flags.engine(candidate.engine)
  local out = writing.variables(engine, flags.options(question, candidate, version))
  if #out > 0 then table.insert(out, 1, "env") end
  for word in engine.command:gmatch "%S+" do out[#out + 1] = word end
  return out
end

--- The YAML file of an engine that reads one; nil for others.
function flags.yaml(question, candidate, version)
  return writing.file(flags.engine(candidate.engine), flags.options(question, candidate, version))
end

return flags
