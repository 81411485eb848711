-- The kinds of scenario that simulate nothing: "price" (a list of batches) and "static" (a step model's own report).
local answers = require "rooflua.intervals.answers"
local core = require "rooflua.base.core"
local cost = require "rooflua.cost"
local batch = require "rooflua.border.batch"
local encoder = require "rooflua.machine.encoder"
local floors = require "rooflua.machine.floors"
local fits = require "rooflua.machine.fits"
local json = require "rooflua.json"
local ledger = require "rooflua.border.ledger"
local notes = require "rooflua.machine.notes"
local Prepared = require "rooflua.machine.prepared"
local stages = require "rooflua.machine.stages"

local prices = {}

local most_batches, most_operations = 1000000, 300000

--- Adapters of a batch need those of the scenario, and slots.
local function check_adapters(prepared, key, item)
  if item.adapters == 0 then return end
  local own = prepared.adapters
  if not own then
    prepared.reader:fail(key, "has adapters, and the scenario has none; say adapters = { count = .. }")
  end
  if item.adapters > own.slots then
    prepared.reader:fail(key, "has %d adapters, and a step has at most adapters.max_loras = %d", item.adapters,
      own.slots)
  end
end

--- The items that the encoder sees in the step of a batch, {host_s = of preparing them}: nil where it states none, and
--- the batch without them.
local function items_of(prepared, key, given)
  if type(given) ~= "table" or batch.is(given) or core.plain(given).images == nil then return nil, given end
  local own, items = encoder.of(prepared.model), { host_s = 0 }
  if not own then prepared.reader:fail(key, "images: %s has no encoder whose price is known", prepared.model.name) end
  for i, each in ipairs(prepared.reader:at(key, core.table, core.plain(given).images, "images")) do
    items[i] = prepared.reader:at(("%s.images[%d]"):format(key, i), encoder.item, own, each)
    items.host_s = items.host_s + encoder.host_s(prepared, core.plain(each))
  end
  local rest = core.copy(given)
  rest.images = nil
  return items, rest
end

--- The batches of kind "price", with names.
function prices.batches(prepared)
  local out, count = {}, #core.plain(prepared.given.price)
  if count > most_batches then
    prepared.reader:fail("price", "%d batches; a scenario prices at most %d", count, most_batches)
  end
  for i, given in ipairs(core.plain(prepared.given.price)) do
    local key = "price[" .. i .. "]"
    local name = type(given) == "table" and given.name or nil
    if name ~= nil then prepared.reader:at(key, core.plain_text, name, "name") end
    local items
    items, given = items_of(prepared, key, given)
    local item = batch.is(given) and given or prepared.reader:at(key, batch.new, given)
    check_adapters(prepared, key, item)
    out[i] = {
      name = name or "batch " .. i,
      batch = item, items = items,
    }
  end
  return out
end

local function is_seconds(time_s) return type(time_s) == "number" and time_s >= 0 and time_s < math.huge end

--- The time of a step after one correction of it.
local function corrected(prepared, correction, item, before_s)
  local time_s = correction:step(item, before_s)
  if is_seconds(time_s) then return time_s end
  return prepared.reader:fail("corrections", "%s:step returned %s; expected seconds", correction.name,
    core.describe(time_s))
end

--- The time of the step model and of the drafter after it.
--- @param drafter table? that is priced after the step model
local function model_time(steps, drafter, item)
  local time_s = steps:time(item)
  if drafter then
    ledger.name_with "draft."
    time_s = time_s + drafter:time(item)
    ledger.name_with(false)
  end
  return time_s
end

local function check_time(prepared, steps, time_s)
  if is_seconds(time_s) then return end
  prepared.reader:fail("steps", "%s:time returned %s; expected seconds", tostring(steps.name), core.describe(time_s))
end

local function step_corrections(prepared, item, time_s, rows)
  for _, correction in ipairs(prepared.corrections) do
    if type(correction.step) == "function" then
      local before_s = time_s
      time_s = corrected(prepared, correction, item, before_s)
      rows[#rows + 1] = { name = correction.name, kind = "correction", time_s = time_s - before_s,
        count = 1, flop = 0,
        bytes = 0, evidence = "assumed", shape = "", note = "of the whole step" }
    end
  end
  return time_s
end

--- All rows in the order in which they were priced, each followed by the corrections of it.
local function all_rows(tree)
  local rows, of = json.array {}, {}
  for _, row in ipairs(tree.corrections) do
    of[row.of] = of[row.of] or {}
    table.insert(of[row.of], row)
  end
  for _, row in ipairs(tree.rows) do
    rows[#rows + 1] = row
    local mine = of[row.name]
    if mine then
      for _, each in ipairs(mine) do rows[#rows + 1] = each end
      of[row.name] = nil
    end
  end
  return rows
end

--- Shares of a time that became longer by what is assumed. Where it became shorter, every evidence has less of it.
local function lengthened(evidence, before_s, time_s)
  if time_s <= before_s then return evidence end
  local out = {}
  for name, share in pairs(evidence) do out[name] = share * before_s / time_s end
  out.assumed = (out.assumed or 0) + (time_s - before_s) / time_s
  return out
end

--- @param encode table? {passes of machine/encoder.lua, items}: a pass of the encoder in front of the step
local function price_one(prepared, steps, item, drafter, encode)
  local time_s, pass
  local tree = cost.explain(function()
    local pass_s = 0
    if encode then
      local own = cost.explain(function() return encode[1](encode[2]) end)
      pass_s = encode[1](encode[2])
      pass = { time_s = pass_s, host_s = encode[2].host_s, evidence = own.evidence }
    end
    time_s = model_time(steps, drafter, item)
    if is_seconds(time_s) then time_s = pass_s + time_s end
    return time_s
  end)
  check_time(prepared, steps, time_s)
  local rows = all_rows(tree)
  local evidence, before_s = tree.evidence, time_s
  time_s = step_corrections(prepared, item, time_s, rows)
  evidence = lengthened(evidence, before_s, time_s)
  if prepared.stages then
    time_s, evidence = stages.add_sends(prepared.stages, item.tokens, rows, evidence, time_s)
  end
  return { time_s = time_s, evidence = evidence, rows = rows, tokens = item.tokens, requests = item.requests,
    noted_frac = notes.share(prepared.model, item, rows, time_s) }, pass
end

--- The price of one batch with a bound step model, and what it rests on: {time_s, evidence, rows, tokens, requests,
--- noted_frac}.
--- @param bound table as rooflua.border.pricing is called with: {steps, drafter}
function prices.price_batch(prepared, bound, item)
  return ledger.with_corrections(prepared.corrections, price_one, prepared, bound.steps, item, bound.drafter)
end

local host_kinds = core.set { "launch", "launches", "host", "eager" }

--- Whether a row of a price is time of the host, or of launches, for which no kernel stands.
function prices.is_of_host(row) return host_kinds[row.kind] or host_kinds[row.name:gsub("^.*%.", "")] or false end

--- Seconds of a batch whose kernels run for `kernels_s`: theirs and the host's, or with asynchronous scheduling
--- whichever are longer.
function prices.time_around(prepared, bound, item, kernels_s)
  local priced, host_s = prices.price_batch(prepared, bound, item), 0
  for _, row in ipairs(priced.rows) do
    if prices.is_of_host(row) then host_s = host_s + (row.count or 1) * row.time_s end
  end
  local steps = bound.steps
  if not steps.asynchronous then return kernels_s + host_s end
  return math.max(kernels_s, (steps.host_step_s or 0) + (steps.host_request_s or 0) * item.requests)
end

--- The same time alone, which is found much sooner.
function prices.time(prepared, bound, item)
  ledger.apply(prepared.corrections)
  local time_s = model_time(bound.steps, bound.drafter, item)
  check_time(prepared, bound.steps, time_s)
  for _, correction in ipairs(prepared.corrections) do
    if type(correction.step) == "function" then time_s = corrected(prepared, correction, item, time_s) end
  end
  if not prepared.stages then return time_s end
  local bandwidth_s, latency_s = stages.sends(prepared.stages, item.tokens)
  return time_s + bandwidth_s + latency_s
end

--- How many prompts and batches a list has: what the length of its listing follows from.
function prices.size(list)
  local size = 0
  for _, given in ipairs(core.plain(list)) do
    local prompts = type(given) == "table" and given.prefills or nil
    size = size + 1 + (type(prompts) == "table" and #core.plain(prompts) or 0)
  end
  return size
end

local function both(first, second)
  local out = {}
  for _, list in ipairs { first or {}, second } do
    for _, each in ipairs(list) do out[#out + 1] = each end
  end
  return out
end

--- Every batch of a scenario of kind "price", priced. options: operations; false: the operations of batches are not
--- kept, which take a hundred times the memory of a price.
function prices.price(prepared, options)
  local batches, kept = prices.batches(prepared), 0
  local steps = Prepared.steps(prepared)
  local out, evidence_s, times_s, total_s = json.array {}, {}, {}, 0
  local undone, looks, passes, with = {}, floors.may_undo(prepared), nil, {}
  ledger.with_corrections(prepared.corrections, function()
    for i, item in ipairs(batches) do
      if item.items then passes = passes or encoder.passes(prepared) end
      local priced, pass = prepared.reader:at("price[" .. i .. "]", price_one, prepared, steps, item.batch, nil,
        item.items and { passes, item.items })
      priced.name, with[i] = item.name, pass or false
      kept = kept + #priced.rows
      for _, sentence in ipairs(looks and floors.sentences(priced.rows) or {}) do undone[#undone + 1] = sentence end
      if options and options.operations == false then
        priced.rows = nil
      elseif kept > most_operations then
        prepared.reader:fail("price", "has more than %d operations to list, in %d of %d batches; give fewer batches or "
          .. "prompts, or leave out what lists them (--explain, --json, --html, --results, `report`)", most_operations,
          i, #batches)
      end
      priced.has_prompts = #item.batch.prefills > 0
      out[i], times_s[i] = priced, priced.time_s
      total_s = total_s + priced.time_s
      for name, share in pairs(priced.evidence) do
        evidence_s[name] = (evidence_s[name] or 0) + share * priced.time_s
      end
    end
  end)
  if passes then undone[#undone + 1] = encoder.doubt end
  local shares = {}
  if total_s > 0 then
    for name, seconds in pairs(evidence_s) do shares[name] = seconds / total_s end
  end
  local problems = fits.summary(prepared, batches)
  return { kind = "price", batches = out, time_s = total_s, evidence = shares, steps = steps.name,
    formats = { weights = prepared.deployment.weights, kv = prepared.deployment.kv },
    intervals = answers.of_prices(prepared, out, shares, with), noted_frac = notes.mean_share(out, times_s),
    problems = problems, told = notes.of({ prepared }, shares, undone),
    notes = notes.of({ prepared }, shares, both(problems, undone)) }
end

--- The report of a step model that has one.
function prices.static(prepared)
  if type(prepared.step_policy.static) ~= "function" then
    prepared.reader:fail("steps", "%s has no static report", tostring(prepared.step_policy.name))
  end
  local asked = prepared.given.static
  if asked ~= nil and type(asked) ~= "table" then
    prepared.reader:fail("static", "expected a table, found %s", core.describe(asked))
  end
  local steps = Prepared.steps(prepared, "static")
  cost.reset()
  local ok, report = pcall(ledger.with_corrections, prepared.corrections, steps.static, steps,
    prepared.given.static or {})
  local evidence = cost.shares()
  if not ok then prepared.reader:at("static", error, report, 0) end
  return { kind = "static", static = prices.plain(report), evidence = evidence, steps = steps.name,
    intervals = answers.of_static(prepared),
    told = notes.of({ prepared }, evidence), notes = notes.of({ prepared }, evidence) }
end

--- The part of a value that a document can hold: finite numbers, text, booleans, tables of them.
function prices.plain(value, depth)
  depth = depth or 0
  if depth > 20 then core.fail "a static report is nested too deeply" end
  if type(value) == "table" then
    local out = #value > 0 and json.array {} or {}
    for key, each in core.sorted_pairs(value) do
      if type(key) == "string" or type(key) == "number" and #value > 0 then
        out[key] = prices.plain(each, depth + 1)
      end
    end
    return out
  end
  if type(value) == "number" then return value - value == 0 and value or nil end
  if type(value) == "string" or type(value) == "boolean" then return value end
  return nil
end

return prices
