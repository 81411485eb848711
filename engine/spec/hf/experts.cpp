#include "spec/hf/experts.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>

#include "base/error.h"
#include "spec/figures/model.h"
#include "spec/hf/unknown.h"
#include "spec/hf/words.h"

namespace rooflua::hf {

namespace {

constexpr auto count_words = {"n_routed_experts", "num_routed_experts", "num_local_experts",
                              "num_experts",      "moe_num_experts",    "num_moe_experts",
                              "n_experts",        "num_total_experts",  "expert_num"};
constexpr auto visited_words = {"num_experts_per_tok",
                                "experts_per_token",
                                "moe_topk",
                                "num_experts_per_token",
                                "top_k_experts",
                                "moe_k",
                                "moe_top_k",
                                "num_selected_experts",
                                "moe_router_topk",
                                "n_experts_per_tok",
                                "n_activated_experts",
                                "experts_per_tok"};
constexpr auto width_words = {"moe_intermediate_size", "expert_ffn_hidden_size",
                              "moe_ffn_hidden_size",   "expert_intermediate_size",
                              "expert_hidden_size",    "expert_dim"};
constexpr auto shared_count_words = {"n_shared_experts", "num_shared_experts", "num_shared_expert",
                                     "moe_num_shared_experts", "n_shared_expert"};

// A layer's place -----------------------------------------------------------------------------

using Layers = std::optional<std::set<double>>;

/// The layers that a list of the file names, or a text "4,5,6"; nothing where it has no such list.
Layers listed(const Fields& fields, const char* key) {
  const Json* list = fields.find(key);
  if (list == nullptr) return std::nullopt;
  std::set<double> out;
  if (list->is_text()) {
    const std::string& text = list->text();
    for (std::size_t at = 0; at < text.size();) {
      int layer = 0;
      const auto [end, problem] =
          std::from_chars(text.data() + at, text.data() + text.size(), layer);
      if (problem != std::errc{})
        throw Error(fields.where(key), "expected numbers of layers, found '" + text + "'");
      out.insert(layer);
      at = static_cast<std::size_t>(end - text.data()) + 1;
    }
    return out;
  }
  if (!list->is_array()) throw Error(fields.where(key), "expected a list of layers");
  for (const Json& item : list->items()) {
    if (!item.is_number()) throw Error(fields.where(key), "expected a list of layers");
    out.insert(item.number());
  }
  return out;
}

/// Whether a list with one entry for each layer says that this one has experts; nothing without
/// such a list.
std::optional<bool> listed_as_moe(const Fields& fields, const Model& model, int layer) {
  for (const char* key : {"moe_layer_freq", "mlp_layer_types"}) {
    const Json* list = fields.find(key);
    if (list == nullptr || !list->is_array() || list->items().empty()) continue;
    if (list->items().size() != static_cast<std::size_t>(model.layers)) {
      throw Error(fields.where(key), "has " + std::to_string(list->items().size()) +
                                         " entries for " + std::to_string(model.layers) +
                                         " layers");
    }
    const Json& entry = list->items()[static_cast<std::size_t>(layer)];
    return entry.is_text() ? entry.text() == "sparse" : entry.is_number() && entry.number() != 0;
  }
  return std::nullopt;
}

/// Where the experts stand, as the file's keys say.
class Placement {
 public:
  Placement(const Fields& fields, const Model& model)
      : fields_(fields), model_(model), dense_(listed(fields, "mlp_only_layers")) {
    for (const char* key : {"moe_layers", "moe_layers_enum"})
      if (!routed_) routed_ = listed(fields, key);
    first_ = first_or(fields,
                      {"first_k_dense_replace", "num_dense_layers", "moe_layer_num_skipped",
                       "n_dense_layers", "moe_layer_start_index"},
                      0);
    const int last = fields.small_integer("moe_layer_end_index").value_or(-1);
    last_ = last < 0 ? model.layers - 1 : last;
    if (const Json* freq = fields.find("moe_layer_freq"); freq == nullptr || freq->is_number())
      steps_.push_back({every("moe_layer_freq"), 0});
    for (const char* key : {"decoder_sparse_step", "interleave_moe_layer_step",
                            "moe_layer_interval", "moe_layer_frequency"})
      steps_.push_back({every(key), every(key) - 1});
    const int period = every("expert_layer_period");
    steps_.push_back({period, fields.small_integer("expert_layer_offset").value_or(0) % period});
  }

  bool has_experts(int layer) const {
    if (const auto stated = listed_as_moe(fields_, model_, layer)) return *stated;
    if (layer < first_ || layer > last_ || (dense_ && dense_->contains(layer))) return false;
    if (routed_) return routed_->contains(layer);
    return std::all_of(steps_.begin(), steps_.end(),
                       [&](const Step& each) { return layer % each.period == each.rest; });
  }

 private:
  struct Step {
    int period, rest;
  };

  int every(const char* key) const { return std::max(1, fields_.small_integer(key).value_or(1)); }

  const Fields& fields_;
  const Model& model_;
  Layers dense_, routed_;
  int first_ = 0, last_ = 0;
  std::vector<Step> steps_;
};

// Figures -------------------------------------------------------------------------------------

template <class List>
std::string_view stated(const Fields& fields, const List& words) {
  std::string_view first;
  for (const std::string_view word : words)
    if (fields.has(word) && first.empty()) first = word;
  return first;
}

template <class List>
int figure(const Fields& fields, const List& words, int otherwise) {
  const std::string_view first = stated(fields, words);
  if (first.empty()) return otherwise;
  const int value = fields.need_integer(first);
  for (const std::string_view word : words) {
    const auto again = fields.has(word) ? fields.small_integer(word) : std::nullopt;
    if (again && *again != value)
      throw Error(fields.where(word), std::to_string(*again) + ", but " + std::string(first) +
                                          " says " + std::to_string(value) +
                                          "; leave one of them out (ignore)");
  }
  return value;
}

template <class List>
std::string joined(const List& words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

/// Of two figures of the file.
int product(int a, int b, const std::string& where) {
  const double out = double(a) * b;
  check_range(row_named(figures<MixtureOfExperts>(), "shared_intermediate_size"), out, where);
  return static_cast<int>(out);
}

/// Total width of the shared experts: stated, or as many routed ones.
int shared_width(const Fields& fields, const MixtureOfExperts& moe, const std::string& type) {
  const int count = figure(fields, shared_count_words, type.starts_with("llama4") ? 1 : 0);
  // Hunyuan: the number counts only where the mixed form is on.
  const bool mixed = fields.boolean("use_mixed_mlp_moe", true);
  const int each = first_or(fields, {"moe_shared_expert_intermediate_size"}, moe.intermediate_size);
  const std::string_view stated_width =
      fields.first_of({"moe_shared_expert_intermediate_size", "shared_expert_intermediate_size",
                       "shared_intermediate_size", "share_expert_dim"});
  if (fields.has("moe_shared_expert_intermediate_size") &&
      stated(fields, shared_count_words).empty())
    throw Error(fields.where("n_shared_experts"),
                "is missing beside moe_shared_expert_intermediate_size");
  const bool own_width = type == "nemotron_h" || type == "bailing_moe_v2";
  if (own_width && count > 0 && stated_width.empty())
    throw Error(fields.where("moe_shared_expert_intermediate_size"), "is missing");
  const int total = first_or(
      fields, {"shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim"},
      product(count, each, fields.where("n_shared_experts")));
  return mixed ? total : 0;
}

bool is_on(const Json& value) {
  if (value.is_number()) return value.number() > 0;
  if (value.is_boolean()) return value.boolean();
  return value.is_array() ? !value.items().empty() : value.is_text();
}

/// A key that says something of experts beyond how they were trained.
bool needs_experts(std::string_view key) {
  if (key.find("loss") != std::string_view::npos) return false;
  if (key == "n_group" || key == "topk_group" || key == "first_k_dense_replace") return true;
  return key.find("expert") != std::string_view::npos || key.find("moe") != std::string_view::npos;
}

/// Refuses a file that speaks of experts and does not state how many there are.
void check_no_experts(const Fields& fields) {
  for (const Json::Member& member : fields.object().members()) {
    if (!needs_experts(member.key) || !is_on(member.value)) continue;
    throw Error(fields.where(member.key),
                "speaks of experts, and the file does not say how many there "
                "are; expected one of: " +
                    joined(count_words) + "; " + how_to_go_on_without(member.key));
  }
}

int expert_width(const Model& model, const Fields& fields, const Class* model_class) {
  const int own = figure(fields, width_words, 0);
  if (own > 0) return own;
  const bool wide = model_class == nullptr || model_class->has(wide_experts);
  if (wide && model.intermediate_size > 0) return model.intermediate_size;
  throw Error(fields.where("moe_intermediate_size"),
              "is missing beside " + std::string(stated(fields, count_words)) +
                  "; expected one of: " + joined(width_words));
}

}  // namespace

void read_experts(ModelDraft& model, const Fields& fields, const Class* model_class) {
  const bool off = !fields.boolean("use_moe", true);
  const int experts = figure(fields, count_words, 0);
  if (off || experts <= 1) {
    if (stated(fields, count_words).empty()) check_no_experts(fields);
    const std::string_view visited = stated(fields, visited_words);
    if (!off && !visited.empty() && fields.small_integer(visited).value_or(0) > 1)
      throw Error(fields.where(stated(fields, count_words)),
                  std::to_string(experts) + ", but " + std::string(visited) +
                      " says that a token visits several");
    stated(fields, width_words);  // of no experts: they say nothing
    stated(fields, shared_count_words);
    // Granite without experts: what the others share is the MLP.
    if (model.family == "granitemoehybrid")
      model.intermediate_size =
          first_or(fields, {"shared_intermediate_size"}, model.intermediate_size);
    return;
  }
  MixtureOfExperts moe;
  moe.experts = experts;
  moe.experts_per_token = figure(fields, visited_words, 0);
  if (moe.experts_per_token == 0)
    throw Error(fields.where("num_experts_per_tok"),
                "is missing; expected one of: " + joined(visited_words));
  moe.intermediate_size = expert_width(model, fields, model_class);
  moe.shared_intermediate_size = shared_width(fields, moe, model.family);
  moe.latent_size = first_or(fields, {"routed_expert_hidden_size", "moe_latent_size"}, 0);
  if (moe.latent_size == 0 && fields.has("latent_moe_use_norm"))
    throw Error(fields.where("routed_expert_hidden_size"), "is missing beside latent_moe_use_norm");
  model.intermediate_size = first_or(fields, {"dense_intermediate_size", "intermediate_size_mlp"},
                                     model.intermediate_size);
  const Placement placement(fields, model);
  for (int layer = 0; layer < model.layers; ++layer)
    moe.dense_layers += placement.has_experts(layer) ? 0 : 1;
  if (moe.dense_layers == model.layers) return;
  model.moe = moe;
}

}  // namespace rooflua::hf
