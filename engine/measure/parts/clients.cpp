// Clients that send requests again (contract/client.h): questions, not attempts.

#include <algorithm>
#include <map>

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

/// What clients got that send requests again (contract/client.h). Attempts with one origin are one
/// question of a client.
struct ClientFigures {
  std::int64_t asked = 0, answered = 0, given_up = 0, attempts_max = 0, kept_output_tokens = 0;
  double answered_frac = 0, attempts_mean = 0, retried_frac = 0;
  Statistics client_ttft_s, client_e2e_s;
  std::optional<double> client_goodput_per_s;
};

constexpr PartMetric client_metrics[] = {
    {"asked", "asked", "questions", neither, "questions of clients: requests and their retries",
     in<&ClientFigures::asked>},
    {"answered", "answered", "questions", more, "of which an attempt completed",
     in<&ClientFigures::answered>},
    {"given_up", "given up", "questions", less, "that the client will not send again",
     in<&ClientFigures::given_up>},
    {"answered_frac", "answered", "1", more, "answered over asked",
     in<&ClientFigures::answered_frac>},
    {"attempts_mean", "attempts", "attempts", less, "of a question that is over",
     in<&ClientFigures::attempts_mean>},
    {"attempts_max", "most attempts", "attempts", less, "of one question",
     in<&ClientFigures::attempts_max>},
    {"retried_frac", "retried", "1", less, "part of the requests that are retries",
     in<&ClientFigures::retried_frac>},
    {"client_ttft_s", "client TTFT", "s", less,
     "of answered questions: first sending to the first token that the client kept",
     in<&ClientFigures::client_ttft_s>},
    {"client_e2e_s", "client E2E", "s", less,
     "of answered questions: first sending to the last token", in<&ClientFigures::client_e2e_s>},
    {"client_goodput_per_s", "client goodput", "questions/s", more,
     "answered questions whose times from the first sending on hold the limits, over duration_s",
     in<&ClientFigures::client_goodput_per_s>},
    {"kept_output_tokens", "kept output", "tokens", more,
     "of attempts that failed: output with which the next attempt went on",
     in<&ClientFigures::kept_output_tokens>},
};

std::string client_text(const ClientFigures& c) {
  std::string out = "clients   " + grouped(c.answered) + " of " + grouped(c.asked) +
                    " questions answered (" + percent(c.answered_frac) + "), " +
                    grouped(c.given_up) + " given up; " + figure(c.attempts_mean) +
                    " attempts (max " + grouped(c.attempts_max) + "), " + percent(c.retried_frac) +
                    " of requests are retries\n          from the first sending: TTFT " +
                    duration(c.client_ttft_s.p50) + " (p99 " + duration(c.client_ttft_s.p99) +
                    "), E2E " + duration(c.client_e2e_s.p50) + " (p99 " +
                    duration(c.client_e2e_s.p99) + ")";
  if (c.client_goodput_per_s) out += ", goodput " + figure(*c.client_goodput_per_s) + "/s";
  return out + "\n";
}

/// A question whose first attempt failed. Times are those of the client.
struct Question {
  Picoseconds first_sent = 0, first_token = never;  // of tokens that it kept
  std::int64_t attempts = 0;                        // that ended
};

class ClientCounter final : public CounterOf<ClientCounter> {
 public:
  explicit ClientCounter(const SummaryOptions& options) : options_(options) {}

  void on_arrival(const Request& request) override { retried_ += request.attempt > 0; }

  void on_end(const RequestDone& done, bool) override {
    const std::int32_t origin = done.origin >= 0 ? done.origin : done.id;
    const auto before = open_.find(origin);
    Question question{done.arrival, never, 0};
    if (before != open_.end()) {
      question = before->second;
      open_.erase(before);
    }
    ++question.attempts;
    const bool has_token = done.first_token != never;
    if (question.first_token == never && has_token) question.first_token = done.first_token;
    if (done.is_retried) {
      if (done.keeps_output) counts_.kept_output_tokens += done.output_tokens;
      // What an attempt before went on with is kept as well.
      if (!done.keeps_output && done.carried_tokens == 0) question.first_token = never;
      open_[origin] = question;
      return;
    }
    attempts_ += question.attempts;
    counts_.attempts_max = std::max(counts_.attempts_max, question.attempts);
    if (done.outcome != Outcome::completed) {
      ++counts_.given_up;
      return;
    }
    ++counts_.answered;
    const Picoseconds ttft = question.first_token - question.first_sent;
    const Picoseconds e2e = done.last_token - question.first_sent;
    ttft_.add(ttft);
    e2e_.add(e2e);
    good_ += options_.holds(done.klass, ttft, e2e, done.output_tokens + done.carried_tokens);
  }

  std::vector<std::any> figures(const Summary& of, const RunSpan& span) const override {
    ClientFigures out = counts_;
    out.asked = of.requests - retried_;
    out.answered_frac = quotient(out.answered, out.asked);
    out.attempts_mean = quotient(attempts_, out.answered + out.given_up);
    out.retried_frac = quotient(retried_, of.requests);
    out.client_ttft_s = ttft_.statistics(1e-12);
    out.client_e2e_s = e2e_.statistics(1e-12);
    if (options_.has_limits()) out.client_goodput_per_s = quotient(good_, seconds(span.duration()));
    return {out};
  }

 private:
  SummaryOptions options_;
  ClientFigures counts_;  // means are not set
  std::int64_t retried_ = 0, attempts_ = 0, good_ = 0;
  LogHistogram ttft_, e2e_;
  std::map<std::int32_t, Question> open_;  // by origin
};

}  // namespace

extern const PartRow clients_part = {
    .name = "clients",
    .help = "What clients got; with the key client. Attempts with one origin are one question.",
    .metrics = client_metrics,
    .empty = empty<ClientFigures>,
    .text = says<client_text>,
    .in_report = {.rank = 5},
    .on_page = {.rank = 1},
    .counter = where_asked<ClientCounter>};

}  // namespace rooflua
