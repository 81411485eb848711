#pragma once
// The ways of KV over declared links: from a replica to another one, and to and from stores
// (stores/tiers.h).

#include <cstdint>
#include <string>
#include <vector>

#include "serve/links/flows.h"
#include "serve/links/wires.h"

namespace rooflua {

/// By name: the links between two replicas, and those between two on one node (none: the same).
struct KvPath {
  std::vector<std::string> between, within;
};

class KvLinks {
 public:
  /// @param nodes  of each replica
  /// @throws Error at "transfer.path[1]" if there is no such link
  KvLinks(const std::vector<LinkConfig>& links, std::vector<std::int32_t> nodes,
          const KvPath& path);

  struct Sent {
    std::int32_t slot = -1, from = -1, to = -1;
    double bytes = 0;
    double alpha_s = 0;      // beside those of the links
    double bytes_per_s = 0;  // most of one transfer; 0: no limit of its own
  };
  void send(const Sent& sent, Picoseconds now);
  /// To a replica that is not chosen yet: over the wire of each link that leaves the sender.
  /// @param ticket  of the flow
  void send_away(const Sent& sent, Errand errand, std::int32_t ticket, Picoseconds now);
  /// What so many bytes would take now: the alphas, and their time at the share that one flow more
  /// gets. @param sent  without a slot
  double expected_s(const Sent& sent) const;
  const Wires& wires() const { return wires_; }
  Flows& flows() { return flows_; }
  const Flows& flows() const { return flows_; }

 private:
  FlowRequest flow_of(const Sent& sent) const;
  const std::vector<std::int32_t>& links_of(std::int32_t from, std::int32_t to) const;

  Wires wires_;
  std::vector<std::int32_t> between_, within_;
  Flows flows_;
};

}  // namespace rooflua
