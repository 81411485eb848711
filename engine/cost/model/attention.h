#pragma once
// Modelled attention: plain, latent and linear. Equations in kernel.h.

#include "cost/model/gpu.h"

namespace rooflua::modelled {

/// Attention of one rank: what is stored per cached token, and what a query-key pair costs.
struct Attention {
  double heads, kv_heads;
  double width;  // keys and values of one head, elements
  double flop_per_pair;
  double kv_bytes_per_token, io_bytes_per_token;
};

/// The shape that a query asks about: latent attention is expanded in prefill, absorbed in decode.
Attention attention_of(const Query& query);

Priced prefill_attention(const Query& query, const Attention& shape, const Gpu& gpu);
Priced decode_attention(const Query& query, const Attention& shape, const Gpu& gpu);

/// The same of a question: plain or latent, of a prompt or of one new token of each request.
Priced attention_prefill(const Query& query, const Hardware& hardware);
Priced attention_decode(const Query& query, const Hardware& hardware);
/// Attention to a window as attention without one that has as many query-key pairs.
Priced window_attention(const Query& query, const Hardware& hardware);
Priced linear_attention(const Query& query, const Hardware& hardware);

}  // namespace rooflua::modelled

namespace rooflua {

/// Prices attention of one shape, plain or latent, again and again: what depends on the GPU and the
/// shape alone is kept. The same answers as modelled_kernel(), bit by bit.
class ModelledAttention {
 public:
  /// @param query  attention_prefill, attention_decode, mla_prefill or mla_decode
  /// @throws Error   as modelled_kernel()
  void operator()(const Query& query, const Hardware& hardware, Estimate& estimate);

 private:
  bool fits(const Query& query) const;

  bool known_ = false;
  Query kept_;
  modelled::Gpu gpu_{};
  modelled::Attention shape_{};
};

}  // namespace rooflua
