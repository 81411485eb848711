-- Results of llmperf's token_benchmark_ray.py: the summary of a run, and its single requests in the file beside it.
-- Source: github.com/ray-project/llmperf, token_benchmark_ray.py, src/llmperf/common_metrics.py, src/llmperf/utils.py
--
-- `inter_token_latency_s` is the time of a request divided by its tokens, the first token included, so it is not read:
-- of single requests TPOT is (end - first token) / (n - 1), of a summary it is not known. Tokens are those of llmperf's
-- own tokenizer, whatever the model is. The requests have no times of arrival: the number of clients is in the summary.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local llmperf = {}
local fail = core.fail

local tokenizer_note = "its tokens are those of llmperf's tokenizer (Llama), whatever the model is"

local figures = { ttft_s_mean = "results_ttft_s_mean", ttft_s_p50 = "results_ttft_s_quantiles_p50",
  e2e_s_mean = "results_end_to_end_latency_s_mean" }

--- @return table list with the one run of a summary
function llmperf.summary(where, document)
  local run = { metrics = {}, notes = { tokenizer_note, "its TPOT is not known: llmperf divides by all tokens" } }
  for metric, key in core.sorted_pairs(figures) do run.metrics[metric] = fields.positive(where, document, key) end
  run.count = fields.needed(where, document, "results_num_completed_requests", fields.most_requests)
  run.failed = fields.number(where, document, "results_number_errors", fields.most_requests) or 0
  run.prompt_tokens = fields.needed(where, document, "results_number_input_tokens_mean", fields.most_tokens)
  run.output_tokens = fields.needed(where, document, "results_number_output_tokens_mean", fields.most_tokens)
  run.output_tokens_per_s = fields.positive(where, document, "results_mean_output_throughput_token_per_s",
    fields.most_rate)
  run.clients = fields.needed(where, document, "num_concurrent_requests", fields.most_requests)
  if run.clients < 1 or run.clients % 1 ~= 0 then
    fail("%s: num_concurrent_requests: expected a whole number above 0, found %g", where, run.clients)
  end
  return { run }
end

local function request_of(where, each)
  local request = { failed = fields.at(each, "error_code") ~= nil }
  if request.failed then return request end
  request.prompt_tokens = fields.needed(where, each, "number_input_tokens", fields.most_tokens)
  request.output_tokens = fields.needed(where, each, "number_output_tokens", fields.most_tokens)
  request.ttft_s = fields.needed(where, each, "ttft_s")
  request.e2e_s = fields.needed(where, each, "end_to_end_latency_s")
  return fields.in_order(where, request)
end

--- The number of clients in the summary that lies beside a file of single requests; nil where there is none.
local function clients_beside(path)
  local summary, count = path:gsub("_individual_responses%.json", "_summary.json", 1)
  if count == 0 or not native.file_exists(summary) then return nil end
  local documents = native.json_documents(native.read_user_text(summary), summary)
  return #documents == 1 and fields.positive(summary, documents[1].value, "num_concurrent_requests",
    fields.most_requests) or nil
end

--- @return table list with the one run of a file of single requests
function llmperf.requests(where, list)
  local run = { requests = {}, notes = { tokenizer_note }, clients = clients_beside(where) }
  for i, each in ipairs(list) do run.requests[i] = request_of(("%s: [%d]"):format(where, i), each) end
  if not run.clients then
    run.refused = where .. ": has no arrivals, and the number of clients is in the file ..._summary.json of the same "
      .. "run; put it beside this file under its own name, or name it instead"
  end
  return { run }
end

return llmperf
