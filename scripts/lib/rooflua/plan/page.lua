-- The page of a plan for the person who decides, as a description that the program draws (engine/measure/html/plan.h):
-- the verdict, prices that can be changed, the deployments, cost against load, what each figure rests on, and folded
-- away the candidates and the text of the terminal.
local against_load = require "rooflua.plan.against_load"
local basis = require "rooflua.plan.basis"
local energy = require "rooflua.plan.energy"
local fleets = require "rooflua.plan.fleets"
local items = require "rooflua.plan.page.items"
local json = require "rooflua.json"
local money = require "rooflua.plan.money"
local standing = require "rooflua.plan.standing"
local units = require "rooflua.text.units"
local verdict = require "rooflua.plan.page.verdict"
local words = require "rooflua.plan.words"

local page = {}

local array = json.array

--- A text that the script finds by its key and computes again.
local function keyed(key, ...) return { key = key, lines = array { ... } } end

local function lines_of(key, list) return { key = key, lines = array(list) } end

-- The verdict and the prices ---------------------------------------------------------------------------------------

local fact_titles = { { "sure", "How sure" }, { "limits", "Within the limits" }, { "rests", "What it rests on" },
  { "holds", "Largest load" } }

local function verdict_section(done, list, told)
  local facts = array {}
  if told[1] and done.plan.ranks[1] then
    for _, each in ipairs(fact_titles) do
      facts[#facts + 1] = { title = each[2], text = lines_of(each[1], told[1][each[1]]) }
    end
    facts[#facts + 1] = { title = "What would change it", text = lines_of("changes", verdict.changes(done, list)) }
  end
  return { heading = "Verdict", lead = keyed("lead", verdict.lead(done)), facts = facts }
end

local function prices_section(done)
  local question, fields = done.question, array {}
  for i, gpu in ipairs(question.gpus) do
    fields[i] = { label = gpu.label .. " $", key = tostring(i - 1), unit = "per GPU and hour",
      value = gpu.price and units.significant(gpu.price.typical, 6) or "" }
  end
  local origin = money.origin(question)
  local note = origin.yours and "These prices are yours."
    or ("Prices that you did not give are published examples of %s, not offers%s."):format(origin.date ~= ""
      and origin.date or "an unknown date", #origin.none > 0 and "; there is none for "
      .. table.concat(origin.none, ", ") or "")
  return { heading = "Prices", fields = fields, note = note .. " Change one, and everything on this page that it "
    .. "touches is computed again from the same runs. Candidates that the search left out do not come back: ask again "
    .. "with the price that you decide by." }
end

-- The deployments -------------------------------------------------------------------------------------------------

local function lost_text(question, each)
  local item = each.item
  if not each.rank then
    return ("%snot sure enough: %s is asked"):format(each.is_better and standing.better(question) .. " and " or "",
      units.percent(question.confidence, 0))
  end
  if each.rank == 1 then return "" end
  local asked = units.percent(question.confidence, 0)
  local before = item.too_unsure and ("not sure enough: %s is asked; "):format(asked) or ""
  return before .. standing.lost(question, item)
end

--- Joules per token; where the load has a peak also at the load without it.
local function energy_text(question, item)
  local own, usual = item.result, item.without_peak
  if not own.joules_per_token then return "-" end
  local text = ("%s %s"):format(own.power_bound or "", energy.text(own))
  if usual and usual.joules_per_token then
    text = ("%s at %s, %s at %s"):format(text, words.load(question, own.scale),
      energy.text(usual), words.load(question, usual.scale))
  end
  local idle = own.paid_gpus - own.gpus
  return idle > 0 and ("%s, with %s"):format(text, units.counted(idle, "idle GPU")) or text
end

local figure_titles = { cost_per_hour = "per hour", gpus = "GPUs", joules_per_token = "energy", rate_per_s = "rate",
  output_tokens_per_s_per_gpu = "per GPU" }

local function ranks_section(done, list)
  local question, key = done.question, standing.key(done.question)
  local own_figure = key ~= nil and key ~= "cost_per_hour"
  local each_item = {}
  for i, each in ipairs(list) do each_item[i] = each.item end
  local joules = table.concat(energy.bases(question, each_item), "; ")
  local head, rows = array { "rank", "deployment" }, array {}
  if own_figure then head[3] = figure_titles[key] end
  local has_energy = key ~= "joules_per_token" -- else the figure is it
  for _, name in ipairs { "per hour", "against the first", "per 1M output tokens", has_energy and "J/token" or false,
    "SLO metrics", "SLO met", "holds up to", "why not the first" } do
    if name then head[#head + 1] = name end
  end
  for i, each in ipairs(list) do
    local item, at = each.item, tostring(i - 1)
    local metrics = {}
    for k, metric in ipairs(standing.metric_list(question, item)) do
      metrics[k] = ("%s %s%s"):format(metric.name, metric.value, metric.range and (" (%s)"):format(metric.range) or "")
    end
    local row = array { keyed("rank " .. at, each.rank and tostring(each.rank) or "-"),
      { lines = array { items.title(question, item), words.settings(item.candidate) } } }
    if own_figure then row[3] = { lines = array { standing.figure(question, item) } } end
    local has_price = question.gpus[item.candidate.gpu].price ~= nil
    local first = done.plan.ranks[1]
    for _, cell in ipairs { keyed("cost " .. at, has_price and words.dollars(item.result.cost_per_hour) or "-"),
      keyed("difference " .. at, first and first ~= item and standing.difference(question, item, first) or ""),
      keyed("million " .. at, verdict.per_million(question, item) or "-"),
      has_energy and { lines = array { energy_text(question, item) } } or false,
      { lines = array(metrics) }, { lines = array { words.sure(item.sure) } },
      { lines = array { item.holds_to and words.held(question, item) or "-" } },
      keyed("lost " .. at, lost_text(question, each)) } do
      if cell then row[#row + 1] = cell end
    end
    rows[i] = row
  end
  return { heading = "Deployments", cards = { head = head, rows = rows },
    note = ("Ranges in brackets hold 90 %% of the replicates: runs with other seeds and draws of the model's error. "
      .. "Order: %s; then the surer one, then the one farther from its limits.%s"):format(key == "cost_per_hour"
      and "dollars per hour" or "objective " .. question.objective.name,
      joules ~= "" and (" Joules per token, with low and high in brackets, rest on %s."):format(joules) or "") }
end

-- Cost against load -----------------------------------------------------------------------------------------------

local cost_chart, gpus_chart = "Dollars per million output tokens", "GPUs needed"

local function load_axis(question)
  local kind = question.load.kind
  return { label = kind == "rate" and "requests per second" or kind == "clients" and "clients"
    or "multiple of the recorded load" }
end

local function series_of(question, list, names, curves, y_of)
  local out = array {}
  for i, points in ipairs(curves) do
    local price = question.gpus[list[i].item.candidate.gpu].price
    local series = { name = names[i], points = array {} }
    for _, point in ipairs(points) do
      local y = y_of(point, price)
      if y then table.insert(series.points, { x = point.x, y = y }) end
    end
    out[i] = series
  end
  return out
end

--- The figures of the curves as a table: a row per load.
local function curve_rows(question, list, names, curves)
  local head, loads, at = array { load_axis(question).label }, {}, {}
  for i, points in ipairs(curves) do
    head[#head + 1] = names[i] .. ": GPUs"
    head[#head + 1] = "$ per 1M"
    for k, point in ipairs(points) do
      if not at[point.x] then at[point.x], loads[#loads + 1] = {}, point.x end
      at[point.x][i] = { point = point, place = k - 1 }
    end
  end
  table.sort(loads)
  local rows = array {}
  for n, x in ipairs(loads) do
    local row = array { { lines = array { units.significant(x, 4) } } }
    for i = 1, #curves do
      local found, price = at[x][i], question.gpus[list[i].item.candidate.gpu].price
      row[#row + 1] = { lines = array { found and tostring(found.point.gpus) or "-" } }
      row[#row + 1] = found and keyed(("curve %d %d"):format(i - 1, found.place),
        price and words.dollars(found.point.per_dollar * price.typical) or "-") or { lines = array { "-" } }
    end
    rows[n] = row
  end
  return { head = head, rows = rows }
end

local function curve_section(done, curve, list, names, curves)
  local question = done.question
  local out = { heading = "Cost against load" }
  if curve.problem then
    out.note = ("Not drawn: %s."):format(curve.problem)
    return out
  end
  out.note = "Each point is the fewest replicas with which one run meets the SLO at that load, and the replicas that "
    .. "the answer adds to be surer or to survive a loss. Between points nothing was simulated. A line ends where "
    .. "the GPUs do not suffice."
  local marks = array { { value = against_load.value(question, 1),
    label = question.objective.seeks == "load" and "least" or "asked" } }
  out.charts = array {
    { title = cost_chart, kind = "line", x = load_axis(question), y = { label = "$ per 1M tokens" }, marks = marks,
      series = series_of(question, list, names, curves, function(point, price)
        return price and point.per_dollar * price.typical
      end) },
    { title = gpus_chart, kind = "line", x = load_axis(question), y = { label = "GPUs" }, marks = marks,
      series = series_of(question, list, names, curves, function(point) return point.gpus end) } }
  out.folded, out.cards = "The figures of the curves", curve_rows(question, list, names, curves)
  return out
end

-- What the figures rest on ----------------------------------------------------------------------------------------

local function relative(ends)
  return ends and ("%+.0f to %+.0f %%"):format(100 * (ends.low - 1), 100 * (ends.high - 1))
end

local function evidence_section(done, list, names)
  local question, rows, bars = done.question, array {}, { names = array {}, shares = array {} }
  for i, each in ipairs(list) do
    local item = each.item
    local measured = item.measured or {}
    local notes = array(basis.notes(question, item.candidate, item.result))
    if measured.unknown then table.insert(notes, 1, measured.unknown) end
    local row = array { { lines = array { names[i] } },
      { lines = array { units.percent(verdict.on_rows(item.result)) } } }
    for _, name in ipairs { "tpot", "ttft", "e2e" } do
      row[#row + 1] = { lines = array { relative(measured[name]) or "-" } }
    end
    row[#row + 1] = { lines = array { measured.deployments and tostring(measured.deployments) or "-" } }
    row[#row + 1] = { lines = array { measured.points and tostring(measured.points) or "-" } }
    row[#row + 1] = { lines = notes }
    rows[i], bars.names[i], bars.shares[i] = row, names[i], item.result.evidence or {}
  end
  return { heading = "What the figures rest on", evidence = bars, cards = { rows = rows,
    head = array { "deployment", "on measured rows", "TPOT", "TTFT", "E2E", "deployments like it", "measured points",
      "notes" } },
    note = "On measured rows: the share of the time that tables of the GPU give, or stand on both sides of. TPOT, TTFT "
      .. "and E2E: how far the mean of such a deployment may be off, in 90 of 100 cases, from measured deployments "
      .. "like it and their points. Where there is none, the interval is as wide as that of most kinds." }
end

-- What is folded away -----------------------------------------------------------------------------------------------

local function candidates_section(done)
  local rows, question = array {}, done.question
  local has_score = standing.key(question) ~= "cost_per_hour"
  for i, each in ipairs(done.found.candidates) do
    local result = each.result or {}
    local has_price = question.gpus[each.gpu].price ~= nil
    local row = array { { lines = array { tostring(each.index) } }, { lines = array { each.name } },
      { lines = array { result.replicas and tostring(result.replicas) or "-" } },
      keyed("candidate " .. each.index, result.deployment and has_price
        and words.dollars(result.deployment.cost_per_hour) or "-") }
    if has_score then
      row[#row + 1] = { lines = array { result.score and units.significant(result.score, 5) or "-" } }
    end
    row[#row + 1], row[#row + 2] = { lines = array { each.ended or "-" } }, { lines = array { each.problem or "" } }
    rows[i] = row
  end
  local head = array { "#", "candidate", "replicas", "per hour" }
  if has_score then head[5] = "objective" end
  head[#head + 1], head[#head + 2] = "ended", "why"
  return { heading = "What was tried", folded = units.counted(#rows, "candidate"), cards = { head = head,
    rows = rows } }
end

--- The description of a plan's page: {title, sections, data}.
---@param done table of run.report
---@param text string the text of the terminal
---@param curve table of against_load.of
function page.of(done, text, curve)
  local question, list, told = done.question, items.list(done), {}
  for i, each in ipairs(list) do told[i] = verdict.told(done, each.item, each.rank == 1) end
  local ranks = items.ranks(list)
  local names, curves = items.names(question, ranks), items.curves(question, curve)
  local sections = array { verdict_section(done, list, told) }
  local function add(section) sections[#sections + 1] = section end
  if #done.plan.ranks == 0 then add { heading = "Why", text = text } end
  local notes = basis.sentences(question, done.found, done.plan, true)
  if #list > 0 then
    add(prices_section(done))
    add(ranks_section(done, list))
  end
  if #done.plan.ranks > 0 then add(curve_section(done, curve, ranks, names, curves)) end
  if done.plan.day then add(fleets.section(question, done.plan)) end
  if #list > 0 then add(evidence_section(done, ranks, names)) end
  if #notes > 0 then add { heading = "Notes", paragraphs = array(notes) } end
  add(candidates_section(done))
  if #done.plan.ranks > 0 then
    add { heading = "The report", folded = "The text of the terminal, at the prices of the plan", text = text }
  end
  return { title = ("%s within %s"):format(words.asked(question), words.slo(question.bounds)), sections = sections,
    data = items.data(done, list, told, names, curves, cost_chart) }
end

return page
