#include "spec/figures/model.h"

#include "spec/figures/rows.h"
#include "spec/layer_kinds.h"

namespace rooflua {

namespace {

using namespace limits;
using Stated::needed, Stated::open;

constexpr auto sampling_rows = rows_of<Sampling>(
    figure<&Sampling::temperature>("temperature", "of the logits", 0, 100, open,
                                   "0: the most probable token"),
    figure<&Sampling::top_p>("top_p", "of the probability", 1e-6, 1, open, "1: all tokens"),
    figure<&Sampling::top_k>("top_k", "tokens", 0, 1e8, open, "0: all tokens"),
    figure<&Sampling::min_p>("min_p", "of the largest probability", 0, 1, open, "0: all tokens"),
    figure<&Sampling::repetition_penalty>("repetition_penalty", "of a logit", 1e-6, 100, open,
                                          "1: none"),
    computed<Sampling, &Sampling::sorts>("sorts", "boolean",
                                         "whether the logits of a request are sorted"),
    figure<&Sampling::source>("source", open, "where the values were published"));

constexpr auto projection_rows = rows_of<Projection>(
    figure<&Projection::inputs>("inputs", "elements", 1, mlp_width, needed, "of a row"),
    figure<&Projection::outputs>("outputs", "elements", 1, mlp_width, needed, "of a result"),
    figure<&Projection::times>("times", "matrices", 1, most_layers, open, "that are alike"),
    figure<&Projection::per_patch>("per_patch", open,
                                   "rows are patches; false: tokens of the language model"),
    figure<&Projection::rows>("rows", "rows", 1e-6, 1e6, open,
                              "for each patch, of a matrix in front of the layers"));

constexpr auto encoder_rows = rows_of<ItemEncoder>(
    figure<&ItemEncoder::parameters>("parameters", "parameters", 1, 1e12, needed,
                                     "with what projects its output"),
    figure<&ItemEncoder::hidden_size>("hidden_size", "elements", 1, most_width, needed,
                                      "of a patch"),
    figure<&ItemEncoder::intermediate_size>("intermediate_size", "elements", 1, mlp_width, needed,
                                            "of its MLPs"),
    figure<&ItemEncoder::patches_per_token>("patches_per_token", "patches", 1, 1e6, open,
                                            "that become one token of the language model"),
    figure<&ItemEncoder::image_tokens>("image_tokens", "tokens", 0, 1e9, open,
                                       "of the largest image; 0: what its processor says"),
    figure<&ItemEncoder::layers>("layers", "layers", 0, most_layers, open,
                                 "of the encoder; 0: its time is not known"),
    figure<&ItemEncoder::heads>("heads", "heads", 0, most_heads, open, "of its attention"),
    figure<&ItemEncoder::gated>("gated", open, "MLPs of gate, up, down; false: up, down"),
    figure<&ItemEncoder::patch_size>("patch_size", "pixels", 0, 1e4, open, "a side of a patch"),
    figure<&ItemEncoder::channels>("channels", "channels", 1, 1e4, open, "of a pixel"),
    figure<&ItemEncoder::patch_frames>("patch_frames", "frames", 1, 1e4, open,
                                       "of a video that are one patch"),
    figure<&ItemEncoder::window>("window", "patches", 0, 1e9, open,
                                 "that attend to each other; 0: all of a frame"),
    figure<&ItemEncoder::whole_layers>("whole_layers", "layers", 0, most_layers, open,
                                       "that attend to all of a frame where others have a window"),
    part<&ItemEncoder::projector>("projector", open,
                                  "the matrices between its output and the language model"),
    part<&ItemEncoder::stem>("stem", open,
                             "matrices in front of its layers (convolutions); none: one over "
                             "pixels"),
    figure<&ItemEncoder::processor>("processor", open,
                                    "file of scripts/processors: tokens of an item by its size"),
    figure<&ItemEncoder::min_pixels>("min_pixels", "pixels", 0, 1e12, open,
                                     "that the processor scales an image up to; 0: its own"),
    figure<&ItemEncoder::max_pixels>("max_pixels", "pixels", 0, 1e12, open,
                                     "that it scales an image down to; 0: its own"),
    figure<&ItemEncoder::edge>("edge", "pixels", 0, 1e6, open,
                               "longest side of an image, or of a tile; 0: the processor's own"),
    figure<&ItemEncoder::tiles>("tiles", "tiles", 0, 1e4, open,
                                "most tiles of an image; 0: the processor's own"),
    computed<ItemEncoder, &ItemEncoder::embedding_width>(
        "embedding_width", "elements",
        "of an embedding, once for each layer that it feeds; 0: not known"),
    figure<&ItemEncoder::source>("source", open, "where the values were published").hidden());

constexpr auto ngram_rows = rows_of<NgramTable>(
    figure<&NgramTable::rows>("rows", "rows", 0, 1e12, needed, "of the table; 0: there is none"),
    figure<&NgramTable::columns>("columns", "elements", 1, most_width, needed, "of a row"),
    figure<&NgramTable::rows_per_token>("rows_per_token", "rows", 0, 1e6, open,
                                        "that a token reads"),
    figure<&NgramTable::dtype>("dtype", open, "of its elements"),
    figure<&NgramTable::on_host>("on_host", open,
                                 "in the memory of the host, rows of which cross its link"));

constexpr auto note_rows = rows_of<ModelNote>(
    figure<&ModelNote::text>("text", needed, "the sentence"),
    word<&ModelNote::touches, touched_words>("touches", open,
                                             "operations whose price it makes doubtful"),
    figure<&ModelNote::beyond_tokens>("beyond_tokens", "tokens", 0, 1e9, open,
                                      "only batches with a longer context are touched"));

Json linear_format(const Model& model) {
  return name(model.weight_dtype.value_or(model.dtype));
}
Json asked_format(const Model& model) {
  return model.asked_format ? name(*model.asked_format) : "";
}
Json context_caps(const Model& model) {
  Json out = Json::array();
  for (const int cap : context_limits(model).caps) out.push_back(cap);
  return out;
}
Json context_chunk(const Model& model) {
  return context_limits(model).chunk;
}

Json ngram_tables_of(const Model& model) {
  if (model.ngram_tables.empty()) return {};
  Json out = Json::array();
  for (const NgramTable& each : model.ngram_tables) out.push_back(figures_json(each));
  return out;
}

constexpr auto model_rows = rows_of<Model>(
    figure<&Model::name>("name", open, "how it is called; left out: as its file"),
    computed<Model, &Model::origin>("origin", "string", "file that it was read from"),
    figure<&Model::source>("source", open, "where the figures were published").hidden(),
    figure<&Model::family>("family", open,
                           "the architecture by its word in config.json (model_type), as "
                           "\"qwen3_moe\"; \"\" where none is known"),
    figure<&Model::aliases>("aliases", open, "other names").hidden(),
    figure<&Model::layers>("layers", "layers", 1, most_layers, needed, "of the language model"),
    figure<&Model::hidden_size>("hidden_size", "elements", 1, most_width, needed, "between layers"),
    figure<&Model::heads>("heads", "heads", 1, most_heads, needed, "of queries"),
    figure<&Model::kv_heads>("kv_heads", "heads", 1, most_heads, open,
                             "of keys and values; left out: as many as heads"),
    figure<&Model::head_dim>("head_dim", "elements", 1, head_width, open,
                             "of queries and keys; left out: hidden_size / heads"),
    figure<&Model::intermediate_size>("intermediate_size", "elements", 0, mlp_width, open,
                                      "of the dense MLP"),
    figure<&Model::vocab_size>("vocab_size", "tokens", 1, 1e8, needed, "of the vocabulary"),
    figure<&Model::max_model_len>("max_model_len", "tokens", 0, 1e9, open, "0: not stated"),
    figure<&Model::tied_embeddings>("tied_embeddings", open, "the LM head is the input embedding"),
    figure<&Model::attention_bias>("attention_bias", open, "on q, k and v"),
    figure<&Model::attention_output_gate>("attention_output_gate", open,
                                          "the q projection also yields a gate of its own size")
        .hidden(),
    figure<&Model::gated_mlp>("gated_mlp", open, "gate, up, down; false: up, down"),
    figure<&Model::dtype>("dtype", open, "of activations and unquantised weights"),
    figure<&Model::weight_dtype>("weight_dtype", open, "of linear weights; left out: dtype")
        .hidden(),
    computed<Model, linear_format>("weight_dtype", "string", "of linear weights"),
    figure<&Model::kv_dtype>("kv_dtype", open, "of the KV cache, where the release states it")
        .hidden(),
    computed<Model, &Model::full_attention_layers>("full_attention_layers", "integer",
                                                   "layers with a growing KV cache"),
    computed<Model, &Model::moe_layers>("moe_layers", "integer", "layers with routed experts"),
    figure<&Model::qk_norm>("qk_norm", open, "norms of q and k per head"),
    figure<&Model::qk_norm_across_heads>("qk_norm_across_heads", open,
                                         "of all heads together: ranks add up their squares")
        .hidden(),
    part<&Model::notes>("notes", Stated::elsewhere,
                        "what its file says and this description leaves out"),
    part<&Model::attentions>("attention", Stated::elsewhere,
                             "the kinds of attention, in the order in which they are priced"),
    part<&Model::mlps>("mlp", Stated::elsewhere, "the kinds of MLPs"),
    computed<Model, &Model::uniform>("uniform", "boolean",
                                     "whether the figures above describe every layer"),
    figure<&Model::streams>("streams", "streams", 0, 64, open,
                            "of residuals, which every block mixes; nil or 1: one")
        .unless_zero(),
    part<&Model::ngram_tables>("ngram_tables", open, "tables of embeddings of several tokens")
        .hidden(),
    computed<Model, ngram_tables_of>("ngram_tables", "rooflua.NgramTable[]?",
                                     "tables of embeddings of several tokens; nil without one"),
    figure<&Model::mtp_layers>("mtp_layers", "layers", 0, most_layers, open,
                               "for multi-token prediction, which nothing counts"),
    computed<Model, asked_format>("asked_format", "string",
                                  "format of the weights published under the alias that it was "
                                  "asked for by; \"\" = its own"),
    computed<Model, context_caps>("context_caps", "integer[]",
                                  "tokens at which attention of some layers stops to grow"),
    computed<Model, context_chunk>("context_chunk", "integer",
                                   "tokens of a chunk of attention; 0 = none"),
    part<&Model::sampling>("sampling", open, "what its generation_config.json asks for"),
    part<&Model::vision>("vision", open, "the encoder of images"),
    part<&Model::audio>("audio", open, "the encoder of sounds"));

constexpr auto short_rows = rows_of<ShortForm>(
    part<&ShortForm::moe>("moe", open, "routed experts; nil in a dense model"),
    part<&ShortForm::mla>("mla", open, "latent attention"),
    part<&ShortForm::hybrid>("hybrid", open, "recurrent layers at a regular interval"));

}  // namespace

template <>
const FigureTable& figures<Sampling>() {
  static const FigureTable table = table_of<Sampling>(
      "Sampling", "how tokens are drawn if a request does not say", sampling_rows);
  return table;
}

template <>
const FigureTable& figures<NgramTable>() {
  static const FigureTable table = table_of<NgramTable>(
      "NgramTable", "embeddings of the last few tokens together, looked up in a table", ngram_rows);
  return table;
}

template <>
const FigureTable& figures<Projection>() {
  static const FigureTable table = table_of<Projection>(
      "Projection", "matrices of what projects the output of an encoder", projection_rows);
  return table;
}

template <>
const FigureTable& figures<ItemEncoder>() {
  static const FigureTable table = table_of<ItemEncoder>(
      "ItemEncoder", "an encoder of images or sounds, which counts of the language model leave out",
      encoder_rows);
  return table;
}

template <>
const FigureTable& figures<ModelNote>() {
  static const FigureTable table = table_of<ModelNote>(
      "ModelNote", "a sentence about what its description leaves out", note_rows);
  return table;
}

template <>
const FigureTable& figures<Model>() {
  static const FigureTable table = table_of<Model>("Model", "a transformer", model_rows);
  return table;
}

template <>
const FigureTable& figures<ShortForm>() {
  static const FigureTable table = table_of<ShortForm>(
      "ShortForm", "the kinds of layers of a model where all are alike", short_rows);
  return table;
}

}  // namespace rooflua
