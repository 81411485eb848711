#pragma once
// Which cached blocks begin like a block of a request, for hits that end inside of a block.
//
// A block consists of parts (block_hashes.h). The blocks after one hash are a tree of parts: a
// node is the first token of a part after the parts in front of it, and knows how long the parts
// are that begin there. So a hit is found in as many steps as a block has parts, however many
// blocks begin alike.
//
// A block that is not full, the last one of a request, stands here as others do.
//
// @source TensorRT-LLM cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp, findMatchingBlock: of all
// blocks after the last whole one the one with most tokens in common

#include <cstdint>
#include <vector>

#include "serve/kv/block_hashes.h"
#include "serve/kv/hash_map.h"

namespace rooflua {

class PartialBlocks {
 public:
  /// A block is cached. Nothing where it is known.
  void add(std::uint64_t hash, std::uint64_t parent, const std::vector<BlockRun>& runs);
  /// No copy of it is cached any more.
  void erase(std::uint64_t hash);
  /// The most tokens that a cached block after `parent` has in common with these parts.
  std::int32_t common(std::uint64_t parent, const std::vector<BlockRun>& runs) const;

 private:
  struct Length {  // of parts that begin at one node
    std::int32_t tokens = 0, blocks = 0;
    std::int32_t next = -1;  // of the same node
  };
  struct Part {  // of one block
    std::uint64_t node = 0;
    std::int32_t tokens = 0;
    std::int32_t next = -1;  // of the same block
  };
  void count(std::uint64_t node, std::int32_t tokens);
  void discount(const Part& part);

  std::vector<Length> lengths_;
  std::vector<Part> parts_;
  std::vector<std::int32_t> spare_lengths_, spare_parts_;
  HashMap nodes_, blocks_;  // the first length of a node, the first part of a block
};

}  // namespace rooflua
