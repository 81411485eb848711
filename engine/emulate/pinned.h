#pragma once
// The router of a server with a port per replica: a client chooses by its port.

#include <cstdint>
#include <unordered_map>

#include "serve/contract/policy.h"

namespace rooflua::emulate {

class Pinned final : public Router {
 public:
  void pin(std::int32_t id, std::int32_t replica) { replica_of_[id] = replica; }
  void forget(std::int32_t id) { replica_of_.erase(id); }

  /// Refused where the replica takes no requests now.
  std::int32_t route(const Request& request, const RouteView& view) override;
  bool may_refuse() const override { return true; }
  bool reads_landing_prompts() const override { return false; }

 private:
  std::unordered_map<std::int32_t, std::int32_t> replica_of_;  // by the request's id
};

}  // namespace rooflua::emulate
