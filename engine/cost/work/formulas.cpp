#include "cost/work/formulas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"

namespace rooflua::flop {

double gemm(double m, double k, double n) {
  return 2 * m * k * n;
}

double causal_pairs(double new_tokens, double context_tokens) {
  return new_tokens * context_tokens + new_tokens * (new_tokens + 1) / 2;
}

double dense_pairs(double new_tokens, double context_tokens) {
  return new_tokens * (context_tokens + new_tokens);
}

double window_pairs(double new_tokens, double context_tokens, double window) {
  // The first `growing` new tokens see everything before them, the rest see a full window.
  const double growing = std::clamp(window - context_tokens, 0.0, new_tokens);
  return causal_pairs(growing, context_tokens) + (new_tokens - growing) * window;
}

double half_square_pairs(double new_tokens, double context_tokens) {
  const double length = context_tokens + new_tokens;
  return length * length / 2;
}

double attention(double heads, double head_dim, double pairs) {
  return 4 * heads * head_dim * pairs;
}

double attention_prefill(double heads, double head_dim, double new_tokens, double context_tokens) {
  return attention(heads, head_dim, causal_pairs(new_tokens, context_tokens));
}

double attention_decode(double heads, double head_dim, double batch, double context_tokens_sum) {
  return attention(heads, head_dim, context_tokens_sum + batch);
}

double softmax(double heads, double pairs) {
  return 5 * heads * pairs;
}

double mla_expanded(double heads, double nope, double rope, double v_head_dim, double pairs) {
  return 2 * heads * (nope + rope + v_head_dim) * pairs;
}

double mla_absorbed(double heads, double kv_lora_rank, double rope, double pairs) {
  return 2 * heads * (2 * kv_lora_rank + rope) * pairs;
}

double gated_delta(double tokens, double value_heads, double key_head_dim, double value_head_dim) {
  return 7 * tokens * value_heads * key_head_dim * value_head_dim;
}

double state_space(double tokens, double heads, double head_dim, double state_size) {
  return 6 * tokens * heads * head_dim * state_size;
}

double short_convolution(double tokens, double channels, double kernel) {
  return 2 * tokens * channels * kernel;
}

double gated_mlp(double tokens, double hidden_size, double intermediate_size) {
  return 6 * tokens * hidden_size * intermediate_size;
}

double plain_mlp(double tokens, double hidden_size, double intermediate_size) {
  return 4 * tokens * hidden_size * intermediate_size;
}

double experts(double tokens, double experts_per_token, double hidden_size,
               double intermediate_size) {
  return gated_mlp(tokens * experts_per_token, hidden_size, intermediate_size);
}

}  // namespace rooflua::flop

namespace rooflua::bytes {

double weight(double k, double n, double element_bytes) {
  return k * n * element_bytes;
}

double gemm(double m, double k, double n, double in_bytes, double weight_bytes, double out_bytes) {
  return in_bytes * m * k + weight_bytes * k * n + out_bytes * m * n;
}

double kv(double tokens, double kv_heads, double head_dim, double element_bytes) {
  return 2 * tokens * kv_heads * head_dim * element_bytes;
}

double latent_kv(double tokens, double kv_lora_rank, double rope, double element_bytes) {
  return tokens * (kv_lora_rank + rope) * element_bytes;
}

double attention_prefill(double heads, double kv_heads, double head_dim, double new_tokens,
                         double context_tokens, double element_bytes, double kv_element_bytes) {
  return kv(context_tokens + new_tokens, kv_heads, head_dim, kv_element_bytes) +
         2 * new_tokens * heads * head_dim * element_bytes;
}

double attention_decode(double heads, double kv_heads, double head_dim, double batch,
                        double context_tokens_sum, double element_bytes, double kv_element_bytes) {
  return kv(context_tokens_sum + batch, kv_heads, head_dim, kv_element_bytes) +
         2 * batch * heads * head_dim * element_bytes;
}

double gated_delta_state(double key_heads, double key_head_dim, double value_heads,
                         double value_head_dim, double kernel, double state_element_bytes,
                         double element_bytes) {
  const double channels = 2 * key_heads * key_head_dim + value_heads * value_head_dim;
  return value_heads * key_head_dim * value_head_dim * state_element_bytes +
         channels * std::max(kernel - 1, 0.0) * element_bytes;
}

double touched_experts(double experts, double experts_per_token, double tokens) {
  if (experts <= 0 || experts_per_token >= experts) return tokens > 0 ? experts : 0;
  return -experts * std::expm1(tokens * std::log1p(-experts_per_token / experts));
}

double expert_weights(double experts, double experts_per_token, double tokens, double hidden_size,
                      double intermediate_size, double element_bytes) {
  return touched_experts(experts, experts_per_token, tokens) * 3 * hidden_size * intermediate_size *
         element_bytes;
}

double padded_vocabulary(double vocab_size, double tp) {
  const double multiple = 64 * tp;
  return std::ceil(vocab_size / multiple) * multiple;
}

double lm_head(double hidden_size, double vocab_size, double tp, double element_bytes) {
  return weight(hidden_size, padded_vocabulary(vocab_size, tp) / tp, element_bytes);
}

double add_norm(double tokens, double hidden_size, double element_bytes) {
  return 4 * tokens * hidden_size * element_bytes;
}

double rope(double tokens, double heads, double kv_heads, double head_dim, double element_bytes) {
  return 2 * tokens * (heads + kv_heads) * head_dim * element_bytes;
}

double gated_activation(double tokens, double intermediate_size, double element_bytes) {
  return 3 * tokens * intermediate_size * element_bytes;
}

double embedding(double tokens, double hidden_size, double element_bytes) {
  return 2 * tokens * hidden_size * element_bytes;
}

double quantize(double tokens, double width, double element_bytes) {
  return tokens * width * (element_bytes + 1);
}

double combine_experts(double tokens, double experts_per_token, double hidden_size,
                       double element_bytes) {
  return tokens * (experts_per_token + 1) * hidden_size * element_bytes;
}

}  // namespace rooflua::bytes

namespace rooflua {
namespace {

template <auto function, std::size_t... I>
double call_with(const double* values, std::index_sequence<I...>) {
  return function(values[I]...);
}

template <typename... Doubles>
constexpr int arity_of(double (*)(Doubles...)) {
  return sizeof...(Doubles);
}

template <auto function>
constexpr Formula formula(std::string_view group, std::string_view name,
                          std::string_view arguments) {
  constexpr int arity = arity_of(function);
  return {group, name, arguments, arity, [](const double* values) {
            return call_with<function>(values, std::make_index_sequence<arity>());
          }};
}

#define ROOFLUA_FORMULA(group, name, arguments) formula<&group::name>(#group, #name, arguments)
constexpr std::array kFormulas{
    ROOFLUA_FORMULA(flop, gemm, "m, k, n"),
    ROOFLUA_FORMULA(flop, causal_pairs, "new_tokens, context_tokens"),
    ROOFLUA_FORMULA(flop, dense_pairs, "new_tokens, context_tokens"),
    ROOFLUA_FORMULA(flop, window_pairs, "new_tokens, context_tokens, window"),
    ROOFLUA_FORMULA(flop, half_square_pairs, "new_tokens, context_tokens"),
    ROOFLUA_FORMULA(flop, attention, "heads, head_dim, pairs"),
    ROOFLUA_FORMULA(flop, attention_prefill, "heads, head_dim, new_tokens, context_tokens"),
    ROOFLUA_FORMULA(flop, attention_decode, "heads, head_dim, batch, context_tokens_sum"),
    ROOFLUA_FORMULA(flop, softmax, "heads, pairs"),
    ROOFLUA_FORMULA(flop, mla_expanded, "heads, nope, rope, v_head_dim, pairs"),
    ROOFLUA_FORMULA(flop, mla_absorbed, "heads, kv_lora_rank, rope, pairs"),
    ROOFLUA_FORMULA(flop, gated_delta, "tokens, value_heads, key_head_dim, value_head_dim"),
    ROOFLUA_FORMULA(flop, state_space, "tokens, heads, head_dim, state_size"),
    ROOFLUA_FORMULA(flop, short_convolution, "tokens, channels, kernel"),
    ROOFLUA_FORMULA(flop, gated_mlp, "tokens, hidden_size, intermediate_size"),
    ROOFLUA_FORMULA(flop, plain_mlp, "tokens, hidden_size, intermediate_size"),
    ROOFLUA_FORMULA(flop, experts, "tokens, experts_per_token, hidden_size, intermediate_size"),
    ROOFLUA_FORMULA(bytes, weight, "k, n, element_bytes"),
    ROOFLUA_FORMULA(bytes, gemm, "m, k, n, in_bytes, weight_bytes, out_bytes"),
    ROOFLUA_FORMULA(bytes, kv, "tokens, kv_heads, head_dim, element_bytes"),
    ROOFLUA_FORMULA(bytes, latent_kv, "tokens, kv_lora_rank, rope, element_bytes"),
    ROOFLUA_FORMULA(bytes, attention_prefill,
                    "heads, kv_heads, head_dim, new_tokens, context_tokens, element_bytes, "
                    "kv_element_bytes"),
    ROOFLUA_FORMULA(bytes, attention_decode,
                    "heads, kv_heads, head_dim, batch, context_tokens_sum, element_bytes, "
                    "kv_element_bytes"),
    ROOFLUA_FORMULA(bytes, gated_delta_state,
                    "key_heads, key_head_dim, value_heads, value_head_dim, kernel, "
                    "state_element_bytes, element_bytes"),
    ROOFLUA_FORMULA(bytes, touched_experts, "experts, experts_per_token, tokens"),
    ROOFLUA_FORMULA(bytes, expert_weights,
                    "experts, experts_per_token, tokens, hidden_size, intermediate_size, "
                    "element_bytes"),
    ROOFLUA_FORMULA(bytes, padded_vocabulary, "vocab_size, tp"),
    ROOFLUA_FORMULA(bytes, lm_head, "hidden_size, vocab_size, tp, element_bytes"),
    ROOFLUA_FORMULA(bytes, add_norm, "tokens, hidden_size, element_bytes"),
    ROOFLUA_FORMULA(bytes, rope, "tokens, heads, kv_heads, head_dim, element_bytes"),
    ROOFLUA_FORMULA(bytes, gated_activation, "tokens, intermediate_size, element_bytes"),
    ROOFLUA_FORMULA(bytes, embedding, "tokens, hidden_size, element_bytes"),
    ROOFLUA_FORMULA(bytes, quantize, "tokens, width, element_bytes"),
    ROOFLUA_FORMULA(bytes, combine_experts,
                    "tokens, experts_per_token, hidden_size, element_bytes"),
};
#undef ROOFLUA_FORMULA

/// The i-th name of a comma-separated list.
std::string argument_name(std::string_view list, std::size_t i) {
  for (; i > 0; --i) list.remove_prefix(list.find(", ") + 2);
  return std::string(list.substr(0, list.find(", ")));
}

}  // namespace

double Formula::evaluate(std::span<const double> values) const {
  const std::string where = "cost." + std::string(group) + "." + std::string(name);
  if (values.size() != static_cast<std::size_t>(arity)) {
    throw Error(where, "expected " + std::to_string(arity) + " numbers (" + std::string(arguments) +
                           "), found " + std::to_string(values.size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && values[i] >= 0) continue;
    throw Error(where, argument_name(arguments, i) +
                           ": expected a finite number, 0 or more, found " +
                           std::to_string(values[i]));
  }
  const double result = call(values.data());
  if (!std::isfinite(result)) {
    throw Error(where, "these arguments have no finite result; zero ranks, or numbers too large?");
  }
  return result;
}

std::span<const Formula> formulas() {
  return kFormulas;
}

}  // namespace rooflua
