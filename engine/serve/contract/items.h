#pragma once
// Items of prompts: images, sounds, videos. An item stands in a prompt as a segment of as many
// tokens as it has embeddings (segment.h), which an encoder computes in passes of their own.

#include <cstdint>
#include <span>
#include <vector>

#include "base/json.h"
#include "serve/contract/batch.h"
#include "serve/contract/clock.h"

namespace rooflua {

/// How an engine runs its encoder and keeps embeddings. All numbers are embeddings, which are
/// tokens of the prompt.
struct EncoderRules {
  /// Most of one pass; 0: no limit. An item alone may have more.
  std::int32_t budget_tokens = 0;
  std::int32_t cache_tokens = 0;  // that are kept; what requests still need counts
  bool shares = true;             // an item that is kept serves other requests
  /// What a request needs stays until a step computes its KV, and an item waits for room. Else what
  /// was used the longest ago goes.
  bool pins = true;
  bool splits = true;  // a chunk of a prompt may end inside of an item
  /// All items of a prompt are one: a chunk needs them as long as the last of them has no KV, and
  /// waits for no room.
  bool whole = false;
};

/// Replicas that only encode, all alike. Embeddings leave each of them over an interface of its
/// own, one request after the other, or over declared links.
struct EncoderPool {
  std::int32_t replicas = 0;  // 0: there is no such pool
  EncoderRules rules;
  double bytes_per_token = 0, bytes_per_s = 0, alpha_s = 0;  // bytes_per_s > 0
  /// Embeddings go over the links of KvTransfer::path; bytes_per_s is the most of one request, 0:
  /// no limit.
  bool over_links = false;
};

/// What passes take. One per run.
class EncoderModel {
 public:
  struct Pass {
    double time_s = 0;
    double evidence_s[rooflua_evidence_count] = {};
    std::vector<OpTime> operations;
  };
  virtual ~EncoderModel() = default;
  virtual const EncoderRules& rules(std::int32_t replica) const = 0;
  virtual const EncoderPool& pool() const = 0;
  /// What a server takes for such an item before its request goes to an engine.
  virtual double host_s(std::int32_t kind) { return (void)kind, 0; }
  /// What was sent, as workloads and traces write it: ["images", [width, height]],
  /// ["video", {frames, width, height}] or ["audio_s", seconds].
  virtual Json size(std::int32_t kind) { return (void)kind, Json(); }
  /// One pass over items of these kinds (Segment::item), in increasing order, on that replica; -1:
  /// on one of the pool. The answer lives until the next call.
  virtual const Pass& pass(std::int32_t replica, std::span<const std::int32_t> kinds) = 0;
};

/// What a plan asks of items (Plan::encodable).
class ItemRoom {
 public:
  virtual ~ItemRoom() = default;
  /// @param ready    tokens of the sequence that have KV
  /// @param planned  prefills of the plan so far
  virtual std::int32_t encodable(std::int32_t replica, std::int32_t slot, std::int32_t ready,
                                 std::int32_t tokens,
                                 std::span<const PrefillWork> planned) const noexcept = 0;
};

}  // namespace rooflua
