#include "tests/reference/cases/shrink.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

namespace rooflua::reference {

namespace {

std::string verdict(const ServingCase& question, const Check& check) {
  try {
    return check(question);
  } catch (const std::exception& error) {
    return std::string("threw: ") + error.what();
  }
}

/// True, and the question changed, if the change keeps it failing.
bool keep(ServingCase& question, const Check& check,
          const std::function<void(ServingCase&)>& change) {
  ServingCase simpler = question;
  change(simpler);
  for (Prompt& prompt : simpler.prompts) {
    int left = prompt.plain.prompt;
    for (auto& [content, count] : prompt.segments) left -= count = std::min(count, left);
    std::erase_if(prompt.segments, [](const auto& segment) { return segment.second == 0; });
    if (!prompt.segments.empty() && left > 0) prompt.segments.emplace_back(0, left);
    prompt.plain.max_new = std::max(prompt.plain.output, prompt.plain.max_new);
  }
  if (simpler.config.by_priority) simpler.part_arrivals();
  simpler.spell_tokens();
  if (!fails(simpler, check)) return false;
  question = std::move(simpler);
  return true;
}

bool drop_requests(ServingCase& question, const Check& check) {
  bool any = false;
  for (std::size_t size = question.prompts.size() / 2 + 1; size > 0; size /= 2) {
    for (std::size_t from = 0; from < question.prompts.size() && question.prompts.size() > 1;) {
      const std::size_t count = std::min(size, question.prompts.size() - from);
      const auto drop = [&](ServingCase& q) {
        const auto first = q.prompts.begin() + static_cast<std::ptrdiff_t>(from);
        q.prompts.erase(first, first + static_cast<std::ptrdiff_t>(count));
        for (Prompt& prompt : q.prompts) {
          if (prompt.follows >= static_cast<int>(from + count)) {
            prompt.follows -= static_cast<int>(count);
          } else if (prompt.follows >= static_cast<int>(from)) {
            prompt.follows = -1;
          }
        }
      };
      const bool done = count < question.prompts.size() && keep(question, check, drop);
      any = any || done;
      if (!done) from += count;
    }
  }
  return any;
}

bool shorten(ServingCase& question, const Check& check) {
  bool any = false;
  for (std::size_t id = 0; id < question.prompts.size(); ++id) {
    const auto change = [&](const std::function<void(Prompt&)>& one) {
      any = keep(question, check, [&](ServingCase& q) { one(q.prompts[id]); }) || any;
    };
    const Prompt before = question.prompts[id];
    if (!before.segments.empty()) change([](Prompt& p) { p.segments.clear(); });
    if (before.plain.output > 1) {
      change([](Prompt& p) { p.plain.output = std::max(1, p.plain.output / 2); });
      change([](Prompt& p) { p.plain.output = std::max(1, p.plain.output - 1); });
    }
    if (before.plain.max_new > before.plain.output)
      change([](Prompt& p) { p.plain.max_new = p.plain.output; });
    if (before.plain.prompt > 1) {
      change([](Prompt& p) { p.plain.prompt = std::max(1, p.plain.prompt / 2); });
      change([](Prompt& p) { p.plain.prompt = std::max(1, p.plain.prompt - 1); });
    }
  }
  return any;
}

void simplify(ServingCase& question, const Check& check) {
  keep(question, check, [](ServingCase& q) { q.tariff = Tariff{100, 0, 0, 0, 0, 0}; });
  for (std::size_t i = 0; i < question.tariff.caps.size(); ++i)
    keep(question, check, [i](ServingCase& q) { q.tariff.caps[i] = 0; });
  keep(question, check, [](ServingCase& q) { q.tariff.chunk = 0; });
  keep(question, check, [](ServingCase& q) {
    for (Prompt& prompt : q.prompts) prompt.plain.arrival = 0;
  });
  keep(question, check, [](ServingCase& q) { q.config.prefix_caching = false; });
  keep(question, check, [](ServingCase& q) { q.config.partial_reuse = false; });
  keep(question, check, [](ServingCase& q) { q.config.content_from = 0; });
  keep(question, check, [](ServingCase& q) { q.config.async_depth = 1; });
  keep(question, check, [](ServingCase& q) {
    q.config.stages.latency.assign(q.config.stages.latency.size(), 0);
    q.config.stages.per_token.assign(q.config.stages.per_token.size(), 0);
  });
  keep(question, check, [](ServingCase& q) { q.config.long_prefill_token_threshold = 0; });
  keep(question, check, [](ServingCase& q) { q.config.watermark = 0; });
  keep(question, check, [](ServingCase& q) { q.config.seat_blocks = 0; });
  keep(question, check, [](ServingCase& q) { q.config.reserve_full_isl = false; });
  keep(question, check, [](ServingCase& q) { q.config.by_priority = false; });
  keep(question, check,
       [](ServingCase& q) { q.config.max_model_len = VllmConfig{}.max_model_len; });
  keep(question, check, [](ServingCase& q) { q.config.max_num_seqs = 300; });
}

}  // namespace

bool fails(const ServingCase& question, const Check& check) {
  return !verdict(question, check).empty();
}

std::string minimal_failure(ServingCase question, const Check& check) {
  simplify(question, check);
  for (int round = 0; round < 30; ++round) {
    const bool fewer = drop_requests(question, check);
    if (!shorten(question, check) && !fewer) break;
  }
  simplify(question, check);
  return "minimal failing " + text(question) + "  " + verdict(question, check);
}

void Coverage::add(const History& history) {
  ++questions;
  with_preemption += history.preemptions > 0;
  with_resume_hits += history.resume_hits > 0;
  with_prefix_hits += std::any_of(history.requests.begin(), history.requests.end(),
                                  [](const Served& served) { return served.cached > 0; });
  unfinished += !history.finished;
  with_discarded += history.discarded > 0;
  discarded += history.discarded;
  ended_waiting += history.ended_waiting;
  steps += static_cast<long long>(history.steps.size());
  requests += static_cast<long long>(history.requests.size());
}

void Coverage::print(const char* name, std::uint64_t first_seed, std::uint64_t last_seed) const {
  std::printf(
      "%s: seeds %llu to %llu: %d questions, %lld requests, %lld steps; %d with preemption, "
      "%d with resume hits, %d with prefix hits, %d with %lld rows behind end tokens, "
      "%d ended without a seat\n",
      name, static_cast<unsigned long long>(first_seed), static_cast<unsigned long long>(last_seed),
      questions, requests, steps, with_preemption, with_resume_hits, with_prefix_hits,
      with_discarded, discarded, ended_waiting);
}

}  // namespace rooflua::reference
