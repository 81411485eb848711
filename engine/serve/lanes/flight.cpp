#include "serve/lanes/flight.h"

namespace rooflua {

void add_sends(const StageConfig& stages, std::int32_t tokens, StepPrice& price,
               std::vector<OpTime>& operations) {
  const bool itemised = !operations.empty();
  const auto add = [&](Evidence evidence, double time_s) {
    if (!(time_s > 0)) return;
    price.time_s += time_s;
    price.evidence_s[static_cast<int>(evidence)] += time_s;
    if (itemised) operations.push_back({"stage_send", evidence, time_s});
  };
  double latency_s = 0, moving_s = 0;
  for (const StageLink& link : stages.links) {
    latency_s += link.pp_send_s;
    moving_s += tokens * link.s_per_token;
  }
  add(Evidence::modelled, moving_s);
  add(Evidence::assumed, latency_s);
  price.stages = static_cast<std::int32_t>(stages.shares.size());
}

}  // namespace rooflua
