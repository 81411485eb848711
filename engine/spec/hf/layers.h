#pragma once
// The kinds of layers that a Hugging Face config.json describes: lists with one word for each
// layer, intervals, and figures that differ by kind.
//
//     windows       layer_types (sliding_attention), hybrid_layer_pattern (1), else every n-th
//                   layer is full: sliding_window_pattern (a number, or letters L and G), or known
//                   by the class
//     chunks        attention_chunk_size of Llama 4: where no_rope_layers has 1
//     delta rule    layer_types (linear_attention) | full_attention_interval | linear_attn_config
//     state space   layer_types (mamba) | hybrid_override_pattern | layers_block_type
//     sparse        index_topk | sparse_attention_config | compress_ratios
//
// A model whose layers are alike, or hybrid at a regular interval, gets no list of kinds.

#include <string_view>

#include "base/fields.h"
#include "spec/hf/classes.h"
#include "spec/read_layers.h"

namespace rooflua {

/// Number of layers of a file that lists them without a number of layers; nothing without a list.
std::optional<int> listed_layers(const Fields& config);

/// Fills attentions, mlps and hybrid. Heads, latent attention and experts are read before.
/// @throws Error for a list that does not fit the number of layers, or has an unknown word, and for
/// windows in every layer
void read_hf_layers(ModelDraft& model, const Fields& config, const hf::Class* model_class);

}  // namespace rooflua
