#pragma once
// Hashes of blocks that the last request of a session leaves to the next one, whose prompt mostly
// begins with the same tokens: they need not be computed again.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serve/contract/segment.h"

namespace rooflua {

/// Hashes of the leading full blocks of a request's sequence, as far as they were asked for.
struct BlockHashes {
  std::int32_t block_size = 0;
  std::vector<std::uint64_t> hashes;
};

/// Keeps the hashes of 256 sessions at most, in room for 2^20 hashes (8 MiB) at most.
class SessionHashes {
 public:
  struct Prompt {
    std::int32_t session = -1, adapter = 0;
    std::span<const Segment> segments;
  };
  /// A request of the session has ended: its hashes are taken from it.
  void keep(const Prompt& prompt, std::vector<BlockHashes>& hashes);
  /// A request of the session begins: it gets the hashes of blocks that its prompt has in common
  /// with that of the one that ended last.
  void give(const Prompt& prompt, std::vector<BlockHashes>& hashes);

 private:
  struct Kept {
    std::int32_t session = -1, adapter = 0;
    std::vector<Segment> segments;
    std::vector<BlockHashes> hashes;
    std::size_t count = 0;  // of hashes that there is room for
  };
  Kept& place(std::int32_t session);
  void forget(Kept& kept);

  std::vector<Kept> kept_;  // a session's place is its number, modulo their number
  std::size_t count_ = 0;   // over all
};

}  // namespace rooflua
