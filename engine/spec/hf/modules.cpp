#include "spec/hf/modules.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "spec/layer_kinds.h"

namespace rooflua {

namespace {

using enum WeightClass;

/// Modules of one class as one family of architectures spells them.
struct Spelling {
  WeightClass of;
  std::array<std::string_view, 5> modules;
};

constexpr Spelling spellings[] = {
    {attention, {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
    {attention,
     {"self_attn.q_a_proj", "self_attn.q_b_proj", "self_attn.kv_a_proj_with_mqa",
      "self_attn.kv_b_proj"}},
    {attention, {"mixer.q_proj", "mixer.k_proj", "mixer.v_proj"}},
    {attention, {"attn.wq_a", "attn.wq_b", "attn.wkv"}},
    {attention_output, {"self_attn.o_proj"}},
    {attention_output, {"mixer.o_proj"}},
    {attention_output, {"attn.wo_a", "attn.wo_b"}},
    {index, {"self_attn.indexer.wq_b", "self_attn.indexer.wk"}},
    {index, {"self_attn.index_q_proj", "self_attn.index_k_proj"}},
    {index, {"attn.indexer.wq_b", "attn.indexer.wk"}},
    {linear_attention,
     {"linear_attn.in_proj_qkv", "linear_attn.in_proj_z", "linear_attn.out_proj"}},
    {linear_attention, {"linear_attn.in_proj_qkvz", "linear_attn.out_proj"}},
    {linear_attention, {"mixer.in_proj", "mixer.out_proj"}},
    {linear_attention, {"mamba.in_proj", "mamba.out_proj"}},
    {linear_attention, {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
    {dense_mlp, {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}},
    {dense_mlp, {"feed_forward.gate_proj", "feed_forward.up_proj", "feed_forward.down_proj"}},
    {dense_mlp, {"mixer.up_proj", "mixer.down_proj"}},
    {experts, {"mlp.experts.0.gate_proj", "mlp.experts.0.up_proj", "mlp.experts.0.down_proj"}},
    {experts, {"block_sparse_moe.experts.0.w1", "block_sparse_moe.experts.0.w2"}},
    {experts, {"experts.gate_up_proj", "experts.down_proj"}},
    {experts, {"feed_forward.experts.gate_up_proj", "feed_forward.experts.down_proj"}},
    {experts, {"mixer.experts.0.up_proj", "mixer.experts.0.down_proj"}},
    {experts, {"ffn.experts.0.w1", "ffn.experts.0.w2"}},
    {shared,
     {"mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj",
      "mlp.shared_experts.down_proj"}},
    {shared,
     {"mlp.shared_expert.gate_proj", "mlp.shared_expert.up_proj", "mlp.shared_expert.down_proj"}},
    {shared,
     {"feed_forward.shared_expert.gate_proj", "feed_forward.shared_expert.up_proj",
      "feed_forward.shared_expert.down_proj"}},
    {shared,
     {"block_sparse_moe.shared_experts.gate_proj", "block_sparse_moe.shared_experts.up_proj",
      "block_sparse_moe.shared_experts.down_proj"}},
    {shared, {"mixer.shared_experts.up_proj", "mixer.shared_experts.down_proj"}},
    {shared, {"ffn.shared_experts.w1", "ffn.shared_experts.w2"}},
    {router, {"mlp.gate"}},
    {router, {"mlp.router"}},
    {router, {"block_sparse_moe.gate"}},
};

/// `*` stands for any text.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, behind = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      behind = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++behind;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

/// Of the regular expressions that checkpoints use, with `.*`, `\\.`, `$` and one group of
/// alternatives, as patterns with `*`. Other characters stand for themselves.
std::vector<std::string> patterns_of(const std::string& expression) {
  const std::size_t open = expression.find('('), close = expression.find(')');
  if (open != std::string::npos && close != std::string::npos && open < close) {
    std::vector<std::string> out;
    std::string inner = expression.substr(open + 1, close - open - 1) + "|";
    for (std::size_t bar = inner.find('|'); bar != std::string::npos; bar = inner.find('|')) {
      for (const std::string& each : patterns_of(expression.substr(0, open) + inner.substr(0, bar) +
                                                 expression.substr(close + 1)))
        out.push_back(each);
      inner.erase(0, bar + 1);
    }
    return out;
  }
  std::string out = expression.starts_with('^') ? "" : "*";
  for (std::size_t i = expression.starts_with('^') ? 1 : 0; i < expression.size(); ++i) {
    const std::string_view rest = std::string_view(expression).substr(i);
    if (rest == "$") return {out};
    if (rest.starts_with(".*"))
      out += '*', ++i;
    else if (rest.starts_with("\\"))
      continue;
    else
      out += rest.front();
  }
  return {out + "*"};
}

/// The whole name, one that it begins with, or a pattern.
bool names_module(std::string_view pattern, std::string_view module) {
  if (pattern.find('*') != std::string_view::npos)
    return matches(pattern, module) || matches(std::string(pattern) + ".*", module);
  return module == pattern ||
         (module.starts_with(pattern) && module.substr(pattern.size()).starts_with('.'));
}

/// A name of a list, taken apart at "layers.<number>.".
struct Entry {
  std::optional<int> layer;           // nothing: every layer
  std::string module;                 // "" = all of the layer
  std::vector<std::string> patterns;  // of a regular expression, for the whole name
  bool anywhere = false;              // a part of a name: "gate", "*.attn.*"
};

Entry entry_of(const std::string& name) {
  Entry entry;
  if (name.starts_with("re:")) {
    entry.patterns = patterns_of(name.substr(3));
    return entry;
  }
  const std::size_t at = name.find("layers.");
  if (at == std::string::npos) {
    entry.anywhere = true;
    entry.module = name;
    return entry;
  }
  const std::string rest = name.substr(at + std::string_view("layers.").size());
  const std::size_t digits = rest.find_first_not_of("0123456789");
  const std::size_t dot = rest.find('.');
  if (digits > 0 && !rest.empty())
    entry.layer = std::stoi(rest.substr(0, std::min<std::size_t>(digits, 6)));
  if (dot != std::string::npos) entry.module = rest.substr(dot + 1);
  if (entry.module == "*") entry.module.clear();
  return entry;
}

bool holds(const Entry& entry, int layer, const std::string& module) {
  const auto whole = [&] { return "model.layers." + std::to_string(layer) + "." + module; };
  if (!entry.patterns.empty()) {
    return std::any_of(entry.patterns.begin(), entry.patterns.end(),
                       [&](const std::string& each) { return matches(each, whole()); });
  }
  if (entry.anywhere) {
    if (entry.module.find('*') != std::string::npos) return matches(entry.module, whole());
    return ("." + whole() + ".").find("." + entry.module + ".") != std::string::npos;
  }
  if (entry.layer && *entry.layer != layer) return false;
  return entry.module.empty() || names_module(entry.module, module);
}

/// Entries by the layer that they name; those of every layer stand at the end.
std::vector<std::vector<Entry>> by_layer(const std::vector<std::string>& names, int layers) {
  std::vector<std::vector<Entry>> out(static_cast<std::size_t>(layers) + 1);
  for (const std::string& name : names) {
    Entry entry = entry_of(name);
    const int layer = entry.layer.value_or(layers);
    if (layer <= layers && (layer < layers || !entry.layer))
      out[static_cast<std::size_t>(layer)].push_back(std::move(entry));
  }
  return out;
}

int layers_with(const Model& model, WeightClass each) {
  int layers = 0;
  for (const AttentionLayers& kind : model.attentions) {
    const bool recurrent = kind.delta || kind.mamba;
    const bool counts = each == WeightClass::index
                            ? kind.index && kind.index->own
                            : recurrent == (each == WeightClass::linear_attention);
    layers += counts ? kind.layers : 0;
  }
  return layers;
}

/// Number of layers that have this class.
int layers_of(const Model& model, WeightClass each) {
  switch (each) {
    case WeightClass::attention:
    case WeightClass::attention_output:
    case WeightClass::index:
    case WeightClass::linear_attention:
      return layers_with(model, each);
    case WeightClass::dense_mlp:
      return model.dense_mlp_layers();
    case WeightClass::experts:
    case WeightClass::router:
      return model.moe_layers();
    case WeightClass::shared:
      return model.experts() != nullptr && (model.experts()->shared_intermediate_size > 0 ||
                                            model.experts()->latent_size > 0)
                 ? model.moe_layers()
                 : 0;
    default:
      return 1;
  }
}

/// The layers that may have this class: dense ones stand in front of those with experts.
std::pair<int, int> layer_range(const Model& model, WeightClass each) {
  const int dense = model.layers - model.moe_layers();
  const bool mixed = model.moe_layers() > 0 && model.dense_mlp_layers() == dense && dense > 0;
  if (mixed && each == dense_mlp) return {0, dense};
  const bool routed = each == experts || each == shared || each == router;
  return {mixed && routed ? dense : 0, model.layers};
}

/// Where a dense MLP stands beside the experts, "mlp" is the dense one.
bool may_spell(const Model& model, const Spelling& spelling) {
  const bool beside = std::any_of(model.mlps.begin(), model.mlps.end(),
                                  [](const MlpLayers& each) { return each.kind == MlpKind::both; });
  return !beside || spelling.of == dense_mlp || !spelling.modules[0].starts_with("mlp.");
}

}  // namespace

bool has_class(const Model& model, WeightClass each) {
  return layers_of(model, each) > 0;
}

bool names_a_layer_behind(const Model& model, const std::string& name) {
  const Entry entry = entry_of(name);
  return entry.layer && *entry.layer >= model.layers;
}

ModuleShares named_share(const Model& model, const std::vector<std::string>& names,
                         std::vector<ModuleShares>* of_layers) {
  ModuleShares shares{};
  if (of_layers != nullptr) of_layers->assign(static_cast<std::size_t>(model.layers), {});
  const auto entries = by_layer(names, model.layers);
  const auto named = [&](int layer, const std::string& module) {
    const auto any = [&](const std::vector<Entry>& list) {
      return std::any_of(list.begin(), list.end(),
                         [&](const Entry& each) { return holds(each, layer, module); });
    };
    return any(entries[static_cast<std::size_t>(layer)]) || any(entries.back());
  };
  for (const Spelling& spelling : spellings) {
    const int layers = layers_of(model, spelling.of);
    if (layers == 0 || !may_spell(model, spelling)) continue;
    const auto of = static_cast<std::size_t>(spelling.of);
    const auto [first, behind] = layer_range(model, spelling.of);
    const auto modules =
        static_cast<double>(std::count_if(spelling.modules.begin(), spelling.modules.end(),
                                          [](std::string_view each) { return !each.empty(); }));
    double found = 0;
    for (int layer = first; layer < behind; ++layer) {
      double here = 0;
      for (const std::string_view module : spelling.modules)
        here += !module.empty() && named(layer, std::string(module)) ? 1 : 0;
      found += here;
      if (of_layers == nullptr) continue;
      double& own = (*of_layers)[static_cast<std::size_t>(layer)][of];
      own = std::max(own, here / modules);
    }
    shares[of] = std::max(shares[of], std::min(1.0, found / (layers * modules)));
  }
  return shares;
}

}  // namespace rooflua
