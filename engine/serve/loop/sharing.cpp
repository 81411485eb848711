#include "serve/loop/sharing.h"

#include <algorithm>

#include "serve/loop/simulation.h"

namespace rooflua {

std::string Sharing::obstacle() const {
  const Bindings& bound = s_.core().bindings;
  const auto speculates = [](const SpeculatorPolicy* each) { return each != nullptr; };
  if (s_.core().groups.size() < 2) return "there is one engine";
  if (bound.router == nullptr || bound.router->reads_replicas())
    return "the router reads signals of replicas";
  if (bound.router->may_refuse()) return "the router may refuse requests";
  if (bound.workload->reads_ends() || bound.workload->watches_first_tokens())
    return "the workload sends requests when others end";
  if (bound.workload->due() != never) return "the workload cancels requests";
  if (std::any_of(bound.speculators.begin(), bound.speculators.end(), speculates))
    return "replicas speculate";
  for (const auto& part : s_.parts().all) {
    if (std::string why = part ? part->obstacle() : ""; !why.empty()) return why;
  }
  return "";
}

std::int32_t Sharing::groups() const {
  return static_cast<std::int32_t>(s_.core().groups.size());
}

void Sharing::keep(std::int32_t part, std::int32_t parts) {
  std::vector<char> foreign(s_.core().replicas.size(), 0);
  std::int32_t number = 0;
  for (const RankGroup& group : s_.core().groups) {
    if (group.members.empty()) continue;
    const bool own = number++ % parts == part;
    for (const std::int32_t member : group.members)
      foreign[static_cast<std::size_t>(member)] = own ? 0 : 1;
  }
  s_.leave_out(std::move(foreign));
}

}  // namespace rooflua
