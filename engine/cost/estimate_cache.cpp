#include "cost/estimate_cache.h"

#include <bit>

namespace rooflua {
namespace {

constexpr std::size_t slot_bits = 10;  // stays in the L2 cache: most contexts are new anyway

std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}
std::uint64_t pair(int a, int b) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 |
         static_cast<std::uint32_t>(b);
}

std::uint64_t tag_of(const Query& q) {
  return 1ull << 63 | static_cast<std::uint64_t>(q.op) | static_cast<std::uint64_t>(q.dtype) << 4 |
         static_cast<std::uint64_t>(q.kv_dtype) << 8 | static_cast<std::uint64_t>(q.decode) << 12 |
         static_cast<std::uint64_t>(q.eager) << 13 | static_cast<std::uint64_t>(q.kernel) << 14 |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(q.tp) & 0xFFFFF) << 20 |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(q.ranks) & 0xFFFFF) << 40;
}

}  // namespace

QueryKey key_of(const Query& q) {
  QueryKey key;
  auto& w = key.words;
  w[0] = tag_of(q);
  switch (q.op) {
    case Op::gemm:
      w[1] = bits(q.m), w[2] = bits(q.k), w[3] = bits(q.n);
      break;
    case Op::attention_prefill:
    case Op::attention_decode:
      w[1] = pair(q.heads, q.kv_heads), w[2] = static_cast<std::uint32_t>(q.head_dim);
      w[3] = bits(q.batch), w[4] = bits(q.new_tokens), w[5] = bits(q.context_tokens);
      break;
    case Op::mla_prefill:
    case Op::mla_decode:
      w[1] = pair(q.heads, q.kv_lora_rank);
      w[2] = pair(q.qk_nope_head_dim << 16 | (q.qk_rope_head_dim & 0xFFFF), q.v_head_dim);
      w[3] = bits(q.batch), w[4] = bits(q.new_tokens), w[5] = bits(q.context_tokens);
      break;
    case Op::grouped_gemm:
      w[1] = pair(q.experts, q.experts_per_token), w[2] = bits(q.hidden_size);
      w[3] = bits(q.intermediate_size), w[4] = bits(q.tokens);
      break;
    case Op::linear_attention:
      w[1] = pair(q.conv, q.key_heads), w[2] = pair(q.key_head_dim, q.value_heads);
      w[3] = static_cast<std::uint32_t>(q.value_head_dim);
      w[4] = bits(q.batch), w[5] = bits(q.new_tokens);
      break;
    default:
      w[1] = bits(q.bytes), w[2] = bits(q.tokens), w[3] = bits(q.width);
      break;
  }
  return key;
}

EstimateCache::Slot& EstimateCache::slot(const QueryKey& key) {
  if (slots_.empty()) slots_.resize(std::size_t{1} << slot_bits);
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key.words)
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ull ^ hash >> 29;
  return slots_[(hash ^ hash >> 32) * 0x9E3779B97F4A7C15ull >> (64 - slot_bits)];
}

}  // namespace rooflua
