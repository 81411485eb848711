// Images, sounds and videos in prompts: items, passes of the encoder, and items found computed.

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

struct EncoderFigures {
  std::int64_t items = 0, encoded = 0, cache_hits = 0;
  double encode_s = 0, encode_mean_s = 0;
};

constexpr PartMetric encoder_metrics[] = {
    {"items", "items", "items", neither, "images, sounds and videos of requests that ended",
     in<&EncoderFigures::items>},
    {"encoded", "encoded", "items", less, "of these, computed by a pass of the encoder",
     in<&EncoderFigures::encoded>},
    {"cache_hits", "encoder hits", "items", more,
     "of these, found in the encoder cache; the KV of all others was cached or is not computed",
     in<&EncoderFigures::cache_hits>},
    {"encode_s", "encoding", "s", less, "time of the passes of the encoder, on all replicas",
     in<&EncoderFigures::encode_s>},
    {"encode_mean_s", "encoding each", "s", less, "the same per item that was computed",
     in<&EncoderFigures::encode_mean_s>},
};

std::string encoder_text(const EncoderFigures& encoder) {
  return "encoder   " + grouped(encoder.items) + " items, " + grouped(encoder.encoded) +
         " computed in " + duration(encoder.encode_s) + " (" + duration(encoder.encode_mean_s) +
         " each), " + grouped(encoder.cache_hits) + " found in the cache\n";
}

class EncoderCounter final : public CounterOf<EncoderCounter> {
 public:
  void on_end(const RequestDone& done, bool) override {
    counts_.items += done.items;
    counts_.encoded += done.encoded_items;
    counts_.cache_hits += done.found_items;
    counts_.encode_s += done.encode_s;
  }
  std::vector<std::any> figures(const Summary&, const RunSpan&) const override {
    EncoderFigures out = counts_;
    out.encode_mean_s = quotient(counts_.encode_s, counts_.encoded);
    return {out};
  }

 private:
  EncoderFigures counts_;  // the mean is not set
};

}  // namespace

extern const PartRow encoder_part = {
    .name = "encoder",
    .help = "Images, sounds and videos in prompts; of workloads that send some.",
    .metrics = encoder_metrics,
    .empty = empty<EncoderFigures>,
    .text = says<encoder_text>,
    .in_report = {.rank = 5},
    .on_page = {.rank = 4},
    .counter = where_asked<EncoderCounter>};

}  // namespace rooflua
