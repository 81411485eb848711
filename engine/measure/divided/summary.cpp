// The summary of replicas that several processes simulate. All of them see every arrival; each sees
// what its own replicas do. Sums and the largest of values are those of the parts. Two are not: the
// most requests at once, and the most tokens in a second. Of these each part keeps what they are
// made of.

#include "measure/record/summary.h"

#include <algorithm>

#include "measure/divided/packed.h"

namespace rooflua {

template <class Archive>
void LogHistogram::pass(Archive& archive) {
  archive(counts_, first_, count_, max_, min_, sum_, squares_);
}

template <class Archive>
void SummaryObserver::Distributions::pass(Archive& archive) {
  archive(ttft, tpot, e2e, queue);
}

template <class Archive>
void SummaryObserver::Group::pass(Archive& archive) {
  archive(counts.completed, counts.failed, counts.good, counts.prompt_tokens, counts.output_tokens,
          counts.cached_tokens, rounds, drafted, accepted, distributions);
}

template <class Archive>
void SummaryObserver::pass(Archive& archive) {
  archive(arrived_, span_, ended_, wasted_prompt_tokens_, wasted_output_tokens_, classes_,
          replicas_, tenants_, replica_counts_, itl_, keeping_, kept_, sessions_, latency_, part_->tokens,
          part_->ends);
}

std::string SummaryObserver::packed() {
  ROOFLUA_ASSERT(part_);
  begin_second(-1);
  Packer packer;
  pass(packer);
  return std::move(packer.bytes);
}

void SummaryObserver::Group::add(const Group& other) {
  counts.completed += other.counts.completed;
  counts.failed += other.counts.failed;
  counts.good += other.counts.good;
  counts.prompt_tokens += other.counts.prompt_tokens;
  counts.output_tokens += other.counts.output_tokens;
  counts.cached_tokens += other.counts.cached_tokens;
  rounds += other.rounds;
  drafted += other.drafted;
  accepted += other.accepted;
  distributions.add(other.distributions);
}

/// One of the two has seen nothing: every replica is in one part.
void SummaryObserver::ReplicaCount::add(const ReplicaCount& other) {
  steps += other.steps;
  decode_steps += other.decode_steps;
  decodes += other.decodes;
  preemptions += other.preemptions;
  busy += other.busy;
  until = std::max(until, other.until);
  loaded_ps += other.loaded_ps;
  kv_used_frac_max = std::max(kv_used_frac_max, other.kv_used_frac_max);
  waited_s += other.waited_s;
  grouped = grouped || other.grouped;
  evidence_s.add(other.evidence_s);
}

namespace {

template <class Count>
void add_each(std::vector<Count>& to, const std::vector<Count>& from) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i].add(from[i]);
}

void add_to(std::optional<std::int64_t>& to, const std::optional<std::int64_t>& from) {
  if (from) to = to.value_or(0) + *from;
}

}  // namespace

void SummaryObserver::Session::add(const Session& other) {
  turns += other.turns;
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

void SummaryObserver::add_kept(const SummaryObserver& other) {
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  for (const auto& [id, session] : other.sessions_) {
    const auto [own, is_new] = sessions_.try_emplace(id, session);
    if (!is_new) own->second.add(session);
  }
  const auto count = static_cast<std::int64_t>(kept_.size());
  if (keeping_ && other.keeping_ && count <= options_.exact_requests) return;
  stop_keeping();
}

/// The largest values, of all parts so far.
void SummaryObserver::look_for_peaks() {
  peak_tokens_ = peak_in_flight_ = 0;
  for (const auto& [second, tokens] : part_->tokens) peak_tokens_ = std::max(peak_tokens_, tokens);
  in_flight_ = 0;
  part_->ends.resize(static_cast<std::size_t>(arrived_) + 1);
  for (const std::int32_t ends : part_->ends) {
    in_flight_ -= ends;
    if (&ends == &part_->ends.back()) break;
    peak_in_flight_ = std::max(peak_in_flight_, ++in_flight_);
  }
}

void SummaryObserver::add_part(std::string_view bytes) {
  SummaryObserver other(options_);
  other.count_part();
  Unpacker unpacker(bytes);
  other.pass(unpacker);
  if (!unpacker.is_at_end()) throw Error("", "a worker process sent more than it said");
  told_.reset();
  if (!part_) count_part();
  arrived_ = other.arrived_;
  span_.first_arrival = std::min(span_.first_arrival, other.span_.first_arrival);
  span_.last_completion = std::max(span_.last_completion, other.span_.last_completion);
  span_.last_step_end = std::max(span_.last_step_end, other.span_.last_step_end);
  for (std::size_t i = 0; i < ended_.size(); ++i) ended_[i] += other.ended_[i];
  add_to(wasted_prompt_tokens_, other.wasted_prompt_tokens_);
  add_to(wasted_output_tokens_, other.wasted_output_tokens_);
  add_each(classes_, other.classes_);
  add_each(replicas_, other.replicas_);
  add_each(tenants_, other.tenants_);
  add_each(replica_counts_, other.replica_counts_);
  itl_.add(other.itl_);
  latency_.add(other.latency_);
  add_kept(other);
  for (const auto& [second, tokens] : other.part_->tokens) part_->tokens[second] += tokens;
  part_->ends.resize(std::max(part_->ends.size(), other.part_->ends.size()));
  for (std::size_t i = 0; i < other.part_->ends.size(); ++i) part_->ends[i] += other.part_->ends[i];
  look_for_peaks();
}

}  // namespace rooflua
