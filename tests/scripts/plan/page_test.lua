-- The page of a plan: what it says, that other loads are simulated for it alone, and that its figures are those of the
-- answer. What a changed price does to it is tested in a browser (tests/app/html_plan_test.cpp).
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local against_load = require "rooflua.plan.against_load"
local command = require "rooflua.plan.command"
local evaluate = require "rooflua.plan.evaluate"
local opening = require "rooflua.runs.opening"
local page = require "rooflua.plan.page"
local run = require "rooflua.plan.run"
local search = require "rooflua.plan.search"
local standing = require "rooflua.plan.standing"
local words = require "rooflua.plan.words"
local units = require "rooflua.text.units"

local function described(done) return page.of(done, done.text, against_load.of(done.question, done.plan)) end

local function section(shown, heading)
  for _, each in ipairs(shown.sections) do
    if each.heading == heading then return each end
  end
end

local has = test.has

--- The cells of a section's table by the title of their column.
local function cells(of)
  local out = {}
  for r, row in ipairs(of.cards.rows) do
    out[r] = {}
    for i, cell in ipairs(row) do out[r][of.cards.head[i]] = table.concat(cell.lines, "; ") end
  end
  return out
end

test("a page begins with one verdict: what to run, what it costs, how sure that is and what would change it", function()
  local done = setup.report { replicates = 10 }
  local shown = described(done)
  local first, second = done.plan.ranks[1], nil
  for _, item in ipairs(done.plan.ranks) do second = second or item.break_even and item end
  local verdict = shown.sections[1]
  local lead = table.concat(verdict.lead.lines)
  for _, part in ipairs { "Run llama-3.1-8b on ", words.settings(first.candidate),
    words.dollars(first.result.cost_per_hour) .. " per hour",
    words.dollars(first.result.per_million.output) .. " per 1M output tokens" } do has(lead, part) end
  local facts = {}
  for _, each in ipairs(verdict.facts) do facts[each.text.key] = table.concat(each.text.lines, "\n") end
  has(facts.sure, words.sure(first.sure) .. ". 80 % is asked.")
  has(facts.rests, "stands on measured rows")
  has(facts.holds, words.held(done.question, first))
  has(facts.changes, "wins below " .. words.dollars(second.break_even))
end)

test("every deployment has its costs, its metrics and why it lost, as the text has them", function()
  for _, objective in ipairs { "cost", "energy", "gpus" } do
    local done = setup.report { objective = objective, replicates = 6 }
    local rows = cells(section(described(done), "Deployments"))
    for i, item in ipairs(done.plan.ranks) do
      test.equal(rows[i].rank, tostring(i))
      test.equal(rows[i]["per hour"], words.dollars(item.result.cost_per_hour))
      test.equal(rows[i]["SLO met"], words.sure(item.sure))
      has(rows[i]["why not the first"], i > 1 and standing.lost(done.question, item) or "")
      if i > 1 then
        test.equal(rows[i]["against the first"], standing.difference(done.question, item, done.plan.ranks[1]))
      end
    end
  end
end)

test("each point of the curves is the fewest replicas that hold that load, and costs what these cost", function()
  local points = 0
  for _, more in ipairs { {}, { survive = 1 }, { objective = "rate", gpus = { { "h100-sxm", most = 3,
    price_per_hour = 3 } } } } do
    local done = setup.report(more)
    local question = done.question
    local curve = against_load.of(question, done.plan)
    for rank, list in ipairs(curve.ranks) do
      local item, last = done.plan.ranks[rank], 0
      for _, point in ipairs(list) do
        test.check(point.scale > last, "loads are not in order")
        last, points = point.scale, points + 1
        local extra = item.result.replicas - item.result.needs
        local function meets(replicas)
          return evaluate.run(question, item.candidate, replicas, { requests = question.requests,
            seed = question.seed, steady = true, scale = point.scale }).meets
        end
        local needs = point.replicas - extra
        if point.scale ~= item.result.scale then
          test.check(meets(needs), "%d replicas miss the SLO at %g", needs, point.scale)
          test.check(needs == 1 or not meets(needs - 1), "%d replicas are too many at %g", needs, point.scale)
        end
      end
    end
    local title = "Dollars per million output tokens"
    local chart = section(described(done), "Cost against load").charts[1]
    test.equal(chart.title, title)
    for rank, list in ipairs(curve.ranks) do
      local price = question.gpus[done.plan.ranks[rank].candidate.gpu].price.typical
      for i, point in ipairs(list) do
        test.near(chart.series[rank].points[i].y, point.paid_gpus * price / 3600
          / (question.load.value * point.scale * question.drawn.mean_output) * 1e6, 1e-9)
      end
    end
  end
  test.check(points > 20, "%d points", points)
end)

test("other loads are simulated where a page is asked for, and nowhere else", function()
  local titles = {}
  local parallel = search.parallel
  function search.parallel(question, n, title, ...) -- luacheck: ignore 122
    titles[title] = true
    return parallel(question, n, title, ...)
  end
  local given = { model = "llama-3.1-8b", workload = "300+20", rate = 5, slo = { "ttft_p99=500ms" },
    gpus = { "h100-sxm:8@3.00" }, jobs = 1, replicates = 0, requests = 200, tp = { "1" }, seats = { "32" },
    budgets = { "1024" } }
  local opened = opening.table(setup.scenario(), {})
  test.equal(command.run(given).page, nil)
  test.equal(run.variant(opened.reader, opened.given, { jobs = 1 }).page, nil)
  test.check(not titles["other loads"], "a plan without a page pays for it")
  given.page = true
  test.equal(#command.run(given).page.sections > 4, true)
  test.check(titles["other loads"], "a page has no other loads")
  titles = {}
  test.equal(#run.variant(opened.reader, opened.given, { jobs = 1, sketch = true }).page.sections > 4, true)
  test.check(titles["other loads"], "a page of run has no other loads")
  search.parallel = parallel -- luacheck: ignore 122
end)

test("Ctrl-C while other loads are simulated leaves the answer, and the page says what is not drawn", function()
  local parallel = search.parallel
  local done = setup.report()
  function search.parallel(question, n, title, ...) -- luacheck: ignore 122
    if title ~= "other loads" then return parallel(question, n, title, ...) end
    question.stopped = true
    error("interrupted", 0)
  end
  local ok, shown = pcall(described, done)
  search.parallel = parallel -- luacheck: ignore 122
  test.check(ok, "%s", tostring(shown))
  test.equal(section(shown, "Cost against load").note, "Not drawn: it was interrupted.")
  has(shown.sections[1].lead.lines[1], "Run llama-3.1-8b on ")
end)

test("evidence, interval and measured points stand beside each deployment", function()
  local done = setup.report({ requests = 100, load = { rate_per_s = 5 }, slo = { ttft_s_p99 = 2 },
    candidates = require "candidates.ladder" { tp = { 1 }, max_num_seqs = { 32 }, max_num_batched_tokens = { 1024 } } },
    { steps = require "steps.kernels" {} })
  local of = section(described(done), "What the figures rest on")
  local rows = cells(of)
  for i, item in ipairs(done.plan.ranks) do
    local evidence = item.result.evidence
    test.equal(rows[i]["on measured rows"],
      units.percent((evidence.measured or 0) + (evidence.interpolated or 0)))
    test.equal(rows[i]["measured points"], tostring(item.measured.points))
    test.equal(rows[i].TPOT, ("%+.0f to %+.0f %%"):format(100 * (item.measured.tpot.low - 1),
      100 * (item.measured.tpot.high - 1)))
    test.equal(of.evidence.shares[i], evidence)
  end
end)

test("a plan without an answer says so first, and shows why", function()
  local shown = described(setup.report { load = { rate_per_s = 90000 } })
  test.equal(shown.sections[1].lead.lines[1], "No deployment meets this.")
  test.equal(shown.sections[2].heading, "Why")
  test.equal(shown.sections[2].folded, nil)
  has(shown.sections[2].text, "too few GPUs")
  local unsure = { replicates = 10, confidence = 0.9, slo = { ttft_s_p99 = 5 }, gpus = { { "h100-sxm", most = 4,
    price_per_hour = 3 } } }
  local longest = setup.searched(unsure).question.drawn.longest
  local done = setup.report(unsure, { deployment = { max_model_len = longest } })
  test.equal(#done.plan.ranks, 0)
  shown = described(done)
  test.equal(shown.sections[1].lead.lines[1], "No deployment is sure enough.")
  has(cells(section(shown, "Deployments"))[1]["SLO met"], "did not complete all requests")
end)

test("a load that has no multiple is not drawn, and the page says why", function()
  local stages = require "workloads.shared_prefix_stages" { stages = { { clients = 8, requests = 60 } } }
  local done = setup.report({ load = "recorded" }, { workload = stages })
  test.equal(section(described(done), "Cost against load").note,
    "Not drawn: a multiple of this workload is the same workload.")
  done = setup.report({ load = { clients = 8 } }, { workload = require "workloads.closed_loop" { clients = 8,
    num_requests = 60, prompt_tokens = 300, output_tokens = 20 } })
  test.equal(section(described(done), "Cost against load").charts[1].x.label, "clients")
end)

test.finish()
