#pragma once
// The table that scripts/lib/rooflua/serve.lua hands over, read into the engine's configuration.

#include <string>
#include <vector>

#include "base/json.h"
#include "measure/record/summary.h"
#include "measure/write/requests.h"
#include "serve/replica/cluster.h"

namespace rooflua::script {

/// given.replicas (a list), frontend, transfer. @throws Error naming the key
ClusterConfig cluster_config(const Json& given);
/// given.slo; a limit that is not there does not bind.
Slo slo_of(const Json& given);
/// given.classes: names by class, or none.
std::vector<std::string> class_names(const Json& given);
/// What reports call each replica; "" where it has no name of its own.
std::vector<std::string> replica_names(const Json& given);
/// given.bench: {model, label, request_rate, burstiness, max_concurrency}
VllmBenchOptions traffic_of(const Json& given);

}  // namespace rooflua::script
