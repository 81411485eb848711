-- Why requests of a run failed, and which answers were cut, in words: for notes of the run, and for `check`.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local fits = require "rooflua.machine.fits"
local units = require "rooflua.text.units"
local views = require "rooflua.border.views"

local failures = {}

local grouped = units.grouped

--- What text_of returns for the replicas of a run, each once, joined by "; ".
local function of_replicas(state, text_of)
  local list, seen = {}, {}
  for _, replica in ipairs(state.replicas) do
    local text = text_of(replica)
    if text and not seen[text] then list[#list + 1], seen[text] = text, true end
  end
  return core.join(list, "; ")
end

local function length_text(replica)
  local most, model = replica.config.max_model_len, replica.prepared.model
  if not most then return nil end
  if replica.is_cut then return ("what the KV cache holds of one request, %s tokens"):format(grouped(most)) end
  local way = ""
  if most == model.max_model_len then
    way = (" (%s's; %s)"):format(model.name, fits.longer(replica.prepared))
  elseif most < model.max_model_len then
    way = (" (as stated; %s takes up to %s)"):format(model.name, grouped(model.max_model_len))
  end
  return ("max_model_len, %s tokens%s"):format(grouped(most), way)
end

local function cache_text(replica)
  local config = replica.config
  local beside = config.seat_blocks > 0 and (", of which each request holds %s besides those of its tokens"):format(
    grouped(config.seat_blocks)) or ""
  return ("%s blocks of %d tokens%s"):format(grouped(config.kv_blocks), config.block_size, beside)
end

--- "the scheduler trtllm: the prompt is longer than ... (12)"
local function rejection_text(state)
  local counts, names = {}, {}
  for _, replica in ipairs(state.replicas) do
    local name = tostring(replica.scheduler.name)
    names[name] = true
    for why, count in pairs(views.reasons(replica.scheduler) or {}) do
      local text = name .. ": " .. why
      counts[text] = (counts[text] or 0) + count
    end
  end
  local texts = core.sorted_keys(counts)
  if #texts == 0 then
    return "by the scheduler " .. core.join(core.sorted_keys(names), ", ") .. ", which gives no reason"
  end
  for i, text in ipairs(texts) do
    texts[i] = "by the scheduler " .. text .. (#texts > 1 and (" (%d)"):format(counts[text]) or "")
  end
  return core.join(texts, "; ")
end

local function schedulers_text(state)
  return of_replicas(state, function(replica) return tostring(replica.scheduler.name) end)
end

local function gate_text(state)
  local gate = state.surroundings and state.surroundings.admission
  return "the gate " .. tostring(gate and gate.name)
end

--- Sentences by outcome, of the simulation and of native.serve_outcomes.
local told = {
  exceeds_max_model_len = function(state)
    return "exceed max_model_len: their prompts leave no room for a token within " .. of_replicas(state, length_text)
  end,
  exceeds_kv_cache = function(state)
    return "exceed the KV cache: their prompts and answers do not fit into its " .. of_replicas(state, cache_text)
  end,
  starved = function(state)
    return "starved: the scheduler " .. schedulers_text(state) .. " never planned them, or preempted them without end"
  end,
  rejected = function(state) return "were rejected " .. rejection_text(state) end,
  refused = function(state, ended)
    local by = { { ended.refused_at_gate, gate_text(state) },
      { ended.refused_without_replica, "the fleet: no replica was there, and none would come" } }
    by[3] = { ended.refused - by[1][1] - by[2][1], "the router " .. tostring(state.router and state.router.name) }
    local texts, few = {}, 0
    for _, each in ipairs(by) do few = few + (each[1] > 0 and 1 or 0) end
    for _, each in ipairs(by) do
      if each[1] > 0 then texts[#texts + 1] = each[2] .. (few > 1 and (" (%s)"):format(grouped(each[1])) or "") end
    end
    return "were refused by " .. core.join(texts, "; ")
  end,
  never_admitted = function(state)
    return "were held by " .. gate_text(state) .. " to the end: it never let them go"
  end,
  expired = function() return "expired: their deadlines passed first" end,
  timed_out = function() return "timed out: their clients would wait no longer" end,
  cancelled = function() return "were cancelled by their clients" end,
  replica_lost = function() return "were lost with their replicas" end,
}

--- A sentence for each way in which requests of a simulation failed so far, and one for answers that were cut.
---@param state table of a simulation (serving/live.lua)
function failures.of(state)
  local out, ended = {}, native.serve_outcomes(state.run)
  for _, outcome in ipairs(core.sorted_keys(told)) do
    local count = ended[outcome]
    if count > 0 then
      local why = told[outcome](state, ended)
      out[#out + 1] = ("%s of %s requests %s"):format(grouped(count), grouped(ended.arrived), why)
    end
  end
  if ended.cut_answers > 0 then
    out[#out + 1] = ("%s answers are cut at %s"):format(grouped(ended.cut_answers), of_replicas(state, length_text))
  end
  return out
end

--- Whether every request that came so far has failed.
function failures.are_all(state)
  local ended = native.serve_outcomes(state.run)
  local failed = 0
  for outcome in pairs(told) do failed = failed + ended[outcome] end
  return ended.arrived > 0 and failed == ended.arrived
end

return failures
