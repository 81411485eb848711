-- What the engines' own unit tests expect of schedules and caches, as facts that rooflua is held against.
-- Run from the source tree:
--   rooflua lua tests/reference/engines/expectations_test.lua [ENGINE]
--
-- A file of vllm/, sglang/ or trtllm/ returns a set, or a list of sets: rows of one file of the engine's tests.
--
--   name, file, commit    the engine, and where its repository has these tests
--   since, before         releases for which they hold: since <= release < before
--   model, engine, scheduler, deployment, depth    what its rows have in common
--   rows                  the expectations
--
-- A row is one expectation, in our own words and numbers. Every step takes a second.
--
--   test, case            the engine's test, and which of its cases where it has several
--   says                  what is expected, as a sentence
--   since, before         where they differ from the set's
--   requests              { arrival, prompt, output, fields }; their letters are their order
--   engine                options of the engine; scheduler: { name, parameters } in place of its own
--   deployment, model, tiers, links, replicas, router, disaggregation, network, depth (of planning ahead)
--   speculation           { drafts, lands, head }: tests/reference/engines/run.lua
--   abort                 by request: when it is cancelled
--   also                  changes of the row with which it holds, too
--   pending               why rooflua fails it today. Such a row must fail: a mend takes this line out
--
-- The facts, of which a row states some:
--
--   steps                 `TIME: A+4 B C!`: A computes four tokens of its prompt, B decodes one (B*4: a row of four,
--                         with drafts), C is preempted; `TIME: -`, nothing is planned; `TIME@1:`, on replica 1, from
--                         0 on; ` | ` stands between steps of one time. Steps that are not named may hold anything
--   order, starts         requests in the order of their first steps; by request: the time of its first step
--   ends, ends_at         the end of the last request; by request: its end
--   work                  tokens of all steps
--   free, waiting, running            by time, or ["end"]: blocks and requests of replica looks_at (1)
--   cached, preemptions, tokens, outcome, rank    by request; outcome is "completed" where it is not stated
--   tier                  by name: figures of the first store
--
-- What cannot be asked, and why: unasked.lua.
local all = dofile "tests/reference/engines/all.lua"
local run = dofile "tests/reference/engines/run.lua"

local settings = { "test", "case", "says", "file", "commit", "since", "before", "requests", "engine", "scheduler",
  "deployment", "model", "tiers", "links", "replicas", "router", "disaggregation", "network", "depth", "speculation",
  "abort", "also", "pending", "looks_at" }

local known = {}
for _, name in ipairs(settings) do known[name] = true end
for _, name in ipairs(run.facts) do known[name] = true end

local passed, failed = 0, 0
local function check(ok, what)
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    print("FAILED  " .. what)
  end
end

local function title_of(set, row)
  return ("%s %s: %s%s"):format(set.name, row.file or set.file, row.test, row.case and ", " .. row.case or "")
end

--- The first fact that a row states; nil: it states none.
local function states(row, only)
  for _, name in ipairs(run.facts) do
    if row[name] ~= nil and (only == nil or only == name) then return name end
  end
end

--- A value as a text, the same for equal values; policies are their address.
local function text_of(value)
  if type(value) ~= "table" or getmetatable(value) then return tostring(value) end
  local parts = {}
  for key, each in pairs(value) do parts[#parts + 1] = tostring(key) .. "=" .. text_of(each) end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

local told = { test = true, case = true, says = true, file = true, commit = true, pending = true }

--- What is asked and expected, without words: two rows that agree in it are one expectation.
local function content_of(set, row)
  local out = { set.name, text_of(set.engine), text_of(set.deployment), text_of(set.scheduler), set.model or "" }
  local asked = {}
  for key, value in pairs(row) do
    if not told[key] then asked[key] = value end
  end
  out[#out + 1] = text_of(asked)
  return table.concat(out, " ")
end

local seen_title, seen_content = {}, {}

--- What is wrong with the form of a row; nil: nothing.
local function problem_of(set, row)
  for key in pairs(row) do
    if not known[key] then return ("'%s' is no key of a row"):format(tostring(key)) end
  end
  if not (row.test and row.says and row.says:find "%.$") then return "test and says are missing, or no sentence" end
  if not (set.file and set.commit and (row.since or set.since)) then return "file, commit or since is missing" end
  if not (row.requests and states(row)) then return "requests or facts are missing" end
  local title, content = title_of(set, row), content_of(set, row)
  if seen_title[title] then return "is there twice" end
  if seen_content[content] then return "asks and expects what " .. seen_content[content] .. " does" end
  seen_title[title], seen_content[content] = true, title
end

--- Runs a row at the first and the last known release of its range.
local function ask(set, row)
  local title = title_of(set, row)
  local problem = problem_of(set, row)
  if problem then return check(false, title .. ": " .. problem) end
  local out = {}
  for _, version in ipairs(run.releases(set, row)) do
    local ran, found = pcall(run.differences, set, row, version)
    if not ran then return check(false, ("%s\n  %s: %s"):format(title, version, tostring(found))) end
    for _, each in ipairs(found) do out[#out + 1] = ("  %s: %s"):format(version, each) end
  end
  if row.pending then
    check(#out > 0, title .. ": holds now; take `pending` out of the row")
  else
    check(#out == 0, ("%s\n  %s\n%s"):format(title, row.says, table.concat(out, "\n")))
  end
end

--- A value that a fact with this value does not have.
local function other(value)
  if type(value) == "number" then return value + 1 end
  if type(value) == "string" then return value .. " Z" end
  local out = {}
  for key, each in pairs(value) do out[key] = other(each) end
  return out
end

--- Each fact is noticed where it is false: of the first row that states it.
local function notices(sets, fact)
  for _, set in ipairs(sets) do
    for _, row in ipairs(set.rows) do
      if states(row, fact) and not row.pending then
        local changed = {}
        for key, value in pairs(row) do
          if key ~= "also" then changed[key] = value end
        end
        changed[fact] = other(row[fact])
        return #run.differences(set, changed, run.releases(set, row)[1]) > 0
      end
    end
  end
  return false
end

--- Each row of unasked.lua names tests and a reason.
local function check_unasked()
  for _, file in ipairs(dofile "tests/reference/engines/unasked.lua") do
    local named = file.engine and file.file and file.commit and #file > 0
    for _, row in ipairs(file) do named = named and #row == 2 and row[1] ~= "" and row[2] ~= "" end
    check(named, "unasked.lua: a row has no tests or no reason: " .. tostring(file.file))
  end
end

local sets, only = all.sets(), arg and arg[1]
for _, set in ipairs(sets) do
  for _, row in ipairs(only and only ~= set.name and {} or set.rows) do ask(set, row) end
end
for _, fact in ipairs(run.facts) do check(notices(sets, fact), "a false fact is not noticed: " .. fact) end
check_unasked()
for _, count in ipairs(all.counts()) do
  print(("%-13s %-16s %4d expectations, %3d of them pending"):format(unpack(count)))
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
