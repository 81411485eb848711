-- What the clients of the measured deployments send. There are three benchmark programs:
--
--     InferenceX's    lengths are drawn, no prompt is sent twice
--     genai-perf      exact lengths, no prompt is sent twice (aiconfigurator's `eval`: 12 prompts for each client)
--     AIPerf          exact lengths, 100 different prompts, however many requests (aiconfigurator's generated
--                     bench_run.sh leaves AIPerf's default)
--
-- Rows of aiconfigurator's authors name no program. Their lengths tell: the older rows have powers of two, the rows of
-- generated configurations round decimal numbers.
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"

local client = {}

--- Requests of each client. InferenceX benchmark_lib.sh: --num-prompts 10 x concurrency; aiconfigurator
--- genai_perf_runner.py: --request-count 10 x concurrency.
client.requests_per_client = 10

--- InferenceX benchmark_serving.py at 843c6254: RANDOM_RANGE_RATIO 0.8, whole numbers from floor(0.8 L) to L.
local shortest_share = 0.8

--- AIPerf's default of --num-dataset-entries.
local aiperf_prompts = 100

--- Runs whose prompts are longer on the server than the client counts. SGLang's images since 0.5.10 have transformers 5,
--- which loads DeepSeek's tokenizer without its own way to split words. InferenceX's client made its random text with
--- that; SGLang mends the tokenizer when it starts, and counts 35,921 tokens where the client counts 7,140.
--- Source: InferenceX pull requests 937 (the figures), 1381 (the client was mended for local folders alone until this
--- day, and the scripts name a repository of the hub) and 1502 (which repeats DeepSeek's runs for that reason).
local longer = { engine = "sglang", family = "deepseek-v3", version = "^0%.5%.1%d", before = "2026-05-15",
  ratio = 35921 / 7140 }

--- Tokens of the server for one that the client counts.
--- @param question table
--- @return number
function client.tokens_per_token(question)
  local date = question.is_export and question.source:match "%d%d%d%d%-%d%d%-%d%d"
  local is_longer = date and date < longer.before and question.mode == "agg" and question.engine == longer.engine
    and question.family == longer.family and question.version:find(longer.version)
  return is_longer and longer.ratio or 1
end

--- Lengths of prompts or answers: uniform in InferenceX's runs, else exact.
--- @param scale number tokens of the server for one of the client
local function lengths_of(question, tokens, scale)
  if not question.is_export then return tokens end
  local shortest = math.max(1, math.floor(shortest_share * tokens))
  return { distribution = "uniform", min = math.floor(shortest * scale + 0.5), max = math.floor(tokens * scale + 0.5) }
end

--- Whether AIPerf sent the requests of a question.
local function is_aiperf(question) return not question.is_export and question.isl % 100 == 0 end

--- Whether the clients of a question send prompts again.
function client.repeats(question, requests_per_client)
  return is_aiperf(question) and requests_per_client * question.clients > aiperf_prompts
end

--- The workload of a question: every client has one request at a time.
function client.workload(question, requests_per_client)
  return policy.with(policies.of(Reader.new "validate", "workload", "closed_loop"), {
    clients = question.clients, num_requests = requests_per_client * question.clients,
    prompt_tokens = lengths_of(question, question.isl, client.tokens_per_token(question)),
    output_tokens = lengths_of(question, question.osl, 1),
    max_output_tokens = "exact",
    distinct_prompts = client.repeats(question, requests_per_client) and aiperf_prompts or 0 })
end

return client
