#include "tests/reference/lua_trials.h"

#include <algorithm>
#include <sstream>

#include "tests/reference/cases/random_questions.h"

namespace rooflua::reference {

std::string vllm_parameters(const VllmConfig& c) {
  std::ostringstream out;
  out.precision(17);
  out << "max_num_seqs = " << c.max_num_seqs
      << ", max_num_batched_tokens = " << c.max_num_batched_tokens
      << ", long_prefill_token_threshold = " << c.long_prefill_token_threshold
      << ", enable_chunked_prefill = " << (c.chunked_prefill ? "true" : "false")
      << ", scheduler_reserve_full_isl = " << (c.reserve_full_isl ? "true" : "false")
      << ", watermark = " << c.watermark;
  return out.str();
}

std::string sglang_parameters(const ServingCase& question) {
  const SglangConfig c = sglang_config(question);
  std::ostringstream out;
  out.precision(17);
  out << "max_num_seqs = " << c.max_running_requests
      << ", chunked_prefill_size = " << c.chunked_prefill_size
      << ", max_prefill_tokens = " << c.max_prefill_tokens
      << ", schedule_conservativeness = " << c.schedule_conservativeness;
  return out.str();
}

namespace {

int longest_sequence(const ServingCase& question) {
  int longest = 1;
  for (const Prompt& prompt : question.prompts)
    longest = std::max(longest, prompt.plain.prompt + prompt.plain.output);
  return longest;
}

std::string seats_only(const ServingCase& question) {
  return "max_num_seqs = " + std::to_string(question.config.max_num_seqs);
}

void no_budget(ServingCase& question) {
  question.config.max_num_batched_tokens = 0;
  question.config.max_model_len = VllmConfig{}.max_model_len;
}

/// Room for the watermark of an otherwise empty cache.
void spare_blocks(ServingCase& question) {
  question.config.blocks += 2 + question.config.blocks / 16;
}

std::string trtllm_parameters(const ServingCase& question) {
  const char* capacity[] = {"guaranteed_no_evict", "max_utilization", "static_batch"};
  const bool chunked = question.seed % 4 > 0, equal = question.seed % 5 > 2;
  return seats_only(question) +
         ", max_num_batched_tokens = " + std::to_string(question.config.max_num_batched_tokens) +
         ", capacity_scheduler_policy = '" + capacity[question.seed % 3] +
         "', enable_chunked_context = " + (chunked ? "true" : "false") +
         ", context_chunking_policy = '" + (equal ? "equal_progress" : "first_come_first_served") +
         "'";
}

}  // namespace

std::vector<Trial> trials() {
  const Range plain{60, true, true, false, false};
  return {
      {"vllm_v1", Range{60, true, true, false, true}, [](ServingCase&) {},
       [](const ServingCase& q) { return vllm_parameters(q.config); }},
      {"priority", Range{},
       [](ServingCase& q) {
         q.config.by_priority = true;
         q.part_arrivals();
       },
       [](const ServingCase& q) { return vllm_parameters(q.config); }},
      {"sjf", Range{60, true, true, false, true},
       [](ServingCase& q) {
         for (std::size_t id = 0; id < q.prompts.size(); ++id)
           q.prompts[id].plain.predicted = id % 4 == 0 ? -1 : static_cast<int>(id * 37 % 90);
       },
       [](const ServingCase& q) {
         return vllm_parameters(q.config) + ", output_weight = 1.5, unknown_output_tokens = 20";
       }},
      {"vllm_v0", plain,
       [](ServingCase& q) {
         q.config.max_num_batched_tokens =
             std::max(q.config.max_num_batched_tokens, longest_sequence(q));
         spare_blocks(q);
       },
       [](const ServingCase& q) {
         return seats_only(q) +
                ", max_num_batched_tokens = " + std::to_string(q.config.max_num_batched_tokens);
       }},
      {"sarathi", plain, spare_blocks,
       [](const ServingCase& q) {
         return seats_only(q) + ", chunk_size = " + std::to_string(q.config.max_num_batched_tokens);
       }},
      {"sglang", Range{60, false, false, false, false}, [](ServingCase& q) { q = for_sglang(q); },
       sglang_parameters},
      {"sglang", plain,  // any order, mixed steps, hits
       [](ServingCase& q) {
         no_budget(q);
         q.config.content_from = 1;
       },
       [](const ServingCase& q) {
         const char* orders[] = {"fcfs",   "lof",  "lpm",         "dfs-weight",
                                 "random", "hrrn", "routing-key", "shortest-prefill-first"};
         const std::size_t count = q.config.prefix_caching ? 8 : 7;  // the last needs the cache
         return sglang_parameters(q) + ", schedule_policy = '" + orders[q.seed % count] +
                "', routing_key = 'prefix', enable_mixed_chunk = " +
                (q.seed % 3 == 0 ? "true" : "false");
       }},
      {"trtllm", plain,
       [](ServingCase& q) {
         q.config.content_from = 2;
         q.config.partial_reuse = q.seed % 4 < 3;
       },
       trtllm_parameters},
      {"orca", plain, no_budget, seats_only},
      {"static_batch", plain, no_budget, seats_only},
  };
}

ServingCase question_for(const Trial& trial, std::uint64_t seed) {
  ServingCase question = draw_case(seed, trial.range);
  trial.suit(question);
  return question;
}

}  // namespace rooflua::reference
