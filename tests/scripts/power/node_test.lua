-- power/measured with a host gives the wall power of whole nodes that it was not fitted to: eight B200 in runs of
-- MLPerf Inference v5.1 with a power meter. Every run is simulated; its busy share, MFU and bandwidth give its watts.
local test = dofile "tests/scripts/harness.lua"
local csv = require "rooflua.csv"
local serve = require "rooflua.serve"
local spec = require "rooflua.spec"
local Measured = require "power.measured"

local gpus_of_node = 8
local most_off = 0.1

--- What the host draws for a GPU by how the node is cooled: facility.host_w.
local hosts = { SR680a_V3_B200SXMx8 = 340, SR780a_V3_B200SXMx8 = 175 }

-- Prompts: means and largest of the data sets, as MLPerf's rules state them. Answers: tokens over samples of the run.
local function prompts(mean, max)
  return { distribution = "lognormal", mean = mean, sigma = 0.6, min = 1, max = max }
end

local tasks = {
  ["llama2-70b-99.9"] = { model = "llama-2-70b", prompt = prompts(294, 1024), most = 1024, clients = 4096,
    Offline = { tp = 1 }, Server = { tp = 1 } },
  ["llama3.1-405b"] = { model = { from = "llama-3.1-70b", name = "llama-3.1-405b", layers = 126, hidden_size = 16384,
    heads = 128, intermediate_size = 53248 }, prompt = prompts(9428, 20000), most = 2000, clients = 512,
    Offline = { tp = 2, pp = 2 }, Server = { tp = 4 } },
  ["llama3.1-8b"] = { model = "llama-3.1-8b", prompt = prompts(778, 2540), most = 130, clients = 4096,
    Offline = { tp = 1 }, Server = { tp = 1 } },
}
tasks["llama2-70b-99"] = tasks["llama2-70b-99.9"]

--- The share of a node's load that one replica has, simulated.
local function simulated(row, task)
  local own = task[row.scenario]
  local gpus = own.tp * (own.pp or 1)
  local rate_per_s, answer = row.samples_per_s * gpus / gpus_of_node, row.tokens_per_s / row.samples_per_s
  local requests = math.floor(math.min(12000, math.max(1000, 60 * rate_per_s)))
  local lengths = { num_requests = requests, prompt_tokens = task.prompt,
    output_tokens = { distribution = "lognormal", mean = answer, sigma = 0.1, min = 1, max = task.most } }
  if row.scenario == "Offline" then
    lengths.clients = math.min(task.clients, requests)
  else
    lengths.rate_per_s = rate_per_s
  end
  local workload = row.scenario == "Offline" and require "workloads.closed_loop" or require "workloads.poisson"
  return serve.run { model = task.model, hardware = "b200", engine = "trtllm 1.0", metrics = { utilisation = true },
    deployment = { tp = own.tp, pp = own.pp or 1, weights = "nvfp4", kv = "fp8" },
    scheduler = require "schedulers.trtllm" { max_num_seqs = 2048, capacity_scheduler_policy = "max_utilization",
      max_output_tokens = task.most, enable_chunked_context = true }, workload = workload(lengths) }.summary
end

local function each_run(path)
  local out, seen = {}, {}
  for _, row in ipairs((csv.read(path))) do
    local key = ("%s %g %g"):format(row.scenario, row.tokens_per_s, row.watts_mean) -- one run may stand twice
    if row.run == "run_1" and tasks[row.benchmark] and not seen[key] then
      seen[key] = true
      out[#out + 1] = row
    end
  end
  return out
end

test("the wall power of a node of eight is within 10 % of what was measured, and within its bounds", function()
  local runs = each_run(test.shared "truth/power/mlperf_v51_node_wall.csv")
  test.equal(#runs, 7, "runs of record")
  local hardware, sum = spec.hardware "b200", 0
  for _, row in ipairs(runs) do
    local summary = simulated(row, tasks[row.benchmark])
    local busy_frac = 1 - summary.idle_frac
    local policy = Measured { host_w = hosts[row.server] }
    local watts, bound, low, high = policy:watts(hardware, busy_frac,
      { mfu = summary.overall_mfu, bandwidth_frac = summary.bandwidth_frac })
    test.equal(bound, "about")
    local off = gpus_of_node * watts / row.watts_mean - 1
    print(("%s %s: busy %.2f, MFU %.3f, bandwidth %.3f: %.0f W, measured %.0f, %+.1f %%"):format(row.benchmark,
      row.scenario, busy_frac, summary.overall_mfu, summary.bandwidth_frac, gpus_of_node * watts, row.watts_mean,
      100 * off))
    test.check(math.abs(off) < most_off, "%s %s: %+.3f", row.benchmark, row.scenario, off)
    test.check(gpus_of_node * low < row.watts_mean and row.watts_mean < gpus_of_node * high, "%g to %g W", low, high)
    sum = sum + math.abs(off)
  end
  print(("mean %.1f %%"):format(100 * sum / #runs))
end)

test.finish()
