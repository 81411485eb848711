#pragma once
// The kinds of layers of a model: what attends to what, and which MLP stands after it. A model
// lists its kinds with the number of layers of each, not their order: no price and no byte of a
// step depends on the order.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/vocabulary.h"
#include "spec/declared/kind.h"
#include "spec/dtype.h"

namespace rooflua {

/// Classes of weights that a release may store in formats of their own.
enum class WeightClass {
  attention,
  attention_output,
  index,
  linear_attention,
  dense_mlp,
  experts,
  shared,
  router,
  lm_head,
  embedding
};
inline constexpr Word<WeightClass> weight_class_words[] = {
    {WeightClass::attention, "attention", "projections of attention"},
    {WeightClass::attention_output, "attention_output",
     "output projections of attention; left out: as attention"},
    {WeightClass::index, "index", "projections of the index of sparse attention"},
    {WeightClass::linear_attention, "linear_attention", "projections of recurrent layers"},
    {WeightClass::dense_mlp, "dense_mlp", "dense MLPs"},
    {WeightClass::experts, "experts", "routed experts"},
    {WeightClass::shared, "shared", "shared experts"},
    {WeightClass::router, "router", "routers"},
    {WeightClass::lm_head, "lm_head", "the LM head"},
    {WeightClass::embedding, "embedding", "the input embedding"},
};
static_assert(in_order(weight_class_words));
inline constexpr std::size_t weight_classes = std::size(weight_class_words);

/// The number format of each class. `release`: which one they are, as far as layers may differ.
struct WeightFormats {
  std::array<Dtype, weight_classes> of{};
  bool is_own = false;           // the model's own release
  std::optional<Dtype> release;  // or another one of that name
  Dtype operator[](WeightClass each) const { return of[static_cast<std::size_t>(each)]; }
  Dtype& operator[](WeightClass each) { return of[static_cast<std::size_t>(each)]; }
  bool operator==(const WeightFormats&) const = default;
};
/// Formats of some classes, as a file states them.
using StatedFormats = std::array<std::optional<Dtype>, weight_classes>;

/// The model as another publisher released it, in other formats.
struct Release {
  Dtype name = Dtype::bf16;  // "nvfp4": what deployment.weights asks for
  std::string source;
  StatedFormats weights;    // what is left out has the model's dtype
  std::optional<Dtype> kv;  // of the KV cache, where the release says it
};

/// What layers store in formats of their own, apart from other layers of the model.
struct LayerFormats {
  StatedFormats weights{};        // as the model itself is released
  std::optional<Dtype> kv;        // of the cache, unless deployment.kv says otherwise
  std::vector<Release> releases;  // in other releases of the model
  bool any() const;
};

/// Routed experts. Every MoE layer has `experts` MLPs of width `intermediate_size`, of which
/// each token visits `experts_per_token`, and optionally one shared MLP that every token visits.
struct MixtureOfExperts {
  int experts = 0;
  int experts_per_token = 0;
  int intermediate_size = 0;
  int shared_intermediate_size = 0;  // total width of the shared experts; 0 = none
  int dense_layers = 0;              // of the model, with a dense MLP; 0 where the kinds are listed
  int latent_size = 0;  // width between a projection down, the experts and a projection up; 0: none
};

/// Multi-head latent attention (DeepSeek-V2/V3): a compressed KV vector per token.
struct LatentAttention {
  int q_lora_rank = 0;  // 0 = no query compression
  int kv_lora_rank = 0;
  int qk_nope_head_dim = 0;
  int qk_rope_head_dim = 0;
  int v_head_dim = 0;
};

enum class AttentionKind {
  full,
  window,         // the last `window` tokens, itself included
  latent,         // MLA: one compressed vector per token
  latent_sparse,  // MLA over the tokens that an index selects (DSA)
  compressed,     // DeepSeek-V4: a window, and one vector for every `ratio` tokens
  block_sparse,   // MiniMax-M3: the blocks of tokens that an index selects (MSA)
  delta,          // gated delta rule: a matrix per head in place of a cache
  mamba2,         // state space: a matrix per head in place of a cache
  declared,       // as its Lua file says (spec/declared); it has no word of its own
};
inline constexpr Word<AttentionKind> attention_words[] = {
    {AttentionKind::full, "full", "every token before it"},
    {AttentionKind::window, "window", "the last `window` tokens, itself included"},
    {AttentionKind::latent, "latent", "every token, as one compressed vector each (MLA)"},
    {AttentionKind::latent_sparse, "latent_sparse", "latent, at the tokens that an index selects"},
    {AttentionKind::compressed, "compressed", "a window, and one vector for every `ratio` tokens"},
    {AttentionKind::block_sparse, "block_sparse", "the blocks that an index selects"},
    {AttentionKind::delta, "delta", "a state that the delta rule updates, no cache"},
    {AttentionKind::mamba2, "mamba2", "a state-space model's state, no cache"},
};
static_assert(in_order(attention_words));

/// The index of sparse attention: it scores every token, or block of tokens, before it.
struct SparseIndex {
  int heads = 0, head_dim = 0;
  int topk = 0;     // tokens that are selected; of block_sparse: blocks
  int block = 1;    // tokens that are selected together
  bool own = true;  // false: the selection of another layer is used again
};

/// What one layer of DeepSeek-V4 adds to attention with one KV vector for all heads.
struct Compression {
  int ratio = 0;  // tokens that become one entry of the cache; 0: there is a window only
  int q_lora_rank = 0, qk_rope_head_dim = 0;
  int o_lora_rank = 0, o_groups = 1;
};

enum class DeltaGates { gdn, kda };
inline constexpr Word<DeltaGates> delta_words[] = {
    {DeltaGates::gdn, "gdn", "gated delta net: one gate for each head"},
    {DeltaGates::kda, "kda", "Kimi delta attention: one gate for each channel"},
};
static_assert(in_order(delta_words));

/// Shape of a delta-rule layer.
struct DeltaRule {
  DeltaGates rule = DeltaGates::gdn;
  int conv_kernel = 0;
  int key_heads = 0, key_head_dim = 0;
  int value_heads = 0, value_head_dim = 0;
  int full_attention_interval = 0;  // every n-th layer is full attention; 0: the kinds are listed
  bool per_channel() const { return rule == DeltaGates::kda; }
};

struct Mamba2 {
  int heads = 0, head_dim = 0, groups = 0, state_size = 0, conv_kernel = 0;
  /// Elements that the short convolution sees of a token.
  double channels() const { return double(heads) * head_dim + 2.0 * groups * state_size; }
};

/// Layers whose attention is alike. Figures are the whole model's.
struct AttentionLayers {
  AttentionKind kind = AttentionKind::full;
  int layers = 0;
  int visits = 0;        // that a pass pays to each of them; 0 = one
  int prefill_tail = 0;  // last tokens of a prompt that run through these layers; 0 = all
  std::string name;      // "full", "window"; "window_2" for the second kind of windows
  int heads = 0, kv_heads = 0;
  int head_dim = 0;               // of queries and keys
  int v_head_dim = 0;             // of values
  bool bias = false;              // on q, k, v
  bool output_gate = false;       // the q projection also yields a gate of its own size
  bool shared_key_value = false;  // one projection yields keys and values
  int window = 0;                 // tokens
  std::optional<LatentAttention> latent;
  std::optional<SparseIndex> index;
  std::optional<Compression> compression;
  std::optional<DeltaRule> delta;
  std::optional<Mamba2> mamba;
  declared::KindPointer by_file;  // what the file of a declared kind says
  int declared_tp = 1;            // ranks that its caches are divided by: on_rank()
  LayerFormats formats;

  /// The word of its kind, or the name of its file.
  std::string kind_name() const;
  /// Whether a request has a state in it, and no token attends to another one.
  bool is_recurrent() const {
    return delta || mamba || (by_file && by_file->attention() == nullptr);
  }
  /// Layers as often as a pass visits them: weights are there once, time and cache for every visit.
  int layer_visits() const { return layers * (visits > 1 ? visits : 1); }
  /// Whether the cache of a request grows with every token.
  bool grows() const;
  /// Bytes of one token in one layer's cache that grows, before tensor parallelism. The entries of
  /// an index are FP8 with an fp32 scale, whatever `kv` is.
  double growing_bytes(Dtype kv) const;
  /// Bytes of one token in one layer's cache that holds `window` tokens at most.
  double bounded_bytes(Dtype kv) const;
  /// Bytes of one request's state in one layer: convolution inputs (conv_kernel - 1 per channel, 2
  /// bytes) and the recurrent matrix (4 bytes an element).
  double state_bytes() const;
};

/// Embeddings of the last few tokens together, which are looked up in a table of many rows.
struct NgramTable {
  double rows = 0;
  int columns = 0;
  int rows_per_token = 1;  // that are read
  Dtype dtype = Dtype::bf16;
  bool on_host = false;  // in the memory of the host, rows of which cross its link
  double bytes_per_token() const {
    return double(columns) * rows_per_token * bytes_per_element(dtype);
  }
};

/// Matrices that are alike, of what projects the output of an encoder.
struct Projection {
  int inputs = 0, outputs = 0;
  int times = 1;
  bool per_patch = false;  // it runs before patches are merged into tokens
  double rows = 1;         // for each patch, of a matrix in front of the layers
};

/// The encoder of images and videos of a multi-modal model, or that of sounds, in 16 bit. Without
/// `layers` it takes memory, and its time is not known. A patch of a sound is what its convolutions
/// leave of a few frames.
struct ItemEncoder {
  double parameters = 0;  // with what projects its output
  int hidden_size = 0, intermediate_size = 0;
  int patches_per_token = 1;  // that it merges into one token of the language model
  int image_tokens = 0;       // of the largest image; 0: what its processor says
  int layers = 0, heads = 0;
  bool gated = false;  // MLPs of gate, up, down; false: up, down
  int patch_size = 0;  // pixels of a side
  int channels = 3;
  int patch_frames = 1;                   // frames of a video that are one patch
  int window = 0;                         // patches that attend to each other; 0: those of a frame
  int whole_layers = 0;                   // layers without that window
  std::vector<Projection> projector;      // between its output and the language model
  std::vector<Projection> stem;           // in front of its layers; none: one over pixels
  std::string processor;                  // which sizes give how many patches (scripts/processors)
  double min_pixels = 0, max_pixels = 0;  // of its parameters, 0: its own
  int edge = 0, tiles = 0;
  std::string source;

  bool has_price() const { return layers > 0 && !processor.empty(); }
  /// Elements of an embedding: what the last matrices give, once for each layer of the language
  /// model that they feed; 0: not known.
  int embedding_width() const {
    return projector.empty() ? 0 : projector.back().outputs * projector.back().times;
  }
};

enum class MlpKind { dense, moe, both, declared };
inline constexpr Word<MlpKind> mlp_words[] = {
    {MlpKind::dense, "dense", "one MLP that every token visits"},
    {MlpKind::moe, "moe", "routed experts, and shared ones where there are any"},
    {MlpKind::both, "both", "a dense MLP beside routed experts"},
};
static_assert(in_order(mlp_words));

/// Layers whose MLP is alike.
struct MlpLayers {
  MlpKind kind = MlpKind::dense;
  int layers = 0;
  std::string name;
  int intermediate_size = 0;  // of the dense MLP
  bool gated = true;          // gate, up, down; false = up, down
  std::optional<MixtureOfExperts> moe;
  int visits = 0;                      // that a pass pays to each of them; 0 = one
  int prefill_tail = 0;                // as those of attention
  declared::KindPointer by_file = {};  // as that of attention
  LayerFormats formats = {};

  std::string kind_name() const;
  int layer_visits() const { return layers * (visits > 1 ? visits : 1); }
};

/// The short form of a description: tables [moe], [mla] and [hybrid] in place of lists of kinds.
struct ShortForm {
  std::optional<MixtureOfExperts> moe;
  std::optional<LatentAttention> mla;
  std::optional<DeltaRule> hybrid;
};

}  // namespace rooflua
