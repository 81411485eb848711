-- What the clients of the measured deployments send. There are four benchmark programs:
--
--     InferenceX's    10 requests of each client; lengths are drawn, no prompt is sent twice
--     genai-perf      10; exact lengths, no prompt is sent twice (aiconfigurator's `eval`: 12 prompts for each client)
--     AIPerf          10; exact lengths, 100 different prompts, however many requests
--     bench_run.sh    50; the same: AIPerf as aiconfigurator's generator calls it since February 2026
--
-- Rows of aiconfigurator's authors name no program. Their lengths tell: the older rows have powers of two, the rows of
-- generated configurations round decimal numbers. The rows of TensorRT-LLM 1.3 have the numbers of clients that
-- bench_run.sh writes (1, 2, 8, 16, 32, 64, 128 and workers x batch); those of engines apart are multiples of the
-- engines that decode, as it computes them. In the other rows of generated configurations the share of prompts that
-- come again is that of 10 requests of each client (docs/VALIDATION.md).
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"

local client = {}

--- InferenceX benchmark_serving.py at 843c6254: RANDOM_RANGE_RATIO 0.8, whole numbers from floor(0.8 L) to L.
local shortest_share = 0.8

--- `requests` of each client, and how many different `prompts` (nil: no prompt is sent twice).
local programs = {
  -- benchmark_lib.sh: --num-prompts 10 x concurrency
  inferencex = { requests = 10 },
  -- aiconfigurator genai_perf_runner.py: --request-count 10 x concurrency
  genai_perf = { requests = 10 },
  -- AIPerf's default of --num-dataset-entries
  aiperf = { requests = 10, prompts = 100 },
  -- aiconfigurator f6b02f8c, benchmark/bench_run.sh.j2: --num-requests 50 x concurrency
  bench_run = { requests = 50, prompts = 100 },
}

--- Runs whose prompts are longer on the server than the client counts. SGLang's images since 0.5.10 have
--- transformers 5, which loads DeepSeek's tokenizer without its own way to split words. InferenceX's client made its
--- random text with that; SGLang mends the tokenizer when it starts, and counts 35,921 tokens where the client counts
--- 7,140.
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

--- The program that sent the requests of a question.
local function program_of(question)
  if question.is_export then return programs.inferencex end
  if question.isl % 100 ~= 0 then return programs.genai_perf end
  local is_generated = question.mode == "pd" or question.engine == "trtllm" and question.version:find "^1%.3"
  if is_generated then return programs.bench_run end
  return programs.aiperf
end

--- Requests of each client.
--- @param given number of --set silicon.requests_per_client; 0: as the program of the question does
function client.requests(question, given) return given > 0 and given or program_of(question).requests end

--- Whether the clients of a question send prompts again.
function client.repeats(question, given)
  local prompts = program_of(question).prompts
  return prompts ~= nil and client.requests(question, given) * question.clients > prompts
end

--- The workload of a question: every client has one request at a time.
function client.workload(question, given)
  return policy.with(policies.of(Reader.new "validate", "workload", "closed_loop"), {
    clients = question.clients, num_requests = client.requests(question, given) * question.clients,
    prompt_tokens = lengths_of(question, question.isl, client.tokens_per_token(question)),
    output_tokens = lengths_of(question, question.osl, 1),
    max_output_tokens = "exact",
    distinct_prompts = client.repeats(question, given) and program_of(question).prompts or 0 })
end

return client
