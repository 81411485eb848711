#pragma once
// Which random questions suit each shipped scheduler, and with which parameters it is asked.

#include <functional>
#include <string>
#include <vector>

#include "tests/reference/cases/serving.h"

namespace rooflua::reference {

/// Random questions for one scheduler.
struct Trial {
  std::string scheduler;
  Range range;
  std::function<void(ServingCase&)> suit;  // makes a random question one for this scheduler
  std::function<std::string(const ServingCase&)> parameters;
};

/// At least one for every file in scripts/schedulers.
std::vector<Trial> trials();
ServingCase question_for(const Trial& trial, std::uint64_t seed);

std::string vllm_parameters(const VllmConfig& config);
std::string sglang_parameters(const ServingCase& question);

}  // namespace rooflua::reference
