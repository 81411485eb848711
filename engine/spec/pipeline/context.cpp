#include "spec/pipeline/context.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "spec/layer_kinds.h"

namespace rooflua {
namespace {

/// Every layer keeps all tokens, and every token computes with all before it.
void check_kinds(const Model& model, const std::string& key) {
  for (const AttentionLayers& each : model.attentions) {
    if (each.kind == AttentionKind::full || each.kind == AttentionKind::latent) continue;
    throw Error("deployment." + key,
                model.name + " has layers of the kind " +
                    each.kind_name() +
                    "; context parallel is modelled for full and latent attention alone");
  }
}

void check_decode(const Model& model, const DeploymentOptions& options) {
  const std::string dcp = std::to_string(options.dcp), tp = std::to_string(options.tp);
  if (options.tp % options.dcp != 0)
    throw Error("deployment.dcp", dcp + " does not divide tp = " + tp);
  for (const AttentionLayers& each : model.attentions) {
    const int copies = kv_copies(each, options.tp);
    if (copies % options.dcp == 0) continue;
    throw Error("deployment.dcp", dcp + " does not divide the " + std::to_string(copies) +
                                      (copies == 1 ? " copy" : " copies") + " of each of the " +
                                      std::to_string(each.kv_heads) + " KV heads of " + model.name +
                                      " on tp = " + tp + " ranks; a larger tp makes more copies");
  }
}

}  // namespace

AttentionLayers on_rank(AttentionLayers each, int tp) {
  each.kv_heads = std::max(1, each.kv_heads / tp);
  each.declared_tp = tp;
  return each;
}

int kv_copies(const AttentionLayers& each, int tp) {
  return each.latent ? tp : std::max(1, tp / std::max(1, each.kv_heads));
}

void check_context(const Model& model, const DeploymentOptions& options) {
  if (options.cp > 1) {
    check_kinds(model, "cp");
    const std::pair<const char*, int> others[] = {
        {"pp", options.pp}, {"dp", options.dp}, {"dcp", options.dcp}};
    for (const auto& [name, value] : others) {
      if (value == 1) continue;
      throw Error("deployment.cp", std::string("with ") + name +
                                       " > 1 is not modelled; leave cp or " + name + " at 1");
    }
  }
  if (options.dcp == 1) return;
  check_kinds(model, "dcp");
  check_decode(model, options);
}

}  // namespace rooflua
