// A front end as a queue: how busy it was, and how long requests and chunks took there.

#include <algorithm>

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"
#include "serve/loop/simulation.h"
#include "serve/parts/stations/frontend.h"

namespace rooflua {

extern const PartRow frontend_part;

namespace {

using enum Better;

struct FrontendFigures {
  double busy_frac = 0, egress_busy_frac = 0, client_busy_frac = 0, wait_s = 0, chunk_delay_s = 0;
  std::int64_t chunks = 0;
};

constexpr PartMetric frontend_metrics[] = {
    {"busy_frac", "busy", "1", less,
     "time that servers of the front end worked, of the engine where they did most",
     in<&FrontendFigures::busy_frac>},
    {"egress_busy_frac", "egress busy", "1", less, "the same of servers that only stream",
     in<&FrontendFigures::egress_busy_frac>},
    {"client_busy_frac", "client busy", "1", less,
     "time that the clients' process sent, or read if that is more",
     in<&FrontendFigures::client_busy_frac>},
    {"wait_s", "wait", "s", less, "mean time that a request waited for a server",
     in<&FrontendFigures::wait_s>},
    {"chunk_delay_s", "chunk delay", "s", less,
     "mean time from the end of a step until the client had all of its chunks",
     in<&FrontendFigures::chunk_delay_s>},
    {"chunks", "chunks", "chunks", neither, "that were streamed", in<&FrontendFigures::chunks>},
};

std::string frontend_text(const FrontendFigures& found) {
  const auto also = [](double busy, const char* what) {
    return busy > 0 ? what + percent(busy) : std::string();
  };
  return "front end " + percent(found.busy_frac) + " busy" +
         also(found.egress_busy_frac, ", streaming ") + also(found.client_busy_frac, ", client ") +
         "; requests wait " + duration(found.wait_s) + ", chunks of a step take " +
         duration(found.chunk_delay_s) + " on average\n";
}

/// The part itself counts: of runs without it, nothing.
class FrontendCounter final : public CounterOf<FrontendCounter> {
 public:
  std::vector<std::any> figures(const Summary&, const RunSpan&) const override { return {}; }
  bool may_divide() const override { return true; }

  void complete(Summary& of, const Simulation* run) const override {
    const FrontendPart* part = run != nullptr ? frontend_of(run->parts()) : nullptr;
    if (part == nullptr) return;
    const FrontendPart::Totals all = part->totals();
    const Picoseconds span = all.first == never ? 0 : all.last - all.first;
    of.add(frontend_part,
           FrontendFigures{
               .busy_frac = quotient(all.busiest, span),
               .egress_busy_frac = quotient(all.busiest_egress, span),
               .client_busy_frac = quotient(std::max(all.client_sends, all.client_reads), span),
               .wait_s = quotient(all.waited, all.requests) * 1e-12,
               .chunk_delay_s = quotient(all.late, all.steps) * 1e-12,
               .chunks = all.chunks});
  }
};

}  // namespace

extern const PartRow frontend_part = {
    .name = "frontend",
    .help = "The front end as a queue; with times of servers or of clients in the key frontend.",
    .metrics = frontend_metrics,
    .empty = empty<FrontendFigures>,
    .text = says<frontend_text>,
    .in_report = {.rank = 3},
    .on_page = {.rank = 3},
    .counter = everywhere<FrontendCounter>};

}  // namespace rooflua
