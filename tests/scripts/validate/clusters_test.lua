-- Measured clusters from the files to the report: every kind, what cannot run, profiles, stages of one run.
local test = dofile "tests/scripts/harness.lua"
local validate = require "rooflua.validate.command"

local files = dofile "tests/scripts/validate/cluster_files.lua" (test)

local function run_in(folder, more)
  local options = { folder = folder, wide = true }
  for name, value in pairs(more or {}) do options[name] = value end
  return validate.run(options)
end

local function run(rows, profiles, about) return run_in((files(rows, profiles, about))) end

local has = test.has

local ladder = [[{"id": "ladder", "kind": "shared_prefix", "groups": 3, "prompts_per_group": 2,
  "shared_prefix_tokens": 200, "question_tokens": 40, "output_tokens": 8, "order": "shuffled", "seed": null,
  "load": {"kind": "poisson", "gap_s": 1, "timeout_s": 300, "stages": [
    {"rate_rps": 5, "duration_s": 4, "warmup": true},
    {"rate_rps": 2, "duration_s": 5}, {"rate_rps": 4, "duration_s": 5}]}}]]
local open = [[{"kind": "shared_prefix", "groups": 3, "prompts_per_group": 2, "shared_prefix_tokens": 100,
  "question_tokens": 20, "output_tokens": 8, "load": {"kind": "constant", "stages": null}}]]

local function by_id(out)
  local rows = {}
  for _, each in ipairs(out.document.rows) do rows[each.id] = each end
  return rows
end

-- Kinds ---------------------------------------------------------------------------------------------------------

local function of_kind(kind, more)
  local row = { kind = kind, deployment = kind, output_tok_s = 10, ttft_mean_s = 0.05, ttft_p50_s = 0.05,
    e2e_p50_s = 0.3, load_kind = "poisson", rate_rps = 2, stage_duration_s = 5, prompt_tokens = 100, output_tokens = 8 }
  for name, value in pairs(more or {}) do row[name] = value end
  return row
end

test("every kind runs, and the document has its figures under the kind's name", function()
  local out = run {
    of_kind("routers", { replicas = 2, router = "random" }),
    of_kind "tiers",
    of_kind("pd", { layout = "1P1D", replicas = "", prefill_replicas = 1, prefill_tp = 1, decode_replicas = 1,
      decode_tp = 1, load_kind = "concurrency", concurrency = 1, requests = 3, transfer_ms = 1, transfer_bytes = 1e8 }),
    of_kind "replica", of_kind "scaling",
    of_kind("calibration", { load_kind = "single", concurrency = 1, prefill_tok_s = 9000, prompt_tokens = 4096 }),
    of_kind("agents", { load_kind = "trace", workload = "somewhere else" }),
    of_kind "starts",
  }
  local clusters = out.document.clusters
  for _, kind in ipairs { "routers", "tiers", "pd", "replica", "scaling", "calibration" } do
    local of = clusters[kind]
    test.check(of and of.rows == 1 and of.ran == 1, "%s: %s", kind, out.text)
    test.check(of.all.mean >= 0 and of.all.mean < 9, kind)
    for metric, figures in pairs(of.arms) do
      test.check(figures.mean >= 0 and figures.median >= 0 and figures.rows == 1, "%s %s", kind, metric)
    end
    test.equal(of.gain.pairs, 0, kind)
  end
  test.check(clusters.pd.arms.transfer and clusters.calibration.arms.prefill_tok_s, "arms")
  test.equal(clusters.agents.ran, 0)
  test.equal(clusters.starts, nil)
  has(out.text, "1 rows of starts")
  has(out.text, "needs a trace")
end)

test("replicas of a row that an autoscaler adds come and go, and their peak is compared", function()
  local said = "start 1 replica per role, at most 3; triggers: backlog 1.5 s, KV use .8; HPA sync 15 s"
  local function row(id, more)
    local own = { id = id, pair = "p", needs = "replicas autoscale", rate_rps = 7, stage_duration_s = 200,
      prompt_tokens = 8000, output_tokens = 64, notes = "peak prefill of one: 20000-22000 tok/s" }
    for name, value in pairs(more) do own[name] = value end
    return of_kind("scaling", own)
  end
  local about = { more = { "replicas_peak" } }
  local out = run({ row("fixed", { arm = "static", arm_role = "reference", replicas_peak = 1,
    other_settings = "no scaling" }), row("scaled", { arm = "auto", arm_role = "treatment", replicas_peak = 2,
    other_settings = said }), row("silent", { arm = "auto", other_settings = "keda" }),
    row("unmeasured", { arm = "auto", other_settings = said, notes = "" }),
    row("split", { arm = "auto", other_settings = said, replicas_peak = 2, layout = "1P1D", replicas = "",
      prefill_tp = 1, decode_tp = 1 }) }, nil, about)
  local rows = by_id(out)
  test.equal(rows.fixed.measured.replicas_peak, nil)
  test.equal(rows.scaled.measured.replicas_peak, 2)
  test.check(rows.scaled.simulated.replicas_peak > 1 and rows.scaled.simulated.replicas_peak <= 3, "peak %s",
    tostring(rows.scaled.simulated.replicas_peak))
  test.at_least(rows.split.simulated.replicas_peak, 4, "three that compute prompts and one that decodes")
  test.check(rows.scaled.simulated.ttft < rows.fixed.simulated.ttft, "scaling does not help")
  has(rows.silent.problem, "state no triggers")
  has(rows.unmeasured.problem, "peak prefill")
  has(out.text, "the start time of a replica is not stated")
  test.equal(out.document.clusters.scaling.gain.pairs, 1)
end)

local function sessions(more)
  local row = { kind = "agents", deployment = "fleet", quality = "C", output_tok_s = "", ttft_mean_s = "",
    ttft_p50_s = 2, requests_s = 3, load_kind = "concurrency", concurrency = 6, stage_duration_s = 900,
    workload = "recorded sessions", pair = "one", missing = "trace not in this repository",
    kv_tokens_per_replica = 400000, block_tokens = 16 }
  for name, value in pairs(more) do row[name] = value end
  return row
end

test("agents whose recording is missing run on drawn sessions, and gains of their pairs are told", function()
  local folder = files({ sessions { arm_role = "reference", replicas = 1 },
    sessions { arm_role = "treatment", replicas = 2, requests_s = 6, ttft_p50_s = 1 } }, nil, { more = { "missing" } })
  local out = run_in(folder, { set = { "clusters.sessions_s=90" } })
  local of = out.document.clusters.agents
  test.equal(of.beside.ran, 2)
  test.equal(of.beside.gain.pairs, 1)
  test.check(of.beside.gain.direction ~= nil, "no direction")
  has(out.text, "drawn by workloads.agent")
  has(out.text, "of 900 s of sessions 90 s are simulated")
  local longer = run_in(folder, { set = { "clusters.sessions_s=120" } }).document.clusters.agents.beside.gain
  test.check(longer.error ~= of.beside.gain.error, "the simulated time changes nothing")
  local whole = run({ sessions { stage_duration_s = 120 } }, nil, { more = { "missing" } })
  test.check(not whole.text:find "of sessions", "where nothing is set, all of the row's time is simulated")
  local named = run({ sessions { missing = "KV tokens" } }, nil, { more = { "missing" } })
  has(named.text, "there is no profiles/recorded sessions.json")
end)

test("a measurement that is its own simulation has no error", function()
  local row = of_kind "routers"
  local simulated = by_id(run { row }).row1.simulated
  row.output_tok_s, row.ttft_mean_s = ("%.12g"):format(simulated.output_tok_s), ("%.12g"):format(simulated.ttft * 2)
  local of = run({ row }).document.clusters.routers
  test.check(of.arms.output_tok_s.mean < 1e-9, "output")
  test.near(of.arms.ttft.mean, 1, 1e-6)
end)

-- Stages --------------------------------------------------------------------------------------------------------

test("stages of one profile are one run; all stages leave the warm-up out", function()
  local function stage(index) return of_kind("routers", { workload = "ladder", stage_index = index, rate_rps = "",
    stage_duration_s = "", prompt_tokens = "" }) end
  local out = run({ stage "1", stage "2", stage "all" }, { ladder = ladder })
  has(out.text, "3 rows in 1 runs, 3 rows ran")
  local rows = by_id(out)
  test.check(rows.row1.simulated.output_tok_s < rows.row2.simulated.output_tok_s, "more load, more tokens")
  local one, two = rows.row1.simulated.output_tok_s, rows.row2.simulated.output_tok_s
  test.near(rows.row3.simulated.output_tok_s, (one + two) / 2, 1e-9, "the rate of all stages is the mean of theirs")
  test.near(rows.row2.simulated.output_tok_s, 4 * 8, 0.25)
end)

test("where the profile lists no stages, rows with a stage index are the stages of one run", function()
  local function stage(index, rate) return of_kind("replica", { workload = "open", stage_index = index, rate_rps = rate,
    load_kind = "constant", prompt_tokens = "" }) end
  local out = run({ stage("1", 4), stage("0", 2), stage("", 2) }, { open = open })
  has(out.text, "3 rows in 2 runs")
  local rows = by_id(out)
  test.near(rows.row1.simulated.output_tok_s, 4 * 8, 0.25)
  test.near(rows.row2.simulated.output_tok_s, 2 * 8, 0.25)
end)

-- What cannot run -----------------------------------------------------------------------------------------------

test("a row that cannot run counts as wrong and says why; the others run", function()
  local good = of_kind "routers"
  for part, more in pairs {
    ["there is no profiles/gone.json"] = { workload = "gone" },
    ["gpu: nothing is known of 'TPU v9'"] = { gpu = "TPU v9" },
    ["model: unknown model 'nobody/knows'"] = { model = "nobody/knows" },
    ["router: nothing is known of 'by the stars'"] = { router = "by the stars", replicas = 2 },
    ["rate_rps: expected a number, 0 or more, found 'fast'"] = { rate_rps = "fast" },
    ["rate_rps is not stated"] = { rate_rps = "" },
    ["prompt_tokens is not stated"] = { prompt_tokens = "" },
    ["quality: expected A, B, C or D, found 'E'"] = { quality = "E" },
    ["unknown load 'burst'"] = { load_kind = "burst" },
    ["unknown kind 'router'"] = { kind = "router" },
    ["stage_index: expected a whole number"] = { stage_index = "first" },
    ["the capacity of the CPU tier is not stated"] = { offload = "cpu" },
    ["unknown store 'tape'"] = { offload = "cpu+tape", offload_bytes_per_replica = 1e11 },
    ["needs autoscale"] = { needs = "replicas autoscale", arm = "auto" },
  } do
    local bad = of_kind("routers", more)
    bad.id, bad.deployment = "bad", "other"
    local out = run { good, bad }
    has(out.text, part)
    local of = out.document.clusters.routers
    if of.rows == 2 then
      test.equal(of.ran, 1, part)
      test.near(of.deployments.other.all.mean, 9, 1e-9, part)
      test.check(of.deployments.one == nil and of.deployments.routers.all.mean < 9, part)
    end
  end
end)

test("a key of a profile that is not known is an error of the rows that name it, with file and key", function()
  for part, text in pairs {
    ["unknown key 'surprise'"] = open:gsub('"kind": "shared_prefix"', '"kind": "shared_prefix", "surprise": 1'),
    ["load: unknown key 'gap'"] = open:gsub('"stages": null', '"gap": 1'),
    ["load: stages[1]: unknown key 'rate'"] = open:gsub("null", '[{"rate": 1}]'),
    ["kind: unknown kind 'shared_prefx'"] = open:gsub('"shared_prefix", "groups"', '"shared_prefx", "groups"'),
    ["is no JSON"] = "{",
  } do
    local out = run({ of_kind("routers", { workload = "open" }), of_kind "replica" }, { open = text })
    has(out.text, part)
    has(out.text, "profiles/open.json")
    test.equal(out.document.clusters.replica.ran, 1)
  end
end)

test("an id that occurs twice, a column without a name, too many cells", function()
  local out = run { of_kind("routers", { id = "a" }), of_kind("replica", { id = "a" }) }
  has(out.text, "id 'a' is that of line 2")
  has(run({ of_kind "routers" }, nil, { more = { "colour" } }).text, "columns that are not read: colour")
end)

test("a request that takes longer than the client waits did not complete", function()
  local slow = of_kind("routers", { timeout_s = 0.001, deployment = "slow" })
  local out = by_id(run { slow, of_kind "replica" })
  test.equal(out.row1.simulated.output_tok_s, nil)
end)

-- Pairs ---------------------------------------------------------------------------------------------------------

test("a treatment is compared with the reference of its pair in its deployment", function()
  local function arm(role, name, more)
    local row = of_kind("routers", { pair = "p", arm_role = role, arm = name, workload = "ladder", stage_index = "2",
      rate_rps = "", stage_duration_s = "", prompt_tokens = "", replicas = 2, deployment = "d" })
    for key, value in pairs(more) do row[key] = value end
    return row
  end
  local out = run({ arm("reference", "k8s", { router = "kubernetes service", ttft_mean_s = 0.2 }),
    arm("treatment", "llmd", { router = "weighted sum, approximate prefix index", ttft_mean_s = 0.1 }),
    arm("repeat", "again", { router = "kubernetes service", ttft_mean_s = 0.1 }),
    arm("treatment", "elsewhere", { router = "random", deployment = "e" }) }, { ladder = ladder })
  local gain = out.document.clusters.routers.gain
  test.equal(gain.pairs, 1)
  test.equal(gain.compared, 1)
  test.check(gain.direction == 0 or gain.direction == 1, "direction")
  has(out.text, "Pairs")
end)

-- Files ---------------------------------------------------------------------------------------------------------

test("all CSVs of a folder are one set; one file is a set as well", function()
  local folder, path = files({ of_kind "routers" }, {})
  local change = "mkdir %s/more && sed 's/row1/other/; s/routers/replica/g' %s > %s/more/rows.csv"
  assert(os.execute(change:format(folder, path, folder)) == 0)
  local both = run_in(folder).document.clusters
  test.check(both.routers and both.replica, "both files")
  test.equal(run_in(path).document.clusters.replica, nil)
  test.raises("has only rows of starts", function() run { of_kind "starts" } end)
end)

test("options of the run are checked", function()
  local folder = files { of_kind "routers" }
  test.raises("unknown setting 'sed'", function() run_in(folder, { set = { "clusters.sed=1" } }) end)
  test.raises("expected a whole number", function() run_in(folder, { set = { "clusters.seed=x" } }) end)
  test.raises("have no page", function() run_in(folder, { page = true }) end)
  local one, two = run_in(folder).document.rows[1].simulated, run_in(folder, { set = { "clusters.seed=5" } }).document
    .rows[1].simulated
  test.check(one.ttft ~= two.ttft, "the seed changes nothing")
end)

test.finish()
