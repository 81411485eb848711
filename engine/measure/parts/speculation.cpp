// Speculation: decodes of several tokens, drafts that were accepted, and their cost.

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

/// What speculation amounted to, over the replicas that speculate. Rounds are decodes that landed;
/// what a request's end cut off counts as accepted, as engines count it.
struct SpeculationFigures {
  std::int64_t rounds = 0, drafted_tokens = 0, accepted_tokens = 0, overshoot_tokens = 0,
               discarded_tokens = 0;
  double acceptance_rate = 0, tokens_per_round = 0, wasted_share = 0, draft_time_share = 0;
  std::vector<double> accepted_by_position;
};

constexpr PartMetric speculation_metrics[] = {
    {"rounds", "rounds", "rows", neither, "decodes that landed", in<&SpeculationFigures::rounds>},
    {"drafted_tokens", "drafted", "tokens", neither, "drafts that rounds verified",
     in<&SpeculationFigures::drafted_tokens>},
    {"accepted_tokens", "accepted", "tokens", more, "drafts of rounds that were accepted",
     in<&SpeculationFigures::accepted_tokens>},
    {"acceptance_rate", "accepted", "1", more, "accepted over drafted tokens",
     in<&SpeculationFigures::acceptance_rate>},
    {"tokens_per_round", "tokens/round", "tokens", more,
     "1 + accepted tokens over rounds, as engines count it",
     in<&SpeculationFigures::tokens_per_round>},
    {"overshoot_tokens", "overshoot", "tokens", less, "accepted after the end of an answer",
     in<&SpeculationFigures::overshoot_tokens>},
    {"discarded_tokens", "discarded", "tokens", less,
     "tokens of decodes whose request had ended when they ran, or was aborted",
     in<&SpeculationFigures::discarded_tokens>},
    {"wasted_share", "wasted", "1", less,
     "refused, overshoot and discarded tokens over the tokens of all decodes",
     in<&SpeculationFigures::wasted_share>},
    {"draft_time_share", "drafting", "1", less, "share of the time of steps that drafts took",
     in<&SpeculationFigures::draft_time_share>},
    {"accepted_by_position", "accepted by position", "1", more,
     "share of the rounds that accepted draft 1, 2, ...",
     in<&SpeculationFigures::accepted_by_position>},
};

/// "drafts    12,345 rounds, 2.310 tokens each, 43.7 % of drafts accepted ..."
std::string speculation_text(const SpeculationFigures& spec) {
  std::string out = "drafts    " + grouped(spec.rounds) + " rounds of " +
                    figure(spec.tokens_per_round) + " tokens, " + percent(spec.acceptance_rate) +
                    " of drafts accepted";
  if (!spec.accepted_by_position.empty()) {
    out += " (by position";
    for (const double share : spec.accepted_by_position) out += " " + percent(share);
    out += ")";
  }
  return out + ", " + percent(spec.wasted_share) + " of verified tokens lost, " +
         percent(spec.draft_time_share) + " of the time drafts\n";
}

class SpeculationCounter final : public CounterOf<SpeculationCounter> {
 public:
  void on_step(const StepDone& step) override {
    if (!step.speculates) return;
    used_ = true;
    step_s_ += step.price->time_s;
    draft_s_ += step.price->draft_s;
    row_tokens_ += step.batch->decode_tokens;
    counts_.rounds += static_cast<std::int64_t>(step.rows.size()) - step.discarded;
    if (step.discarded > 0) {
      for (const Row& row : step.rows) counts_.discarded_tokens += row.discarded ? row.tokens() : 0;
    }
    counts_.drafted_tokens += step.drafted;
    counts_.accepted_tokens += step.accepted;
    counts_.overshoot_tokens += step.overshoot;
    std::vector<double>& positions = counts_.accepted_by_position;
    if (positions.size() < step.accepted_at.size()) positions.resize(step.accepted_at.size());
    for (std::size_t j = 0; j < step.accepted_at.size(); ++j) positions[j] += step.accepted_at[j];
  }
  void forget_steps() override { *this = {}; }

  std::vector<std::any> figures(const Summary&, const RunSpan&) const override {
    if (!used_) return {};
    SpeculationFigures out = counts_;
    out.acceptance_rate = quotient(out.accepted_tokens, out.drafted_tokens);
    out.tokens_per_round = quotient(out.rounds + out.accepted_tokens, out.rounds);
    const std::int64_t wasted =
        out.drafted_tokens - out.accepted_tokens + out.overshoot_tokens + out.discarded_tokens;
    out.wasted_share = quotient(wasted, row_tokens_);
    out.draft_time_share = quotient(draft_s_, step_s_);
    for (double& share : out.accepted_by_position) share = quotient(share, out.rounds);
    return {out};
  }

 private:
  bool used_ = false;
  SpeculationFigures counts_;  // rates and shares are not set; positions are counts
  std::int64_t row_tokens_ = 0;
  double draft_s_ = 0, step_s_ = 0;
};

}  // namespace

extern const PartRow speculation_part = {.name = "speculation",
                                         .help = "What drafts gave; with the key speculation.",
                                         .metrics = speculation_metrics,
                                         .empty = empty<SpeculationFigures>,
                                         .text = says<speculation_text>,
                                         .heading = "Speculation",
                                         .in_report = {PartPosition::at_end},
                                         .on_page = {PartPosition::before_groups},
                                         .counter = where_asked<SpeculationCounter>};

}  // namespace rooflua
