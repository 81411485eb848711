#pragma once
// Every FLOP and byte formula, in one place. All are plain functions of plain numbers (tokens,
// heads, elements, bytes per element), per rank if the shape given is per rank, for ONE run of the
// operation in ONE layer. A multiply-add is two flop.
//
// Symbols: m rows (tokens), k and n a weight's two sides, h query heads, g KV heads, D head
// dimension, t new tokens of a request, p tokens already in its KV cache, H hidden size, I MLP
// width, E experts, e bytes per element.
//
// Lua sees the same functions as cost.flop.* and cost.bytes.* through formulas() below.

#include <span>
#include <string_view>

namespace rooflua::flop {

/// [m,k] x [k,n] -> [m,n]: 2 m k n.
double gemm(double m, double k, double n);

/// Query-key pairs of t new tokens after p old ones under a causal mask: token i sees p + i keys.
///
///     sum over i = 1..t of (p + i)  =  t p + t (t + 1) / 2
///
/// Cutting a prompt into chunks conserves the sum exactly: P (P + 1) / 2 for a whole prompt.
double causal_pairs(double new_tokens, double context_tokens);
/// The same without a mask: t (p + t). What is computed when masked blocks are not skipped.
double dense_pairs(double new_tokens, double context_tokens);
/// Causal and at most `window` keys back, the token itself included (sliding-window attention).
double window_pairs(double new_tokens, double context_tokens, double window);
/// "Half of the square": S^2 / 2, S = p + t. The convention of published prefill tables; it differs
/// from causal_pairs by S / 2 for a fresh prompt and counts old pairs again for a chunk.
double half_square_pairs(double new_tokens, double context_tokens);

/// Scores and weighted values over some pairs: 2 h D for Q K^T, 2 h D for P V.
double attention(double heads, double head_dim, double pairs);
/// attention() over causal_pairs(): exact work of a prefill chunk.
double attention_prefill(double heads, double head_dim, double new_tokens, double context_tokens);
/// One new token per request: each sees its context (summed over requests) and itself.
double attention_decode(double heads, double head_dim, double batch, double context_tokens_sum);
/// Softmax over some pairs: maximum, subtract, exponential, sum, scale: 5 h per pair. Not on the
/// tensor cores; kept apart from attention().
double softmax(double heads, double pairs);

/// Latent attention, expanded to heads (prefill): keys are nope + rope wide, values v_head_dim.
double mla_expanded(double heads, double nope, double rope, double v_head_dim, double pairs);
/// Latent attention, absorbed (decode): queries live in the latent space, scores over
/// kv_lora_rank + rope, values over kv_lora_rank: 2 h (2 C + r) per pair.
/// @source DeepSeek-V2 (arXiv 2405.04434) 2.1; vLLM's MLA backend runs decode this way
double mla_absorbed(double heads, double kv_lora_rank, double rope, double pairs);

/// Gated delta rule, one token at a time: S <- a S (1 - b k k^T) + b v k^T, o = S q, per value head
/// on a [key_dim, value_dim] state: decay 1, S k 2, rank-one update 2, S q 2: 7 per state element.
/// @source Yang, Kautz, Hatamizadeh. Gated Delta Networks, arXiv 2412.06464
double gated_delta(double tokens, double value_heads, double key_head_dim, double value_head_dim);
/// State-space model (Mamba2), one token at a time, per head on a [head_dim, state_size] state:
/// decay 1, outer product 2, sum 1, y = S C 2: 6 per state element.
/// @source Dao, Gu. Transformers are SSMs, arXiv 2405.21060
double state_space(double tokens, double heads, double head_dim, double state_size);
/// Depthwise causal convolution of width c over `channels`: 2 c per element.
double short_convolution(double tokens, double channels, double kernel);

/// Gated MLP (gate, up, down): 6 H I per token; plain MLP (up, down): 4 H I.
double gated_mlp(double tokens, double hidden_size, double intermediate_size);
double plain_mlp(double tokens, double hidden_size, double intermediate_size);
/// Routed experts: every token runs a gated MLP in `experts_per_token` of them.
double experts(double tokens, double experts_per_token, double hidden_size,
               double intermediate_size);

}  // namespace rooflua::flop

namespace rooflua::bytes {

/// One [k,n] weight.
double weight(double k, double n, double element_bytes);
/// Everything a GEMM must move once: e_in m k + e_weight k n + e_out m n.
double gemm(double m, double k, double n, double in_bytes, double weight_bytes, double out_bytes);

/// Keys and values of some tokens in one layer: 2 g D e. Reading a context, or writing new tokens.
double kv(double tokens, double kv_heads, double head_dim, double element_bytes);
/// Latent KV of some tokens in one layer: (C + r) e, one copy on every rank, whatever tp is.
double latent_kv(double tokens, double kv_lora_rank, double rope, double element_bytes);
/// Prefill attention, each tensor once: K and V of p + t tokens, Q in and O out of t tokens.
/// `element_bytes` of Q and O, `kv_element_bytes` of the cache.
double attention_prefill(double heads, double kv_heads, double head_dim, double new_tokens,
                         double context_tokens, double element_bytes, double kv_element_bytes);
/// Decode attention: K and V of every request's context and new token, Q in and O out.
double attention_decode(double heads, double kv_heads, double head_dim, double batch,
                        double context_tokens_sum, double element_bytes, double kv_element_bytes);

/// Recurrent state of a gated-delta layer per request: value_heads [key_dim, value_dim] matrices
/// and the convolution's last c - 1 inputs.
double gated_delta_state(double key_heads, double key_head_dim, double value_heads,
                         double value_head_dim, double kernel, double state_element_bytes,
                         double element_bytes);

/// Of E experts, how many at least one of `tokens` visits under uniform routing of k each:
///
///     E (1 - (1 - k/E)^tokens)
///
/// A number of experts, not of bytes: it decides which weights a step reads.
double touched_experts(double experts, double experts_per_token, double tokens);
/// Weights of the experts that are touched: touched_experts() times gate, up and down (3 H I e).
double expert_weights(double experts, double experts_per_token, double tokens, double hidden_size,
                      double intermediate_size, double element_bytes);

/// Vocabulary padded to a multiple of 64 on each of tp ranks, and one rank's share of it.
/// @source vLLM VocabParallelEmbedding, DEFAULT_VOCAB_PADDING_SIZE = 64
double padded_vocabulary(double vocab_size, double tp);
/// LM head of one rank: H x padded V / tp.
double lm_head(double hidden_size, double vocab_size, double tp, double element_bytes);

/// Fused residual add and RMS norm: x and residual in, both out: 4 H e per token.
double add_norm(double tokens, double hidden_size, double element_bytes);
/// Rotary embedding in place on q and k: read and write (h + g) D.
double rope(double tokens, double heads, double kv_heads, double head_dim, double element_bytes);
/// SiLU(gate) * up: 2 I in, I out.
double gated_activation(double tokens, double intermediate_size, double element_bytes);
/// Token rows of the input embedding: read a row, write a row.
double embedding(double tokens, double hidden_size, double element_bytes);
/// Activations to FP8 in front of a quantised GEMM: read e, write 1 byte, per element.
double quantize(double tokens, double width, double element_bytes);
/// Weighted sum of a token's k expert outputs: k H in, H out.
double combine_experts(double tokens, double experts_per_token, double hidden_size,
                       double element_bytes);

}  // namespace rooflua::bytes

namespace rooflua {

/// One formula by name, for the border to Lua: checks its arguments, then calls the function.
struct Formula {
  std::string_view group;      // "flop" or "bytes"
  std::string_view name;       // "causal_pairs"
  std::string_view arguments;  // "new_tokens, context_tokens"
  int arity;
  double (*call)(const double* arguments);

  /// @throws Error naming formula and argument if one is negative, NaN or infinite, or their
  /// number is not `arity`, or if the result is not finite
  double evaluate(std::span<const double> values) const;
};

/// All of them, sorted by group, in the order of this header.
std::span<const Formula> formulas();

}  // namespace rooflua
