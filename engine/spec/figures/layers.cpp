#include "spec/figures/model.h"
#include "spec/figures/rows.h"

namespace rooflua {

namespace {

using namespace limits;
using Stated::needed, Stated::open;

using Experts = MixtureOfExperts;
constexpr auto experts_rows = rows_of<Experts>(
    figure<&Experts::experts>("experts", "experts", 1, 1e5, needed, "of a layer"),
    figure<&Experts::experts_per_token>("experts_per_token", "experts", 1, 1e5, needed,
                                        "that each token visits"),
    figure<&Experts::intermediate_size>("intermediate_size", "elements", 1, mlp_width, needed,
                                        "of one expert"),
    figure<&Experts::shared_intermediate_size>("shared_intermediate_size", "elements", 0, mlp_width,
                                               open, "of all shared experts together; 0: none"),
    figure<&Experts::dense_layers>("dense_layers", "layers", 0, most_layers, open,
                                   "with a dense MLP")
        .apart(),
    figure<&Experts::latent_size>("latent_size", "elements", 0, most_width, open,
                                  "between a projection down, the experts and a projection up; "
                                  "0: none")
        .unless_zero());

using Latent = LatentAttention;
constexpr auto latent_rows = rows_of<Latent>(
    figure<&Latent::q_lora_rank>("q_lora_rank", "elements", 0, most_width, open,
                                 "0: queries are not compressed"),
    figure<&Latent::kv_lora_rank>("kv_lora_rank", "elements", 1, most_width, needed,
                                  "of the compressed keys and values of a token"),
    figure<&Latent::qk_nope_head_dim>("qk_nope_head_dim", "elements", 1, head_width, needed,
                                      "of queries and keys, without a position"),
    figure<&Latent::qk_rope_head_dim>("qk_rope_head_dim", "elements", 1, head_width, needed,
                                      "of queries and keys, with a position"),
    figure<&Latent::v_head_dim>("v_head_dim", "elements", 1, head_width, needed, "of values"));

constexpr auto delta_rows = rows_of<DeltaRule>(
    figure<&DeltaRule::full_attention_interval>("full_attention_interval", "layers", 1, most_layers,
                                                needed, "every n-th layer is full attention")
        .apart()
        .unless_zero(),
    word<&DeltaRule::rule, delta_words>("rule", open, "gdn: a gate per head; kda: per channel"),
    figure<&DeltaRule::conv_kernel>("conv_kernel", "tokens", 1, 1000, needed,
                                    "of the short convolution"),
    figure<&DeltaRule::key_heads>("key_heads", "heads", 1, most_heads, needed, "of keys"),
    figure<&DeltaRule::key_head_dim>("key_head_dim", "elements", 1, head_width, needed, "of keys"),
    figure<&DeltaRule::value_heads>("value_heads", "heads", 1, most_heads, needed, "of values"),
    figure<&DeltaRule::value_head_dim>("value_head_dim", "elements", 1, head_width, needed,
                                       "of values"));

constexpr auto mamba_rows = rows_of<Mamba2>(
    figure<&Mamba2::heads>("heads", "heads", 1, most_heads, needed, "of the state"),
    figure<&Mamba2::head_dim>("head_dim", "elements", 1, head_width, needed, "of one head"),
    figure<&Mamba2::groups>("groups", "groups", 1, most_heads, needed,
                            "of heads that share what is written and read"),
    figure<&Mamba2::state_size>("state_size", "elements", 1, head_width, needed,
                                "of the state, for each element of a head"),
    figure<&Mamba2::conv_kernel>("conv_kernel", "tokens", 1, 1000, needed,
                                 "of the short convolution"));

constexpr auto index_rows = rows_of<SparseIndex>(
    figure<&SparseIndex::heads>("heads", "heads", 1, most_heads, needed, "of the index")
        .written("index_heads"),
    figure<&SparseIndex::head_dim>("head_dim", "elements", 1, head_width, needed, "of one head")
        .written("index_head_dim"),
    figure<&SparseIndex::topk>("topk", "entries", 1, 1e9, needed,
                               "tokens that are selected; of block_sparse: blocks")
        .written("index_topk"),
    figure<&SparseIndex::block>("block", "tokens", 1, 1e6, open, "that are selected together")
        .written("index_block"),
    figure<&SparseIndex::own>("own", open, "false: the selection of another layer is used again")
        .written("own_index"));

constexpr auto compression_rows = rows_of<Compression>(
    figure<&Compression::ratio>("ratio", "tokens", 0, 1e6, needed,
                                "that become one entry of the cache; 0: there is a window only"),
    figure<&Compression::q_lora_rank>("q_lora_rank", "elements", 0, most_width, needed,
                                      "0: queries are not compressed"),
    figure<&Compression::qk_rope_head_dim>("qk_rope_head_dim", "elements", 1, head_width, needed,
                                           "of queries and keys, with a position"),
    figure<&Compression::o_lora_rank>("o_lora_rank", "elements", 1, most_width, needed,
                                      "between the two output projections"),
    figure<&Compression::o_groups>("o_groups", "groups", 1, most_heads, needed,
                                   "of heads in the first output projection"));

constexpr bool has_word(const AttentionLayers& each) {
  return each.kind != AttentionKind::declared;
}
constexpr bool is_declared(const AttentionLayers& each) {
  return each.kind == AttentionKind::declared;
}
Json parameters_of(const AttentionLayers& each) {
  return each.by_file ? each.by_file->parameters : Json();
}
Json keeps_state(const AttentionLayers& each) {
  return each.by_file &&
         each.by_file->cache_bytes(declared::CacheKind::state, Dtype::bf16, 1) > 0;
}
Json state_inputs(const AttentionLayers& each) {
  return each.by_file ? each.by_file->state_inputs() : 0;
}
/// {form, tokens} of the attention of a file; null where every token is computed with.
Json bound_of(const AttentionLayers& each) {
  const auto* op = each.by_file ? each.by_file->attention() : nullptr;
  if (op == nullptr || op->bound.form == declared::BoundForm::none) return {};
  Json out = Json::object();
  out["form"] = declared::bound_words[static_cast<std::size_t>(op->bound.form)].name;
  out["tokens"] = op->bound.tokens;
  return out;
}

Json kernels_of(const AttentionLayers& each) {
  return each.by_file && each.by_file->runs_as_full ? Json("full") : Json();
}
/// Formats of weights, and `kv`, that layers store as the model itself is released; null: none.
template <class Layers>
Json own_formats(const Layers& each) {
  if (!each.formats.any()) return {};
  Json out = Json::object();
  for (std::size_t i = 0; i < weight_classes; ++i)
    if (const auto own = each.formats.weights[i]) out[weight_class_words[i].name] = name(*own);
  if (each.formats.kv) out["kv"] = name(*each.formats.kv);
  return out;
}

constexpr bool attends(const AttentionLayers& each) {
  if (each.kind == AttentionKind::declared) return each.heads > 0;
  return each.kind != AttentionKind::delta && each.kind != AttentionKind::mamba2;
}
template <AttentionKind... kinds>
constexpr bool is(const AttentionLayers& each) {
  return ((each.kind == kinds) || ...);
}
using Kind = AttentionKind;
using Attention = AttentionLayers;
constexpr auto attention_rows = rows_of<Attention>(
    word<&Attention::kind, attention_words>("kind", needed,
                                            "what a token attends to, or the name of a file in "
                                            "layers/attention")
        .only<has_word>(),
    computed<Attention, &Attention::kind_name>("kind", "string", "the name of its file")
        .only<is_declared>(),
    computed<Attention, &Attention::name>("name", "string",
                                          "the kind; with a number where a model has several"),
    figure<&Attention::layers>("layers", "layers", 1, most_layers, needed, "of this kind"),
    figure<&Attention::visits>("visits", "visits", 0, 1000, open,
                               "of a pass to each of them, as in a loop; 0 or left out: one")
        .unless_zero(),
    figure<&Attention::prefill_tail>("prefill_tail", "tokens", 0, 1e9, open,
                                     "last ones of a prompt, which alone run through these "
                                     "layers; 0 or left out: all")
        .unless_zero(),
    figure<&Attention::heads>("heads", "heads", 1, most_heads, open,
                              "of queries; left out: the model's")
        .only<attends>(),
    figure<&Attention::kv_heads>("kv_heads", "heads", 1, most_heads, open,
                                 "of keys and values; left out: the model's")
        .only<attends>(),
    figure<&Attention::head_dim>("head_dim", "elements", 1, head_width, open,
                                 "of queries and keys; left out: the model's")
        .only<attends>(),
    figure<&Attention::v_head_dim>("v_head_dim", "elements", 1, head_width, open,
                                   "of values; left out: head_dim")
        .only<attends>(),
    figure<&Attention::bias>("bias", open, "on q, k and v").only<attends>().hidden(),
    figure<&Attention::output_gate>("output_gate", open,
                                    "the q projection also yields a gate of its own size")
        .only<attends>(),
    figure<&Attention::shared_key_value>("shared_key_value", open,
                                         "one projection yields keys and values")
        .only<attends>()
        .hidden(),
    figure<&Attention::window>("window", "tokens", 1, 1e9, needed,
                               "the last tokens, itself included")
        .only<is<Kind::window, Kind::compressed>>(),
    part<&Attention::latent>("latent", needed, "of latent and latent_sparse")
        .only<is<Kind::latent, Kind::latent_sparse>>()
        .among(),
    part<&Attention::index>("index", needed, "of latent_sparse, block_sparse and compressed")
        .only<is<Kind::latent_sparse, Kind::block_sparse>>()
        .among(),
    part<&Attention::index>("index", open, "of compressed").only<is<Kind::compressed>>().among(),
    part<&Attention::compression>("compression", needed, "of compressed")
        .only<is<Kind::compressed>>()
        .among(),
    part<&Attention::delta>("delta", needed, "of delta").only<is<Kind::delta>>().among(),
    part<&Attention::mamba>("mamba", needed, "of mamba2").only<is<Kind::mamba2>>().among(),
    computed<Attention, parameters_of>("parameters", "table", "of a kind that is a file")
        .only<is_declared>(),
    computed<Attention, bound_of>("bound", "table",
                                  "of a kind that is a file: the form and the tokens of what "
                                  "its attention computes with")
        .only<is_declared>(),
    computed<Attention, keeps_state>("keeps_state", "boolean",
                                     "of a kind that is a file: whether requests have a state")
        .only<is_declared>(),
    computed<Attention, state_inputs>("state_inputs", "integer",
                                      "of a kind that is a file: tokens whose inputs are that "
                                      "whole state, or 0")
        .only<is_declared>(),
    computed<Attention, kernels_of>("kernels", "string",
                                    "of a kind that is a file: full, if engines run kernels of "
                                    "full attention for it")
        .only<is_declared>(),
    computed<Attention, own_formats<Attention>>("formats", "table",
                                                "of these layers alone, by class of weights"));

template <MlpKind... kinds>
constexpr bool is_mlp(const MlpLayers& each) {
  return ((each.kind == kinds) || ...);
}
constexpr bool has_mlp_word(const MlpLayers& each) {
  return each.kind != MlpKind::declared;
}
Json mlp_parameters_of(const MlpLayers& each) {
  return each.by_file ? each.by_file->parameters : Json();
}
Json inner_elements_of(const MlpLayers& each) {
  return each.by_file ? Json(each.by_file->inner_elements()) : Json();
}
constexpr auto mlp_rows = rows_of<MlpLayers>(
    word<&MlpLayers::kind, mlp_words>("kind", needed,
                                      "which MLPs a token visits, or the name of a file in "
                                      "layers/mlp")
        .only<has_mlp_word>(),
    computed<MlpLayers, &MlpLayers::kind_name>("kind", "string", "the name of its file")
        .only<is_mlp<MlpKind::declared>>(),
    computed<MlpLayers, &MlpLayers::name>("name", "string",
                                          "the kind; with a number where a model has several"),
    figure<&MlpLayers::layers>("layers", "layers", 1, most_layers, needed, "of this kind"),
    figure<&MlpLayers::visits>("visits", "visits", 0, 1000, open, "as those of attention")
        .unless_zero(),
    figure<&MlpLayers::prefill_tail>("prefill_tail", "tokens", 0, 1e9, open,
                                     "as those of attention")
        .unless_zero(),
    figure<&MlpLayers::intermediate_size>("intermediate_size", "elements", 1, mlp_width, open,
                                          "of the dense MLP; 0: there is none")
        .only<is_mlp<MlpKind::dense>>(),
    figure<&MlpLayers::intermediate_size>("intermediate_size", "elements", 1, mlp_width, needed,
                                          "of the dense MLP")
        .written("dense_intermediate_size")
        .only<is_mlp<MlpKind::both>>(),
    figure<&MlpLayers::intermediate_size>("intermediate_size", Stated::elsewhere, "")
        .only<is_mlp<MlpKind::moe>>(),
    figure<&MlpLayers::gated>("gated", open, "gate, up, down; false: up, down")
        .only<has_mlp_word>(),
    computed<MlpLayers, mlp_parameters_of>("parameters", "table", "of a kind that is a file")
        .only<is_mlp<MlpKind::declared>>(),
    computed<MlpLayers, inner_elements_of>("inner_elements", "number",
                                           "of a kind that is a file: elements of a token between "
                                           "its matrices")
        .only<is_mlp<MlpKind::declared>>(),
    computed<MlpLayers, own_formats<MlpLayers>>("formats", "table",
                                                "of these layers alone, by class of weights"),
    part<&MlpLayers::moe>("moe", needed, "of moe and both")
        .only<is_mlp<MlpKind::moe, MlpKind::both>>()
        .among());

}  // namespace

template <>
const FigureTable& figures<Experts>() {
  static const FigureTable table =
      table_of<Experts>("MixtureOfExperts", "MLPs of which each token visits some", experts_rows);
  return table;
}

template <>
const FigureTable& figures<Latent>() {
  static const FigureTable table = table_of<Latent>(
      "LatentAttention", "keys and values as one compressed vector per token", latent_rows);
  return table;
}

template <>
const FigureTable& figures<DeltaRule>() {
  static const FigureTable table = table_of<DeltaRule>(
      "DeltaRule", "recurrent layers with a matrix per head, which the delta rule updates",
      delta_rows);
  return table;
}

template <>
const FigureTable& figures<Mamba2>() {
  static const FigureTable table =
      table_of<Mamba2>("Mamba2", "recurrent layers of a state space", mamba_rows);
  return table;
}

template <>
const FigureTable& figures<SparseIndex>() {
  static const FigureTable table = table_of<SparseIndex>(
      "SparseIndex", "the index of sparse attention, which scores every token before its own",
      index_rows);
  return table;
}

template <>
const FigureTable& figures<Compression>() {
  static const FigureTable table = table_of<Compression>(
      "Compression", "compressed attention with one vector of keys and values for all heads",
      compression_rows);
  return table;
}

template <>
const FigureTable& figures<Attention>() {
  static const FigureTable table = table_of<Attention>(
      "AttentionLayers", "layers whose attention is alike; figures are the whole model's",
      attention_rows);
  return table;
}

template <>
const FigureTable& figures<MlpLayers>() {
  static const FigureTable table =
      table_of<MlpLayers>("MlpLayers", "layers whose MLP is alike", mlp_rows);
  return table;
}

}  // namespace rooflua
