#pragma once
// Random speculation on top of random questions, and what came of it.

#include <cstdint>

#include "tests/reference/cases/cluster.h"

namespace rooflua::reference {

/// The question with drafts. A request that is alone finds room for them.
ServingCase speculative(ServingCase question);
/// The same for a cluster: most of its replicas speculate, each in its own way.
ClusterCase speculative(ClusterCase cluster);

/// Drafts of the requests that ended.
struct DraftsSeen {
  std::int64_t drafted = 0, accepted = 0;
  void add(const History& history);
  void print(const char* what) const;
};

}  // namespace rooflua::reference
