#include "measure/write/timeline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "cost/price/evidence.h"
#include "cost/price/roofline.h"

namespace rooflua {

namespace {

constexpr std::int64_t requests_process = 0;
constexpr int microsecond_digits = 6;  // a trace counts in microseconds

/// What a step holds and what bounds it. Few names: viewers colour by name.
std::string step_name(const StepDone& step) {
  if (step.empty()) return "empty";
  const char* kind = step.prefills.empty()      ? "decode"
                     : step.batch->decodes == 0 ? "prefill"
                                                : "mixed";
  const std::int32_t bound = step.price->bound;
  if (bound <= 0 || bound >= bound_count) return kind;
  return std::string(kind) + ", " + std::string(name(static_cast<Bound>(bound)));
}

/// Colours of chrome://tracing; others ignore them.
const char* step_colour(const StepDone& step) {
  static constexpr std::array<const char*, bound_count> colours = {
      "grey", "thread_state_running", "thread_state_iowait", "thread_state_runnable"};
  const auto bound = static_cast<std::size_t>(step.price->bound);
  return colours[bound < colours.size() ? bound : 0];
}

std::int64_t process_of(std::int32_t replica) {
  return replica + 1;
}

std::string json_text(std::string_view text) {
  return dump_json(Json(text));
}

}  // namespace

Timeline::Timeline(std::ostream& out, std::string name, TimelineOptions options)
    : out_(out, std::move(name)), options_(std::move(options)) {
  out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  out_ << "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" << requests_process
       << ",\"args\":{\"name\":\"requests\"}}";
}

void Timeline::open_event(const char* phase, std::int64_t process, Picoseconds time,
                          std::size_t track) {
  out_ << ",\n{\"ph\":\"" << phase << "\",\"pid\":" << process << ",\"tid\":" << track
       << ",\"ts\":";
  out_.decimal(time, microsecond_digits);
}

void Timeline::name_process(std::int64_t process, const std::string& name) {
  out_ << ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" << process
       << ",\"args\":{\"name\":" << json_text(name)
       << "}},\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":" << process
       << ",\"args\":{\"sort_index\":" << process - 1000000
       << "}},\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" << process
       << ",\"tid\":0,\"args\":{\"name\":\"steps\"}}";
}

Timeline::Counters& Timeline::replica(std::int32_t index) {
  const auto i = static_cast<std::size_t>(index);
  if (i >= replicas_.size()) replicas_.resize(i + 1);
  const bool named = i < options_.replicas.size() && !options_.replicas[i].empty();
  if (!replicas_[i].known) {
    name_process(process_of(index),
                 named ? options_.replicas[i] : "replica " + std::to_string(index + 1));
  }
  replicas_[i].known = true;
  return replicas_[i];
}

void Timeline::counter(std::int32_t index, Picoseconds time, const char* name, std::int64_t value,
                       std::int64_t& last) {
  if (value == last) return;
  last = value;
  open_event("C", process_of(index), time);
  out_ << ",\"name\":\"" << name << "\",\"args\":{\"" << name << "\":" << value << "}}";
}

/// Its last step is over and no other began: nothing runs.
void Timeline::rest(std::int32_t index) {
  Counters& counters = replica(index);
  counter(index, counters.end, "batch tokens", 0, counters.tokens);
  counter(index, counters.end, "running", 0, counters.running);
  counter(index, counters.end, "waiting", 0, counters.queue);
  counter(index, counters.end, "KV blocks", counters.left_blocks, counters.blocks);
}

/// Ends the "preempted" span of requests that this step prefills again: they have a seat.
void Timeline::resume(const StepDone& step) {
  if (unseated_.empty()) return;
  for (const PrefillWork& prefill : step.prefills) {
    const auto found = unseated_.find(prefill.id);
    if (found == unseated_.end() || found->second >= step.end) continue;
    if (step.planned < found->second) continue;  // planned before it lost its seat
    if (requests_ < options_.requests) span(prefill.id, "preempted", found->second, step.start);
    unseated_.erase(found);
  }
}

/// Steps of several stages overlap: each goes to the first track that is free.
std::size_t Timeline::track_of(const StepDone& step) {
  std::vector<Picoseconds>& tracks = replica(step.replica).tracks;
  const auto free = std::find_if(tracks.begin(), tracks.end(),
                                 [&](Picoseconds end) { return end <= step.start; });
  const auto track = static_cast<std::size_t>(free - tracks.begin());
  if (track == tracks.size()) {
    tracks.push_back(0);
    if (track > 0) {
      out_ << ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" << process_of(step.replica)
           << ",\"tid\":" << track << ",\"args\":{\"name\":\"steps beside it\"}}";
    }
  }
  tracks[track] = step.end;
  return track;
}

/// Of each decode with drafts: how many, and how many were accepted.
void Timeline::add_rows(const StepDone& step) {
  if (!step.speculates) return;
  out_ << ",\"rows\":[";
  const char* separator = "";
  for (const Row& row : step.rows) {
    out_ << separator << "\"" << row.id << ": ";
    if (row.discarded) {
      out_ << "discarded " << row.tokens();
    } else {
      out_ << row.accepted << " of " << row.drafts;
    }
    out_ << "\"";
    separator = ",";
  }
  out_ << "]";
}

void Timeline::on_step(const StepDone& step) {
  resume(step);
  if (++steps_ > options_.steps) return;
  Counters& counters = replica(step.replica);
  if (step.start > counters.end && counters.end > 0) rest(step.replica);
  counters.end = step.end;
  counters.left_blocks = step.left_blocks;
  counter(step.replica, step.start, "waiting", step.waiting, counters.queue);
  counter(step.replica, step.start, "running", step.running, counters.running);
  counter(step.replica, step.start, "batch tokens", step.batch->tokens, counters.tokens);
  counter(step.replica, step.start, "KV blocks", step.used_blocks, counters.blocks);
  const std::size_t track = step.price->stages > 1 ? track_of(step) : 0;
  open_event("X", process_of(step.replica), step.start, track);
  out_ << ",\"dur\":";
  out_.decimal(step.end - step.start, microsecond_digits);
  out_ << ",\"name\":\"" << step_name(step) << "\",\"cname\":\"" << step_colour(step)
       << "\",\"args\":{\"step\":" << step.serial << ",\"decodes\":" << step.batch->decodes
       << ",\"decode_context_tokens\":" << step.batch->decode_context_tokens
       << ",\"prefill_tokens\":"
       << step.batch->tokens - std::max(step.batch->decodes, step.batch->decode_tokens);
  if (step.batch->group_ranks > 1) out_ << ",\"own_s\":" << step.price->own_s;
  if (step.discarded > 0) out_ << ",\"discarded\":" << step.discarded;
  out_ << ",\"prefills\":[";
  const char* separator = "";
  for (const PrefillWork& prefill : step.prefills) {
    out_ << separator << "\"" << prefill.id << ": " << prefill.context_tokens << "+"
         << prefill.new_tokens << "\"";
    separator = ",";
  }
  out_ << "]";
  add_rows(step);
  for (const EvidenceWord& word : evidence_words) {
    const double time_s = step.price->evidence_s[static_cast<std::size_t>(word.value)];
    if (time_s > 0) out_ << ",\"" << word.name << "_s\":" << time_s;
  }
  out_ << "}}";
}

void Timeline::on_preempt(const Request& request, Picoseconds now) {
  unseated_.try_emplace(request.id, now);
  if (steps_ > options_.steps || request.replica < 0) return;
  replica(request.replica);
  open_event("i", process_of(request.replica), now);
  out_ << ",\"s\":\"t\",\"name\":\"preempt\",\"args\":{\"request\":" << request.id << "}}";
}

void Timeline::span(std::int32_t request, std::string_view name, Picoseconds from, Picoseconds to) {
  for (const char* phase : {"b", "e"}) {
    open_event(phase, requests_process, *phase == 'b' ? from : to);
    out_ << ",\"cat\":\"request\",\"id\":" << request << ",\"name\":\"" << name << "\"}";
  }
}

void Timeline::on_transfer(const TransferSeen& transfer) {
  if (requests_ >= options_.requests || transfer.id < 0) return;
  const char* what = transfer.store >= 0 ? "KV load" : "KV transfer";
  span(transfer.id, what, transfer.start, transfer.end);
}

void Timeline::on_blocks(const BlocksChanged& blocks) {
  if (steps_ > options_.steps) return;
  Counters& counters = replica(blocks.replica);
  counters.left_blocks = blocks.used_blocks;
  counter(blocks.replica, blocks.now, "KV blocks", blocks.used_blocks, counters.blocks);
}

/// A mark at every change, and a span while it starts, drains or has failed.
void Timeline::on_replica(const ReplicaChanged& change) {
  if (steps_ > options_.steps) return;
  replica(change.replica);
  const auto span_of = [](Lifecycle state) {
    return state != Lifecycle::ready && state != Lifecycle::absent;
  };
  const auto write = [&](const char* phase, Lifecycle state) {
    open_event(phase, process_of(change.replica), change.time);
    out_ << ",\"cat\":\"replica\",\"id\":" << process_of(change.replica) << ",\"name\":\""
         << name(state) << "\"}";
  };
  if (span_of(change.before)) write("e", change.before);
  open_event("i", process_of(change.replica), change.time);
  out_ << ",\"s\":\"p\",\"name\":\"" << name(change.now) << "\"}";
  if (span_of(change.now)) write("b", change.now);
}

/// Of a request of a play: which one it is.
void Timeline::add_row(std::int32_t request) {
  const auto found = rows_.find(request);
  if (found == rows_.end()) return;
  out_ << ",\"play\":" << found->second.play + 1 << ",\"row\":" << found->second.row + 1;
  if (found->second.warm) out_ << ",\"warm\":true";
}

// Requests share a name: viewers group spans by it, and pack a group into few rows.
void Timeline::on_done(const RequestDone& done) {
  unseated_.erase(done.id);
  if (++requests_ > options_.requests) {
    rows_.erase(done.id);
    return;
  }
  open_event("b", requests_process, done.arrival);
  out_ << ",\"cat\":\"request\",\"id\":" << done.id
       << ",\"name\":\"request\",\"args\":{\"request\":" << done.id
       << ",\"replica\":" << done.replica + 1 << ",\"prompt_tokens\":" << done.prompt_tokens
       << ",\"output_tokens\":" << done.output_tokens << ",\"cached_tokens\":" << done.cached_tokens
       << ",\"preemptions\":" << done.preemptions << ",\"outcome\":\"" << name(done.outcome)
       << "\"";
  if (static_cast<std::size_t>(done.klass) < options_.classes.size()) {
    out_ << ",\"class\":" << json_text(options_.classes[static_cast<std::size_t>(done.klass)]);
  }
  add_row(done.id);
  rows_.erase(done.id);
  out_ << "}}";
  const Picoseconds end = done.last_token == never ? done.now : done.last_token;
  const Picoseconds first = done.first_token == never ? end : done.first_token;
  const Picoseconds scheduled = done.scheduled == never ? end : done.scheduled;
  if (done.queued != never) span(done.id, "queue", done.queued, scheduled);
  if (done.scheduled != never) span(done.id, "prefill", scheduled, first);
  if (done.first_token != never) span(done.id, "decode", first, end);
  open_event("e", requests_process, end);
  out_ << ",\"cat\":\"request\",\"id\":" << done.id << ",\"name\":\"request\"}";
}

void Timeline::finish() {
  for (std::size_t i = 0; i < replicas_.size() && partial_.is_null(); ++i) {
    if (replicas_[i].known) rest(static_cast<std::int32_t>(i));
  }
  out_ << "\n],\"otherData\":{\"requests\":" << requests_
       << ",\"requests_shown\":" << std::min(requests_, options_.requests)
       << ",\"steps\":" << steps_ << ",\"steps_shown\":" << std::min(steps_, options_.steps);
  if (!partial_.is_null()) out_ << ",\"partial\":" << dump_json(partial_);
  out_ << "}}\n";
  out_.flush();
}

}  // namespace rooflua
