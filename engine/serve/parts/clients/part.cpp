// Clients with patience. A client's end of a request is an abort (loop/request.cpp). A request that
// is sent again is a new one with the same content. Observers are told every end; the workload is
// told the last one alone, so that a client that waits for an answer waits on.
//
// Random numbers of a client depend on which origin it is, on the attempt and on what is asked:
// how the cluster does changes none of them.

#include "serve/core/part.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/contract/client.h"

namespace rooflua {

namespace {

constexpr std::int32_t most_attempts = 100000;  // a client without end and delay has no end

/// @param question  0: patience, 1: again
RandomStream draws_of(const ClusterConfig& config, std::int64_t client, std::int32_t attempt,
                      std::uint64_t question) {
  const auto seed = static_cast<std::uint64_t>(config.replicas.front().seed);
  const auto number =
      static_cast<std::uint64_t>(client) << 20 | static_cast<std::uint64_t>(attempt);
  return random_stream(seed, "clients", number << 1 | question);
}

void check_wait(double wait_s, const char* what) {
  if (wait_s >= 0) return;
  throw Error("client", std::string(what) + ": found " + std::to_string(wait_s) +
                            "; seconds from 0 on are right, or nothing");
}

/// The same content, with the `kept` tokens that were generated after it.
/// @param carries  an attempt before has put such tokens there
RequestSpec same_content(const Request& request, const Progress& progress,
                         std::vector<Segment>& segments, std::int32_t kept, bool carries) {
  RequestSpec spec;
  spec.arrival_s = request.arrival_s;
  spec.prompt_tokens = request.prompt_tokens + kept;
  spec.output_tokens = progress.output_tokens - kept;
  if (request.max_output_tokens > 0)
    spec.max_output_tokens = std::max(1, request.max_output_tokens - kept);
  spec.predicted_output_tokens = request.predicted_output_tokens;
  if (spec.predicted_output_tokens > 0)
    spec.predicted_output_tokens = std::max(1, spec.predicted_output_tokens - kept);
  spec.priority = request.priority;
  spec.klass = request.klass;
  spec.session = request.session;
  spec.tenant = request.tenant;
  spec.program = request.program;
  if (progress.deadline != never) spec.deadline_s = seconds(progress.deadline - progress.arrival);
  spec.attempt = request.attempt + 1;
  spec.origin = progress.origin >= 0 ? progress.origin : request.id;
  spec.output_content = progress.output_content;
  spec.row = progress.row;
  spec.adapter = progress.adapter;
  segments = progress.segments;
  if (kept == 0 || segments.empty()) return spec;
  if (carries && progress.output_content != 0) {
    segments.back().tokens += kept;
  } else {
    segments.push_back({progress.output_content, kept});
  }
  return spec;
}

/// Of the request in a slot.
struct Attempt {
  std::int64_t client = -1;         // which origin it is, in order of sending
  std::int32_t carried_tokens = 0;  // at the end of its prompt, which earlier attempts gave
  RowSent row;                      // of a play
};
/// Of a request that ends now: what its client sends next.
struct Next {
  RequestSpec spec;
  std::vector<Segment> segments;
  Picoseconds arrival = 0;
  Attempt attempt;
};

/// What is kept of clients.
struct Attempts {
  std::vector<Attempt> of_slot;
  std::int64_t clients = 0;
  std::optional<Next> next;

  Attempt& of(std::int32_t slot) {
    const auto place = static_cast<std::size_t>(slot);
    if (place >= of_slot.size()) of_slot.resize(place + 1);
    return of_slot[place];
  }
  std::int32_t carried_tokens(std::int32_t slot) const {
    const auto place = static_cast<std::size_t>(slot);
    return place < of_slot.size() ? of_slot[place].carried_tokens : 0;
  }
};

class ClientsPart final : public Part, public OnRequest {
 public:
  ClientsPart(Core& core, Attempts attempts) : core_(core), attempts_(std::move(attempts)) {}

  std::unique_ptr<Part> copy(Core& core, Loop&) const override {
    return std::make_unique<ClientsPart>(core, attempts_);
  }
  std::string obstacle() const override { return "clients may send requests again"; }

  void sent(std::int32_t slot, const RowSent* row) override;
  void ended(std::int32_t slot, RequestDone& done) override;
  bool goes_on(const RequestDone& done) override;
  void fills(std::int32_t slot, RequestDone& done) const override {
    done.carried_tokens = attempts_.carried_tokens(slot);
  }

 private:
  void expect(std::int32_t slot, DueEnd::Kind kind, double after_s);

  Core& core_;
  Attempts attempts_;
};

/// How long its client waits.
void ClientsPart::sent(std::int32_t slot, const RowSent* row) {
  Attempt& own = attempts_.of(slot);
  if (row != nullptr) own.row = *row;
  const Request& request = core_.requests[slot];
  if (request.attempt == 0) {
    own.client = attempts_.clients++;
    own.carried_tokens = 0;
  }
  RandomStream draws = draws_of(core_.config, own.client, request.attempt, 0);
  const Patience patience = core_.bindings.client->patience(request, draws);
  expect(slot, DueEnd::Kind::cancel, patience.cancel_s);
  expect(slot, DueEnd::Kind::total, patience.total_s);
  expect(slot, DueEnd::Kind::first_token, patience.first_token_s);
}

void ClientsPart::expect(std::int32_t slot, DueEnd::Kind kind, double after_s) {
  check_wait(after_s, "patience");
  if (std::isinf(after_s)) return;
  const Picoseconds time = after(core_.now, after_s, "client: patience");
  core_.end_at(slot, kind, time);
}

/// Asks its client whether it is sent again.
void ClientsPart::ended(std::int32_t slot, RequestDone& done) {
  const Request& request = core_.requests[slot];
  const Progress& progress = core_.progress(slot);
  const Attempt own = attempts_.of(slot);
  if (!may_be_sent_again(done.outcome)) return;
  const Ending ending{done.outcome, done.attempt, seconds(done.now),
                      seconds(done.now - done.arrival), done.output_tokens};
  RandomStream draws = draws_of(core_.config, own.client, request.attempt, 1);
  const std::optional<Again> again = core_.bindings.client->again(request, ending, draws);
  if (!again) return;
  check_wait(again->delay_s, "again");
  if (request.attempt + 1 >= most_attempts)
    throw Error("client", "again: a request was sent " + std::to_string(most_attempts) +
                              " times; a client must give up at some attempt");
  Next& next = attempts_.next.emplace();
  const std::int32_t kept =
      again->keeps_output ? std::min(done.output_tokens, progress.output_tokens - 1) : 0;
  done.is_retried = true;
  done.keeps_output = kept > 0;
  next.spec = same_content(request, progress, next.segments, kept, own.carried_tokens > 0);
  next.arrival = again->delay_s > 0 ? after(done.now, again->delay_s, "client: again") : done.now;
  next.attempt = {own.client, own.carried_tokens + kept, own.row};
}

/// What ended() found is sent.
bool ClientsPart::goes_on(const RequestDone& done) {
  if (!done.is_retried) return false;
  Next next = *std::exchange(attempts_.next, std::nullopt);
  next.spec.segments = next.segments;
  const std::int32_t slot = core_.requests.open(next.spec, done.id);
  core_.progress(slot).arrival = next.arrival;
  core_.requests[slot].arrival_s = seconds(next.arrival);
  if (core_.progress(slot).deadline != never)
    core_.progress(slot).deadline =
        after(next.arrival, next.spec.deadline_s, "workload: deadline_s");
  attempts_.of(slot) = next.attempt;
  if (next.spec.row >= 0) core_.rows_sent.emplace_back(slot, next.attempt.row);
  ++core_.sent_again;
  if (next.arrival == core_.now) {
    core_.sent_now.push_back(slot);
  } else {
    core_.post({.time = next.arrival, .kind = Delivery::Kind::sent, .slot = slot});
  }
  return true;
}

}  // namespace

std::unique_ptr<Part> make_clients(Core& core, Loop&) {
  return std::make_unique<ClientsPart>(core, Attempts());
}

}  // namespace rooflua
