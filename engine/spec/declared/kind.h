#pragma once
// A kind of attention or MLP that a Lua file declares (scripts/layers): weights, what a request
// keeps, and the operations of a pass as sums of symbols. It is read once, when a model is, so no
// Lua runs in a step.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/vocabulary.h"
#include "spec/dtype.h"

namespace rooflua::declared {

/// How ranks of tensor parallelism divide a weight, a cache or an operation.
enum class Split {
  none,     // each rank has the whole
  columns,  // a weight's outputs
  rows,     // a weight's inputs
  heads,    // a cache or an operation
};
inline constexpr Word<Split> split_words[] = {
    {Split::none, "none", "every rank has the whole"},
    {Split::columns, "columns", "the outputs of a weight"},
    {Split::rows, "rows", "the inputs of a weight"},
    {Split::heads, "heads", "a cache, or the work of an operation"},
};
static_assert(in_order(split_words));

/// The part of one rank of `tp`. Of fewer pieces (`heads`) than ranks, each is on several ranks.
/// `heads` 0: any number divides. Nothing where they do not divide.
std::optional<double> part_of(Split split, int heads, int tp);

/// One matrix, or `elements` small numbers. `weight_class` -1: small (norms, biases), in the
/// model's own format.
struct Weight {
  std::string name;
  double rows = 1, columns = 0;
  int weight_class = -1;
  Split split = Split::none;
  int heads = 0;
  bool bias = false;  // one of as many columns, in the model's own format
  double elements() const { return rows * columns; }
};

enum class CacheKind { token, window, state };
inline constexpr Word<CacheKind> cache_words[] = {
    {CacheKind::token, "token", "grows with every token"},
    {CacheKind::window, "window", "of the last `window` tokens"},
    {CacheKind::state, "state", "of a request, whatever its length"},
};
static_assert(in_order(cache_words));

/// Elements of a vector that is kept: keys or values of one of these heads, or all of them.
constexpr double vector_width(double elements, int heads) {
  return heads > 0 ? elements / heads / 2 : elements;
}

/// What a layer keeps of a request. `format` empty: that of the KV cache.
struct Cache {
  CacheKind kind = CacheKind::token;
  double elements = 0;  // of a token, or of a request
  std::optional<Dtype> format;
  int window = 0;    // tokens
  int inputs = 0;    // of a state: the last tokens whose inputs it is, alike; 0: it is no such
  double every = 1;  // tokens that share one entry
  Split split = Split::none;
  int heads = 0;
  bool on_host = false;  // of tokens: in the memory of the host, which is taken to have room
  double bytes(Dtype kv) const {
    return elements / every * cached_bytes(format.value_or(kv), vector_width(elements, heads));
  }
};

/// The tokens before a new one that it computes with.
enum class BoundForm { none, window, top, chunk };
inline constexpr Word<BoundForm> bound_words[] = {
    {BoundForm::none, "none", "all of them"},
    {BoundForm::window, "window", "the last ones, itself included"},
    {BoundForm::top, "top", "those that are selected"},
    {BoundForm::chunk, "chunk", "those of its own chunk"},
};
static_assert(in_order(bound_words));

struct Bound {
  BoundForm form = BoundForm::none;
  int tokens = 0;
  bool operator==(const Bound&) const = default;
};

enum class Symbol { one, tokens, requests, pairs, context };
inline constexpr Word<Symbol> symbol_words[] = {
    {Symbol::one, "one", "a number"},
    {Symbol::tokens, "tokens", "new tokens of a step"},
    {Symbol::requests, "requests", "requests of a step"},
    {Symbol::pairs, "pairs", "pairs of a new token and a token that it computes with"},
    {Symbol::context, "context", "tokens of the cache that are read"},
};
static_assert(in_order(symbol_words));
inline constexpr std::size_t symbols = std::size(symbol_words);
/// A factor for each symbol.
using Sum = std::array<double, symbols>;

enum class OpKind { gemm, attention, work, elementwise };

/// One operation of a layer.
struct Operation {
  OpKind kind = OpKind::gemm;
  std::string name;
  std::vector<std::size_t> weights;  // of a gemm: which are multiplied at once
  int rows = 0;                      // of a gemm: 0 all tokens, 1 prompts, 2 decodes
  double elements = 0;               // elementwise: in and out, of one token
  double cache_elements = 0;         // and those in the format of the KV cache
  std::string_view kernel = {};      // of elementwise: whose measured rows stand for it
  Bound bound;                       // of attention and work
  int heads = 0, kv_heads = 0, head_dim = 0, v_head_dim = 0;  // of attention
  bool one_vector = false;                                    // that is key and value of a token
  Sum flop{}, bytes{};                                        // of work
  Dtype format = Dtype::bf16;                                 // in which work multiplies
  double mfu = 0;                                             // of work; 0: the step model's own
  bool from_host = false;  // of work: its bytes cross the link of the host
  Split split = Split::none;
};

/// A kind with the parameters of one group of layers.
struct Kind {
  std::string name;  // of the file, without .lua
  std::string file;  // as messages name it
  std::string doc;
  bool runs_as_full = false;  // engines run kernels of full attention for it
  Json parameters;            // with the values in force
  std::vector<Weight> weights;
  std::vector<Cache> caches;
  std::vector<Operation> operations;

  const Operation* attention() const;
  bool grows() const;
  /// Sums over what a layer keeps on one rank: bytes of a token without bound, of one in a window,
  /// of a request.
  double cache_bytes(CacheKind kind, Dtype kv, int tp) const;
  int window() const;
  /// Tokens whose inputs are all that a request's state is; 0 where some of it is no such.
  int state_inputs() const;
  /// Of an MLP: elements of a token that its matrices read and write besides the hidden states.
  double inner_elements() const;
  /// @throws Error if a weight, a cache or work does not divide by tp
  void check_split(int tp) const;
};
using KindPointer = std::shared_ptr<const Kind>;

/// What files are told of a model: its figures by their names.
struct ModelFigures {
  int layers = 0, hidden_size = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate_size = 0;
  bool attention_bias = false;
};

}  // namespace rooflua::declared
