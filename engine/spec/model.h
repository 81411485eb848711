#pragma once
// What a transformer is: layer counts and shapes, read once, immutable, validated.
// Sources: Hugging Face config.json (every naming variant that real models use) and our TOML.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/units.h"
#include "base/vocabulary.h"
#include "spec/dtype.h"
#include "spec/layers.h"

namespace rooflua {

/// Operations whose price a note of a model makes doubtful.
enum class Touched { nothing, attention, linear, everything };
inline constexpr Word<Touched> touched_words[] = {
    {Touched::nothing, "nothing", "no operation that is priced"},
    {Touched::attention, "attention", "attention over the KV cache"},
    {Touched::linear, "linear", "linear layers and experts"},
    {Touched::everything, "everything", "every operation"},
};
static_assert(in_order(touched_words));

/// A sentence about what a model has and its description leaves out.
struct ModelNote {
  std::string text;  // "multi-token prediction layers (1) are not counted"
  Touched touches = Touched::nothing;
  int beyond_tokens = 0;  // only batches with a longer context than this are touched
};

/// How tokens are drawn if a request does not say: the model's generation_config.json.
struct Sampling {
  double temperature = 1;  // 0: the most probable token
  double top_p = 1, min_p = 0;
  int top_k = 0;  // 0: all tokens
  double repetition_penalty = 1;
  std::string source;

  /// Whether the logits of a request are sorted.
  bool sorts() const { return temperature > 0 && (top_p < 1 || top_k > 0); }
};

struct Model {
  std::string name;
  std::string family;  // the architecture by its word in config.json (model_type); may be empty
  std::vector<std::string> aliases;
  std::string origin;  // file the values came from
  std::string source;  // where that file has them from, as it says itself
  int layers = 0;
  int hidden_size = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;           // with latent attention: qk_nope_head_dim + qk_rope_head_dim
  int intermediate_size = 0;  // of the dense MLP (0 in a pure MoE)
  int vocab_size = 0;
  int max_model_len = 0;  // 0 = not stated
  bool tied_embeddings = false;
  bool attention_bias = false;         // bias on q, k, v
  bool attention_output_gate = false;  // the q projection also yields a gate of its own size
  bool gated_mlp = true;               // gate, up, down; false = up, down
  Dtype dtype = Dtype::bf16;           // of activations and unquantised weights
  std::optional<Dtype> weight_dtype;   // of quantised linear weights
  // Every layer belongs to one kind of attention and one of MLPs, in the order in which a forward
  // pass is priced. The figures of heads and of the dense MLP above are those of the first kind
  // that has them.
  std::vector<AttentionLayers> attentions;
  std::vector<MlpLayers> mlps;
  bool uniform = true;      // the figures above describe every kind: the description lists none
  int left_out_blocks = 0;  // of attention or MLP, in layers that go without one of both
  bool qk_norm = false;     // norms of q and k per head
  bool qk_norm_across_heads = false;  // of all heads together: ranks must add up their squares
  int streams = 0;                    // residual streams that every block mixes; 0 or 1: one
  std::vector<NgramTable> ngram_tables;
  int mtp_layers = 0;                 // multi-token prediction layers: not in any count of weights
  std::optional<ItemEncoder> vision;  // takes memory; its weights are in no count
  std::optional<ItemEncoder> audio;   // the same of sounds
  StatedFormats weights;              // formats of classes of weights, over weight_dtype
  std::optional<Dtype> kv_dtype;      // of the KV cache, where the release states it
  std::vector<Release> releases;      // in other formats
  // Formats of the weights that are published under an alias, and that of the alias under which the
  // model was asked for: what a deployment that states none has.
  std::vector<std::pair<std::string, Dtype>> alias_formats;
  std::optional<Dtype> asked_format;
  std::optional<Sampling> sampling;  // where a generation_config.json is known
  std::vector<ModelNote> notes;      // what the file says and this description leaves out

  /// The routed experts of the first layers that have some, and the latent attention of the first
  /// such layers; null where there are none.
  const MixtureOfExperts* experts() const;
  const LatentAttention* latent() const;
  /// Layers that keep a growing KV cache.
  int full_attention_layers() const;
  int linear_attention_layers() const;
  int moe_layers() const;
  /// Layers with a dense MLP: all of them without experts.
  int dense_mlp_layers() const;
  /// Every weight, embeddings and norms included.
  double parameters() const;
  /// As published ("3B active"): every weight except those of the experts that a token does not
  /// visit. The input embedding counts in full, which is what the published figures do.
  double active_parameters() const;
  /// KV cache of one token over all layers whose cache grows, at tensor parallel degree 1.
  /// Attention 2 g D per layer; latent attention kv_lora_rank + qk_rope_head_dim.
  Bytes kv_bytes_per_token(Dtype kv_dtype) const;
  /// The same over all layers with a window or chunk: as long as the bound is not reached.
  Bytes kv_bounded_bytes_per_token(Dtype kv_dtype) const;
  /// Cache of those layers for one request of so many tokens.
  Bytes kv_bounded_bytes(Dtype kv_dtype, double tokens) const;
  /// State of one request in the recurrent layers, whatever its length (AttentionLayers).
  Bytes state_bytes_per_request() const;
};

/// By shipped name or alias (case, '/', '_' and org prefixes do not matter), or a path to a
/// config.json, a folder holding one, or a .toml. @throws Error naming file, line or key, with
/// suggestions; of a file of the user also where one of its aliases is a name of a shipped model
/// with other shapes. What `alias_changes` of a file says of the name that is asked for replaces
/// the file's own. Kinds of layers that are files lie in layers/ beside the model's own file, below
/// one of the folders `beside`, or in scripts/layers of `home`.
Model load_model(const std::string& name_or_path, const std::filesystem::path& home,
                 const std::vector<std::filesystem::path>& beside = {});
/// The model that `changes` names in `from`, with other values: every other key of `changes`
/// replaces the one of the model's own file, and false leaves out a table or a list. A list of
/// kinds also replaces the table that it makes useless: `attention` replaces hybrid, `mlp` moe.
/// Without a `name` it is called as that model with a '+'. @throws Error as load_model() does
Model load_changed_model(const Json& changes, const std::string& origin,
                         const std::filesystem::path& home,
                         const std::vector<std::filesystem::path>& beside = {});
/// From a table of a script, whose keys are those of a config.json or of a .toml. @throws Error as
/// load_model() does
Model load_model_table(const Json& document, const std::string& origin,
                       const std::filesystem::path& home,
                       const std::vector<std::filesystem::path>& beside = {});
/// The files that load_model() reads for a path, also those that may lie beside a config.json and
/// do not; nothing for a name.
std::vector<std::filesystem::path> model_files(const std::filesystem::path& path);
Model model_from_config_json(const std::filesystem::path& path);
Model model_from_toml(const std::filesystem::path& path);
/// From a value: the keys of a config.json (if it has `num_hidden_layers` or `text_config`), else
/// those of our TOML. `name` is used where the document has none, `origin` stands for it in
/// messages. `folders` are looked into for files of kinds of layers.
Model model_from_document(const Json& document, const std::string& name, const std::string& origin,
                          const std::vector<std::filesystem::path>& folders = {});
/// Checks ranges and relations (heads % kv_heads, experts_per_token <= experts ...). @throws Error
void validate(const Model& model, std::string_view where);
/// @throws Error naming both files where two shipped models claim one name
void check_model_names(const std::filesystem::path& home);
/// Shipped model names, sorted.
std::vector<std::string> model_names(const std::filesystem::path& home);

}  // namespace rooflua
