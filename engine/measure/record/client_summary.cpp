// Figures of clients that send requests again: questions, not attempts.

#include <algorithm>

#include "measure/record/summary.h"

namespace rooflua {

void SummaryObserver::note_attempt(const RequestDone& done) {
  const std::int32_t origin = done.origin >= 0 ? done.origin : done.id;
  const auto before = clients_.open.find(origin);
  Question question{done.arrival, never, 0};
  if (before != clients_.open.end()) {
    question = before->second;
    clients_.open.erase(before);
  }
  ++question.attempts;
  const bool has_token = done.first_token != never;
  if (question.first_token == never && has_token) question.first_token = done.first_token;
  if (done.is_retried) {
    if (done.keeps_output) clients_.counts.kept_output_tokens += done.output_tokens;
    // What an attempt before went on with is kept as well.
    if (!done.keeps_output && done.carried_tokens == 0) question.first_token = never;
    clients_.open[origin] = question;
    return;
  }
  clients_.attempts += question.attempts;
  clients_.counts.attempts_max = std::max(clients_.counts.attempts_max, question.attempts);
  if (done.outcome != Outcome::completed) {
    ++clients_.counts.given_up;
    return;
  }
  ++clients_.counts.answered;
  Completed answer{question.first_token - question.first_sent,
                   done.last_token - question.first_sent,
                   0,
                   done.output_tokens + done.carried_tokens,
                   done.klass,
                   done.replica,
                   done.tenant};
  clients_.ttft.add(answer.ttft);
  clients_.e2e.add(answer.e2e);
  clients_.good += good(done, answer);
}

ClientSummary SummaryObserver::client_summary() const {
  ClientSummary out = clients_.counts;
  out.asked = arrived_ - clients_.retried;
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  out.answered_frac = share(out.answered, out.asked);
  out.attempts_mean = share(clients_.attempts, out.answered + out.given_up);
  out.retried_frac = share(clients_.retried, arrived_);
  out.client_ttft_s = clients_.ttft.statistics(1e-12);
  out.client_e2e_s = clients_.e2e.statistics(1e-12);
  const double duration_s = seconds(duration());
  if (options_.slo.given() || !options_.class_slo.empty())
    out.client_goodput_per_s = duration_s > 0 ? static_cast<double>(clients_.good) / duration_s : 0;
  return out;
}

}  // namespace rooflua
