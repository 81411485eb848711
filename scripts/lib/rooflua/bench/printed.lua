-- `--as vllm`: the result of a run as the benchmark tool prints it. A tool's table is rows {title, figure, form}, and
-- texts with a line around them; or a function, `text`. Rows that a simulation has nothing for are left out: SGLang's
-- back end, and tokens that it counts again.
local aiperf = require "rooflua.bench.printed_aiperf"
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policy = require "rooflua.policy"

local printed = {}

local width, title_width = 50, 40

--- Three rows of a latency: its mean, its median and quantiles.
local function latency(title, key, quantiles)
  local out = { { "Mean " .. title .. " (ms):", key .. ".mean", "ms" },
    { "Median " .. title .. " (ms):", key .. ".p50", "ms" } }
  for _, each in ipairs(quantiles) do
    local name = each == "max" and "Max" or each:upper()
    out[#out + 1] = { ("%s %s (ms):"):format(name, title), key .. "." .. each, "ms" }
  end
  return out
end

local first_token, per_token = "Time to First Token", "Time per Output Token (excl. 1st token)"

local tables = {
  aiperf = { text = aiperf.text }, -- of every request
  -- vllm/benchmarks/serve.py, main of 2026 (009e6d4a).
  vllm = { title = " Serving Benchmark Result ",
    { "Successful requests:", "completed", "%d" }, { "Failed requests:", "failed", "%d" },
    { "Maximum request concurrency:", "clients", "%d" }, { "Request rate configured (RPS):", "rate", "%.2f" },
    { "Benchmark duration (s):", "duration_s", "%.2f" }, { "Total input tokens:", "prompt_tokens", "%d" },
    { "Total generated tokens:", "output_tokens", "%d" }, { "Request throughput (req/s):", "requests_per_s", "%.2f" },
    { "Request goodput (req/s):", "goodput_per_s", "%.2f" },
    { "Output token throughput (tok/s):", "output_tokens_per_s", "%.2f" },
    { "Peak output token throughput (tok/s):", "peak_output_tokens_per_s", "%.2f" },
    { "Peak concurrent requests:", "peak_concurrency", "%.2f" },
    { "Total token throughput (tok/s):", "tokens_per_s", "%.2f" },
    first_token, latency("TTFT", "ttft_s", { "p99" }), per_token, latency("TPOT", "tpot_s", { "p99" }),
    "Inter-token Latency", latency("ITL", "itl_s", { "p99" }) },
  -- Printed results of sglang.bench_serving 0.5.8.
  sglang = { title = " Serving Benchmark Result ",
    { "Traffic request rate:", "stated_rate", "%s" }, { "Max request concurrency:", "stated_clients", "%s" },
    { "Successful requests:", "completed", "%d" }, { "Benchmark duration (s):", "duration_s", "%.2f" },
    { "Total input tokens:", "prompt_tokens", "%d" }, { "Total generated tokens:", "output_tokens", "%d" },
    { "Request throughput (req/s):", "requests_per_s", "%.2f" },
    { "Input token throughput (tok/s):", "prompt_tokens_per_s", "%.2f" },
    { "Output token throughput (tok/s):", "output_tokens_per_s", "%.2f" },
    { "Peak output token throughput (tok/s):", "peak_output_tokens_per_s", "%.2f" },
    { "Peak concurrent requests:", "peak_concurrency", "%d" },
    { "Total token throughput (tok/s):", "tokens_per_s", "%.2f" }, { "Concurrency:", "concurrency", "%.2f" },
    "End-to-End Latency", latency("E2E Latency", "e2e_s", { "p90", "p99" }), first_token,
    latency("TTFT", "ttft_s", { "p99" }), per_token, latency("TPOT", "tpot_s", { "p99" }), "Inter-Token Latency",
    latency("ITL", "itl_s", { "p95", "p99", "max" }) },
}

--- Figures by the names of the rows: those of the summary, and what follows from them and from the workload.
local function figures_of(summary, workload)
  local own = policy.is_instance(workload) and policy.parameters(workload) or {}
  local rate, clients = own.request_rate or own.rate_per_s, own.clients or own.max_concurrency
  if clients == 0 then clients = nil end
  local failed = 0
  for _, count in pairs(summary.failed or {}) do failed = failed + count end
  local tokens, duration_s = summary.prompt_tokens + summary.output_tokens, summary.duration_s
  local is_over = duration_s > 0
  return core.copy(summary, { failed = failed, clients = clients, rate = rate and rate < math.huge and rate or nil,
    stated_rate = rate and rate < math.huge and ("%.12g"):format(rate) or "inf",
    stated_clients = clients and ("%d"):format(clients) or "not set",
    tokens_per_s = is_over and tokens / duration_s or nil,
    prompt_tokens_per_s = is_over and summary.prompt_tokens / duration_s or nil,
    concurrency = is_over and summary.e2e_s and summary.e2e_s.mean * summary.completed / duration_s or nil })
end

local function framed(text, line)
  local left = math.floor((width - #text) / 2)
  return line:rep(left) .. text .. line:rep(width - #text - left)
end

local function value_of(figures, path)
  local out = figures
  for key in path:gmatch "[^.]+" do out = type(out) == "table" and out[key] or nil end
  return out
end

local function add(lines, rows, figures)
  for _, row in ipairs(rows) do
    if type(row) == "string" then
      lines[#lines + 1] = framed(row, "-")
    elseif type(row[1]) == "table" then
      add(lines, row, figures)
    else
      local value = value_of(figures, row[2])
      local text = value and (row[3] == "ms" and ("%.2f"):format(1000 * value) or row[3]:format(value))
      if text then lines[#lines + 1] = ("%-" .. title_width .. "s %-10s"):format(row[1], text) end
    end
  end
end

--- The names of the tools, sorted.
function printed.names() return core.sorted_keys(tables) end

--- Refuses a name that is no tool's.
function printed.check(name)
  if not core.is_among(name, printed.names()) then
    core.fail("--as: %s", native.unknown_name("tool", name, printed.names()))
  end
end

--- Whether a tool's table needs the times of every request.
function printed.needs_requests(name) return tables[name].text ~= nil end

--- A run's table. A row whose figure the run does not have is left out, as the tool does.
---@param name string the tool
---@param summary table of a run
---@param requests table? columns of native.serve_requests, where the table needs them
function printed.text(name, summary, workload, requests)
  if tables[name].text then return tables[name].text(summary, requests) end
  local lines = { framed(tables[name].title, "=") }
  add(lines, tables[name], figures_of(summary, workload))
  lines[#lines + 1] = ("="):rep(width)
  return table.concat(lines, "\n") .. "\n"
end

return printed
