#include "spec/quantization.h"

#include <algorithm>

#include "base/error.h"
#include "spec/catalogue.h"
#include "spec/hf/modules.h"
#include "spec/layer_kinds.h"

namespace rooflua {

using namespace hf;

namespace {

/// Integers with a scale for each group of weights, in the groups that have a format of their own.
Dtype int4_in_groups(std::int64_t group) {
  if (group == 32) return Dtype::int4_group32;
  return group == 128 ? Dtype::int4_group128 : Dtype::int4;
}

/// Floating point: NVFP4 has a scale for 16 weights, the MX formats for 32.
Dtype of_floats(std::int64_t bits, std::int64_t group) {
  if (bits == 8) return group == 32 ? Dtype::mxfp8 : Dtype::fp8;
  if (group == 16) return Dtype::nvfp4;
  return group == 32 ? Dtype::mxfp4 : Dtype::fp4;
}

std::optional<Dtype> of_bits(std::int64_t bits, bool floating, std::int64_t group) {
  if (bits == 16) return Dtype::bf16;
  if (bits != 8 && bits != 4) return std::nullopt;
  if (floating) return of_floats(bits, group);
  return bits == 8 ? Dtype::int8 : int4_in_groups(group);
}

/// A format whose scales hold for blocks of weights, 128 by 128 in practice, not for a tensor.
Dtype in_blocks(Dtype dtype) {
  return dtype == Dtype::fp8 ? Dtype::fp8_block : dtype;
}

/// compressed-tensors: config_groups.<name>.weights {num_bits, type}.
std::optional<Dtype> of_group(const Fields& group) {
  const auto weights = group.table("weights");
  const auto bits = weights ? weights->integer("num_bits") : std::nullopt;
  if (!bits) return std::nullopt;
  const auto dtype = of_bits(*bits, weights->text("type").value_or("int") == "float",
                             weights->integer("group_size").value_or(0));
  return dtype && weights->text("strategy").value_or("") == "block" ? in_blocks(*dtype) : dtype;
}

std::optional<Dtype> of_groups(const Fields& quantization) {
  const auto groups = quantization.table("config_groups");
  if (!groups) return std::nullopt;
  for (const Json::Member& group : groups->object().members())
    if (const auto dtype = of_group(groups->need_table(group.key))) return dtype;
  return std::nullopt;
}

/// "W4A16_NVFP4" are NVFP4 weights.
std::optional<Dtype> of_algorithm(std::string name) {
  if (name.starts_with("W4A16_")) name.erase(0, std::string_view("W4A16_").size());
  return parse_dtype(name);
}

bool is_mixed(const Fields& quantization) {
  return folded(quantization.text("quant_algo").value_or("")) == "mixedprecision" ||
         folded(quantization.text("quant_method").value_or("")) == "modeloptmixed" ||
         quantization.has("quantized_layers");
}

bool names_layers(const std::optional<Fields>& quantization) {
  const auto layers = quantization ? quantization->table("quantized_layers") : std::nullopt;
  return layers && !layers->object().members().empty();
}

std::optional<Dtype> format_of_linear_layers(const Fields& quantization) {
  if (const auto dtype = of_groups(quantization)) return dtype;
  const std::string_view method_key = quantization.first_of({"quant_algo", "quant_method"});
  const std::string method = method_key.empty() ? "" : quantization.text(method_key).value_or("");
  if (const auto dtype = of_algorithm(method))  // fp8, fbgemm_fp8, mxfp4, NVFP4
    return quantization.has("weight_block_size") ? in_blocks(*dtype) : dtype;
  for (const char* bits_key : {"bits", "w_bit", "weight_bits"}) {
    const auto bits = quantization.integer(bits_key);  // gptq, awq
    if (!bits) continue;
    const std::string_view group = quantization.first_of({"group_size", "q_group_size"});
    const auto size = group.empty() ? std::nullopt : quantization.integer(group);
    if (const auto dtype = of_bits(*bits, false, size.value_or(0))) return dtype;
  }
  if (quantization.boolean("load_in_4bit", false)) return Dtype::int4;  // bitsandbytes
  if (quantization.boolean("load_in_8bit", false)) return Dtype::int8;
  throw Error(quantization.where("quant_method"),
              "no weight format found for method '" + method +
                  "' (known: fp8, compressed-tensors, gptq, awq, bitsandbytes, mxfp4, modelopt)");
}

constexpr WeightClass linear_classes[] = {WeightClass::attention, WeightClass::attention_output,
                                          WeightClass::index,     WeightClass::linear_attention,
                                          WeightClass::dense_mlp, WeightClass::experts,
                                          WeightClass::shared};

/// The format of the classes that quantized_layers does not name.
void read_rest(Model& model, const Fields& quantization) {
  if (!quantization.has("weight_block_size")) return;
  const auto dtype = parse_dtype(quantization.text("quant_method").value_or(""));
  if (!dtype) return;
  model.weight_dtype = in_blocks(*dtype);
  for (const WeightClass each : linear_classes) {
    if (has_class(model, each)) model.weights[static_cast<std::size_t>(each)] = model.weight_dtype;
  }
}

/// Classes that lists name have their formats.
void name_classes(Model& model, const std::vector<NamedModules>& lists) {
  for (const auto& [dtype, modules] : lists) {
    const ModuleShares shares = named_share(model, modules);
    for (const WeightClass each : linear_classes) {
      if (has_class(model, each) && names_class(shares, each))
        model.weights[static_cast<std::size_t>(each)] = dtype;
    }
    if (std::find(modules.begin(), modules.end(), "lm_head") != modules.end())
      model.weights[static_cast<std::size_t>(WeightClass::lm_head)] = dtype;
  }
}

/// Several config_groups {targets, weights}: a target is a class of torch, as "Linear", for all
/// modules that no other group names, or names modules. Nothing where one cannot be read.
std::vector<NamedModules> read_groups(Model& model, const Fields& quantization) {
  const auto groups = quantization.table("config_groups");
  if (!groups || groups->object().members().size() < 2) return {};
  std::vector<NamedModules> lists;
  Dtype rest = model.dtype;
  for (const Json::Member& member : groups->object().members()) {
    const Fields group = groups->need_table(member.key);
    const auto dtype = of_group(group);
    std::vector<std::string> targets = group.texts("targets");
    if (!dtype || targets.empty()) return {};
    if (std::find(targets.begin(), targets.end(), "Linear") != targets.end())
      rest = *dtype;
    else
      lists.push_back({*dtype, std::move(targets)});
  }
  for (const WeightClass each : linear_classes)
    if (has_class(model, each)) model.weights[static_cast<std::size_t>(each)] = rest;
  return lists;
}

/// quantized_layers {module: {quant_algo}}: classes with formats of their own.
void read_mixed(Model& model, const Fields& quantization, std::vector<NamedModules>& lists) {
  const auto layers = quantization.table("quantized_layers");
  if (!layers) return;
  std::vector<NamedModules> named;
  for (const Json::Member& member : layers->object().members()) {
    const Fields own = layers->need_table(member.key);
    const std::string algorithm = own.text("quant_algo").value_or("");
    const auto dtype = of_algorithm(algorithm);
    if (!dtype) throw Error(own.where("quant_algo"), "no weight format '" + algorithm + "'");
    const auto known = std::find_if(named.begin(), named.end(),
                                    [&](const auto& each) { return each.format == *dtype; });
    if (known == named.end())
      named.push_back({*dtype, {member.key}});
    else
      known->names.push_back(member.key);
  }
  name_classes(model, named);
  lists.insert(lists.end(), named.begin(), named.end());
}

/// Classes that the file leaves in 16 bit, and the formats of the others where there are such.
void read_exclusions(Model& model, const Fields& quantization) {
  const ModuleShares shares = named_share(model, excluded_modules(quantization));
  const bool some = std::any_of(
      std::begin(linear_classes), std::end(linear_classes),
      [&](WeightClass each) { return has_class(model, each) && names_class(shares, each); });
  for (const WeightClass each : linear_classes) {
    if (!has_class(model, each) || !(some || each == WeightClass::index)) continue;
    model.weights[static_cast<std::size_t>(each)] =
        names_class(shares, each) ? model.dtype : *model.weight_dtype;
  }
}

/// The formats that NVIDIA writes beside a config.json.
std::optional<Fields> quantization_beside(const Fields& config) {
  const auto file = config.table("hf_quant_config");
  if (!file) return std::nullopt;
  const auto inner = file->table("quantization");
  return inner ? inner : file;
}

void read_kv_format(Model& model, const Fields& quantization) {
  if (const auto scheme = quantization.find("kv_cache_scheme"); scheme && scheme->is_object()) {
    const Fields own = quantization.need_table("kv_cache_scheme");
    if (own.integer("num_bits").value_or(0) == 8 && own.text("type").value_or("float") == "float")
      model.kv_dtype = Dtype::fp8;
    return;
  }
  for (const char* key : {"kv_cache_quant_algo", "kv_cache_scheme"}) {
    if (const auto algorithm = quantization.text(key)) model.kv_dtype = parse_dtype(*algorithm);
  }
}

}  // namespace

std::optional<Fields> quantization_of(const Fields& config) {
  const std::string_view key = config.first_of({"quantization_config", "compression_config"});
  if (key.empty()) return quantization_beside(config);
  return config.need_table(key);
}

std::vector<std::string> excluded_modules(const Fields& quantization) {
  std::vector<std::string> out;
  for (const char* key : {"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules",
                          "llm_int8_skip_modules"}) {
    const Json* list = quantization.find(key);
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& each : list->items())
      if (each.is_text()) out.push_back(each.text());
  }
  return out;
}

FollowedFormats read_hf_formats(Model& model, const Fields& config) {
  FollowedFormats out{Ordered(model)};
  const auto stated = quantization_of(config), beside = quantization_beside(config);
  if (!stated) return out;
  std::vector<NamedModules> lists;
  WeightFormats rest;
  if (!is_mixed(*stated)) {
    model.weight_dtype = format_of_linear_layers(*stated);
    lists = read_groups(model, *stated);
    out.config_groups = !lists.empty();
    rest = weight_formats(model, {});
    lists.push_back({model.dtype, excluded_modules(*stated)});
    if (out.config_groups)
      name_classes(model, lists);
    else if (model.weight_dtype)
      read_exclusions(model, *stated);
  } else if (names_layers(stated) || names_layers(beside)) {
    read_rest(model, *stated);
    rest = weight_formats(model, {});
  } else {
    throw Error(stated->where(stated->has("quant_algo") ? "quant_algo" : "quant_method"),
                "layers have formats of their own, and nothing names them: quantized_layers is "
                "missing, which is in the checkpoint's hf_quant_config.json; put that file beside "
                "config.json");
  }
  // DeepSeek-V4: FP4 weights with a scale for 32 of them.
  if (config.text("expert_dtype").value_or("") == "fp4") {
    model.weights[static_cast<std::size_t>(WeightClass::experts)] = Dtype::mxfp4;
    rest[WeightClass::experts] = Dtype::mxfp4;
  }
  for (const auto& each : {stated, beside}) {
    if (!each) continue;
    if (is_mixed(*each)) read_mixed(model, *each, lists);
    read_kv_format(model, *each);
  }
  cut_by_layer(model, lists, rest);
  return out;
}

}  // namespace rooflua
