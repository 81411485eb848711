#include "serve/core/part.h"

#include <algorithm>

namespace rooflua {

std::vector<std::string_view> parts_of(const ClusterConfig& config, const Bindings& bindings) {
  const bool is_split = std::any_of(config.replicas.begin(), config.replicas.end(),
                                    [](const auto& each) { return each.role == Role::prefill; });
  const struct {
    std::string_view name;
    bool is_asked;
  } all[] = {
      {"fleet", !config.pools.empty() || bindings.faults != nullptr},
      {"split", is_split},
      {"stations", config.frontend.queues()},
      {"gate", bindings.admission != nullptr},
      {"clients", bindings.client != nullptr},
      {"tiers", !config.tiers.stores.empty()},
      {"experts", bindings.experts != nullptr},
      {"encoder", bindings.encoder != nullptr},
      {"adapters", config.adapters.count > 0},
  };
  std::vector<std::string_view> out;
  for (const auto& [name, is_asked] : all)
    if (is_asked) out.push_back(name);
  return out;
}

}  // namespace rooflua
