-- A served scenario from its start to its end.
local native = require "rooflua.native"
local breakdown = require "rooflua.serving.breakdown"
local capacity_text = require "rooflua.serving.capacity_text"
local chosen_play = require "rooflua.measure.chosen_play"
local core = require "rooflua.base.core"
local answers = require "rooflua.intervals.answers"
local failures = require "rooflua.serving.failures"
local json = require "rooflua.json"
local live = require "rooflua.serving.live"
local lookback = require "rooflua.serving.lookback"
local policy = require "rooflua.policy"
local printed = require "rooflua.bench.printed"
local slowest = require "rooflua.measure.slowest"
local summaries = require "rooflua.serving.summaries"
local undone = require "rooflua.serving.undone"

local full_run = {}

--- How many requests a workload announces: its `num_requests` or `num_prompts`; nil where it has none.
local function announced(workload)
  if not policy.is_instance(workload) then return nil end
  local parameters = policy.parameters(workload)
  local count = parameters.num_requests or parameters.num_prompts
  return type(count) == "number" and count < 2 ^ 53 and math.floor(count) or nil
end

local function outputs_of(options, given, followed)
  local outputs = { closes = true, why = followed.why, why_play = followed.why_play }
  for _, key in ipairs { "requests_path", "rows_path", "trace_path", "progress" } do
    outputs[key] = options[key]
  end
  outputs.sketch = options.sketch or options.explain or nil
  outputs.keep_requests = options.as and printed.needs_requests(options.as) or nil
  if options.progress then outputs.expected_requests = announced(given.workload) end
  return outputs
end

--- What `ask` finds in a run of the scenario that is made for it.
local function found_in_a_run(reader, given, options, ask)
  local state = live.state(live.begin(reader, given, options))
  native.serve_run_or_stop(state.run)
  local found = ask(state.run)
  native.serve_close(state.run)
  return found
end

local no_plays = "there are no plays in this run: no request waits for another one"

--- The request or play that --why names, as options of a run. For a word such as "slowest" the scenario runs once to
--- find it.
---@param word string? "55", "slowest", "slowest_ttft", "slowest_tpot", "play:12", "play:slowest", ...
---@return {why: integer?, why_play: integer?}
local function followed(reader, given, word)
  if word == nil or tonumber(word) then return { why = word and tonumber(word) } end
  local play, where = chosen_play.word(word), "--why " .. word
  if not play then
    local id = found_in_a_run(reader, given, { keep_requests = true },
      function(run) return slowest.of_columns(native.serve_requests(run), word) end)
    return { why = id or reader:fail(where, "no request was completed") }
  end
  local number = reader:at(where, chosen_play.number, play) or found_in_a_run(reader, given, { plays = true },
    function(run)
      if not native.serve_summary(run).plays then reader:fail(where, no_plays) end
      return reader:at(where, chosen_play.of, native.serve_listed_plays(run), play)
    end)
  return { why_play = number - 1 }
end

--- The account of a play that --why names; nothing where it names none.
local function why_play_of(reader, run, options, asked, partial)
  if not asked.why_play then return end
  local text, document = native.serve_why_play(run)
  if text then return text, document end
  if partial then return end
  local where, count = "--why " .. options.why, document or 0
  if count == 0 then reader:fail(where, no_plays) end
  reader:fail(where, "no such play; %d began (%s)", count, chosen_play.range(count))
end

--- A row per request that ended, in order of arrival: {arrival_s, prompt_tokens, output_tokens, outcome, ttft_s,
--- e2e_s}; the times only of completed ones. Nil where the scenario does not ask for them.
local function request_rows(run, given)
  if not (given.metrics and core.plain(given.metrics).requests) then return nil end
  local columns = native.serve_requests(run)
  local rows = json.array {}
  for i, arrival_s in ipairs(columns.start_times) do
    local failed = columns.errors[i]
    local row = { arrival_s = arrival_s, prompt_tokens = columns.input_lens[i], output_tokens = columns.output_lens[i],
      outcome = failed == "" and "completed" or failed }
    if failed == "" then row.ttft_s, row.e2e_s = columns.ttfts[i], columns.e2els[i] end
    rows[i] = row
  end
  return rows
end

--- How many GPUs prefill and decode take where they are split, and what the stated engine would print of its memory, a
--- line for each that differs.
local function head_of(state, given)
  local split = capacity_text.split(state.replicas)
  local lines, seen = { split and "split     " .. split .. "\n" }, {}
  if given.engine == nil then return lines[1] or "" end
  for _, replica in ipairs(state.replicas) do
    local line = capacity_text.of_prepared(replica.prepared)
    if line and not seen[line] then
      seen[line] = true
      lines[#lines + 1] = "memory    " .. line .. "\n"
    end
  end
  return table.concat(lines)
end

--- Why one process must simulate all replicas; nil where `jobs` processes did it, each a part of them.
local function undivided(state, jobs)
  if jobs == 1 then return "" end
  local policies = { state.router }
  for _, replica in ipairs(state.replicas) do
    policies[#policies + 1], policies[#policies + 2] = replica.scheduler, replica.steps.steps
  end
  for _, each in ipairs(policies) do
    if each.summary then return "a policy has a method summary" end
  end
  return native.serve_run_divided(state.run, jobs)
end

--- One variant: {text = report, left_out, and what `options` asks for}. The program takes the summary itself
--- (native.serve_hand_over). A run that Ctrl-C or the time limit stopped has `partial` as well: what is known so far.
--- `undivided`: why one process simulated all replicas though `jobs` is more than 1.
---@param options table requests_path, rows_path, trace_path, progress, why, sketch, explain, jobs; document: the
---  summary as a table; as: the tool whose table is the text
function full_run.run(reader, given, options)
  if options.as then printed.check(options.as) end
  local asked = followed(reader, given, options.why)
  local state = live.state(live.begin(reader, given, outputs_of(options, given, asked)))
  local why = undivided(state, options.jobs or 1)
  local partial = why and native.serve_run_or_stop(state.run)
  local over = { state = state, followed = asked, partial = partial or nil }
  local result = full_run.finish(reader, given, options, over)
  result.undivided = why ~= "" and why or nil
  native.serve_close(state.run)
  return result
end

--- The result of a simulation that is over.
---@param over table {state, followed, partial}
function full_run.finish(reader, given, options, over)
  local state, asked, partial = over.state, over.followed, over.partial
  local run = state.run
  native.serve_finish(run)
  local sketch, steps, of_steps = breakdown.tell(state)
  local why_text, why = native.serve_why(run)
  if asked.why and not (why or partial) then
    reader:fail("--why " .. options.why, "no such request; %d were sent", native.serve_totals(run).arrived)
  end
  local why_play_text, why_play = why_play_of(reader, run, options, asked, partial)
  local summary = native.serve_summary(run)
  local result = { kind = "serve",
    text = native.serve_hand_over(run), intervals = answers.of_run(state, summary),
    left_out = native.serve_left_out(run),
    partial = partial, why = why, why_text = why_text, why_play = why_play, why_play_text = why_play_text,
    summary = options.document and native.serve_document(run),
    notes = undone.notes(state, failures.of(state), summary), policies = summaries.of(state),
    requests = request_rows(run, given) }
  result.text = options.as and printed.text(options.as, summary, given.workload,
    printed.needs_requests(options.as) and native.serve_requests(run))
    or head_of(state, given) .. result.text
  if options.sketch then
    result.sketch, result.breakdown = sketch, of_steps or breakdown.of_steps(steps, state.replicas)
  end
  if options.explain then result.explained, result.explain_text = breakdown.typical(steps, state.replicas) end
  return result
end

--- One run of a script's table: {summary, totals, requests}. `keep_requests` keeps the times of every request; `file`
--- is the scenario from whose file the table came.
function full_run.result(given, keep_requests, file)
  local reader = live.reader(given, file)
  local simulation = live.begin(reader, given, { keep_requests = keep_requests })
  simulation:run()
  return lookback.note(simulation:result(), reader.file, given)
end

return full_run
