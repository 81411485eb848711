#pragma once
// What a prefix cache without end would have: prompts and answers of all requests that were sent,
// as a tree of segments.

#include <cstdint>
#include <span>
#include <unordered_map>

#include "serve/contract/request.h"

namespace rooflua {

/// The ideal hit of a prompt is, in tokens,
///
///     floor( min(p, prompt - 1) / block ) * block
///
/// where p is the longest prefix of it that is a prefix of prompt and answer of any request that
/// was sent before, wherever it ran and whether or not it has ended. Two sequences agree as far as
/// their segments do from the left, which is how far the hashes of their blocks do.
class SeenPrompts {
 public:
  /// How far prompts of one growing list of segments are in the tree.
  struct Mark {
    std::int32_t segments = 0, node = 0;
    std::int64_t tokens = 0;
  };

  /// @param mark  of the list that `prompt` is the beginning of; moved to its end. With it the time
  ///              is O(segments after the mark)
  /// @returns p. From then on the prompt and its answer have been seen.
  std::int64_t see(std::span<const Segment> prompt, Mark& mark, std::uint64_t output_content,
                   std::int32_t output_tokens);
  /// @param shared  p
  static std::int64_t ideal_tokens(std::int64_t shared, std::int32_t prompt_tokens,
                                   std::int32_t block_size);

 private:
  struct Edge {
    std::int32_t node = 0, tokens = 0;  // tokens 0: of any number of tokens
    std::uint64_t content = 0;
    bool operator==(const Edge&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Edge& edge) const;
  };
  struct Step {
    std::int32_t node = 0, shared = 0;  // after the segment; tokens that were there before
    bool whole = false;                 // the same segment was there
  };
  Step add(std::int32_t node, const Segment& segment);

  std::unordered_map<Edge, std::int32_t, Hash> edges_;  // the node after; or the most tokens
  std::int32_t nodes_ = 1;
};

}  // namespace rooflua
