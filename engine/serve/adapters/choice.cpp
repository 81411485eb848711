#include "serve/adapters/choice.h"

#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"

namespace rooflua {

AdapterDraws::AdapterDraws(const AdapterChoice& choice) : count_(choice.count), seed_(choice.seed) {
  if (count_ == 0) return;
  std::vector<double> numbers(choice.weights.size());
  std::iota(numbers.begin(), numbers.end(), 0.0);
  popularity_.emplace(std::move(numbers), choice.weights);
}

std::int32_t AdapterDraws::of(const RequestSpec& spec, std::int64_t ordinal) const {
  if (spec.adapter > count_)
    throw Error("workload: request " + std::to_string(ordinal + 1),
                "adapter: found " + std::to_string(spec.adapter) +
                    (count_ == 0 ? "; the scenario has no adapters"
                                 : "; adapters.count is " + std::to_string(count_)));
  if (spec.adapter >= 0) return spec.adapter;
  if (!popularity_) return 0;
  const bool of_session = spec.session >= 0;
  const auto who = static_cast<std::uint64_t>(of_session ? std::int64_t{spec.session} : ordinal)
                   << 1;
  RandomStream stream = random_stream(seed_, "adapters", who | (of_session ? 1 : 0));
  return static_cast<std::int32_t>((*popularity_)(stream));
}

}  // namespace rooflua
