// A gate in front of the router: requests that it held, refused or let go.

#include <algorithm>

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

/// What a gate did (serve/parts/gate).
struct GateFigures {
  std::int64_t offered = 0, admitted = 0, refused = 0, expired = 0, held = 0;
  double completed_frac = 0;
  Statistics held_s;
};

constexpr PartMetric gate_metrics[] = {
    {"offered", "offered", "requests", neither, "requests that were sent",
     in<&GateFigures::offered>},
    {"admitted", "admitted", "requests", more, "requests that reached a replica",
     in<&GateFigures::admitted>},
    {"refused", "refused", "requests", less, "requests that the gate or the router refused",
     in<&GateFigures::refused>},
    {"expired", "expired", "requests", less, "requests of which the deadline passed first",
     in<&GateFigures::expired>},
    {"held", "held", "requests", neither, "requests that the gate held for some time",
     in<&GateFigures::held>},
    {"completed_frac", "completed", "1", more, "completed over offered requests",
     in<&GateFigures::completed_frac>},
    {"held_s", "held", "s", less, "how long requests were held that were admitted after it",
     in<&GateFigures::held_s>},
};

std::string gate_text(const GateFigures& gate) {
  return "gate      " + grouped(gate.admitted) + " of " + grouped(gate.offered) +
         " requests admitted, " + grouped(gate.refused) + " refused, " + grouped(gate.expired) +
         " expired; " + grouped(gate.held) + " held, " + duration(gate.held_s.mean) +
         " on average (p99 " + duration(gate.held_s.p99) + ")\n";
}

class GateCounter final : public CounterOf<GateCounter> {
 public:
  void on_end(const RequestDone& done, bool) override {
    counts_.refused += done.outcome == Outcome::refused;
    counts_.expired += done.outcome == Outcome::expired;
    counts_.admitted += done.replica >= 0;
    if (done.held == 0) return;
    ++counts_.held;
    if (done.replica < 0) return;
    wait_.add(done.held);
    add(of_classes_, done.klass, done.held);
    if (done.tenant >= 0) add(of_tenants_, done.tenant, done.held);
  }

  std::vector<std::any> figures(const Summary& of, const RunSpan&) const override {
    GateFigures out = counts_;
    out.offered = of.requests;
    out.completed_frac = quotient(of.completed, of.requests);
    out.held_s = wait_.statistics(1e-12);
    return {out};
  }

  void complete(Summary& of, const Simulation*) const override {
    tell(of_classes_, of.classes);
    tell(of_tenants_, of.tenants);
  }

 private:
  static void add(std::vector<LogHistogram>& of, std::int32_t group, Picoseconds held) {
    const auto place = static_cast<std::size_t>(group);
    if (place >= of.size()) of.resize(place + 1);
    of[place].add(held);
  }
  static void tell(const std::vector<LogHistogram>& of, std::vector<GroupSummary>& groups) {
    for (std::size_t i = 0; i < std::min(of.size(), groups.size()); ++i) {
      if (of[i].count() == 0) continue;
      const Statistics held_s = of[i].statistics(1e-12);
      groups[i].held_s_mean = held_s.mean;
      groups[i].held_s_p99 = held_s.p99;
    }
  }

  GateFigures counts_;
  LogHistogram wait_;
  std::vector<LogHistogram> of_classes_, of_tenants_;  // of requests that were held and let go
};

}  // namespace

extern const PartRow gate_part = {
    .name = "gate",
    .help = "Requests at the gate in front of the router; with the key admission.",
    .metrics = gate_metrics,
    .empty = empty<GateFigures>,
    .text = says<gate_text>,
    .in_report = {.rank = 4},
    .on_page = {.rank = 4},
    .counter = where_asked<GateCounter>};

}  // namespace rooflua
