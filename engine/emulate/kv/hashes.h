#pragma once
// What vLLM calls the blocks of a prompt (sha256_cbor): each name is the SHA-256 of the canonical
// CBOR of
//
//     [name of the block in front, [tokens], null]
//
// and in front of the first block stands the SHA-256 of the CBOR of a text, the seed
// (PYTHONHASHSEED). A prompt without adapters, pictures or a salt has null for its extra keys.
// @source vllm/v1/core/kv_cache_utils.py: hash_block_tokens, init_none_hash

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace rooflua::emulate {

using Digest = std::array<std::uint8_t, 32>;

/// Its low 64 bits: the last eight bytes, the highest first.
std::uint64_t low_64(const Digest& digest);

class BlockNames {
 public:
  /// @param chains_64_bits  the name in front is hashed as the number low_64(), not as 32 bytes
  BlockNames(std::string_view seed, bool chains_64_bits);
  /// What stands in front of the first block.
  const Digest& none() const { return none_; }
  /// The name of the block with these tokens after `front`.
  Digest next(const Digest& front, std::span<const std::int64_t> tokens) const;

 private:
  bool chains_64_bits_;
  Digest none_;
};

}  // namespace rooflua::emulate
