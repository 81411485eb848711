#include "script/bind/spec_fields.h"

#include "spec/figures/hardware.h"
#include "spec/figures/model.h"
#include "spec/layer_kinds.h"

namespace rooflua::script {

namespace {

Json dtype_text(Dtype dtype) {
  return Json(name(dtype));
}

Json fields_of(const WeightFormats& formats) {
  Json out = Json::object();
  for (const auto& word : weight_class_words) out[word.name] = dtype_text(formats[word.value]);
  return out;
}

}  // namespace

Json fields_of(const Model& model) {
  Json out = figures_json(model);
  const Json kinds = figures_json(short_form(model));
  for (const Json::Member& each : kinds.members()) out[each.key] = each.value;
  return out;
}

Json fields_of(const Hardware& hardware) {
  Json out = figures_json(hardware);
  for (const HardwareFigure& each : hardware_figures()) {
    if (each.get != nullptr) out[each.name] = each.get(hardware);
  }
  return out;
}

Json fields_of(const Deployment& deployment) {
  Json out = figures_json(deployment.options);
  for (Json::Member& each : Json::Object(figures_json(deployment).members()))
    out[each.key] = std::move(each.value);
  Json stages = Json::array();
  for (std::size_t s = 0; s < deployment.stage_layers.size(); ++s) {
    Json stage = Json::object();
    stage["layers"] = deployment.stage_layers[s];
    stage["share"] = deployment.stage_shares[s];
    if (s > 0) stage["send_s_per_token"] = deployment.stage_seconds_per_token[s - 1];
    stages.push_back(stage);
  }
  out["stages"] = stages;
  out["formats"] = fields_of(deployment.formats);
  return out;
}

}  // namespace rooflua::script
