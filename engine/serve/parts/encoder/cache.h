#pragma once
// Embeddings that an engine keeps, by the identity of their item.
// @source vLLM vllm/v1/core/encoder_cache_manager.py; SGLang srt/mem_cache/multimodal_cache.py

#include <cstdint>
#include <span>
#include <vector>

#include "serve/contract/items.h"

namespace rooflua {

/// An item of a prompt, whose first token is the one at `at`.
struct PromptItem {
  std::int32_t at = 0, tokens = 0, kind = 0;
  std::uint64_t content = 0;
  bool is_known = false;  // it was computed for its request, or found
  std::int32_t end() const { return at + tokens; }
  /// Whether one of these tokens of the sequence is of the item.
  bool meets(std::int32_t from, std::int32_t to) const { return at < to && end() > from; }
};

class EncoderCache {
 public:
  bool has(std::uint64_t content) const { return find(content) >= 0; }
  /// A request needs an item, which is computed now if it is not here.
  /// @returns whether it was here
  bool use(const PromptItem& item, std::int32_t slot, const EncoderRules& rules);
  /// The request needs it no longer.
  void let_go(std::uint64_t content, std::int32_t slot, bool shares);
  void let_go_of_all(std::int32_t slot, bool shares);
  void clear() { entries_.clear(), tokens_ = used_ = 0; }

  /// What a plan would compute, item by item.
  class Trial {
   public:
    Trial(const EncoderCache& cache, const EncoderRules& rules) : cache_(cache), rules_(rules) {}
    /// Whether it is here, or the plan computes it already.
    bool has(const PromptItem& item);
    /// @param is_brought  its embeddings come with the request: no pass computes them
    bool has_room(const PromptItem& item, bool is_brought) const;
    void add(const PromptItem& item, bool is_brought);

   private:
    const EncoderCache& cache_;
    const EncoderRules& rules_;
    std::vector<std::uint64_t> seen_;
    std::int64_t computed_ = 0;  // tokens that the plan computes
    std::int64_t taken_ = 0;     // that it takes of the cache, besides those that have users
  };

 private:
  struct Entry {
    std::uint64_t content = 0;
    std::int32_t tokens = 0;
    std::int64_t since = 0;           // it was used last, or has no user
    std::vector<std::int32_t> users;  // slots
  };
  std::int32_t find(std::uint64_t content) const;
  void make_room(std::int32_t tokens, std::int32_t most);
  void drop_user(std::size_t place, std::int32_t slot, bool shares);

  std::vector<Entry> entries_;  // dozens
  std::int64_t tokens_ = 0, used_ = 0, clock_ = 0;
};

}  // namespace rooflua
