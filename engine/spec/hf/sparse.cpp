// Attention to a part of the context: what an index selects, and compressed entries.

#include <algorithm>

#include "base/error.h"
#include "spec/hf/kinds.h"

namespace rooflua::hf {

using Kind = AttentionKind;

namespace {

SparseIndex index_of(const Fields& config) {
  SparseIndex index;
  index.heads = config.need_integer("index_n_heads");
  index.head_dim = config.need_integer("index_head_dim");
  index.topk = config.need_integer("index_topk");
  return index;
}

}  // namespace

/// Latent attention to what an index picks; some layers reuse the choice of another.
void read_index(ModelDraft& model, const Fields& config) {
  const auto types = words_of(config, "indexer_types", model.layers);
  if (types.empty() && config.small_integer("index_topk_freq").value_or(1) > 1) {
    throw Error(config.where("indexer_types"),
                "is missing: index_topk_freq says that not every layer has an index of its own");
  }
  const int shared = count(types, "shared");
  config.allow("layer_types");  // the same word for every layer
  AttentionLayers own = layers_of(Kind::latent_sparse, model.layers - shared, model);
  own.index = index_of(config);
  AttentionLayers reused = own;
  reused.layers = shared;
  reused.index->own = false;
  put(model, own);
  put(model, reused);
}

/// DeepSeek-V4. After the layers of the model the list names those of prediction.
void read_compressed(ModelDraft& model, const Fields& config) {
  const std::vector<int> ratios = numbers_of(config, "compress_ratios");
  const std::size_t all =
      static_cast<std::size_t>(model.layers) + static_cast<std::size_t>(model.mtp_layers);
  if (ratios.size() != static_cast<std::size_t>(model.layers))
    check_length(config, "compress_ratios", ratios.size(), static_cast<int>(all));
  std::vector<int> known(ratios.begin(), ratios.begin() + model.layers);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const int ratio : known) {
    const auto layers = std::count(ratios.begin(), ratios.begin() + model.layers, ratio);
    AttentionLayers each = layers_of(Kind::compressed, static_cast<int>(layers), model);
    each.window = config.need_integer("sliding_window");
    Compression compression;
    compression.ratio = ratio;
    compression.q_lora_rank = config.need_integer("q_lora_rank");
    compression.qk_rope_head_dim = config.need_integer("qk_rope_head_dim");
    compression.o_lora_rank = config.need_integer("o_lora_rank");
    compression.o_groups = config.need_integer("o_groups");
    each.compression = compression;
    if (ratio == 4) each.index = index_of(config);  // the long ratio needs no selection
    put(model, each);
  }
}

/// MiniMax-M3: blocks of tokens that an index picks.
void read_block_sparse(ModelDraft& model, const Fields& config) {
  const Fields sparse = config.need_table("sparse_attention_config");
  const std::vector<int> freq = numbers_of(sparse, "sparse_attention_freq");
  check_length(sparse, "sparse_attention_freq", freq.size(), model.layers);
  const auto layers = static_cast<int>(std::count(freq.begin(), freq.end(), 1));
  AttentionLayers picked = layers_of(Kind::block_sparse, layers, model);
  SparseIndex index;
  index.heads = sparse.need_integer("sparse_num_index_heads");
  index.head_dim = sparse.need_integer("sparse_index_dim");
  index.block = sparse.need_integer("sparse_block_size");
  index.topk = sparse.need_integer("sparse_topk_blocks");
  picked.index = index;
  put(model, layers_of(Kind::full, model.layers - layers, model));
  put(model, picked);
}

}  // namespace rooflua::hf
