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

/// Leading full blocks that another request may ask for.
std::int32_t public_blocks(const Progress& progress, std::int32_t block_size);

}  // namespace rooflua
