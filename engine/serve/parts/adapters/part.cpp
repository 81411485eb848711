// The adapter of each request: what its workload says, or a draw. Adapters of a replica's steps are
// its own (serve/adapters/slots.h).

#include "serve/core/part.h"

#include <numeric>
#include <utility>
#include <vector>

#include "base/random.h"
#include "serve/adapters/config.h"

namespace rooflua {

namespace {

Empirical popularity_of(const AdapterChoice& choice) {
  std::vector<double> numbers(choice.weights.size());
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return Empirical(std::move(numbers), choice.weights);
}

class AdaptersPart final : public Part, public OnSpec, public OnRequest {
 public:
  explicit AdaptersPart(const Core& core)
      : core_(core), popularity_(popularity_of(core.config.adapters)) {}

  std::unique_ptr<Part> copy(Core& core, Loop&) const override {
    return std::make_unique<AdaptersPart>(core);
  }
  std::string obstacle() const override { return "requests have adapters"; }

  std::optional<double> fact(std::int32_t slot, std::int32_t replica,
                             RouterFact what) const override;
  void drawn(RequestSpec& spec, std::int64_t ordinal) override;
  void fills(std::int32_t slot, RequestDone& done) const override {
    done.adapter = core_.progress(slot).adapter;
  }

 private:
  const Core& core_;
  Empirical popularity_;
};

std::optional<double> AdaptersPart::fact(std::int32_t slot, std::int32_t replica,
                                         RouterFact what) const {
  if (what != RouterFact::has_adapter) return std::nullopt;
  const std::int32_t adapter = core_.progress(slot).adapter;
  const AdapterSlots* slots = core_.at(replica).adapters();
  return adapter == 0 || (slots != nullptr && slots->holds(adapter)) ? 1 : 0;
}

void AdaptersPart::drawn(RequestSpec& spec, std::int64_t ordinal) {
  if (spec.adapter >= 0) return;
  const bool of_session = spec.session >= 0;
  const auto who = static_cast<std::uint64_t>(of_session ? std::int64_t{spec.session} : ordinal)
                   << 1;
  RandomStream stream =
      random_stream(core_.config.adapters.seed, "adapters", who | (of_session ? 1 : 0));
  spec.adapter = static_cast<std::int32_t>(popularity_(stream));
}

}  // namespace

std::unique_ptr<Part> make_adapters(Core& core, Loop&) {
  return std::make_unique<AdaptersPart>(core);
}

}  // namespace rooflua
