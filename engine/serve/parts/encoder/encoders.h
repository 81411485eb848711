#pragma once
// Replicas that only encode. A request with items goes to one of them before it is routed: to that
// which has most of its items, or else to the one with the fewest tokens in front of it. Passes
// take items in the order in which they came.
// @source vLLM docs/features/disagg_encoder.md; SGLang docs/advanced_features/epd_disaggregation.md

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "serve/contract/clock.h"
#include "serve/parts/encoder/cache.h"

namespace rooflua {

class Encoders {
 public:
  explicit Encoders(const EncoderPool& pool);

  /// Items of a request in this slot come.
  void add(std::int32_t slot, std::span<const PromptItem> items);
  /// The request is gone.
  void forget(std::int32_t slot);

  /// One item that is ready for its request.
  struct Ready {
    std::int32_t slot = -1, tokens = 0;
    double pass_s = 0;          // its part of the time of its pass; 0: it was there
    Picoseconds sent = never;   // of the last item of a request: when all embeddings have left
    std::int32_t encoder = -1;  // over links: of the last item, who sends them from now on
    double bytes = 0;           // and how many
  };
  /// Passes that end now, and those that begin. @returns what is ready now
  std::vector<Ready> pass(Picoseconds now, EncoderModel& model);
  /// When the next pass ends; 0: one may begin.
  Picoseconds due() const;

 private:
  struct Wanted {
    std::int32_t slot = -1;
    PromptItem item;
  };
  struct Encoder {
    EncoderCache cache;
    std::deque<Wanted> queue;
    std::vector<Wanted> running;  // one item may be there for several requests
    Picoseconds end = never, link_free = 0;
    double pass_s = 0;
    std::int64_t pass_tokens = 0, queued_tokens = 0;
    bool may_begin = false;
  };
  void begin(Encoder& encoder, Picoseconds now, EncoderModel& model, std::vector<Ready>& ready);
  void give(Encoder& encoder, const Wanted& what, double pass_s, Picoseconds now,
            std::vector<Ready>& ready);
  void send(Encoder& encoder, double bytes, Picoseconds now, Ready& what);

  EncoderPool pool_;
  std::vector<Encoder> all_;
  struct Left {
    std::int32_t items = 0, tokens = 0;
  };
  std::vector<Left> left_;  // by slot: items that are not ready, and tokens of all
};

}  // namespace rooflua
