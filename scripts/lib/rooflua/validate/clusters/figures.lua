-- A run of a measured cluster, and what its client would print of each stage.
--
--     tokens per second    tokens of the requests that completed, over the time from the first start of the stage to
--                          the last completion: the drain is in it
--     latencies            over the requests that completed
--
-- A row of all stages has the mean of the stages' rates, and latencies over the requests of all of them, as reports of
-- inference-perf's ladders print them.
--
-- A request that takes longer than the client waits did not complete. It is simulated to its end all the same, and
-- takes the time of replicas that a client which goes away would give back.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local serve = require "rooflua.serve"
local statistics = require "rooflua.base.statistics"
local system = require "rooflua.validate.clusters.system"

local figures = {}

--- Sessions of a row. Of drawn ones a part of the time of the row is simulated where `sessions_s` says so; 0: all.
local function session_stage(run, options, notes)
  local seconds = run.stages[1].duration_s
  if run.members[1].about.is_traced then return { { clients = run.stages[1].clients, duration_s = seconds } } end
  local most_s = options.sessions_s > 0 and options.sessions_s or math.huge
  if seconds > most_s then
    notes[#notes + 1] = ("of %g s of sessions %g s are simulated; --set clusters.sessions_s says how many"):format(
      seconds, most_s)
  end
  return { { clients = run.stages[1].clients, duration_s = math.min(seconds, most_s) } }
end

--- The stages of a run as workloads have them, and how many requests each has.
local function stages_of(run)
  local out = {}
  for i, each in ipairs(run.stages) do
    local requests = each.requests and math.floor(each.requests + 0.5) or nil
    if each.clients then
      out[i] = { clients = each.clients, requests = requests }
    else
      out[i] = { rate_per_s = each.rate_per_s, duration_s = each.duration_s, requests = requests }
    end
  end
  return out
end

local most_refused = 0.1 -- share of requests that an engine refuses for their length: a run with more is another one

--- The requests of each stage: a list of lists of {start_s, ttft_s, e2e_s, prompt, output}.
local function by_stage(result, counts)
  local columns, out, at, ended = result.requests, {}, 0, {}
  for stage, count in ipairs(counts) do
    out[stage] = {}
    for i = at + 1, math.min(at + count, #columns.errors) do
      local why = columns.errors[i]
      if why ~= "" then ended[why] = (ended[why] or 0) + 1 end
      out[stage][i - at] = { has_ended = why ~= "", start_s = columns.start_times[i], ttft_s = columns.ttfts[i],
        e2e_s = columns.e2els[i],
        prompt = columns.input_lens[i], output = columns.output_lens[i] }
    end
    at = at + count
  end
  for _, why in ipairs(core.sorted_keys(ended)) do
    local is_refused = why:find "^exceeds_" and ended[why] > most_refused * #columns.errors
    if is_refused or ended[why] == #columns.errors then core.fail("a request is refused: %s", why) end
  end
  return out
end

local function spread(out, name, values, unit, factor)
  if #values == 0 then return end
  out[name .. "_mean_" .. unit] = statistics.mean(values) * factor
  for _, percent in ipairs { 50, 90, 95, 99 } do
    out[("%s_p%d_%s"):format(name, percent, unit)] = statistics.quantile(values, percent / 100) * factor
  end
end

--- Figures of requests by the names of columns.
--- @param until_s number? the client goes away then: what completes later is not counted
function figures.of(requests, timeout_s, until_s)
  local ttft, e2e, tpot, first, last = {}, {}, {}, math.huge, 0
  local prompts, outputs = 0, 0
  for _, each in ipairs(requests) do
    first = math.min(first, each.start_s)
    if not each.has_ended and each.e2e_s <= timeout_s and each.start_s + each.e2e_s <= (until_s or math.huge) then
      ttft[#ttft + 1], e2e[#e2e + 1] = each.ttft_s, each.e2e_s
      if each.output > 1 then tpot[#tpot + 1] = (each.e2e_s - each.ttft_s) / (each.output - 1) end
      prompts, outputs, last = prompts + each.prompt, outputs + each.output, math.max(last, each.start_s + each.e2e_s)
    end
  end
  local out, window = { completed = #e2e, failed = #requests - #e2e }, until_s or last - first
  if #e2e == 0 then return out end
  spread(out, "ttft", ttft, "s", 1)
  spread(out, "e2e", e2e, "s", 1)
  spread(out, "tpot", tpot, "ms", 1e3)
  out.requests_s, out.output_tok_s, out.input_tok_s = #e2e / window, outputs / window, prompts / window
  out.total_tok_s = out.output_tok_s + out.input_tok_s
  out.prefill_tok_s = prompts / #e2e / out.ttft_p50_s
  return out
end

local rates = { "requests_s", "output_tok_s", "input_tok_s", "total_tok_s" }

--- Figures of all stages but those that warm up.
local function of_all_stages(stages, run, timeout_s)
  local all, sums, count = {}, {}, 0
  for i, requests in ipairs(stages) do
    if not run.stages[i].is_warmup then
      for _, request in ipairs(requests) do all[#all + 1] = request end
      local own = figures.of(requests, timeout_s)
      for _, name in ipairs(rates) do sums[name] = (sums[name] or 0) + (own[name] or 0) end
      count = count + 1
    end
  end
  local out = figures.of(all, timeout_s)
  for _, name in ipairs(rates) do
    if out[name] then out[name] = sums[name] / count end
  end
  return out
end

local function of_row(member, stages, run)
  local timeout_s = member.about.timeout_s
  if member.about.form == "sessions" then return figures.of(stages[1], timeout_s, run.seconds) end
  if member.place then return figures.of(stages[member.place], timeout_s) end
  return of_all_stages(stages, run, timeout_s)
end

--- What a client counts: tokens of texts that its tokenizer reads again, (E2E - TTFT) / (n - 1) with that number.
local function as_counted(out, row)
  local counted = row.measured.output_tokens_mean
  if counted and row.output_tokens then
    out.output_tok_s = out.output_tok_s and out.output_tok_s * counted / row.output_tokens
  end
  local statistic, tokens = row.formed_of, counted or row.output_tokens
  if statistic and out.e2e_mean_s then
    out.tpot_formed_s = (out["e2e_" .. statistic .. "_s"] - out["ttft_" .. statistic .. "_s"]) / (tokens - 1)
  end
end

--- Milliseconds of a KV transfer of the size that the row states, alone.
local function transfer_ms(row, scenario)
  local bytes = row.measured.transfer_bytes
  if not scenario.network or not bytes then return nil end
  return (scenario.network.alpha_s + bytes / scenario.links.wire.bytes_per_s) * 1e3
end

--- Runs `answer` with a trace that is packed with gzip in a file of its own, unpacked: plays are read as they begin.
local function with_unpacked(about, answer)
  local path = about.prompts.path
  if not (path and path:find "%.gz$") then return answer(about) end
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write(native.read_user_text(path))
  file:close()
  local ok, found = pcall(answer, core.copy(about, { prompts = core.copy(about.prompts, { path = name }) }))
  os.remove(name)
  if not ok then error(found, 0) end
  local pattern = name:gsub("%p", "%%%0")
  for i, note in ipairs(found.notes) do found.notes[i] = note:gsub(pattern, path) end
  return found
end

--- The most replicas of all pools; nil where none come and go.
local function replicas_peak(pools)
  if not pools then return nil end
  local sum = 0
  for _, pool in ipairs(pools) do sum = sum + pool.replicas_peak end
  return sum
end

--- Runs a run. @return table {rows = {figures of each member}, evidence, notes}
function figures.answer(run, options)
  return with_unpacked(run.members[1].about, function(about) return figures.of_run(run, options, about) end)
end

---@param about table of its first row, with a trace that can be read
function figures.of_run(run, options, about)
  local first, session_notes = run.members[1], {}
  local is_sessions = first.about.form == "sessions"
  local stages = is_sessions and session_stage(run, options, session_notes) or stages_of(run)
  run.seconds = stages[1].duration_s
  local scenario, notes = system.scenario(first.row, about, stages, options)
  local counts = {}
  if first.about.form == "conversations" then
    counts[1] = stages[1].requests
  elseif is_sessions then
    counts[1] = math.huge
  else
    for i, stage in ipairs(scenario.workload:list()) do counts[i] = stage.count end
  end
  local result = serve.run(scenario, { requests = true })
  local requests, out = by_stage(result, counts), { rows = {}, evidence = result.summary.evidence }
  for i, member in ipairs(run.members) do
    local own = of_row(member, requests, run)
    as_counted(own, member.row)
    own.replicas_peak = replicas_peak(result.summary.pools)
    own.transfer_ms = transfer_ms(member.row, scenario)
    out.rows[i] = own
  end
  for _, list in ipairs { first.about.notes, session_notes, result.notes or {} } do
    for _, note in ipairs(list) do notes[#notes + 1] = note end
  end
  out.notes = notes
  return out
end

return figures
