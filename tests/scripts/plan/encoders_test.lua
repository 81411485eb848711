-- Plans of loads with images: prompts have the tokens of images, GPUs that only encode are an axis, and what a plan
-- says of a candidate is what a run of its scenario says.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local deploy = require "rooflua.plan.deploy"
local evaluate = require "rooflua.plan.evaluate"
local launch = require "rooflua.applied.launch"
local metrics = require "rooflua.measure.metrics"
local plan_command = require "rooflua.plan.command"
local opening = require "rooflua.runs.opening"
local sweep = require "rooflua.sweep"

local image_tokens = 40 * 22 -- of 1280 x 720 pixels: sides in units of 32

local function pictures(more)
  local given = { prompt_tokens = 100, output_tokens = 10, images = { { 1280, 720 } } }
  for key, value in pairs(more or {}) do given[key] = value end
  return require "workloads.pictures" (given)
end

--- A question with images: keys of the plan, of the ladder and of the workload that differ.
local function asked(plan, ladder, workload, top)
  local own = { tp = { 1 }, ep = { 1 }, max_num_seqs = { 64 }, max_num_batched_tokens = { 2048 }, encoders = { 0, 1 } }
  for key, value in pairs(ladder or {}) do own[key] = value end
  local more = { load = { rate_per_s = 30 }, slo = { ttft_s_p99 = 0.5 }, requests = 60,
    gpus = { { "h200-sxm", most = 6, price_per_hour = 4 } }, candidates = require "candidates.ladder" (own) }
  for key, value in pairs(plan or {}) do more[key] = value end
  local all = { model = "qwen3-vl-30b-a3b", engine = "vllm 0.24", network = { bytes_per_s = 50e9 },
    workload = pictures(workload) }
  for key, value in pairs(top or {}) do all[key] = value end
  return more, all
end

test("prompts have the tokens of their images; what comes again may be a common prefix", function()
  local drawn = setup.searched(asked()).question.drawn
  test.equal(drawn.mean_prompt, 100 + image_tokens)
  test.equal(drawn.longest, 110 + image_tokens)
  test.equal(drawn.bound, 110 + image_tokens)
  test.equal(drawn.shares, false)
  test.equal(setup.searched(asked(nil, nil, { distinct = 3 })).question.drawn.shares, true)
  local most = { count = { distribution = "uniform", min = 0, max = 3 }, sizes = { { 1280, 720 }, { 32, 32 } } }
  drawn = setup.searched(asked(nil, nil, { images = most })).question.drawn
  test.equal(drawn.bound, 110 + 3 * image_tokens)
  test.check(drawn.mean_prompt > 100 and drawn.longest <= drawn.bound, "%g tokens", drawn.mean_prompt)
  local within = require "workloads.with_pictures" { of = pictures { images = {} }, images = { { 64, 64 } } }
  drawn = setup.searched(asked({ load = "recorded" }, { encoders = { 0 } }, nil, { workload = within })).question.drawn
  test.equal(drawn.bound, 110 + 64) -- of the least number of pixels
end)

test("what a plan says of a candidate is what a run of its scenario says, and its GPUs are all that run", function()
  local path = test.file("plan.lua", [[return { rooflua = 1, kind = "plan", model = "qwen3-vl-30b-a3b",
    engine = "vllm 0.24", seed = 1, network = { bytes_per_s = 50e9 },
    workload = require "workloads.pictures" { prompt_tokens = 100, output_tokens = 10, images = { { 1280, 720 } } },
    plan = { load = { rate_per_s = 30 }, slo = { ttft_s_p99 = 0.5 }, requests = 60, replicates = 0, ranks = 3,
      gpus = { { "h200-sxm", most = 6, price_per_hour = 4 } }, strategy = require "strategies.exhaustive" {},
      candidates = require "candidates.ladder" { tp = { 1 }, ep = { 1 }, max_num_seqs = { 64 },
        max_num_batched_tokens = { 2048 }, encoders = { 0, 1, 2 } } } }]])
  local done = plan_command.run { scenario = path, jobs = 1, files = true, page = true }
  local encoders = 0
  for _, file in ipairs(done.files) do
    local rank = tonumber(file.path:match "^(%d+)/scenario.lua$")
    if rank then
      local item = done.document.ranks[rank]
      local given = opening.file(test.file("scenario.lua", file.text)).given
      local run = sweep.grid({ given, seeds = { given.seed } })[1]
      for name, found in pairs(item.metrics) do test.equal(metrics.value(run, name), found.value, name) end
      local own = item.set.encoders or 0
      test.equal(run.gpus, item.gpus.total)
      test.equal(item.gpus.total, item.gpus.replicas + own)
      test.equal(item.cost_per_hour, 4 * item.gpus.total)
      encoders = encoders + own
    end
  end
  test.equal(#done.document.ranks, 3)
  test.equal(encoders, 3)
  test.has(done.text, "+ 2 encoders)", "encoder: its attention has few measured rows",
    "wider: with images, whose work on the host is not")
  local own, pool = done.document.ranks[1].measured, done.document.ranks[2].measured
  test.check(own.tpot.high > 2 * pool.tpot.high, "passes of a replica delay its decodes, those of a pool do not")
  test.check(pool.ttft.high > 2, "a request waits for its pass: %g", pool.ttft.high)
  test.has(setup.page_text(setup.report(asked())), "+ 1 encoder)")
end)

test("encoders take GPUs from the replicas, and a run has no more than there are", function()
  local found = setup.searched(asked({ gpus = { { "h200-sxm", most = 4, price_per_hour = 4 } } },
    { tp = { 2 }, encoders = { 0, 1, 3 } }))
  local question, seen = found.question, {}
  for _, candidate in ipairs(found.found.candidates) do
    seen[candidate.encoders or 0] = deploy.most_replicas(question, candidate)
  end
  test.equal(seen[0], 2)
  test.equal(seen[1], 1)
  test.equal(seen[3], 0)
  test.equal(found.found.unfit[1].reason, "more GPUs than there are")
end)

test("without the axis a plan is what it was; it is named where it was not tried, and only for images", function()
  local with, without = setup.report(asked()), setup.report(asked(nil, { encoders = { 0 } }))
  local function first(done)
    for _, candidate in ipairs(done.found.candidates) do
      if not candidate.encoders then return candidate.result.score, candidate.result.replicas end
    end
  end
  test.equal(first(with), first(without))
  test.has(without.text, "encoder pools")
  test.check(not with.text:find("encoder pools", 1, true), "the axis is named as not tried")
  local plain = setup.report { requests = 60 }
  test.check(not plain.text:find("encoder", 1, true), "a load without images tells of encoders")
end)

--- serve.sh and README of the first rank, with two GPUs that only encode.
local function written(engine)
  local path = test.file("plan.lua", ([[return { rooflua = 1, kind = "plan", model = "qwen3-vl-30b-a3b",
    engine = "%s", seed = 1, network = { bytes_per_s = 50e9 },
    workload = require "workloads.pictures" { prompt_tokens = 100, output_tokens = 10, images = { { 1280, 720 } } },
    plan = { load = { rate_per_s = 30 }, slo = { ttft_s_p99 = 2.5 }, requests = 30, replicates = 0, ranks = 1,
      gpus = { { "h200-sxm", most = 6, price_per_hour = 4 } }, strategy = require "strategies.exhaustive" {},
      candidates = require "candidates.ladder" { tp = { 1 }, ep = { 1 }, max_num_seqs = { 64 },
        max_num_batched_tokens = { 2048 }, encoders = { 2 } } } }]]):format(engine))
  local out = {}
  for _, file in ipairs(plan_command.run { scenario = path, jobs = 1, files = true }.files) do
    out[file.path:match "[^/]*$"] = file.text
  end
  return out
end

test("commands of GPUs that only encode are those that the engine documents", function()
  local files = written "vllm 0.24"
  test.has(files["serve.sh"], "# encode engines: 2, each on 1 GPU", 'if [ "${ROLE:?encode or serve}" = encode ]',
    [["ec_role":"ec_producer"]], [["ec_role":"ec_consumer"]], [["shared_storage_path":"'"$EC_PATH"'"}}']])
  test.has(files.README, "ROLE=encode or ROLE=serve", "disagg_epd_proxy.py", "kubernetes.yaml is not written")
  test.equal(files["kubernetes.yaml"], nil)
  files = written "sglang 0.5.14"
  test.has(files["serve.sh"], "--encoder-only", "--language-only", "--encoder-urls $ENCODER_URLS")
  for engine, why in pairs { ["trtllm 1.3.0"] = "no command is known", ["vllm 0.12"] = "0.13 and later have" } do
    files = written(engine)
    test.equal(files["serve.sh"], nil)
    test.has(files.README, "The commands of this deployment are not written", why)
  end
end)

test("engines of files that only encode become entries of replicas", function()
  local function keys(text) return (launch.keys { from = { test.file("start.sh", text) } }) end
  local connector = [[--ec-transfer-config '{"ec_connector": "ECExampleConnector", "ec_role": "%s"}']]
  local found = keys("vllm serve Qwen/Qwen3-VL-30B-A3B-Instruct --port 1 " .. connector:format "ec_producer" .. " &\n"
    .. "vllm serve Qwen/Qwen3-VL-30B-A3B-Instruct --port 2 " .. connector:format "ec_consumer" .. "\n")
  test.equal(found.replicas[1].encoder, true)
  test.equal(found.replicas[2].encoder, nil)
  found = keys("python -m sglang.launch_server --model-path Qwen/Qwen3-VL-30B-A3B-Instruct --encoder-only --port 3 &\n"
    .. "python -m sglang.launch_server --model-path Qwen/Qwen3-VL-30B-A3B-Instruct --language-only --encoder-urls "
    .. "http://a:3 --port 4\n")
  test.equal(found.replicas[1].encoder, true)
  test.raises("only encodes", function()
    keys("vllm serve Qwen/Qwen3-VL-30B-A3B-Instruct " .. connector:format "ec_producer" .. "\n")
  end)
end)

test("encoders without images are refused", function()
  test.raises("no request has images", function()
    setup.searched(asked(nil, nil, { images = {} }))
  end)
  local found = setup.searched(asked({ candidates = require "candidates.listed" { list = { { tp = 1 },
    { tp = 1, encoders = 1 } } } }, nil, { images = {} }))
  test.equal(found.found.unfit[1].reason, "encoders without images or videos")
  test.raises("has no encoder whose layers", function()
    setup.searched(asked(nil, nil, nil, { model = "qwen3-8b" }))
  end)
end)

test("a budget that limits passes alone is another deployment", function()
  local found = setup.searched(asked({ slo = { ttft_s_p99 = 5 }, load = { rate_per_s = 4 } }, { encoders = { 0 },
    max_num_batched_tokens = { 2048, 8192 }, max_num_seqs = { 64, 128 } }, { images = { count = 3,
    sizes = { { 1280, 720 } } } }))
  local scores = {}
  for _, candidate in ipairs(found.found.candidates) do
    local own = evaluate.run(found.question, candidate, 1, { requests = 60, seed = 1 })
    scores[#scores + 1] = own.metrics.ttft_s_mean
    local best = candidate.result.best or candidate.result.deployment
    test.equal(best.replicas, 1)
    test.equal(best.metrics.ttft_s_mean, own.metrics.ttft_s_mean, candidate.name)
  end
  test.equal(#scores, 4)
  test.check(scores[1] ~= scores[2], "budgets of passes change nothing: %g s", scores[1])
end)

test.finish()
