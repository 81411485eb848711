#include "script/bind/spec_fields.h"

#include "spec/figures/model.h"
#include "spec/hardware_units.h"
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
  Json out = Json::object();
  out["name"] = hardware.name;
  out["source"] = hardware.origin;
  out["architecture"] = hardware.architecture;
  Json peaks = Json::object();
  for (const auto& [dtype, peak] : hardware.peak) peaks[name(dtype)] = peak.in_base_units();
  out["peak_flop_per_s"] = peaks;
  Json computes_in = Json::object();
  for (const NumberFormat& format : number_formats())
    computes_in[format.name] = name(hardware.computes_in(format.dtype));
  out["computes_in"] = std::move(computes_in);
  out["memory_bytes_per_s"] = hardware.memory_bandwidth.in_base_units();
  out["memory_bytes"] = hardware.memory.in_base_units();
  out["usable_memory_bytes"] = hardware.usable_memory.in_base_units();
  out["link_bytes_per_s"] = hardware.link_bandwidth.in_base_units();
  out["domain_gpus"] = hardware.domain_gpus;
  out["network_bytes_per_s"] =
      hardware.network_bandwidth.value_or(BytesPerSecond{}).in_base_units();
  out["tdp_w"] = hardware.tdp_w.value_or(0);
  out["sms"] = hardware.sms;
  out["clock_hz"] = hardware.clock_hz;
  out["l2_bytes"] = hardware.l2.in_base_units();
  out["tables_from"] = std::filesystem::path(hardware.tables_from).filename().string();
  Json sources = Json::object();
  for (const auto& [key, source] : hardware.sources) sources[key] = source;
  out["sources"] = sources;
  Json constants = Json::object();
  for (const KernelConstant& each : kernel_constants())
    constants[each.name] = hardware.family.constants.*each.value;
  out["constants"] = constants;
  out["fit_note"] = fit_note(hardware.family);
  return out;
}

Json fields_of(const Deployment& deployment) {
  Json out = Json::object();
  out["tp"] = deployment.tp;
  out["dp"] = deployment.widths.dp;
  out["ep"] = deployment.widths.ep;
  out["moe_tp"] = deployment.widths.moe_tp;
  out["pp"] = static_cast<double>(deployment.stage_layers.size());
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
  out["weights"] = dtype_text(deployment.weight_dtype);
  out["kv"] = dtype_text(deployment.kv_dtype);
  out["memory_utilization"] = deployment.memory_utilization;
  out["max_num_seqs"] = deployment.max_num_seqs;
  out["max_num_batched_tokens"] = deployment.max_num_batched_tokens;
  out["block_size"] = deployment.block_size;
  out["kv_blocks"] = deployment.kv_blocks;
  out["weight_bytes"] = deployment.weight_bytes.in_base_units();
  out["drafter_bytes"] = deployment.drafter_bytes.in_base_units();
  out["activation_bytes"] = deployment.activation_bytes.in_base_units();
  out["seat_bytes"] = deployment.seat_bytes.in_base_units();
  out["seat_blocks"] = deployment.seat_blocks;
  out["kv_bytes_per_block"] = deployment.kv_bytes_per_block.in_base_units();
  out["kv_capacity_bytes"] = deployment.kv_capacity.in_base_units();
  return out;
}

}  // namespace rooflua::script
