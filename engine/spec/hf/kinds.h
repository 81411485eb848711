#pragma once
// What the readers of kinds of layers share: lists with an entry for each layer. Each reader adds
// the kinds that it finds to model.attentions.

#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "spec/read_layers.h"

namespace rooflua::hf {

int count(const std::vector<std::string>& words, std::string_view word);
/// @throws Error if a list does not have one entry for each layer
void check_length(const Fields& fields, std::string_view key, std::size_t found, int layers);
/// The words of a list with one for each layer; empty if the file has no such list.
std::vector<std::string> words_of(const Fields& fields, std::string_view key, int layers);
/// The entries of `layer_types`. @throws Error for a kind that is not known
std::vector<std::string> layer_types(const Fields& fields, int layers);
/// The numbers of a list of any length; empty if the file has no such list.
std::vector<int> numbers_of(const Fields& fields, std::string_view key);
/// Adds the kind if it has layers.
void put(ModelDraft& model, AttentionLayers kind);

// recurrent.cpp: gated delta net; KDA (linear_attn_config); Mamba2 with MLPs (Granite); one block
// per layer (Nemotron).
void read_hybrid(ModelDraft& model, const Fields& config, std::string_view type);
void read_kda(ModelDraft& model, const Fields& config);
void read_mamba(ModelDraft& model, const Fields& config);
void read_blocks(ModelDraft& model, const Fields& config);

// sparse.cpp: latent attention with an index, DeepSeek-V4, and blocks that an index picks.
void read_index(ModelDraft& model, const Fields& config);
void read_compressed(ModelDraft& model, const Fields& config);
void read_block_sparse(ModelDraft& model, const Fields& config);

}  // namespace rooflua::hf
