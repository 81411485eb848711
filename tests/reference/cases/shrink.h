#pragma once
// From a random question that fails to the smallest one that still does.

#include <functional>
#include <string>

#include "tests/reference/cases/serving.h"

namespace rooflua::reference {

/// Empty: both simulators agree. Otherwise how they differ. May throw: that is a failure too.
using Check = std::function<std::string(const ServingCase&)>;

bool fails(const ServingCase& question, const Check& check);

/// Fewer requests, shorter ones, plainer configuration, as long as it still fails; in words.
std::string minimal_failure(ServingCase question, const Check& check);

/// How often a run of random questions met each situation.
struct Coverage {
  int questions = 0, with_preemption = 0, with_resume_hits = 0, with_prefix_hits = 0;
  int unfinished = 0;
  int with_discarded = 0, ended_waiting = 0;  // rows of, and requests ended by, end tokens
  long long discarded = 0;
  long long steps = 0, requests = 0;
  void add(const History& history);
  void print(const char* name, std::uint64_t first_seed, std::uint64_t last_seed) const;
};

}  // namespace rooflua::reference
