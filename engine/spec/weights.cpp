#include "spec/weights.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "spec/layer_kinds.h"

namespace rooflua {

double WeightParts::linear() const {
  return attention + attention_output + linear_attention + dense_mlp + routed_experts +
         shared_experts;
}

double WeightParts::unquantised() const {
  return index + router + small + embedding + lm_head;
}

namespace {

constexpr double WeightParts::*parts_by_class[] = {
    &WeightParts::attention,        &WeightParts::attention_output, &WeightParts::index,
    &WeightParts::linear_attention, &WeightParts::dense_mlp,        &WeightParts::routed_experts,
    &WeightParts::shared_experts,   &WeightParts::router,           &WeightParts::lm_head,
    &WeightParts::embedding};
static_assert(std::size(parts_by_class) == weight_classes);

}  // namespace

double& WeightParts::of(WeightClass each) {
  return this->*parts_by_class[static_cast<std::size_t>(each)];
}

double WeightParts::of(WeightClass each) const {
  return this->*parts_by_class[static_cast<std::size_t>(each)];
}

double WeightParts::total() const {
  return linear() + unquantised() + ngram_tables;
}

namespace {

using Kind = AttentionKind;

/// Counts a rank's part of a model. Doubles, so that a product of four never overflows.
class Counter {
 public:
  Counter(const Model& model, const Widths& widths) : model_(model), widths_(widths) {
    if (widths.tp < 1)
      throw Error("deployment.tp", "expected 1 or more, found " + std::to_string(widths.tp));
  }

  WeightParts count(double vocabulary) const {
    WeightParts parts;
    double blocks = 0;
    for (const AttentionLayers& each : model_.attentions) {
      blocks += each.layers;
      add(each, parts);
    }
    for (const MlpLayers& each : model_.mlps) {
      blocks += each.layers;
      add(each, parts);
    }
    parts.small += (blocks + 1) * hidden();  // norms before each block and after the last layer
    parts.embedding = vocabulary * hidden();
    parts.lm_head = model_.tied_embeddings ? 0.0 : parts.embedding;
    for (const NgramTable& each : model_.ngram_tables) {
      const double elements = each.rows * each.columns / widths_.tp;
      parts.ngram_tables += elements;
      if (!each.on_host) parts.ngram_bytes += elements * bytes_per_element(each.dtype);
    }
    return parts;
  }

  double padded_vocabulary() const {
    const int unit = 64 * widths_.tp;
    return 64.0 * ((model_.vocab_size + unit - 1) / unit);
  }

  void add(const AttentionLayers& each, WeightParts& parts) const {
    if (each.by_file) {
      add_declared(*each.by_file, each.layers, parts);
      if (model_.qk_norm && each.heads > 0) parts.small += each.layers * 2.0 * each.head_dim;
      return;
    }
    const bool recurrent = each.delta || each.mamba;
    (recurrent ? parts.linear_attention : parts.attention) += each.layers * attention(each);
    parts.attention_output += each.layers * attention_output(each);
    parts.index += each.layers * index(each);
    parts.small += each.layers * small_tensors(each);
  }

  void add(const MlpLayers& each, WeightParts& parts) const {
    if (each.by_file) return add_declared(*each.by_file, each.layers, parts);
    if (each.intermediate_size > 0) {
      divided("columns of the MLP", each.intermediate_size, widths_.tp);
      const double width = double(each.intermediate_size) / widths_.tp;
      parts.dense_mlp += each.layers * mlp(each.gated, hidden(), width);
    }
    if (!each.moe) return;
    const MixtureOfExperts& moe = *each.moe;
    divided("columns of an expert", moe.intermediate_size, widths_.moe_tp,
            widths_.ep > 1 ? "moe_tp" : "tp");
    const double experts = divided("experts", moe.experts, widths_.ep, "ep");
    const double inner = moe.latent_size > 0 ? moe.latent_size : hidden();
    const double width = double(moe.intermediate_size) / widths_.moe_tp;
    if (!widths_.afd())
      parts.routed_experts += each.layers * experts * mlp(each.gated, inner, width);
    parts.shared_experts += each.layers * (mlp(each.gated, hidden(),
                                               double(moe.shared_intermediate_size) / widths_.tp) +
                                           2.0 * hidden() * moe.latent_size);
    parts.router += each.layers * double(moe.experts) * hidden();
  }

 private:
  double hidden() const { return model_.hidden_size; }

  double divided(const char* what, int count, int by, const char* key = "tp") const {
    if (count % by == 0) return count / by;
    throw Error(std::string("deployment.") + key, std::to_string(count) + " " + what + " of " +
                                                      model_.name + " do not divide by " + key +
                                                      " = " + std::to_string(by));
  }
  /// The heads of one rank. With fewer heads than ranks, each head is on several ranks.
  double replicated(const char* what, int count) const {
    if (widths_.tp > count && widths_.tp % count == 0) return 1;
    return divided(what, count, widths_.tp);
  }
  double heads(const AttentionLayers& each) const {
    return divided("attention heads", each.heads, widths_.tp);
  }
  double kv_heads(const AttentionLayers& each) const {
    return replicated("KV heads", each.kv_heads);
  }

  double attention(const AttentionLayers& each) const {
    switch (each.kind) {
      case Kind::latent:
      case Kind::latent_sparse:
        return latent_attention(each);
      case Kind::compressed:
        return compressed_attention(each);
      case Kind::delta:
        return delta_rule(*each.delta);
      case Kind::mamba2:
        return mamba(*each.mamba);
      default:
        return plain_attention(each);
    }
  }

  double attention_output(const AttentionLayers& each) const {
    if (each.delta || each.mamba) return 0;
    if (each.kind != Kind::compressed) return heads(each) * each.v_head_dim * hidden();
    const Compression& c = *each.compression;
    const double groups = std::max(1.0, double(c.o_groups) / widths_.tp);
    return heads(each) * each.head_dim * c.o_lora_rank + groups * c.o_lora_rank * hidden();
  }

  double plain_attention(const AttentionLayers& each) const {
    const double query = heads(each) * each.head_dim;
    const double values = each.shared_key_value ? 0 : each.v_head_dim;
    const double key_value = kv_heads(each) * (each.head_dim + values);
    const double gate = each.output_gate ? query : 0.0;
    return hidden() * (query + gate + key_value);
  }

  double latent_attention(const AttentionLayers& each) const {
    const LatentAttention& mla = *each.latent;
    const double latent = mla.kv_lora_rank, own = heads(each);
    const double qk = mla.qk_nope_head_dim + mla.qk_rope_head_dim;
    const double query = mla.q_lora_rank > 0
                             ? hidden() * mla.q_lora_rank + mla.q_lora_rank * own * qk
                             : hidden() * own * qk;
    const double gate = each.output_gate ? hidden() * own * mla.v_head_dim : 0.0;
    return query + gate + hidden() * (latent + mla.qk_rope_head_dim) +
           latent * own * (mla.qk_nope_head_dim + mla.v_head_dim);
  }

  double compressed_attention(const AttentionLayers& each) const {
    const Compression& c = *each.compression;
    const double width = heads(each) * each.head_dim;
    return hidden() * c.q_lora_rank + c.q_lora_rank * width + hidden() * each.head_dim +
           compressor(each);
  }

  /// Of the entries of the cache: keys and gates, of two overlapping windows where there is an
  /// index.
  double compressor(const AttentionLayers& each) const {
    if (each.compression->ratio == 0) return 0;
    return hidden() * each.head_dim * 2 * (each.index ? 2 : 1);
  }

  double delta_rule(const DeltaRule& delta) const {
    const double key_heads = divided("linear key heads", delta.key_heads, widths_.tp);
    const double value_heads = divided("linear value heads", delta.value_heads, widths_.tp);
    const double keys = 2.0 * key_heads * delta.key_head_dim;
    const double values = value_heads * delta.value_head_dim;
    const double in = keys + 2 * values + (delta.per_channel() ? value_heads : 0);
    return hidden() * in + values * hidden();
  }
  /// Of a gate and a decay per head, which no release quantises.
  double delta_gates(const DeltaRule& delta) const {
    return delta.per_channel() ? 0 : hidden() * 2 * delta.value_heads / widths_.tp;
  }

  double mamba(const Mamba2& mamba) const {
    const double own = divided("state-space heads", mamba.heads, widths_.tp);
    const double inner = own * mamba.head_dim;
    return hidden() * (2 * inner + 2 * groups_of(mamba) * mamba.state_size + own) +
           inner * hidden();
  }
  double groups_of(const Mamba2& mamba) const {
    return mamba.groups % widths_.tp == 0 ? mamba.groups / widths_.tp : mamba.groups;
  }

  double index(const AttentionLayers& each) const {
    if (!each.index || !each.index->own) return 0;
    const SparseIndex& index = *each.index;
    const double query = index.heads * double(index.head_dim);
    if (each.kind == Kind::block_sparse) return hidden() * (query + index.head_dim);
    const int rank = each.latent ? each.latent->q_lora_rank : each.compression->q_lora_rank;
    const double from = rank > 0 ? rank : hidden();
    const double keys = each.compression ? 4.0 * index.head_dim : index.head_dim;
    return from * query + hidden() * (keys + index.heads);
  }

  /// Biases, norms inside of attention, and the small tensors of recurrent layers (convolution, A,
  /// dt, norm).
  double small_tensors(const AttentionLayers& each) const {
    if (each.delta) return small_tensors(*each.delta);
    if (each.mamba) {
      const double own = double(each.mamba->heads) / widths_.tp;
      const double channels =
          own * each.mamba->head_dim + 2 * groups_of(*each.mamba) * each.mamba->state_size;
      return channels * (each.mamba->conv_kernel + 1) + 3 * own + own * each.mamba->head_dim;
    }
    double small = 0;
    if (each.bias)
      small += heads(each) * each.head_dim + kv_heads(each) * (each.head_dim + each.v_head_dim);
    if (each.latent) small += each.latent->q_lora_rank + each.latent->kv_lora_rank;
    if (model_.qk_norm) small += each.head_dim + each.head_dim;
    if (model_.qk_norm_across_heads) small += (heads(each) + kv_heads(each)) * each.head_dim;
    return small;
  }

  double small_tensors(const DeltaRule& delta) const {
    const double key_heads = double(delta.key_heads) / widths_.tp;
    const double value_heads = double(delta.value_heads) / widths_.tp;
    const double channels =
        2.0 * key_heads * delta.key_head_dim + value_heads * delta.value_head_dim;
    return channels * delta.conv_kernel + 2 * value_heads + delta.value_head_dim +
           delta_gates(delta);
  }

  /// The weights that a file declares, each by its class.
  void add_declared(const declared::Kind& kind, int layers, WeightParts& parts) const {
    kind.check_split(widths_.tp);
    for (const declared::Weight& each : kind.weights) {
      double& into = each.weight_class < 0 ? parts.small
                                           : parts.of(static_cast<WeightClass>(each.weight_class));
      const double part = *declared::part_of(each.split, each.heads, widths_.tp);
      into += layers * each.elements() * part;
      if (each.bias) parts.small += layers * each.columns * part;
    }
  }

  static double mlp(bool gated, double hidden, double width) {
    return (gated ? 3.0 : 2.0) * hidden * width;
  }

  const Model& model_;
  const Widths& widths_;
};

}  // namespace

WeightParts weights(const Model& model) {
  constexpr Widths whole;
  return Counter(model, whole).count(model.vocab_size);
}

// Declared in model.h: a model counts its weights by the formulas above.

double Model::parameters() const {
  return rooflua::weights(*this).total();
}

double Model::active_parameters() const {
  const WeightParts parts = rooflua::weights(*this);
  const MixtureOfExperts* moe = experts();
  const double always = parts.total() - parts.ngram_tables;  // of tables a token reads some rows
  if (moe == nullptr) return always;
  const double visited = double(moe->experts_per_token) / moe->experts;
  return always - parts.routed_experts * (1.0 - visited);
}

WeightParts weights_per_rank(const Model& model, const Widths& widths) {
  const Counter counter(model, widths);
  return counter.count(counter.padded_vocabulary());
}

Bytes weight_bytes(const WeightParts& parts, const Model& model, const WeightFormats& formats) {
  double bytes = parts.small * bytes_per_element(model.dtype) + parts.ngram_bytes;
  for (std::size_t i = 0; i < weight_classes; ++i)
    bytes += parts.of(static_cast<WeightClass>(i)) * bytes_per_element(formats.of[i]);
  return bytes * unit::byte;
}

double bytes_beyond(const Model& model, const Widths& widths, const WeightFormats& all) {
  const Counter counter(model, widths);
  double bytes = 0;
  const auto add = [&](const auto& each) {
    if (!each.formats.any()) return;
    WeightParts parts;
    counter.add(each, parts);
    const WeightFormats own = formats_of(each.formats, all);
    for (std::size_t i = 0; i < weight_classes; ++i)
      bytes += parts.of(static_cast<WeightClass>(i)) *
               (bytes_per_element(own.of[i]) - bytes_per_element(all.of[i]));
  };
  for (const AttentionLayers& each : model.attentions) add(each);
  for (const MlpLayers& each : model.mlps) add(each);
  return bytes;
}

void check_layer_formats(const Model& model, const std::string& where) {
  constexpr Widths whole;
  const Counter counter(model, whole);
  const auto check = [&](const auto& each, const std::string& key, bool has_cache) {
    if (!each.formats.any()) return;
    WeightParts parts;
    counter.add(each, parts);
    const auto check_table = [&](const StatedFormats& stated, bool kv, const std::string& table) {
      if (kv && !has_cache) throw Error(where + key + "." + table + ".kv", "there is no KV cache");
      for (std::size_t i = 0; i < weight_classes; ++i) {
        if (stated[i] && parts.of(static_cast<WeightClass>(i)) == 0)
          throw Error(where + key + "." + table + "." + std::string(weight_class_words[i].name),
                      "these layers have no such weights");
      }
    };
    check_table(each.formats.weights, each.formats.kv.has_value(), "formats");
    for (const Release& own : each.formats.releases) {
      const std::string table = "releases." + std::string(name(own.name));
      check_table(own.weights, own.kv.has_value(), table);
      const bool known =
          std::any_of(model.releases.begin(), model.releases.end(),
                      [&](const Release& release) { return release.name == own.name; });
      if (!known) throw Error(where + key + "." + table, "the model has no release of that name");
    }
  };
  for (const AttentionLayers& each : model.attentions)
    check(each, "attention." + each.name,
          each.growing_bytes(model.dtype) + each.bounded_bytes(model.dtype) > 0);
  for (const MlpLayers& each : model.mlps) check(each, "mlp." + each.name, false);
}

Bytes weight_bytes(const WeightParts& parts, const Model& model, Dtype linear_dtype) {
  return (parts.linear() * bytes_per_element(linear_dtype) +
          parts.unquantised() * bytes_per_element(model.dtype) + parts.ngram_bytes) *
         unit::byte;
}

}  // namespace rooflua
