-- The rows of a file of measured speculative decoding: one row is one run of a load generator.
--
--     case_id, model, gpu, tp, weights, kv_dtype, engine, drafter, k, acceptance ("S_1|S_2|.."), load,
--     concurrency_or_rate, requests, prompt_tokens, output_tokens, max_model_len, max_num_seqs,
--     max_num_batched_tokens, memory_utilization, kv_blocks, prefix_caching, async_depth, graph_max_tokens,
--     output_tok_s, ttft_mean_ms, tpot_mean_ms
--
-- A column `sampling` (greedy, plain, filtered) is optional; without it nothing is filtered. Of the first file of this
-- kind, times without drafts grow by 0.03 ms per request, to which a sort of its logits would add 0.02. Columns hold
-- numbers in front of remarks ("8192 (default)"). A mistake in a row affects that case only.
local core = require "rooflua.base.core"
local header = require "rooflua.validate.header"
local measured_rows = require "rooflua.validate.rows"
local sampling = require "rooflua.validate.sampling"

local rows = { ids = measured_rows.ids }

rows.required = { "case_id", "model", "gpu", "tp", "weights", "kv_dtype", "engine", "drafter", "k", "acceptance",
  "load", "concurrency_or_rate", "requests", "prompt_tokens", "output_tokens", "max_model_len", "max_num_seqs",
  "max_num_batched_tokens", "memory_utilization", "kv_blocks", "prefix_caching", "async_depth", "graph_max_tokens",
  "output_tok_s", "ttft_mean_ms", "tpot_mean_ms" }
--- Columns that tell such a file from other tables.
local telling = { "drafter", "k", "acceptance" }

--- Whether a file has columns of speculative decoding.
function rows.is_file(path, columns) return header.tells(path, telling, columns) end

local number = measured_rows.number

local function positive(row, name, where)
  local value = number(row, name)
  if not value or not (value > 0) then
    core.fail("%s: %s: expected a number above 0, found %s", where, name, core.describe(row[name]))
  end
  return value
end

--- "0.54|0.24|0.14" as a list.
local function rates_of(text, k, where)
  local out = {}
  for word in tostring(text):gmatch "[^|]+" do
    out[#out + 1] = tonumber(word) or core.fail("%s: acceptance: expected numbers between |, found '%s'", where, word)
  end
  if #out ~= k then core.fail("%s: acceptance: expected %d rates, one for each draft, found %d", where, k, #out) end
  return out
end

--- "uniform integers 6400..8000 ..." or "64, ..." as a distribution or a number. Where prompts are tokenised, the text
--- says their mean.
local function lengths_of(text, where, name)
  local said = tostring(text)
  local low, high = said:match "uniform integers (%d+)%.%.(%d+)"
  if low then return { distribution = "uniform", min = tonumber(low), max = tonumber(high) } end
  local system, question = said:match "^(%d+) system .-%+ (%d+) question"
  local mean = tonumber(said:match "tokenised mean ([%d.]+)") or system and system + question
    or tonumber(said:match "^%s*(%d+)")
  if not mean or mean < 1 then core.fail("%s: %s: no length in '%s'", where, name, said) end
  return math.floor(mean + 0.5)
end

--- How requests come: {clients} of a closed loop, or {rate_per_s, in_flight, is_first}: the most under way at once, and
--- whether it is the first stage of its client ("stage 0 of 7"), so that no prompt was asked before.
local function load_of(row, where)
  local said = tostring(row.load)
  if said:find "^closed loop" then return { clients = positive(row, "concurrency_or_rate", where) } end
  if said:find "^constant rate" then
    local workers, each = said:match "cap (%d+) workers x (%d+) in flight"
    return { rate_per_s = positive(row, "concurrency_or_rate", where),
      in_flight = workers and tonumber(workers) * tonumber(each) or 0, is_first = said:find "stage 0 of" ~= nil }
  end
  return core.fail("%s: load: expected 'closed loop, ..' or 'constant rate, ..', found '%s'", where, said)
end

--- Prompts that share a system prompt and are asked in turn: "128 system (10 distinct) + 64 question (100 distinct)".
local function sharing_of(text)
  local tokens, systems, questions =
    tostring(text):match "^(%d+) system %((%d+) distinct%) %+ %d+ question %((%d+) distinct%)"
  if not tokens then return nil end
  return { tokens = tonumber(tokens), systems = tonumber(systems), questions = tonumber(questions) }
end

--- The number format that a cell begins with: "mxfp4 (Marlin: ..)".
local function format_of(row, name, where)
  local word = tostring(row[name] or ""):match "^%s*([%w_]+)"
  if not word then core.fail("%s: %s: expected a number format, found %s", where, name, core.describe(row[name])) end
  return word:lower()
end

local function case_of(row, where)
  local k = number(row, "k")
  if not k or k % 1 ~= 0 then core.fail("%s: k: expected a whole number, found %s", where, core.describe(row.k)) end
  local out = { model = tostring(row.model), gpu = tostring(row.gpu),
    engine = tostring(row.engine), k = k, drafter = tostring(row.drafter),
    weights = format_of(row, "weights", where), kv = format_of(row, "kv_dtype", where),
    is_marlin = tostring(row.weights):lower():find "marlin" ~= nil,
    load = load_of(row, where), requests = positive(row, "requests", where),
    prompt = lengths_of(row.prompt_tokens, where, "prompt_tokens"),
    output = lengths_of(row.output_tokens, where, "output_tokens"), sharing = sharing_of(row.prompt_tokens) }
  out.sampling = sampling.read(row.sampling, where)
  out.rates = k > 0 and rates_of(row.acceptance, k, where) or nil
  for _, name in ipairs { "tp", "max_model_len", "max_num_seqs", "max_num_batched_tokens", "memory_utilization",
    "async_depth", "graph_max_tokens" } do
    out[name] = positive(row, name, where)
  end
  out.kv_blocks, out.prefix_caching = number(row, "kv_blocks"), row.prefix_caching == "on"
  out.measured = { tpot = 1e-3 * positive(row, "tpot_mean_ms", where),
    ttft = 1e-3 * positive(row, "ttft_mean_ms", where), throughput = positive(row, "output_tok_s", where) }
  return out
end

--- The cases of a file, in its order. A row that is not understood has `problem`.
function rows.read(path)
  return measured_rows.read(path, { required = rows.required, what = "measured speculative decoding",
    manual = "docs/SPECULATION.md", id = "case_id", case = case_of })
end

return rows
