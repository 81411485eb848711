#pragma once
// What one rank holds of a model, counted exactly: weights by class and stage, the cache of a token
// by kind of layer, and states. How much memory an engine gives to each of them, in which units it
// rounds and what it takes besides them is a rule of the engine (scripts/engines).

#include <string>
#include <vector>

#include "base/units.h"
#include "spec/deployment.h"
#include "spec/layer_kinds.h"
#include "spec/weights.h"

namespace rooflua {

/// The cache of one kind of layers on one rank, of the whole model.
struct KindCounts {
  std::string kind, name;
  int layers = 0;
  int kv_heads = 0;          // of one rank; 0 in recurrent layers
  double growing_bytes = 0;  // of one token in one layer, as far as its cache grows; the mean
                             // over the ranks of dcp, of which one holds the token
  double plain_bytes = 0;    // the same in the model's own format
  double bounded_bytes = 0;  // of one token in one layer of at most `window` tokens
  int window = 0;            // tokens
  double convolution_elements = 0;  // of one request in one layer: inputs of the short convolution
  double state_elements = 0;        // and its recurrent matrix
  int inputs = 0;  // tokens whose inputs all of its state is; 0: some of it is no such
};

struct RankCounts {
  Widths widths;
  std::vector<int> stage_layers;
  std::vector<WeightParts> stages;  // elements, of one rank of each stage; of the attention
  WeightFormats formats;            // as stored
  double bytes_beyond = 0;          // of layers in formats of their own, of all stages together
  Dtype weight_dtype = Dtype::bf16, dtype = Dtype::bf16, kv_dtype = Dtype::bf16;
  std::vector<KindCounts> kinds;
  WeightParts predictor;  // one layer for multi-token prediction, without embedding and LM head
  double predictor_kv_bytes = 0;  // of one token in it
};

/// @throws Error if heads, experts or layers do not divide
RankCounts rank_counts(const Model& model, const DeploymentOptions& options);

}  // namespace rooflua
