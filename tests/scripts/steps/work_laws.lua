-- Laws of priced steps and of runs, over random questions: models, GPUs, deployments, engines, step models, batches.
--
--   rows sum to the time, evidence to 1, and each evidence to the rows that have it
--   no row and no step has more than the peak or the bandwidth
--   the work of an operation is that of the rows that there are
--   overall_mfu of a run is the work of all its steps over what the GPUs could do
local cost = require "rooflua.cost"
local native = require "rooflua.native"
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local Reader = require "rooflua.scenario.reader"
local serve = require "rooflua.serve"
local random = require "rooflua.random"
local spec = require "rooflua.spec"

local laws = {}

local slack = 1e-9

local function names(folder, ending)
  return native.list_folder(native.home .. "/" .. folder, ending)
end
local models = names("scenarios/models", ".toml")
local gpus = {}
for _, name in ipairs { "a10", "a100-sxm-80gb", "b200", "b300", "gb200", "gh200", "h100-pcie", "h100-sxm", "h20",
  "h200-sxm", "l4", "l40s", "mi300x", "mi355x", "rtx-4090", "rtx-5090", "rtx-pro-6000", "gb10" } do
  gpus[#gpus + 1] = name
end
local engines = { "vllm 0.11", "vllm", "sglang 0.5.9", "sglang", "trtllm" }

--- Dice of one question.
local function dice(seed)
  local stream = random.streams(seed):stream "question"
  local own = {}
  function own.one(list) return list[stream:integer(1, #list)] end
  function own.upto(low, high) return stream:integer(low, high) end
  --- Whole numbers whose logarithms are uniform.
  function own.octave(most) return math.max(1, math.floor(math.exp(stream:uniform(0, 1) * math.log(most)))) end
  function own.chance(part) return stream:uniform(0, 1) < part end
  return own
end

local function deployment_of(roll, model)
  local out = { tp = roll.one { 1, 1, 2, 4, 8 } }
  if model.moe and roll.chance(0.3) then out.ep = out.tp end
  if model.moe and roll.chance(0.3) then
    out.dp = roll.one { 2, 4 }
    if out.ep then out.ep = out.tp * out.dp end
  elseif roll.chance(0.2) then
    out.pp = roll.one { 2, 3, 4 }
  end
  if roll.chance(0.4) then out.weights = roll.one { "bf16", "fp8", "int4_group128", "fp8_block" } end
  if roll.chance(0.2) then out.kv = "fp8" end
  return out
end

local function steps_of(roll)
  local kind = roll.upto(1, 10)
  if kind == 1 then return require "steps.roofline_v1" {} end
  if kind == 2 then return require("steps.roofline_v2"):preset(roll.one { "plan", "reviewed", "blis487" }) end
  local given = {}
  if roll.chance(0.2) then given.largest_graph = roll.one { 0, 8, 100 } end
  if roll.chance(0.1) then given.overlap = 0.5 end
  if roll.chance(0.1) then given.eager_operation_s = 1e-4 end
  return require "steps.kernels" (given)
end

local function corrections_of(roll)
  if not roll.chance(0.15) then return nil end
  return { roll.one {
    require "corrections.decode_multiplier" {}, require "corrections.step_overhead" { overhead_s = 1e-3 },
    require "corrections.launch_overhead" {}, require "corrections.bandwidth_efficiency" {},
  } }
end

--- A random scenario without a workload; the same for the same seed.
--- @param of_gpus string[]? in place of the list above
function laws.scenario(seed, of_gpus)
  local roll = dice(seed)
  local model = roll.one(models)
  local out = { rooflua = 1, model = model, hardware = roll.one(of_gpus or gpus), engine = roll.one(engines),
    seed = seed, steps = steps_of(roll), corrections = corrections_of(roll) }
  out.deployment = deployment_of(roll, spec.model(model))
  if roll.chance(0.15) then out.mfu = { tables = false } end
  return out, roll
end

local function batch_of(roll)
  local prefills, contexts = {}, {}
  if roll.chance(0.6) then
    for i = 1, roll.octave(600) do contexts[i] = roll.octave(6000) end
  end
  if #contexts == 0 or roll.chance(0.5) then
    for i = 1, roll.octave(6) do
      prefills[i] = { new_tokens = roll.octave(4000), context_tokens = roll.chance(0.3) and roll.octave(4000) or 0 }
    end
  end
  return { prefills = prefills, decode_contexts = contexts }
end

-- Steps --------------------------------------------------------------------------------------------------------

local function expect(ok, message, ...)
  if not ok then error(message:format(...), 0) end
end

local function close(found, wanted, relative) return math.abs(found - wanted) <= relative * math.abs(wanted) end

--- Seconds by which corrections lengthen a run of an operation, by its name: lower bounds hold for both together.
local function lengthened_by(rows)
  local out = {}
  for _, row in ipairs(rows) do
    if row.kind == "correction" and row.of then out[row.of] = math.max(out[row.of] or 0, row.time_s) end
  end
  return out
end

--- Sums of a step, and the laws of its rows.
local function check_rows(priced)
  local time_s, by_evidence, overlaps, work_s, bytes = 0, {}, false, 0, 0
  local longer_s = lengthened_by(priced.rows)
  for _, row in ipairs(priced.rows) do
    local runs = row.count or 1
    time_s = time_s + row.time_s * runs
    overlaps = overlaps or row.time_s < 0 or row.kind == "correction"
    by_evidence[row.evidence] = (by_evidence[row.evidence] or 0) + row.time_s * runs
    local mfu, added_s = row.mfu or 0, longer_s[row.name]
    if added_s then mfu = mfu * row.time_s / (row.time_s + added_s) end
    expect(not row.mfu or mfu >= 0 and mfu <= 1 + slack, "%s (%s) has an MFU of %.6f", row.name, row.shape, mfu)
    work_s = work_s + (row.at_peak_s or 0) * runs
    if row.bound ~= "link" then bytes = bytes + (row.bytes or 0) * runs end
  end
  expect(close(time_s, priced.time_s, slack), "rows sum to %.12g s of %.12g", time_s, priced.time_s)
  local shares = 0
  for name, share in pairs(priced.evidence) do
    shares = shares + share
    local rows_s = by_evidence[name] or 0
    expect(overlaps or math.abs(rows_s - share * priced.time_s) <= 1e-8 * priced.time_s,
      "%s is %.9f of the time, and its rows %.9f", name, share, rows_s / priced.time_s)
  end
  expect(close(shares, 1, slack), "evidence sums to %.12f", shares)
  return work_s, bytes
end

--- Decodes, and of each chunk what may be among the last tokens of its prompt.
local function tail_seen(batch, model)
  local length
  for _, each in ipairs(model.attention) do length = length or each.prefill_tail end
  local rows = #batch.decode_contexts
  for _, each in ipairs(batch.prefills) do
    local most = each.completes == false and math.max(length - each.context_tokens, 0) or length
    rows = rows + math.min(each.new_tokens, most)
  end
  return rows
end

--- Rows of a batch that an operation of cost.layers sees, on the rank that is priced.
local function rows_seen(op, batch, model, deployment)
  local new, context = 0, 0
  for _, each in ipairs(batch.prefills) do
    if each.new_tokens > 1 then new, context = new + each.new_tokens, context + each.context_tokens end
  end
  local tokens = #batch.decode_contexts
  for _, each in ipairs(batch.prefills) do tokens = tokens + each.new_tokens end
  if op.rows == "tokens" then return tokens end
  if op.rows == "group_tokens" then return tokens * deployment.dp end
  if op.rows == "requests" then return #batch.decode_contexts + #batch.prefills end
  if op.rows == "prefill_tokens" then return new + context end
  if op.rows == "tail_tokens" then return tail_seen(batch, model) end
  return #batch.decode_contexts
end

--- The work of every GEMM, counted apart from its price.
local function check_counts(priced, batch, prepared)
  local found = {}
  for _, row in ipairs(priced.rows) do
    found[row.name] = (found[row.name] or 0) + (row.flop or 0) * (row.count or 1)
  end
  for _, op in ipairs(cost.layers(prepared.model, prepared.deployment)) do
    if op.flop_per_row > 0 and (op.op == "gemm" or op.op == "grouped_gemm") then
      local rows = rows_seen(op, batch, prepared.model, prepared.deployment)
      local wanted = op.count * op.flop_per_row * rows
      if op.op == "grouped_gemm" then wanted = wanted * op.rows_per_token / prepared.deployment.ep end
      expect(close(found[op.name] or 0, wanted, 1e-9), "%s counts %.9g flop; there are %.9g", op.name,
        found[op.name] or 0, wanted)
    end
  end
end

local function check_step(prepared, steps, batch)
  local priced = prices.price_batch(prepared, { steps = steps }, cost.batch(batch))
  if priced.time_s == 0 then return end
  local work_s, bytes = check_rows(priced)
  if steps.name ~= "kernels" then return end
  if #prepared.corrections == 0 then
    expect(work_s <= priced.time_s * (1 + slack), "the arithmetic at the peak takes %.6f of the time",
      work_s / priced.time_s)
    local moving_s = bytes / prepared.hardware.memory_bytes_per_s
    expect(moving_s <= priced.time_s * (1 + 1e-6), "the bytes take %.6f of the time", moving_s / priced.time_s)
  end
  check_counts(priced, batch, prepared)
end

--- Checks steps of random questions.
--- @param count integer questions
--- @return integer checked
--- @return integer refused scenarios
--- @return table problems texts
function laws.of_steps(first, count, each, of_gpus)
  local checked, refused, problems, seed = 0, 0, {}, first
  while checked < count do
    seed = seed + 1
    local given, roll = laws.scenario(seed, of_gpus)
    local ok, prepared, steps = pcall(function()
      local made = Prepared.of(Reader.new "law", given)
      return made, Prepared.steps(made)
    end)
    if not ok then refused = refused + 1 end
    for i = 1, ok and each or 0 do
      local batch = batch_of(roll)
      local good, problem = pcall(check_step, prepared, steps, batch)
      if not good then
        problems[#problems + 1] = ("seed %d, batch %d (%s on %s, %s, %s): %s"):format(seed, i, given.model,
          given.hardware, given.engine, given.steps.name,
          type(problem) == "table" and problem.message or tostring(problem))
      end
      checked = checked + 1
    end
  end
  return checked, refused, problems
end

-- Runs ---------------------------------------------------------------------------------------------------------

local function workload_of(roll)
  local function lengths(mean)
    if roll.chance(0.4) then return mean end
    return { distribution = "lognormal", mean = mean, sigma = 0.7, min = 1, max = 4 * mean }
  end
  local shape = { prompt_tokens = lengths(roll.octave(1500)), output_tokens = lengths(roll.octave(40)) }
  if roll.chance(0.5) then
    shape.clients, shape.num_requests = roll.octave(20), 20
    return require "workloads.closed_loop" (shape)
  end
  shape.rate_per_s, shape.num_requests = roll.octave(40), 20
  return require "workloads.poisson" (shape)
end

--- The summary of a run, and the work of its steps, each of which is explained.
local function run_of(given)
  local live, work_s, steps = serve.open(given), 0, 0
  local peak = spec.hardware(given.hardware).peak_flop_per_s.bf16
  while live:step(1) do
    for index = 1, given.deployment.dp or 1 do
      local last = live:last_step(index)
      if last and last.end_s == live.now_s then
        for _, row in ipairs(live:explain(index).rows) do
          work_s = work_s + (row.at_peak_s or (row.flop or 0) / peak) * (row.count or 1)
        end
        steps = steps + 1
      end
    end
  end
  local summary = live:result().summary
  live:close()
  return summary, work_s, steps
end

function laws.of_runs(first, count)
  local checked, refused, problems, seed, worst, last = 0, 0, {}, first, 0, nil
  local far = 0  -- runs whose sampled work is more than 2 % from that of all steps
  while checked < count do
    if refused > 20 * (count + 10) then error(last, 0) end
    seed = seed + 1
    local given, roll = laws.scenario(seed)
    given.workload, given.metrics = workload_of(roll), { utilisation = true }
    local ok, summary, work_s, steps = pcall(run_of, given)
    if not ok then
      refused = refused + 1
      last = summary
    elseif summary.completed > 0 then
      checked = checked + 1
      local deployment, problem = given.deployment, nil
      local mfu = work_s / (deployment.pp or 1) / (deployment.dp or 1) / summary.duration_s
      if not (summary.overall_mfu and summary.overall_mfu <= 1 and summary.bandwidth_frac <= 1) then
        problem = ("MFU %s, bandwidth %s"):format(tostring(summary.overall_mfu), tostring(summary.bandwidth_frac))
      elseif steps == summary.steps and mfu > 0 then
        local apart = math.abs(summary.overall_mfu / mfu - 1)
        worst = math.max(worst, apart)
        if apart > 0.02 then far = far + 1 end
        if apart > 0.05 then
          problem = ("overall_mfu %.5f, the work of all %d steps %.5f"):format(summary.overall_mfu, steps, mfu)
        end
      end
      local shares = 0
      for _, share in pairs(summary.evidence) do shares = shares + share end
      if not close(shares, 1, slack) then problem = ("evidence sums to %.12f"):format(shares) end
      if problem then
        problems[#problems + 1] = ("seed %d (%s on %s, %s, %s): %s"):format(seed, given.model, given.hardware,
          given.engine, given.steps.name, problem)
      end
    end
  end
  return checked, refused, problems, worst, far
end

return laws
