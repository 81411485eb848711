-- Measured runs of a user: what `vllm bench serve --save-result` or another tool of formats/tools.lua wrote, or a CSV
-- with a row per request.
local arrivals = require "rooflua.arrivals"
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local measured_requests = require "rooflua.formats.measured_requests"
local policy = require "rooflua.policy"
local range = require "rooflua.ranges.range"
local ranges_run = require "rooflua.ranges.run"
local statistics = require "rooflua.base.statistics"
local tools = require "rooflua.formats.tools"

local measured = {}
local fail = core.fail

--- The requests that were completed, and how many were not.
local function completed(requests)
  if not requests then return nil, 0 end
  local out, failed = {}, 0
  for _, request in ipairs(requests) do
    if request.failed then
      failed = failed + 1
    else
      out[#out + 1] = request
    end
  end
  return out, failed
end

--- Requests of equal length in place of those that a file only counts.
local function equal_requests(count, prompt, output)
  local requests = {}
  for i = 1, count do requests[i] = { prompt_tokens = prompt, output_tokens = output } end
  return requests
end

--- A run of a tool, ready to be replayed.
local function of_tool(path, run)
  if run.refused then fail("%s", run.refused) end
  run.burstiness = run.burstiness or 1
  if run.requests then
    run.requests, run.failed = completed(run.requests)
    return run
  end
  if next(run.metrics) == nil then fail("%s: no data: states no TTFT, TPOT or time of a request", path) end
  if run.count < 1 then fail("%s: no data: it has no request that was completed", path) end
  if run.count % 1 ~= 0 then fail("%s: expected a whole number of requests, found %g", path, run.count) end
  local function whole(field) return math.max(1, math.floor(run[field] + 0.5)) end
  run.requests, run.mean_lengths = equal_requests(run.count, whole "prompt_tokens", whole "output_tokens"), true
  return run
end

--- The runs of a CSV: one with a request per row, or one per row of a summary, as `vllm bench sweep` writes it.
local function read_csv(path, text)
  local rows, header = native.csv_read(path)
  measured_requests.check_header(path, header)
  local parts = tools.rows(path, rows, header)
  if parts then return tools.read(path, parts) end
  local requests, notes = measured_requests.of_rows(path, rows, header)
  if not text:find "\n%s*$" then notes[#notes + 1] = "its last line has no end: the file may be cut off" end
  return { { requests = requests, notes = notes, metrics = {}, rows = true } }
end

--- The runs of a file of any format, those with the wanted name or number.
local function read_file(path, wanted)
  local text = native.read_user_text(path)
  local form = range.form(text)
  local parts = not form and tools.parts(path, text)
  local runs = form and ranges_run.read(path, text, form.what) or parts and tools.read(path, parts)
    or read_csv(path, text)
  if wanted then runs = { tools.chosen(path, runs, wanted) } end
  for i, run in ipairs(runs) do runs[i] = of_tool(run.name and path .. ": " .. run.name or path, run) end
  return runs
end

-- Replay ------------------------------------------------------------------------------------------------------

local Recorded = policy.define {
  name = "recorded",
  doc = "The requests of a measured run: at their recorded times, at a rate, or from a number of clients.",
  params = {
    run = { default = {}, type = "table", doc = "What measured.read gave." },
    max_output_tokens = arrivals.limit_parameter "exact", -- clients of benchmarks ask for the answer's length
  },
}

local function request_at(state, i, at_s)
  local request = state.run.requests[i]
  local fields = request.prompt_id and { content = { { request.prompt_id + 1, request.prompt_tokens } } } or nil
  return at_s, request.prompt_tokens, arrivals.declare(state.limit, request.output_tokens, fields)
end

local function next_recorded(state)
  local i = state.sent + 1
  if i > #state.run.requests then return nil end
  state.sent = i
  if state.run.recorded_times then return request_at(state, i, state.run.requests[i].arrival_s) end
  local rate = state.run.rate_per_s
  if rate then
    local shape = state.run.burstiness
    state.clock_s = state.clock_s + (shape < math.huge and state.gaps:gamma(shape, 1 / (rate * shape)) or 1 / rate)
  end
  return request_at(state, i, state.clock_s)
end

local function next_of_client(state)
  if state.sent >= state.run.clients then return nil end
  return next_recorded(state)
end

local function answered(state, now_s)
  if state.sent >= #state.run.requests then return nil end
  state.sent = state.sent + 1
  return request_at(state, state.sent, now_s)
end

function Recorded:requests(rng)
  local closed = self.run.clients and not self.run.recorded_times and not self.run.rate_per_s
  return { next = closed and next_of_client or next_recorded, done = closed and answered or nil, run = self.run,
    shares_content = self.run.requests[1].prompt_id ~= nil, gaps = rng:stream "arrivals", clock_s = 0, sent = 0,
    limit = arrivals.limit(self) }
end

--- In words, how a run is replayed.
local function how_of(run)
  if run.recorded_times then return "at their recorded times" end
  if run.rate_per_s then return ("at %g requests/s, burstiness %g"):format(run.rate_per_s, run.burstiness) end
  if run.clients then return ("from %d clients"):format(run.clients) end
  return "all at once"
end

local least_ttft_s = 1e-4 -- no engine answers sooner; files in other units do

--- Refuses figures of a run that cannot be together, and notes those that look like another unit.
local function check_figures(run, path)
  local ttft_s, e2e_s = run.metrics.ttft_s_mean, run.metrics.e2e_s_mean
  if ttft_s and e2e_s and ttft_s > 1.001 * e2e_s then
    fail("%s: the mean TTFT, %.6g ms, is above the mean time of a request, %.6g ms; are they in the same unit?", path,
      1e3 * ttft_s, 1e3 * e2e_s)
  end
  if ttft_s and ttft_s < least_ttft_s then
    run.notes[#run.notes + 1] = ("the mean TTFT is %.6g ms, which no engine reaches; is it in another unit?"):format(
      1e3 * ttft_s)
  end
end

--- Fills a run with what its replay needs. `path` stands for the run in messages.
local function ready(run, path)
  if #run.requests == 0 then fail("%s: no data: it has no request that was completed", path) end
  run.path, run.metrics, run.notes = path, run.metrics or {}, run.notes or {}
  run.recorded_times = run.requests[1].arrival_s ~= nil
  if run.recorded_times then
    measured_requests.sort(run.requests)
    local first = run.requests[1].arrival_s
    for _, request in ipairs(run.requests) do request.arrival_s = request.arrival_s - first end
  end
  for i, request in ipairs(run.requests) do
    for _, field in ipairs { "prompt_tokens", "output_tokens" } do
      if not (request[field] >= 1 and request[field] % 1 == 0) then
        fail("%s: request %d: %s: expected a whole number of tokens, found %g", path, i, field, request[field])
      end
    end
  end
  if run.rows and not run.recorded_times then
    fail("%s: has no column of arrivals (known: %s); without them the requests would be replayed all at once. If they "
      .. "were sent at once, add a column arrival_s with 0 in every row", path, native.trace_arrivals())
  end
  if run.mean_lengths then check_figures(run, path) end -- else the lists of requests count
  run.how, run.workload = how_of(run), Recorded { run = run }
  if run.range then run.how, run.workload = run.range.how, ranges_run.workload(run) end
  return run
end

--- The measured runs of a file: a list of {path, requests, failed, how, metrics, notes, workload}. A file of several
--- runs gives each of them a path with its name: "report.json: benchmark 2".
--- @param name string the path; "report.json#benchmark 2" and "report.json#2" name one of its runs
function measured.read_all(name)
  local path, wanted = tools.split(name)
  local runs = read_file(path, wanted)
  for i, run in ipairs(runs) do runs[i] = ready(run, run.name and path .. ": " .. run.name or path) end
  return runs
end

--- The measured run of a range over time (ranges/range.lua) that several files have together.
---@param files {path: string, text: string}[]
function measured.of_range(files)
  local of = range.of(files)
  return ready(of_tool(of.name, ranges_run.of(of, range.form(files[1].text).what)), of.name)
end

--- The one measured run of a file.
function measured.read(path)
  local runs = measured.read_all(path)
  if #runs ~= 1 then fail("%s: expected one run, found %d", path, #runs) end
  return runs[1]
end

-- Figures ------------------------------------------------------------------------------------------------------

--- Metrics of the requests from `first` to `last` of a list of {ttft_s, e2e_s, output_tokens}.
function measured.metrics(requests, first, last)
  local ttft, tpot, e2e = {}, {}, {}
  for i = first, last do
    local request = requests[i]
    if request and request.ttft_s then ttft[#ttft + 1] = request.ttft_s end
    if request and request.e2e_s then
      e2e[#e2e + 1] = request.e2e_s
      if request.output_tokens > 1 then
        tpot[#tpot + 1] = (request.e2e_s - request.ttft_s) / (request.output_tokens - 1)
      end
    end
  end
  local out = {}
  if #ttft > 0 then out.ttft_s_mean, out.ttft_s_p50 = statistics.mean(ttft), statistics.median(ttft) end
  if #tpot > 0 then out.tpot_s_mean = statistics.mean(tpot) end
  if #e2e > 0 then out.e2e_s_mean = statistics.mean(e2e) end
  return out
end

return measured
