// The adapter of each request: what its workload says, or a draw. Adapters of a replica's steps are
// its own (serve/adapters/slots.h).

#include "serve/core/part.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "serve/adapters/config.h"

namespace rooflua {

namespace {

Empirical popularity_of(const AdapterChoice& choice) {
  std::vector<double> numbers(choice.weights.size());
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return Empirical(std::move(numbers), choice.weights);
}

class AdaptersPart final : public Part, public OnSpec {
 public:
  explicit AdaptersPart(const AdapterChoice& choice)
      : count_(choice.count), seed_(choice.seed), popularity_(popularity_of(choice)) {}

  std::unique_ptr<Part> copy(Core&, Loop&) const override {
    return std::make_unique<AdaptersPart>(*this);
  }
  std::string obstacle() const override { return "requests have adapters"; }

  void drawn(RequestSpec& spec, std::int64_t ordinal) override;

 private:
  std::int32_t count_ = 0;
  std::uint64_t seed_ = 0;
  Empirical popularity_;
};

void AdaptersPart::drawn(RequestSpec& spec, std::int64_t ordinal) {
  if (spec.adapter > count_)
    throw Error("workload: request " + std::to_string(ordinal + 1),
                "adapter: found " + std::to_string(spec.adapter) + "; adapters.count is " +
                    std::to_string(count_));
  if (spec.adapter >= 0) return;
  const bool of_session = spec.session >= 0;
  const auto who = static_cast<std::uint64_t>(of_session ? std::int64_t{spec.session} : ordinal)
                   << 1;
  RandomStream stream = random_stream(seed_, "adapters", who | (of_session ? 1 : 0));
  spec.adapter = static_cast<std::int32_t>(popularity_(stream));
}

}  // namespace

std::unique_ptr<Part> make_adapters(Core& core, Loop&) {
  return std::make_unique<AdaptersPart>(core.config.adapters);
}

}  // namespace rooflua
