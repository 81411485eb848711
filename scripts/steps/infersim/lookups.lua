--- InferSim's questions to its tables, asked of a rooflua database.
---
--- The reference has one function per table kind; each is one here. What depends on the model and the
--- deployment is said once and makes a question; the numbers that a load changes are its arguments:
---
---     local qkv = asked:gemm(4096, 6144, "bf16")
---     local mfu = lookups.of_one(qkv, 128)            -- m
---
--- The answers are those of the database's lookup: infersim_head and infersim_floor give the
--- reference's to the last bit, any other strategy shows what the same equations say with better
--- lookups. Answers are remembered, exactly: they depend on nothing but their arguments.

local apart = require("rooflua.cost").apart

local lookups = {}
lookups.__index = lookups

local most_answers = 262144  -- of one question; then it forgets

--- @param mfu rooflua.Database
function lookups.over(mfu) return setmetatable({ mfu = mfu }, lookups) end

-- Questions of one number ----------------------------------------------------------------------

---@class infersim.Question
---@field known table<number, number> answers by -x
---@field evidence table<number, string>

--- @param ask function (question, x) -> value, estimate
local function question(mfu, ask, fields)
  fields.mfu, fields.ask = mfu, ask
  fields.known, fields.evidence, fields.count = {}, {}, 0
  return fields
end

--- Asks the database, and remembers.
local function learn(asked, x)
  local value = asked:ask(x)
  if asked.count >= most_answers then asked.known, asked.evidence, asked.count = {}, {}, 0 end
  asked.known[-x], asked.count = value, asked.count + 1
  return value
end

--- Where an answer came from: asked apart, because an evaluation does not need it.
local function learn_evidence(asked, x)
  local _, estimate = asked:ask(x)
  asked.evidence[-x] = estimate.evidence
  return estimate.evidence
end

--- The answer at x. It is remembered at -x, so that answers never move from the hash part of the table
--- to its array part, where compiled code would not find them.
--- @param asked infersim.Question
--- @param x number
--- @return number value an MFU; of linear attention, seconds
function lookups.of_one(asked, x)
  local value = asked.known[-x]
  if value then return value end
  return (apart(learn, asked, x))
end

--- Where the answer at x came from.
function lookups.evidence_of_one(asked, x)
  lookups.of_one(asked, x)
  local evidence = asked.evidence[-x]
  if evidence then return evidence end
  return (apart(learn_evidence, asked, x))
end

local function ask_gemm(asked, m)
  local mfu, estimate = asked.mfu:gemm(m, asked.k, asked.n, asked.dtype)
  return mfu, estimate  -- here and below: more than fifteen tail calls end a trace
end

--- Of m.
function lookups:gemm(k, n, dtype)
  return question(self.mfu, ask_gemm, { k = k, n = n, dtype = dtype })
end

local function ask_prefill(asked, tokens)
  local mfu, estimate = asked.mfu:prefill(asked.heads, asked.kv_heads, asked.head_dim, tokens, asked.tp)
  return mfu, estimate
end

--- Of the tokens of a prompt.
function lookups:attention_prefill(heads, kv_heads, head_dim, tp)
  return question(self.mfu, ask_prefill, { heads = heads, kv_heads = kv_heads, head_dim = head_dim, tp = tp })
end

--- The table kinds without a method of their own: `field` of the query is the number.
local function ask_query(asked, x)
  asked.query[asked.field] = x
  local mfu, estimate = asked.mfu:lookup(asked.query)
  return mfu, estimate
end

local function ask_latency(asked, x)
  local _, estimate = ask_query(asked, x)
  return estimate.latency_s, estimate
end

--- Of the tokens of a prompt.
function lookups:mla_prefill(heads, nope, rope, tp)
  return question(self.mfu, ask_query, { field = "new_tokens", query = {
    op = "mla_prefill", heads = heads, qk_nope_head_dim = nope, qk_rope_head_dim = rope, tp = tp,
  } })
end

--- Of the tokens of a step: the larger MFU of up and down projection.
--- @param intermediate_size number before it is divided by tp
--- @param decode boolean which of the two tables
function lookups:grouped_gemm(experts, ranks, experts_per_token, hidden_size, intermediate_size, tp, decode)
  return question(self.mfu, ask_query, { field = "tokens", query = {
    op = "grouped_gemm", experts = experts, ranks = ranks, experts_per_token = experts_per_token,
    hidden_size = hidden_size, intermediate_size = intermediate_size, tp = tp, decode = decode,
  } })
end

--- Of the requests of a decode step, or the tokens of a prompt: seconds.
function lookups:linear_attention(shape, decode)
  return question(self.mfu, ask_latency, { field = decode and "batch" or "new_tokens", query = {
    op = "linear_attention", conv = shape.conv, key_heads = shape.key_heads,
    key_head_dim = shape.key_head_dim, value_heads = shape.value_heads,
    value_head_dim = shape.value_head_dim, decode = decode,
  } })
end

-- Questions of two numbers: decode attention of (batch, context) ---------------------------------

---@class infersim.DecodeQuestion
---@field of_batch table<number, infersim.Question> by -batch
---@field ask_both function (question, batch, context) -> value, estimate

local function decode_question(mfu, ask, fields)
  fields.mfu, fields.ask_both, fields.of_batch = mfu, ask, {}
  return fields
end

local function ask_of_batch(asked, context)
  local mfu, estimate = asked.whole:ask_both(asked.batch, context)
  return mfu, estimate
end

local function with_batch(asked, batch)
  local one = asked.of_batch[-batch]
  if one then return one end
  one = question(asked.mfu, ask_of_batch, { whole = asked, batch = batch })
  asked.of_batch[-batch] = one
  return one
end

local function learn_of_two(asked, batch, context)
  return (learn(with_batch(asked, batch), context))
end

--- The answer at (batch, context).
--- @param asked infersim.DecodeQuestion
--- @return number mfu
function lookups.of_two(asked, batch, context)
  local one = asked.of_batch[-batch]
  local mfu = one and one.known[-context]
  if mfu then return mfu end
  return (apart(learn_of_two, asked, batch, context))
end

function lookups.evidence_of_two(asked, batch, context)
  lookups.of_two(asked, batch, context)
  local one = asked.of_batch[-batch]
  local evidence = one.evidence[-context]
  if evidence then return evidence end
  return (apart(learn_evidence, one, context))
end

local function ask_decode(asked, batch, context)
  local mfu, estimate = asked.mfu:decode(asked.heads, asked.kv_heads, asked.head_dim, batch, context, asked.tp,
                                         asked.kv_dtype)
  return mfu, estimate
end

function lookups:attention_decode(heads, kv_heads, head_dim, tp, kv_dtype)
  return decode_question(self.mfu, ask_decode,
    { heads = heads, kv_heads = kv_heads, head_dim = head_dim, tp = tp, kv_dtype = kv_dtype })
end

local function ask_mla_decode(asked, batch, context)
  asked.query.batch, asked.query.context_tokens = batch, context
  local mfu, estimate = asked.mfu:lookup(asked.query)
  return mfu, estimate
end

function lookups:mla_decode(heads, kv_lora_rank, rope, tp, kv_dtype)
  return decode_question(self.mfu, ask_mla_decode, { query = {
    op = "mla_decode", heads = heads, kv_lora_rank = kv_lora_rank, qk_rope_head_dim = rope, tp = tp,
    kv_dtype = kv_dtype,
  } })
end

return lookups
