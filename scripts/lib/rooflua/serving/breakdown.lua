-- Where the time of steps goes, op by op: sampled steps are priced again while their operations are recorded.
local batch = require "rooflua.border.batch"
local core = require "rooflua.base.core"
local encoders = require "rooflua.serving.encoders"
local json = require "rooflua.json"
local native = require "rooflua.native"
local notes = require "rooflua.machine.notes"
local prices = require "rooflua.machine.prices"
local sampled = require "rooflua.measure.sampled"
local units = require "rooflua.text.units"

local breakdown = {}

local function add_share(sums, order, row, share)
  local key = table.concat({ row.name, row.kind, row.bound or "", row.evidence }, "|")
  local sum = sums[key]
  if not sum then
    sum = { name = row.name, kind = row.kind, bound = row.bound or "", evidence = row.evidence, share = 0 }
    sums[key], order[#order + 1] = sum, sum
  end
  sum.share = sum.share + share
end

--- Adds the rows of one step to the sums: the share of the step, times its weight.
local function add(sums, order, priced, weight)
  if not (priced.time_s > 0) then return end
  for _, row in ipairs(priced.rows) do
    add_share(sums, order, row, weight * row.time_s * (row.count or 1) / priced.time_s)
  end
end

--- Adds what a rank waits in a step: for the slowest rank of its engine, and to agree on the step.
local function add_waits(sums, order, step, replica)
  local sync_s = replica.config.dp_sync_s
  for name, time_s in core.sorted_pairs { rank_sync = sync_s, wait_for_ranks = step.time_s - step.own_s - sync_s } do
    if time_s > 0 then
      local evidence = name == "rank_sync" and "assumed" or ""
      add_share(sums, order, { name = name, kind = "wait", evidence = evidence }, step.weight * time_s / step.time_s)
    end
  end
end

--- Ranks of a stage that run the steps of a replica.
local function ranks_of(replica) return replica.deployment.tp * replica.deployment.cp end

--- GPUs of the experts alone that count for a replica: its part of those of its engine.
local function expert_gpus_of(replica) return replica.deployment.expert_gpus / replica.deployment.dp end

--- GPUs of a replica.
local function gpus_of(replica) return ranks_of(replica) * replica.deployment.pp + expert_gpus_of(replica) end

--- Whether a row is of the GPUs of the experts, where these have their own: they run grouped GEMMs alone.
local function is_of_experts(row) return row.kind == "grouped_gemm" end

--- GPU-seconds of a step's work on all ranks of a stage: its arithmetic at the peak, and its bytes at the bandwidth of
--- the memory. Bytes that go over links are not the memory's.
local function work_of(priced, replica)
  local hardware, ranks, expert_gpus = replica.prepared.hardware, ranks_of(replica), expert_gpus_of(replica)
  local work_s, bytes = 0, 0
  for _, row in ipairs(priced.rows) do
    local runs = (row.count or 1) * (expert_gpus > 0 and is_of_experts(row) and expert_gpus / ranks or 1)
    work_s = work_s + runs * (row.at_peak_s or (row.flop or 0) / hardware.peak_flop_per_s.bf16)
    if row.bytes and row.bound ~= "link" then bytes = bytes + row.bytes * runs end
  end
  return ranks * work_s, ranks * bytes / hardware.memory_bytes_per_s
end

--- GPU-seconds of the work of all steps, over the GPUs.
--- @param samples table[] sampled steps with their work
--- @param totals table[] by replica: the amounts of all its steps
--- @param gpus integer GPUs besides those of replicas: those that only encode
local function over_gpus(samples, totals, replicas, gpus)
  local sums = {}
  for i, amounts in ipairs(totals) do
    local ranks = ranks_of(replicas[i])
    for name, amount in pairs(amounts) do sums[name] = (sums[name] or 0) + ranks * amount end
    gpus = gpus + gpus_of(replicas[i])
  end
  for i = #totals + 1, #replicas do gpus = gpus + gpus_of(replicas[i]) end
  local moments = 0
  for _, each in ipairs(samples) do moments = moments + each.weight end
  for _, each in ipairs(samples) do
    each.stands_for = each.weight / moments * each.busy_s / each.time_s
    each.in_fit = each.weight > 0 and each.stands_for or 1
  end
  return sampled.sum(samples, sums, "work_s") / gpus, sampled.sum(samples, sums, "moving_s") / gpus
end

--- Shares of step time by op, largest first. `replicas` come from serve, each with its step model.
---@param steps table list of {replica, weight, time_s, own_s, batch, amounts}; own_s only of ranks that step together.
---  Those without weight count for the work alone
---@param totals table? by replica: the amounts of all its steps; none: no work is asked for
---@param encoder_gpus integer? GPUs that only encode
---@return table {steps = how many, rows = {{name, kind, bound, evidence, share}, ...}}
---@return number? noted_frac share of the time that notes of the model touch
---@return number? work_s GPU-seconds of arithmetic at the peak, over the GPUs
---@return number? moving_s the same of bytes at the memory's bandwidth
function breakdown.of_steps(steps, replicas, totals, encoder_gpus)
  local sums, order, weights, all, all_weights = {}, {}, 0, {}, {}
  local samples, busy_s = {}, 0
  for _, amounts in ipairs(totals or {}) do busy_s = busy_s + amounts.time_s end
  for _, step in ipairs(steps) do
    local replica = replicas[step.replica]
    local priced = prices.price_batch(replica.prepared, replica.steps, batch.new(step.batch))
    if step.weight > 0 then
      add(sums, order, priced, step.own_s and step.weight * step.own_s / step.time_s or step.weight)
      if step.own_s then add_waits(sums, order, step, replica) end
      all[#all + 1], all_weights[#all_weights + 1] = priced, step.weight
      weights = weights + step.weight
    end
    if totals and step.time_s > 0 then
      local ranks, each = ranks_of(replica), { weight = step.weight, time_s = step.time_s, busy_s = busy_s }
      for name, amount in pairs(step.amounts) do
        if name ~= "time_s" then each[name] = ranks * amount end
      end
      each.work_s, each.moving_s = work_of(priced, replica)
      samples[#samples + 1] = each
    end
  end
  for _, sum in ipairs(order) do sum.share = sum.share / weights end
  table.sort(order, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.name .. a.evidence < b.name .. b.evidence
  end)
  local rows = json.array {}
  for i, sum in ipairs(order) do rows[i] = sum end
  local of_steps, noted_frac = { steps = #all, rows = rows }, notes.mean_share(all, all_weights)
  if #samples == 0 then return of_steps, noted_frac end
  return of_steps, noted_frac, over_gpus(samples, totals, replicas, encoder_gpus or 0)
end

--- Tells a finished run whose steps were sampled how busy they kept the GPUs, and the share of its time that notes of
--- its models touch, if there are such notes.
---@param state table {run, replicas}
---@return string? sketch
---@return table[]? steps that were sampled
---@return table? of_steps the result of breakdown.of_steps, where steps were sampled
function breakdown.tell(state)
  local sketch, steps, totals = native.serve_sketch(state.run)
  if not steps or #steps == 0 then return sketch, steps end
  local of_steps, noted_frac, work_s, moving_s = breakdown.of_steps(steps, state.replicas, totals,
    encoders.gpus(state.encoders))
  if work_s then native.serve_utilised(state.run, work_s, moving_s) end
  if noted_frac then native.serve_noted(state.run, noted_frac) end
  return sketch, steps, of_steps
end

--- The sampled step with the median time, op by op: the result of prices.price_batch, and a text. Returns nothing
--- if there are no steps.
---@param steps table list of {replica, weight, time_s, batch}
function breakdown.typical(steps, replicas)
  local order, weights, before = {}, 0, 0
  for i, step in ipairs(steps) do order[i], weights = step, weights + step.weight end
  table.sort(order, function(a, b) return a.time_s < b.time_s end)
  for _, step in ipairs(order) do
    before = before + step.weight
    if 2 * before >= weights then
      local replica, given = replicas[step.replica], step.batch
      local priced = prices.price_batch(replica.prepared, replica.steps, batch.new(given))
      local new_tokens = 0
      for _, prefill in ipairs(given.prefills) do new_tokens = new_tokens + prefill.new_tokens end
      local work = units.counted(#given.decode_contexts, "decode")
      if #given.prefills > 0 then
        work = work .. (" and %s of %s"):format(units.counted(#given.prefills, "prefill"),
          units.counted(new_tokens, "token"))
      end
      local name = replica.config.name or "replica " .. step.replica
      if step.own_s then name = name .. (", whose ranks take %s together"):format(units.text(step.time_s, "s")) end
      return priced, ("A typical step, the median by time of %d sampled ones: %s on %s\n\n%s"):format(#steps, work,
        name, native.step_report(priced))
    end
  end
end

return breakdown
