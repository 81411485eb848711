// Clients with patience. A client's end of a request is an abort (abort.cpp). A request that is
// sent again is a new one with the same content. Observers are told every end; the workload is told
// the last one alone, so that a client that waits for an answer waits on.
//
// Random numbers of a client depend on which origin it is, on the attempt and on what is asked:
// how the cluster does changes none of them.

#include "serve/loop/trying.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "serve/loop/simulation.h"

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

}  // namespace

void Trying::begin(std::int32_t slot) {
  Attempts::Attempt& own = s_.attempts_.of(slot);
  const Request& request = s_.core_.requests[slot];
  if (request.attempt == 0) {
    own.client = s_.attempts_.clients++;
    own.carried_tokens = 0;
  }
  RandomStream draws = draws_of(s_.core_.config, own.client, request.attempt, 0);
  const Patience patience = s_.core_.bindings.client->patience(request, draws);
  expect(slot, PatienceEnds::Kind::cancel, patience.cancel_s);
  expect(slot, PatienceEnds::Kind::total, patience.total_s);
  expect(slot, PatienceEnds::Kind::first_token, patience.first_token_s);
}

void Trying::expect(std::int32_t slot, PatienceEnds::Kind kind, double after_s) {
  check_wait(after_s, "patience");
  if (std::isinf(after_s)) return;
  const Picoseconds time = after(s_.core_.now, after_s, "client: patience");
  s_.attempts_.ends.push({time, s_.core_.requests[slot].id, slot, kind});
  s_.workload_due_ = std::min(s_.workload_due_, time);
}

bool Trying::is_over(const PatienceEnds& end) const {
  if (s_.core_.requests[end.slot].id != end.id || !s_.core_.is_live(end.slot)) return true;
  const Picoseconds first = s_.core_.requests.progress(end.slot).first_token;
  return end.kind == PatienceEnds::Kind::first_token && first != never &&
         first + s_.core_.frontend_token <= std::min(s_.core_.now, end.time);
}

void Trying::lose_patience() {
  EventHeap<PatienceEnds>& ends = s_.attempts_.ends;
  while (!ends.empty() && ends.front().time <= s_.core_.now) {
    const PatienceEnds end = ends.pop();
    if (is_over(end)) continue;
    const Outcome outcome = end.kind == PatienceEnds::Kind::cancel ? Outcome::cancelled
                            : end.kind == PatienceEnds::Kind::lost ? Outcome::replica_lost
                                                                   : Outcome::timed_out;
    s_.abort(end.slot, outcome);
  }
}

void Trying::end(std::int32_t slot, RequestDone& done) {
  const Request& request = s_.core_.requests[slot];
  const Progress& progress = s_.core_.requests.progress(slot);
  const Attempts::Attempt own = s_.attempts_.of(slot);
  if (!may_be_sent_again(done.outcome)) return;
  const Ending ending{done.outcome, done.attempt, seconds(done.now),
                      seconds(done.now - done.arrival), done.output_tokens};
  RandomStream draws = draws_of(s_.core_.config, own.client, request.attempt, 1);
  const std::optional<Again> again = s_.core_.bindings.client->again(request, ending, draws);
  if (!again) return;
  check_wait(again->delay_s, "again");
  if (request.attempt + 1 >= most_attempts)
    throw Error("client", "again: a request was sent " + std::to_string(most_attempts) +
                              " times; a client must give up at some attempt");
  Attempts::Next& next = s_.attempts_.next.emplace();
  const std::int32_t kept =
      again->keeps_output ? std::min(done.output_tokens, progress.output_tokens - 1) : 0;
  done.is_retried = true;
  done.keeps_output = kept > 0;
  next.spec = same_content(request, progress, next.segments, kept, own.carried_tokens > 0);
  next.arrival = again->delay_s > 0 ? after(done.now, again->delay_s, "client: again") : done.now;
  next.attempt = {own.client, own.carried_tokens + kept, own.row};
}

void Trying::send_again(const RequestDone& done) {
  Attempts::Next next = *std::exchange(s_.attempts_.next, std::nullopt);
  next.spec.segments = next.segments;
  const std::int32_t slot = s_.core_.requests.open(next.spec, done.id);
  s_.core_.requests.progress(slot).arrival = next.arrival;
  s_.core_.requests[slot].arrival_s = seconds(next.arrival);
  if (s_.core_.requests.progress(slot).deadline != never)
    s_.core_.requests.progress(slot).deadline =
        after(next.arrival, next.spec.deadline_s, "workload: deadline_s");
  s_.attempts_.of(slot) = next.attempt;
  if (next.spec.row >= 0) s_.rows_sent_.emplace_back(slot, next.attempt.row);
  s_.read_due();
  if (next.arrival == s_.core_.now) return s_.core_.sent_now.push_back(slot);
  s_.core_.post({.time = next.arrival, .kind = Delivery::Kind::sent, .slot = slot});
}

void Trying::lose_connection(std::int32_t slot, std::int32_t replica) {
  s_.core_.requests[slot].replica = replica;
  const double connect_s =
      s_.core_.bindings.faults == nullptr ? 0 : s_.core_.bindings.faults->connect_s();
  expect(slot, PatienceEnds::Kind::lost, connect_s);
}

// --- for the workload

bool Trying::awaits_sending(std::int32_t slot) const {
  const Request& request = s_.core_.requests[slot];
  return request.attempt > 0 && request.phase == Phase::pending && request.id < 0;
}

std::int32_t Trying::slot_of_row(std::int32_t slot, std::int32_t row) const {
  const auto is_it = [&](std::int32_t place) {
    return s_.core_.requests.progress(place).row == row &&
           (s_.core_.is_live(place) || awaits_sending(place));
  };
  if (is_it(slot)) return slot;
  if (s_.core_.bindings.client == nullptr) return -1;
  for (std::int32_t place = 0; place < s_.core_.requests.slots(); ++place)
    if (is_it(place)) return place;
  return -1;
}

void Trying::cancel(std::int32_t slot) {
  if (awaits_sending(slot)) {
    s_.core_.deliveries.erase_if([slot](const Delivery& each) { return each.slot == slot; });
    std::erase(s_.core_.sent_now, slot);
    s_.core_.requests.progress(slot).arrival = s_.core_.now;
    s_.core_.requests[slot].arrival_s = seconds(s_.core_.now);
    s_.begin(slot);
  }
  s_.abort(slot, Outcome::cancelled);
}

}  // namespace rooflua
