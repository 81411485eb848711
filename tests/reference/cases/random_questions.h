#pragma once
// Which random questions a test run asks.

#include <cstdint>
#include <utility>

#include "tests/reference/cases/serving.h"
#include "tests/reference/engines/sglang.h"

namespace rooflua::reference {

/// The seeds of a run: a third of these, 150 at least; ROOFLUA_SEEDS=all asks for all of them,
/// FIRST-LAST for others.
/// @throws std::invalid_argument if it is something else
std::pair<std::uint64_t, std::uint64_t> seeds(std::uint64_t first, std::uint64_t last);
/// How often something is seen at least, where all seeds are to show it so often: of a third of
/// them an eighth, so what is seen less than eight times is asked of all seeds alone.
int enough(int of_all);

SglangConfig sglang_config(const ServingCase& question);
/// A question for SGLang: pages of one token, no radix cache, no budget of the engine's own.
ServingCase for_sglang(ServingCase question);
/// 2 to 4 stages, of equal shares half of the time.
Stages draw_stages(std::uint64_t seed);
/// The same question to a replica with such stages.
ServingCase in_stages(ServingCase question);

}  // namespace rooflua::reference
