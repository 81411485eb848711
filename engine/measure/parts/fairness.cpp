// How equal tenants are: what each of them got.

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

/// How equal tenants are, those that sent a request.
struct FairnessFigures {
  std::int64_t tenants = 0;
  double jain_tokens = 1, jain_ttft = 1;
};

constexpr PartMetric fairness_metrics[] = {
    {"tenants", "tenants", "tenants", neither, "tenants that sent a request",
     in<&FairnessFigures::tenants>},
    {"jain_tokens", "Jain tokens", "1", more,
     "Jain's index over tenants of prompt tokens + 2 output tokens, of completed requests",
     in<&FairnessFigures::jain_tokens>},
    {"jain_ttft", "Jain TTFT", "1", more, "Jain's index over tenants of their mean ttft_s",
     in<&FairnessFigures::jain_ttft>},
};

std::string fairness_text(const FairnessFigures& fairness) {
  return "fairness  Jain's index over " + grouped(fairness.tenants) + " tenants: tokens " +
         figure(fairness.jain_tokens) + ", TTFT " + figure(fairness.jain_ttft) + "\n";
}

/// Jain's index of values: (sum)^2 / (n x sum of squares). 1: all are equal; 1/n: one has it all.
/// @source R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984
class Jain {
 public:
  void add(double value) {
    sum_ += value;
    squares_ += value * value;
    ++count_;
  }
  double index() const { return squares_ > 0 ? sum_ * sum_ / (count_ * squares_) : 1; }

 private:
  double sum_ = 0, squares_ = 0, count_ = 0;
};

/// All that it needs is in the figures of tenants.
class FairnessCounter final : public CounterOf<FairnessCounter> {
 public:
  bool may_divide() const override { return true; }
  std::vector<std::any> figures(const Summary& of, const RunSpan&) const override {
    if (of.tenants.empty()) return {};
    FairnessFigures out;
    Jain tokens, ttft;
    for (const GroupSummary& each : of.tenants) {
      if (each.completed + each.failed == 0) continue;
      ++out.tenants;
      tokens.add(static_cast<double>(each.prompt_tokens + 2 * each.output_tokens));
      if (each.completed > 0) ttft.add(each.ttft_s.mean);
    }
    out.jain_tokens = tokens.index();
    out.jain_ttft = ttft.index();
    return {out};
  }
};

}  // namespace

extern const PartRow fairness_part = {.name = "fairness",
                                      .help = "How equal tenants are; where requests say theirs.",
                                      .metrics = fairness_metrics,
                                      .empty = empty<FairnessFigures>,
                                      .text = says<fairness_text>,
                                      .in_report = {PartPosition::before_groups},
                                      .on_page = {.rank = 7},
                                      .counter = everywhere<FairnessCounter>};

}  // namespace rooflua
