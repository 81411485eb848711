-- Where the time of steps goes, op by op: sampled steps are priced again while their operations are recorded.
local batch = require "rooflua.border.batch"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local native = require "rooflua.native"
local notes = require "rooflua.scenario.notes"
local prices = require "rooflua.scenario.prices"
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

--- Adds the rows of one step to the sums: the share of the step, times its weight. Time that a step model adds
--- outside its operations (as a maximum of host and GPU does) is a row of its own.
local function add(sums, order, priced, weight)
  if not (priced.time_s > 0) then return end
  local rest = 1
  for _, row in ipairs(priced.rows) do
    local share = row.time_s * (row.count or 1) / priced.time_s
    add_share(sums, order, row, weight * share)
    rest = rest - share
  end
  if math.abs(rest) > 1e-9 then
    add_share(sums, order, { name = "not itemised", kind = "step", evidence = "" }, weight * rest)
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

--- What a step does of what its GPUs could do in its time: arithmetic over the peak, and bytes over what the memory
--- moves. Bytes that go over links are not the memory's.
local function utilisation(priced, time_s, hardware)
  local mfu, bytes = 0, 0
  for _, row in ipairs(priced.rows) do
    local runs = row.count or 1
    if row.mfu and row.mfu > 0 and row.mfu < math.huge then mfu = mfu + row.mfu * row.time_s * runs end
    if row.bytes and row.bound ~= "link" then bytes = bytes + row.bytes * runs end
  end
  return mfu / time_s, bytes / hardware.memory_bytes_per_s / time_s
end

--- Shares of step time by op, largest first. `replicas` come from serve, each with its step model.
---@param steps table list of {replica, weight, time_s, own_s, batch}; own_s only of ranks that step together
---@return table {steps = how many, rows = {{name, kind, bound, evidence, share}, ...}}
---@return number? noted_frac share of the time that notes of the model touch
---@return number mfu of the time of steps
---@return number bandwidth_frac of the time of steps
function breakdown.of_steps(steps, replicas)
  local sums, order, weights, all, all_weights = {}, {}, 0, {}, {}
  local mfu_sum, bandwidth_sum = 0, 0
  for _, step in ipairs(steps) do
    local replica = replicas[step.replica]
    local priced = prices.price_batch(replica.prepared, replica.steps, batch.new(step.batch))
    add(sums, order, priced, step.own_s and step.weight * step.own_s / step.time_s or step.weight)
    if step.own_s then add_waits(sums, order, step, replica) end
    all[#all + 1], all_weights[#all_weights + 1] = priced, step.weight
    weights = weights + step.weight
    if step.time_s > 0 then
      local mfu, bandwidth_frac = utilisation(priced, step.time_s, replica.prepared.hardware)
      mfu_sum, bandwidth_sum = mfu_sum + step.weight * mfu, bandwidth_sum + step.weight * bandwidth_frac
    end
  end
  for _, sum in ipairs(order) do sum.share = sum.share / weights end
  table.sort(order, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.name .. a.evidence < b.name .. b.evidence
  end)
  local rows = json.array {}
  for i, sum in ipairs(order) do rows[i] = sum end
  return { steps = #steps, rows = rows }, notes.mean_share(all, all_weights), mfu_sum / weights,
    bandwidth_sum / weights
end

--- Tells a finished run whose steps were sampled how busy they kept the GPUs, and the share of its time that notes of
--- its models touch, if there are such notes.
---@param state table {run, replicas}
---@return string? sketch
---@return table[]? steps that were sampled
---@return table? of_steps the result of breakdown.of_steps, where steps were sampled
function breakdown.tell(state)
  local sketch, steps = native.serve_sketch(state.run)
  if not steps or #steps == 0 then return sketch, steps end
  local of_steps, noted_frac, mfu, bandwidth_frac = breakdown.of_steps(steps, state.replicas)
  native.serve_utilised(state.run, mfu, bandwidth_frac)
  if noted_frac then native.serve_noted(state.run, noted_frac) end
  return sketch, steps, of_steps
end

local function counted(count, what) return ("%d %s%s"):format(count, what, count == 1 and "" or "s") end

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
      local work = counted(#given.decode_contexts, "decode")
      if #given.prefills > 0 then
        work = work .. (" and %s of %s"):format(counted(#given.prefills, "prefill"), counted(new_tokens, "token"))
      end
      local name = replica.config.name or "replica " .. step.replica
      if step.own_s then name = name .. (", whose ranks take %s together"):format(units.text(step.time_s, "s")) end
      return priced, ("A typical step, the median by time of %d sampled ones: %s on %s\n\n%s"):format(#steps, work,
        name, native.step_report(priced))
    end
  end
end

return breakdown
