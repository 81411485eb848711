#pragma once
// What the blocks of a request's sequence contain, as chained 64-bit hashes:
//
//     hash(block j) = H(hash(block j-1), the (content, offset) runs of its tokens)
//
// where the hash in front of block 0 is that of the request's adapter.

#include <cstdint>
#include <vector>

#include "serve/contract/request.h"

namespace rooflua {

/// Hashes of at least so many leading blocks of the request's sequence. They are kept with the
/// request, so that they are computed once for all replicas. None is 0.
const std::vector<std::uint64_t>& block_hashes(const Request& request, const Progress& progress,
                                               std::int32_t block_size, std::int32_t blocks);

/// A part of a block: tokens that follow each other in one content.
struct BlockRun {
  std::uint64_t begin = 0;  // the content and the place in it of the first token
  std::int32_t tokens = 0;
};
/// The parts of tokens [from, to) of the request's sequence; `out` is cleared first.
void block_runs(const Request& request, const Progress& progress, std::int64_t from,
                std::int64_t to, std::vector<BlockRun>& out);
/// A hash of what has the hash `before`, and this part after it. Not that of a full block.
std::uint64_t hash_after(std::uint64_t before, BlockRun run);
/// The hash in front of block 0.
std::uint64_t root_hash(const Progress& progress);

/// Leading tokens that another request may ask for.
std::int64_t public_tokens(const Progress& progress);
/// Leading full blocks of these.
std::int32_t public_blocks(const Progress& progress, std::int32_t block_size);

}  // namespace rooflua
