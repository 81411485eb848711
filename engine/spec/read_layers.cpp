#include "spec/read_layers.h"

#include <algorithm>

#include "base/error.h"
#include "spec/figures/model.h"

namespace rooflua {

namespace {

using Kind = AttentionKind;

// Lists -------------------------------------------------------------------------------------------

AttentionLayers without_heads(const AttentionLayers& recurrent) {
  AttentionLayers out;
  out.kind = recurrent.kind;
  out.layers = recurrent.layers;
  out.delta = recurrent.delta;
  out.mamba = recurrent.mamba;
  out.visits = recurrent.visits;
  out.prefill_tail = recurrent.prefill_tail;
  out.formats = recurrent.formats;
  return out;
}

StatedFormats formats_of(const Fields& fields) {
  StatedFormats out;
  for (std::size_t i = 0; i < weight_classes; ++i) {
    const std::string_view key = weight_class_words[i].name;
    if (const auto text = fields.text(key)) out[i] = require_dtype(*text, fields.where(key));
  }
  return out;
}

Release release_of(const Fields& fields, std::string_view name, const std::string& where) {
  Release release;
  release.name = require_dtype(name, where);
  release.source = fields.text("source").value_or("");
  release.weights = formats_of(fields);
  if (const auto kv = fields.text("kv")) release.kv = require_dtype(*kv, fields.where("kv"));
  fields.finish();
  return release;
}

std::vector<Release> releases_of(const Fields& fields) {
  std::vector<Release> out;
  const auto releases = fields.table("releases");
  if (!releases) return out;
  for (const Json::Member& each : releases->object().members())
    out.push_back(release_of(releases->need_table(each.key), each.key, releases->where(each.key)));
  return out;
}

/// What a group of layers stores in formats of its own.
LayerFormats layer_formats_of(const Fields& group) {
  LayerFormats out;
  out.releases = releases_of(group);
  if (const auto own = group.table("formats")) {
    out.weights = formats_of(*own);
    if (const auto kv = own->text("kv")) out.kv = require_dtype(*kv, own->where("kv"));
    own->finish();
  }
  return out;
}

/// Reads a group of layers whose kind is a file. `into` has the words of every group.
/// @throws Error if there is no such kind
template <class Layers, class Words>
void read_declared(const Fields& fields, const ModelDraft& model, std::string_view of,
                   const Words& words, Layers& into) {
  const std::string name = fields.need_text("kind");
  const std::filesystem::path file = declared::file_of(model.folders, of, name);
  if (file.empty()) {
    std::vector<std::string> known = names_of(words);
    for (std::string& each : declared::names_in(model.folders, of)) known.push_back(std::move(each));
    throw Error(fields.where("kind"),
                unknown_name("word", name, known) + "; a kind of your own is layers/" +
                    std::string(of) + "/" + name + ".lua beside the model or the scenario");
  }
  for (const char* key : {"layers", "visits", "prefill_tail"}) {
    const FigureRow& row = row_named(figures<Layers>(), key);
    const auto value = row.stated == Stated::needed ? fields.need_integer(key)
                                                    : fields.small_integer(key).value_or(0);
    check_range(row, value, fields.where(key));
    *std::get<int*>(row.at(&into)) = value;
  }
  into.formats = layer_formats_of(fields);
  into.by_file =
      declared::read_kind(file, of, fields,
                          {model.layers, model.hidden_size, model.heads, model.kv_heads,
                           model.head_dim, model.intermediate_size, model.attention_bias});
  fields.finish();
}

template <class Words>
bool is_word(const Fields& fields, const Words& words) {
  const Json* kind = fields.find("kind");
  return kind == nullptr || !kind->is_text() || value_named(words, kind->text()).has_value();
}

/// A group whose kind is a file: its heads are those of its attention.
AttentionLayers declared_attention(const Fields& fields, const ModelDraft& model) {
  AttentionLayers out;
  out.kind = Kind::declared;
  read_declared(fields, model, "attention", attention_words, out);
  out.window = out.by_file->window();
  const declared::Operation* attention = out.by_file->attention();
  if (attention == nullptr) return out;
  out.heads = attention->heads;
  out.kv_heads = attention->kv_heads;
  out.head_dim = attention->head_dim;
  out.v_head_dim = attention->v_head_dim;
  return out;
}

AttentionLayers attention_of(const Fields& fields, const ModelDraft& model) {
  if (!is_word(fields, attention_words)) return declared_attention(fields, model);
  AttentionLayers out = layers_of(Kind::full, 0, model);
  out.latent = model.mla;
  read_figures(fields, out);
  out.formats = layer_formats_of(fields);
  fields.finish();
  if (out.delta || out.mamba) return without_heads(out);
  if (!fields.has("v_head_dim")) out.v_head_dim = out.head_dim;
  if (out.kind != Kind::latent && out.kind != Kind::latent_sparse) out.latent.reset();
  return out;
}

MlpLayers mlp_of(const Fields& fields, const ModelDraft& model) {
  MlpLayers out;
  if (!is_word(fields, mlp_words)) {
    out.kind = MlpKind::declared;
    read_declared(fields, model, "mlp", mlp_words, out);
    return out;
  }
  out.gated = model.gated_mlp;
  out.intermediate_size = model.intermediate_size;
  read_figures(fields, out);
  out.formats = layer_formats_of(fields);
  fields.finish();
  if (out.kind == MlpKind::moe) out.intermediate_size = 0;
  return out;
}

/// A table of the short form that a list makes useless.
void check_used(const Fields& fields, std::string_view table, std::string_view list) {
  if (!fields.has(table) || !fields.has(list)) return;
  throw Error(fields.where(table), "nothing reads it where there is [[" + std::string(list) +
                                       "]], which says what these layers are");
}

void read_formats(ModelDraft& model, const Fields& fields) {
  if (const auto weights = fields.table("weights")) {
    model.weights = formats_of(*weights);
    weights->finish();
  }
  if (const auto formats = fields.table("alias_formats")) {
    for (const Json::Member& each : formats->object().members()) {
      const Dtype format = require_dtype(formats->need_text(each.key), formats->where(each.key));
      model.alias_formats.emplace_back(each.key, format);
    }
    formats->finish();
  }
  model.releases = releases_of(fields);
}

// Names -------------------------------------------------------------------------------------------

/// "window", and "window_2" for the next of that name.
template <class Kinds, class NameOf>
void name_kinds(Kinds& kinds, const NameOf& name_of) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string name(name_of(kinds[i]));
    const auto before = std::count_if(kinds.begin(), kinds.begin() + static_cast<std::ptrdiff_t>(i),
                                      [&](const auto& each) { return name_of(each) == name; });
    kinds[i].name = before == 0 ? name : name + "_" + std::to_string(before + 1);
  }
}

// Short form --------------------------------------------------------------------------------------

std::vector<AttentionLayers> attentions_of(const ModelDraft& model) {
  const int full =
      model.hybrid ? model.layers / model.hybrid->full_attention_interval : model.layers;
  std::vector<AttentionLayers> out{layers_of(model.mla ? Kind::latent : Kind::full, full, model)};
  if (!model.hybrid) return out;
  AttentionLayers& recurrent = out.emplace_back();
  recurrent.kind = Kind::delta;
  recurrent.layers = model.layers - full;
  recurrent.delta = model.hybrid;
  return out;
}

std::vector<MlpLayers> mlps_of(const ModelDraft& model) {
  const int dense = model.moe ? model.moe->dense_layers : model.layers;
  std::vector<MlpLayers> out;
  if (dense > 0)
    out.push_back({MlpKind::dense, dense, "", model.intermediate_size, model.gated_mlp, {}});
  if (dense < model.layers)
    out.push_back({MlpKind::moe, model.layers - dense, "", 0, model.gated_mlp, model.moe});
  return out;
}

void check_short_form(const ModelDraft& model) {
  const auto check = [&](bool ok, const char* key, const std::string& problem) {
    if (!ok) throw Error(model.origin + ": " + key, problem);
  };
  const auto check_layers = [&](const char* key, int least, int found) {
    check(found >= least && found <= model.layers, key,
          "expected " + std::to_string(least) + " to " + std::to_string(model.layers) +
              " layers, found " + std::to_string(found));
  };
  check_figures<ShortForm>(model, model.origin + ": ");
  if (model.moe) {
    check_layers("moe.dense_layers", 0, model.moe->dense_layers);
    check_experts(*model.moe, model.origin + ": moe.");
  }
  if (!model.hybrid) return;
  check_layers("hybrid.full_attention_interval", 1, model.hybrid->full_attention_interval);
  check(!model.mla, "hybrid", "latent and linear attention in one model need [[attention]] kinds");
}

}  // namespace

AttentionLayers layers_of(AttentionKind kind, int layers, const ModelDraft& model) {
  AttentionLayers out;
  out.kind = kind;
  out.layers = layers;
  out.heads = model.heads;
  out.kv_heads = model.kv_heads;
  out.head_dim = model.head_dim;
  out.v_head_dim = model.mla ? model.mla->v_head_dim : model.head_dim;
  out.bias = model.attention_bias;
  out.output_gate = model.attention_output_gate;
  if (kind == Kind::latent || kind == Kind::latent_sparse) out.latent = model.mla;
  return out;
}

AttentionLayers layers_of_file(const std::string& kind, int layers, const std::string& parameter,
                               int value, const ModelDraft& model) {
  Json group = Json::object();
  group["kind"] = kind;
  group["layers"] = layers;
  group[parameter] = value;
  return declared_attention(Fields(group, model.origin, "attention"), model);
}

void read_layer_kinds(ModelDraft& model, const Fields& fields) {
  for (const Fields& own : fields.tables("attention"))
    model.attentions.push_back(attention_of(own, model));
  for (const Fields& own : fields.tables("mlp")) model.mlps.push_back(mlp_of(own, model));
  check_used(fields, "hybrid", "attention");
  check_used(fields, "moe", "mlp");
  read_formats(model, fields);
}

/// A tail that is as long as the longest prompt is none.
template <class Kinds>
void drop_long_tails(Kinds& kinds, int longest) {
  for (auto& each : kinds)
    if (longest > 0 && each.prefill_tail >= longest) each.prefill_tail = 0;
}

void complete_layer_kinds(ModelDraft& model) {
  drop_long_tails(model.attentions, model.max_model_len);
  drop_long_tails(model.mlps, model.max_model_len);
  check_short_form(model);
  // One list without the other: the figures of the model describe the rest.
  model.uniform = model.attentions.empty() && model.mlps.empty();
  if (model.attentions.empty()) model.attentions = attentions_of(model);
  if (model.mlps.empty()) model.mlps = mlps_of(model);
  for (AttentionLayers& each : model.attentions) {
    if (!each.latent) continue;
    each.head_dim = each.latent->qk_nope_head_dim + each.latent->qk_rope_head_dim;
    each.v_head_dim = each.latent->v_head_dim;
    each.kv_heads = each.heads;
    if (model.latent() != &*each.latent) continue;
    model.head_dim = each.head_dim;
    model.kv_heads = each.kv_heads;
  }
  for (const MlpLayers& each : model.mlps) {
    if (model.intermediate_size == 0) model.intermediate_size = each.intermediate_size;
  }
  name_layer_kinds(model);
}

void name_layer_kinds(Model& model) {
  name_kinds(model.attentions, [](const AttentionLayers& each) { return each.kind_name(); });
  name_kinds(model.mlps, [](const MlpLayers& each) { return each.kind_name(); });
}

}  // namespace rooflua
