-- The kind of a deployment, and the load on it: what decides how far an answer may be off.
--
--     kind   engine, class and architecture of the GPU: "vllm moe-tp blackwell"
--     class  dense; moe-tp: experts split by TP; tep: whole experts in a TP group; dpa: attention on data-parallel
--            ranks; pd: prefill and decode are split; pp: stages of layers; cp: one request on
--            several ranks; afd: attention and experts on GPUs of their own
--     load   "saturated" where the mean request spends more than half of its TTFT in the queue of its engine
--     basis  "models" where more than a fifth of the simulated time is modelled or assumed, else "tables"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"

local kinds = {}

kinds.loads = { "saturated", "unsaturated" }
kinds.bases = { "tables", "models" }

local most_queued = 0.5 -- share of the mean TTFT that a request of an unsaturated engine waits
kinds.least_steady = 3 -- times the mean E2E that a steady run lasts
local most_modelled = 0.2 -- share of the time without any table, of a simulation that rests on tables

--- The class of one engine that serves a model.
--- @param widths table? {dp, ep, pp, cp, dcp, expert_gpus}
--- @param is_split boolean? whether prefill and decode run on engines of their own
function kinds.class_of(model, widths, is_split)
  widths = widths or {}
  if (widths.pp or 1) > 1 then return "pp" end
  if (widths.expert_gpus or 0) > 0 then return "afd" end
  if (widths.cp or 1) > 1 or (widths.dcp or 1) > 1 then return "cp" end
  if is_split then return "pd" end
  if (widths.dp or 1) > 1 then return "dpa" end
  if (widths.ep or 1) > 1 then return "tep" end
  return model.moe and "moe-tp" or "dense"
end

--- "saturated" or "unsaturated".
--- @param queue_s number? mean time in the queue
--- @param ttft_s number? mean time to the first token
function kinds.load_of(queue_s, ttft_s)
  return (queue_s or 0) > most_queued * (ttft_s or 0) and "saturated" or "unsaturated"
end

--- Whether a run is over before it is steady, as a burst is: several requests at a time, and less than so many
--- times their mean E2E from the first request to the last answer.
--- @param e2e_s number? mean
--- @param duration_s number?
--- @param at_once number? mean number of requests in the system
function kinds.is_transient(e2e_s, duration_s, at_once)
  return (at_once or 0) >= 2 and (e2e_s or 0) * kinds.least_steady > (duration_s or math.huge)
end

--- The share of the time that no table answers.
--- @param evidence table share of the time per kind of evidence
function kinds.modelled_share(evidence) return (evidence.modelled or 0) + (evidence.assumed or 0) end

--- "tables" or "models".
function kinds.basis_of(evidence)
  return kinds.modelled_share(evidence) > most_modelled and "models" or "tables"
end

--- The share of the time that rests on tables of another GPU; nil where it is too small to count.
function kinds.borrowed_share(kind, evidence)
  local share = evidence.stand_in or 0
  return kind.lender and share > most_modelled and share or nil
end

function kinds.key(kind) return ("%s %s %s"):format(kind.engine, kind.class, kind.architecture) end

local engine_by_scheduler

--- The engine whose own scheduler that is; nil of any other scheduler.
function kinds.engine_of(scheduler)
  if not engine_by_scheduler then
    engine_by_scheduler = {}
    for _, name in ipairs(catalogue.names()) do
      for _, rule in ipairs(catalogue.of(name).rules) do
        if rule.scheduler and not engine_by_scheduler[rule.scheduler] then
          engine_by_scheduler[rule.scheduler] = name
        end
      end
    end
  end
  return engine_by_scheduler[scheduler]
end

--- Names of the kinds of layers that files declare and that have no kernels of other kinds, one after the other; nil
--- without one.
function kinds.own_layers(model)
  local names = {}
  for _, list in ipairs { model.attention, model.mlp } do
    for _, each in ipairs(list) do
      if each.parameters and not each.kernels then names[each.kind] = true end
    end
  end
  local sorted = core.sorted_keys(names)
  return #sorted > 0 and table.concat(sorted, ", ") or nil
end

return kinds
