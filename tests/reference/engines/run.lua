--- Runs one expectation and says what differs. The form of an expectation: expectations_test.lua.
local live = require "rooflua.serving.live"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local release = require "rooflua.engines.release"

local run = {}

-- The scenario ------------------------------------------------------------------------------------------------

local Second = policy.define { name = "second", doc = "Every step takes a second.", params = {} }
function Second:time() return 1 end

--- Requests { arrival, prompt, output, fields } as a workload.
local function workload_of(list)
  local Given = policy.define { name = "given", doc = "These requests.", params = {} }
  local shares = false
  for _, each in ipairs(list) do shares = shares or (each[4] and each[4].content) ~= nil end
  function Given:requests()
    local sent = 0
    return {
      shares_content = shares,
      next = function()
        sent = sent + 1
        local each = list[sent]
        if each then return each[1], each[2], each[3], each[4] end
      end,
    }
  end
  return Given {}
end

local Lookup = policy.define { name = "lookup", doc = "Drafts that cost nothing.", params = {} }
function Lookup:time() return 0 end
function Lookup:memory() return 0, 0 end
Lookup.lookahead = 0

local Head = policy.define { name = "head", doc = "The same of one that reads hidden states.", params = {} }
Head.time, Head.memory, Head.lookahead, Head.drops_last_hit = Lookup.time, Lookup.memory, "k", true

--- { drafts, lands = tokens of each round for each request (all), head = whether hidden states are read }.
local function speculation_of(given)
  if not given then return nil end
  return {
    speculator = require "speculators.fixed" { draft_tokens = given.drafts },
    acceptance = require "acceptance.trace" { rounds = given.lands or { { given.drafts + 1 } } },
    drafter = given.head and Head {} or Lookup {},
  }
end

--- One table of two; the second one wins.
local function merged(first, second)
  local out = {}
  for key, value in pairs(first or {}) do out[key] = value end
  for key, value in pairs(second or {}) do out[key] = value end
  return out
end

--- { name, parameter = value... } as a scheduler; nil where the engine's own is meant.
local function scheduler_of(given)
  if not given then return nil end
  local params = merged(given)
  params[1] = nil
  return require("schedulers." .. given[1])(params)
end

--- The scenario of a row at a release.
local function scenario_of(set, row, version)
  local engine = merged(set.engine, row.engine)
  engine[1] = set.name .. " " .. version
  return {
    rooflua = 1, model = row.model or set.model or "llama-3.1-8b", hardware = "h100-sxm", steps = Second {},
    intervals = "off", async_depth = row.depth or set.depth or 1, engine = engine,
    scheduler = scheduler_of(row.scheduler or set.scheduler), deployment = merged(set.deployment, row.deployment),
    speculation = speculation_of(row.speculation), tiers = row.tiers, links = row.links, replicas = row.replicas,
    router = row.router, disaggregation = row.disaggregation, network = row.network,
    workload = workload_of(row.requests),
  }
end

-- What it did -------------------------------------------------------------------------------------------------

local function letter(id) return id < 26 and string.char(65 + id) or "r" .. id end

--- Times are rounded, since stages, ranks and loads wait some microseconds.
local function rounded(time_s) return math.floor(time_s * 100 + 0.5) / 100 end

--- What each step holds, by "time" or, where there are several replicas, "time@replica"; steps of one time stand side
--- by side. Also the time of each request's first step, with the order of these, and the tokens of all steps.
local function steps_of(simulation, several)
  local rows, first, tokens = {}, {}, 0
  for _, step in ipairs(native.serve_record(live.state(simulation).run)) do
    local parts, at = {}, rounded(step.planned_s)
    for _, each in ipairs(step.work) do
      local name = letter(each.id)
      local width = each.tokens > 1 and "*" .. each.tokens or ""
      parts[#parts + 1] = name .. (each.kind == "prefill" and "+" .. each.tokens or width)
      tokens = tokens + each.tokens
      if not first[name] then first[name], first[#first + 1] = at, name end
    end
    for _, id in ipairs(step.preempted) do parts[#parts + 1] = letter(id) .. "!" end
    table.sort(parts)
    local key, content = ("%g"):format(at), table.concat(parts, " ")
    if several then key = ("%s@%d"):format(key, step.replica - 1) end
    rows[key] = rows[key] and rows[key] .. " | " .. content or content
  end
  return rows, first, tokens
end

local function sorted_parts(content)
  local parts = {}
  for part in content:gmatch "%S+" do parts[#parts + 1] = part end
  table.sort(parts)
  return table.concat(parts, " ")
end

--- The stated steps as { key, content }; "-" where none is planned.
local function stated_steps(text)
  local out = {}
  for line in text:gmatch "[^\n]+" do
    local key, content = line:match "^%s*([%d.@]+):%s*(.-)%s*$"
    if key then
      out[#out + 1] = { key, (content:gsub("[^|]+", sorted_parts):gsub("|", " | ")) }
    elseif line:find "%S" then
      error(("a step is `TIME: A+4 B`, found %s"):format(line), 0)
    end
  end
  return out
end

local of_replica = {
  free = function(replica) return replica.free_blocks end,
  waiting = function(replica) return #replica.waiting end,
  running = function(replica) return replica.seats end,
}

local of_request = {
  cached = function(request) return request.cached_tokens end,
  preemptions = function(request) return request.preemptions end,
  tokens = function(request) return request.output_tokens end,
  outcome = function(request) return request.outcome end,
  rank = function(request) return request.replica - 1 end,
  ends_at = function(request) return rounded(request.arrival_s + (request.e2e_s or 0)) end,
}

-- What differs ------------------------------------------------------------------------------------------------

--- What a row does or looks at, as a list of { at, name, value } in the order of time.
local function moments_of(row)
  local out = {}
  local function add(name, values, place)
    for key, value in pairs(values or {}) do
      if key ~= "end" then out[#out + 1] = place(name, key, value) end
    end
  end
  for name in pairs(of_replica) do
    add(name, row[name], function(_, at, value) return { at, name, value } end)
  end
  add("abort", row.abort, function(name, id, at) return { at, name, id } end)
  table.sort(out, function(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[2] < b[2]
  end)
  return out
end

--- Looks into the replica while the simulation runs, and aborts requests.
local function watch(simulation, row, compare)
  local index = row.looks_at or 1
  for _, each in ipairs(moments_of(row)) do
    local at, name, value = each[1], each[2], each[3]
    simulation:run_until(at)
    if name == "abort" then
      simulation:abort(value:byte() - 65)
    else
      compare(("%s at %g"):format(name, at), of_replica[name](simulation:replica(index)), value)
    end
  end
  simulation:run()
  for name, fact in pairs(of_replica) do
    local value = row[name] and row[name]["end"]
    if value then compare(name .. " at the end", fact(simulation:replica(index)), value) end
  end
end

--- Compares the facts about requests. One whose outcome is not stated has completed.
local function compare_requests(simulation, row, compare)
  local by_name, last = {}, 0
  for _, each in ipairs(simulation:ended()) do
    local name = letter(each.id)
    by_name[name], last = each, math.max(last, of_request.ends_at(each))
    if not (row.outcome and row.outcome[name]) then
      compare("outcome of " .. name, each.outcome, row.abort and row.abort[name] and "cancelled" or "completed")
    end
  end
  compare("requests", #simulation:ended(), #row.requests)
  compare("end of the last request", last, row.ends)
  for name, fact in pairs(of_request) do
    for id, value in pairs(row[name] or {}) do
      compare(("%s of %s"):format(name, id), by_name[id] and fact(by_name[id]), value)
    end
  end
end

local function differences_of(set, row, version)
  local out = {}
  local function compare(what, found, expected)
    if expected ~= nil and found ~= expected then
      out[#out + 1] = ("%s: expected %s, found %s"):format(what, tostring(expected), tostring(found))
    end
  end
  local given = scenario_of(set, row, version)
  -- What serve.open does, with a record of each step's requests.
  local simulation = live.begin(live.reader(given), given, { record = true, journal = true })
  watch(simulation, row, compare)
  local steps, first, tokens = steps_of(simulation, row.replicas or given.deployment.dp)
  for _, step in ipairs(stated_steps(row.steps or "")) do
    compare("step at " .. step[1], steps[step[1]] or "-", step[2])
  end
  compare("order of first steps", table.concat(first, " "), row.order)
  compare("tokens of all steps", tokens, row.work)
  for id, at in pairs(row.starts or {}) do compare("first step of " .. id, first[id], at) end
  compare_requests(simulation, row, compare)
  for key, value in pairs(row.tier or {}) do
    compare("tier." .. key, simulation:result().summary.tiers[1][key], value)
  end
  return out
end

--- What differs from a row at a release: an empty list where all of it holds. `also` are changes with which it holds,
--- too.
function run.differences(set, row, version)
  local out = differences_of(set, row, version)
  for _, changes in ipairs(row.also or {}) do
    for _, each in ipairs(differences_of(set, merged(row, changes), version)) do out[#out + 1] = each end
  end
  return out
end

--- The facts that a row may state.
run.facts = { "steps", "order", "work", "starts", "ends", "tier" }
for name in pairs(of_replica) do table.insert(run.facts, name) end
for name in pairs(of_request) do table.insert(run.facts, name) end
table.sort(run.facts)

--- The first and the last known release of a row's range: since <= release < before. Its first one, where all are newer
--- than the newest known one.
function run.releases(set, row)
  local range = { since = row.since or set.since, before = row.before or set.before }
  local first, last
  for _, each in ipairs(require("engines." .. set.name).releases) do
    if release.holds(range, each[1]) then first, last = first or each[1], each[1] end
  end
  if not first then return { range.since } end
  return first == last and { first } or { first, last }
end

return run
