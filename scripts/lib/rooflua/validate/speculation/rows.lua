-- The rows of a file of measured speculative decoding: one row is one run of a load generator.
--
-- A column `sampling` (greedy, plain, filtered) is optional; without it nothing is filtered. Of the first file of this
-- kind, times without drafts grow by 0.03 ms per request, to which a sort of its logits would add 0.02.
local columns = require "rooflua.validate.columns"
local core = require "rooflua.base.core"
local sampling = require "rooflua.validate.sampling"

--- "0.54|0.24|0.14" as a list.
local function rates_of(text, k, where)
  local out = {}
  for word in tostring(text or ""):gmatch "[^|]+" do
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
local function load_of(said, value, where)
  if said:find "^closed loop" then return { clients = value } end
  if said:find "^constant rate" then
    local workers, each = said:match "cap (%d+) workers x (%d+) in flight"
    return { rate_per_s = value, in_flight = workers and tonumber(workers) * tonumber(each) or 0,
      is_first = said:find "stage 0 of" ~= nil }
  end
  return core.fail("%s: load: expected 'closed loop, ..' or 'constant rate, ..', found '%s'", where, said)
end

--- Prompts that share a system prompt and are asked in turn: "128 system (10 distinct) + 64 question (100 distinct)".
local function sharing_of(text)
  local tokens, systems, questions =
    text:match "^(%d+) system %((%d+) distinct%) %+ %d+ question %((%d+) distinct%)"
  if not tokens then return nil end
  return { tokens = tonumber(tokens), systems = tonumber(systems), questions = tonumber(questions) }
end

local function case_of(case, cells)
  local where = case.where
  case.is_marlin = cells.weights:lower():find "marlin" ~= nil
  case.load = load_of(cells.load or "", case.concurrency_or_rate, where)
  case.prompt = lengths_of(cells.prompt_tokens, where, "prompt_tokens")
  case.output = lengths_of(cells.output_tokens, where, "output_tokens")
  case.sharing = sharing_of(tostring(cells.prompt_tokens))
  case.sampling = sampling.read(cells.sampling, where)
  case.rates = case.k > 0 and rates_of(cells.acceptance, case.k, where) or nil
end

local positive = { type = "number", above = 0, filled = true, required = true, remarks = true }
local function rows_of(names, more) return core.copy(positive, { names = names }, more) end

return columns.of({ what = "measured speculative decoding", manual = "docs/SPECULATION.md", id = "case_id",
  case = case_of, empty = "" }, {
  { names = "case_id", type = "text", required = true, own = true },
  { names = "model gpu", type = "text", required = true },
  rows_of "tp",
  { names = "weights", type = "format", filled = true, required = true },
  { names = "kv_dtype", type = "format", filled = true, required = true, setting = "kv" },
  { names = "engine", type = "text", required = true },
  { names = "drafter", type = "text", required = true, tells = true },
  { names = "k", type = "whole", filled = true, remarks = true, required = true, tells = true },
  { names = "acceptance", type = "text", required = true, tells = true, own = true },
  { names = "load", type = "text", required = true, own = true },
  rows_of("concurrency_or_rate", { unit = "clients, requests/s" }), rows_of "requests",
  { names = "prompt_tokens output_tokens", type = "text", unit = "tokens", required = true, own = true },
  rows_of "max_model_len max_num_seqs max_num_batched_tokens memory_utilization",
  { names = "kv_blocks", type = "number", remarks = true, required = true },
  { names = "prefix_caching", type = "is", word = "on", required = true },
  rows_of "async_depth graph_max_tokens",
  rows_of("output_tok_s", { unit = "tokens/s", measured = { output_tok_s = "throughput" } }),
  rows_of("ttft_mean_ms", { type = "time_ms", measured = { ttft_mean_ms = "ttft" } }),
  rows_of("tpot_mean_ms", { type = "time_ms", measured = { tpot_mean_ms = "tpot" } }),
})
