#pragma once
// The fields of models, hardware and deployments as scripts see them (scripts/meta/spec.lua).

#include "base/json.h"
#include "spec/deployment.h"
#include "spec/rank_counts.h"

namespace rooflua::script {

Json fields_of(const Model& model);
Json fields_of(const Hardware& hardware);
Json fields_of(const Deployment& deployment);
Json fields_of(const RankCounts& counts);

}  // namespace rooflua::script
