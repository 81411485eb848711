#include "measure/record/summary.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"

namespace rooflua {

namespace {

bool holds_limit(const std::optional<double>& limit_s, double value_s) {
  return !limit_s || value_s <= *limit_s;
}

}  // namespace

double tpot_ps(Picoseconds ttft, Picoseconds e2e, std::int32_t output_tokens) {
  return output_tokens > 1 ? static_cast<double>(e2e - ttft) / (output_tokens - 1) : 0;
}

double Summary::unsupported_share() const {
  return rooflua::unsupported_share(evidence) + noted_frac.value_or(0);
}

void Summary::add(const PartRow& part, std::any figures) {
  const auto all = rooflua::parts();
  const auto place = [&](const PartRow* row) { return std::find(all.begin(), all.end(), row); };
  const auto after = std::find_if(parts.begin(), parts.end(), [&](const PartFigures& each) {
    return place(each.part) > place(&part);
  });
  parts.insert(after, {&part, std::move(figures)});
}

bool SummaryOptions::holds(std::int32_t klass, Picoseconds ttft, Picoseconds e2e,
                           std::int32_t output_tokens) const {
  const auto own = class_slo.find(klass);
  const Slo& limits = own == class_slo.end() ? slo : own->second;
  if (!limits.given()) return true;
  return holds_limit(limits.ttft_s, seconds(ttft)) && holds_limit(limits.e2e_s, seconds(e2e)) &&
         holds_limit(limits.tpot_s, tpot_ps(ttft, e2e, output_tokens) / 1e12);
}

SummaryObserver::SummaryObserver(SummaryOptions options)
    : options_(std::move(options)), keeping_(options_.exact_requests > 0), counters_(options_) {}

void SummaryObserver::on_arrival(const Request& request, Picoseconds now) {
  told_.reset();
  if (is_warm(request.id)) return;
  ++arrived_;
  latency_.on_arrival(request, now);
  for (PartCounter* each : counters_.of(PartEvent::arrival)) each->on_arrival(request);
  span_.first_arrival = std::min(span_.first_arrival, now);
  peak_in_flight_ = std::max(peak_in_flight_, ++in_flight_);
}

SummaryObserver::ReplicaCount& SummaryObserver::count_of(std::int32_t replica) {
  ROOFLUA_ASSERT(replica >= 0);
  const auto index = static_cast<std::size_t>(replica);
  if (index >= replica_counts_.size()) replica_counts_.resize(index + 1);
  return replica_counts_[index];
}

void SummaryObserver::on_preempt(const Request& request, Picoseconds now) {
  told_.reset();
  latency_.on_preempt(request, now);
  ++count_of(request.replica).preemptions;
}

void SummaryObserver::on_blocks(const BlocksChanged& blocks) {
  told_.reset();
  double& most = count_of(blocks.replica).kv_used_frac_max;
  most = std::max(most, static_cast<double>(blocks.used_blocks) / blocks.total_blocks);
}

SummaryObserver::Group& SummaryObserver::group_of(std::vector<Group>& groups, std::int32_t index) {
  ROOFLUA_ASSERT(index >= 0);
  const auto i = static_cast<std::size_t>(index);
  if (i >= groups.size()) groups.resize(i + 1);
  return groups[i];
}

void settle_class_slo(SummaryOptions& options) {
  for (const auto& [name, slo] : options.named_slo) {
    const auto named = std::find(options.classes.begin(), options.classes.end(), name);
    std::int32_t number = static_cast<std::int32_t>(named - options.classes.begin());
    if (named == options.classes.end()) {
      const char* end = name.data() + name.size();
      const auto read = std::from_chars(name.data(), end, number);
      if (read.ec != std::errc() || read.ptr != end)
        throw Error("slo.classes", unknown_name("class", name, options.classes) +
                                       (options.classes.empty() ? "; classes of this workload have "
                                                                  "numbers"
                                                                : ""));
    }
    options.class_slo[number] = slo;
  }
}

void SummaryObserver::on_done(const RequestDone& done) {
  told_.reset();
  latency_.on_done(done);
  if (!warm_.empty() && warm_.erase(done.id) > 0) return;
  --in_flight_;
  if (part_) {
    part_->ends.resize(static_cast<std::size_t>(arrived_) + 1);
    ++part_->ends.back();
  }
  ++ended_[static_cast<std::size_t>(done.outcome)];
  if (ends_early(done.outcome)) {
    const std::int32_t kept = done.keeps_output ? done.output_tokens : 0;
    wasted_prompt_tokens_ = wasted_prompt_tokens_.value_or(0) + done.computed_tokens;
    wasted_output_tokens_ = wasted_output_tokens_.value_or(0) + done.output_tokens - kept;
  }
  Group& of_class = group_of(classes_, done.klass);
  Group* of_replica = done.replica < 0 ? nullptr : &group_of(replicas_, done.replica);
  Group* of_tenant = done.tenant < 0 ? nullptr : &group_of(tenants_, done.tenant);
  const auto tell_parts = [&](bool is_good) {
    for (PartCounter* each : counters_.of(PartEvent::end)) each->on_end(done, is_good);
  };
  if (done.outcome != Outcome::completed) {
    tell_parts(false);
    ++of_class.counts.failed;
    if (of_replica != nullptr) ++of_replica->counts.failed;
    if (of_tenant != nullptr) ++of_tenant->counts.failed;
    return;
  }
  const Completed request{done.first_token - done.arrival,
                          done.last_token - done.arrival,
                          done.scheduled - done.queued,
                          done.output_tokens,
                          done.klass,
                          done.replica,
                          done.tenant};
  const bool is_good =
      options_.holds(request.klass, request.ttft, request.e2e, request.output_tokens);
  tell_parts(is_good);
  count(done, is_good, of_class);
  if (of_replica != nullptr) count(done, is_good, *of_replica);
  if (of_tenant != nullptr) count(done, is_good, *of_tenant);
  span_.last_completion = std::max(span_.last_completion, done.last_token);
  if (keeping_ && static_cast<std::int64_t>(kept_.size()) == options_.exact_requests)
    stop_keeping();
  if (!keeping_) return distribute(request);
  keep(request);
  if (done.session < 0) return;
  Session& session = sessions_.try_emplace(done.session, Session{0, done.arrival, 0}).first->second;
  ++session.turns;
  session.first = std::min(session.first, done.arrival);
  session.last = std::max(session.last, done.last_token);
}

/// Of many, the room for all that may come is taken once: pages that nothing touches cost nothing,
/// and copies of what is kept would.
void SummaryObserver::keep(const Completed& request) {
  constexpr std::int64_t many = 4096, most = std::int64_t{1} << 20;
  const auto room = static_cast<std::size_t>(std::min(options_.exact_requests, most));
  if (kept_.size() == many && kept_.capacity() < room) kept_.reserve(room);
  kept_.push_back(request);
}

void SummaryObserver::stop_keeping() {
  keeping_ = false;
  for (const Completed& request : kept_) distribute(request);
  kept_ = {};
  sessions_.clear();
}

void SummaryObserver::distribute(const Completed& request) {
  group_of(classes_, request.klass).distributions.add(request);
  if (request.replica >= 0) group_of(replicas_, request.replica).distributions.add(request);
  if (request.tenant >= 0) group_of(tenants_, request.tenant).distributions.add(request);
}

void SummaryObserver::count(const RequestDone& done, bool is_good, Group& group) {
  GroupSummary& counts = group.counts;
  if (done.rounds > 0) {
    group.rounds += done.rounds;
    group.drafted += done.drafted_tokens;
    group.accepted += done.accepted_tokens;
  }
  ++counts.completed;
  counts.good += is_good;
  counts.prompt_tokens += done.prompt_tokens;
  counts.output_tokens += done.output_tokens;
  counts.cached_tokens += done.cached_tokens;
}

void SummaryObserver::Distributions::add(const Completed& request) {
  ttft.add(request.ttft);
  e2e.add(request.e2e);
  queue.add(request.queue);
  const std::int64_t gaps = request.output_tokens - 1;
  if (gaps > 0) tpot.add((request.e2e - request.ttft + gaps / 2) / gaps);
}

void SummaryObserver::Distributions::add(const Distributions& other) {
  ttft.add(other.ttft);
  tpot.add(other.tpot);
  e2e.add(other.e2e);
  queue.add(other.queue);
}

/// The places of the kept requests by class or by replica, in the order of their ends.
std::vector<SummaryObserver::Places> SummaryObserver::places_by(
    std::int32_t Completed::*group) const {
  std::vector<Places> out;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i].*group < 0) continue;
    const auto index = static_cast<std::size_t>(kept_[i].*group);
    if (index >= out.size()) out.resize(index + 1);
    out[index].push_back(static_cast<std::int32_t>(i));
  }
  return out;
}

void SummaryObserver::describe_kept(const Places* places, GroupSummary& out) const {
  std::vector<double> values;  // of one metric at a time
  const std::size_t count = places != nullptr ? places->size() : kept_.size();
  const auto describe = [&](auto&& value_of, std::int32_t least_output_tokens = 0) {
    values.resize(count);
    std::size_t used = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Completed& r = kept_[places != nullptr ? static_cast<std::size_t>((*places)[i]) : i];
      values[used] = value_of(r);
      used += r.output_tokens >= least_output_tokens;
    }
    values.resize(used);
    return statistics(values);
  };
  out.ttft_s = describe([](const Completed& r) { return seconds(r.ttft); });
  out.e2e_s = describe([](const Completed& r) { return seconds(r.e2e); });
  out.queue_s = describe([](const Completed& r) { return seconds(r.queue); });
  out.tpot_s = describe(
      [](const Completed& r) { return tpot_ps(r.ttft, r.e2e, r.output_tokens) / 1e12; }, 2);
}

GroupSummary SummaryObserver::describe(const Group& group, const Places* places,
                                       const GroupSummary* all) const {
  if (all != nullptr && all->completed == group.counts.completed) {
    GroupSummary same = *all;  // every completed request is in this group
    same.failed = group.counts.failed;
    return same;
  }
  GroupSummary out = group.counts;
  if (keeping_) {
    describe_kept(places, out);
  } else {
    out.ttft_s = group.distributions.ttft.statistics(1e-12);
    out.tpot_s = group.distributions.tpot.statistics(1e-12);
    out.e2e_s = group.distributions.e2e.statistics(1e-12);
    out.queue_s = group.distributions.queue.statistics(1e-12);
  }
  const double duration_s = seconds(span_.duration());
  out.requests_per_s = quotient(out.completed, duration_s);
  out.output_tokens_per_s = quotient(out.output_tokens, duration_s);
  if (group.rounds > 0) {
    const auto accepted = static_cast<double>(group.accepted);
    out.tokens_per_round = 1 + accepted / static_cast<double>(group.rounds);
    out.acceptance_rate = quotient(accepted, static_cast<double>(group.drafted));
  }
  if (options_.has_limits()) out.goodput_per_s = quotient(out.good, duration_s);
  return out;
}

SummaryObserver::Group SummaryObserver::all_requests() const {
  Group all;
  for (const Group& group : classes_) all.add(group);
  return all;
}

std::vector<GroupSummary> SummaryObserver::class_summaries(const GroupSummary& all) const {
  std::vector<GroupSummary> out;
  if (classes_.size() < 2 && options_.classes.empty()) return out;
  std::vector<Places> places = places_by(&Completed::klass);
  places.resize(classes_.size());
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    out.push_back(describe(classes_[i], &places[i], &all));
    out.back().name =
        i < options_.classes.size() ? options_.classes[i] : "class " + std::to_string(i);
    const auto own = options_.class_slo.find(static_cast<std::int32_t>(i));
    if (own != options_.class_slo.end()) out.back().slo = own->second;
  }
  return out;
}

std::vector<GroupSummary> SummaryObserver::tenant_summaries(const GroupSummary& all) const {
  std::vector<GroupSummary> out;
  if (tenants_.empty()) return out;
  std::vector<Places> places = places_by(&Completed::tenant);
  places.resize(tenants_.size());
  for (std::size_t i = 0; i < tenants_.size(); ++i) {
    out.push_back(describe(tenants_[i], &places[i], &all));
    out.back().name = "tenant " + std::to_string(i);
  }
  return out;
}

std::vector<ReplicaSummary> SummaryObserver::replica_summaries(const GroupSummary& all) const {
  std::vector<ReplicaSummary> out;
  const auto seen_ps = static_cast<double>(span_.seen());
  const std::size_t count = std::max(replicas_.size(), replica_counts_.size());
  std::vector<Places> places;  // of a single replica they are all
  if (count > 1) places = places_by(&Completed::replica);
  places.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ReplicaCount seen = i < replica_counts_.size() ? replica_counts_[i] : ReplicaCount{};
    ReplicaSummary replica;
    replica.requests = describe(i < replicas_.size() ? replicas_[i] : Group{}, &places[i], &all);
    const bool named = i < options_.replicas.size() && !options_.replicas[i].empty();
    replica.requests.name = named ? options_.replicas[i] : std::to_string(i + 1);
    replica.steps = seen.steps;
    replica.preemptions = seen.preemptions;
    replica.busy_frac = quotient(seen.busy, seen_ps);
    replica.load_frac = quotient(seen.loaded_ps, seen_ps);
    replica.decode_batch_mean = quotient(seen.decodes, static_cast<double>(seen.decode_steps));
    replica.kv_used_frac_max = seen.kv_used_frac_max;
    if (seen.grouped) replica.wait_frac = quotient(seen.waited_s * 1e12, seen_ps);
    out.push_back(std::move(replica));
  }
  return out;
}

std::optional<SessionSummary> SummaryObserver::session_summary() const {
  if (sessions_.empty()) return std::nullopt;
  std::vector<double> turns, duration_s;
  for (const auto& [id, session] : sessions_) {
    turns.push_back(static_cast<double>(session.turns));
    duration_s.push_back(seconds(session.last - session.first));
  }
  return SessionSummary{static_cast<std::int64_t>(sessions_.size()), statistics(turns),
                        statistics(duration_s)};
}

Summary SummaryObserver::summary(const Simulation* run) const {
  if (!told_) told_ = sum_up();
  Summary out = *told_;
  counters_.complete(out, run);
  return out;
}

Summary SummaryObserver::sum_up() const {
  Summary out;
  const GroupSummary all = describe(all_requests(), nullptr, nullptr);
  out.slo = options_.slo;
  out.requests = arrived_;
  out.completed = all.completed;
  out.ended = ended_;
  out.duration_s = seconds(span_.duration());
  out.requests_per_s = all.requests_per_s;
  out.output_tokens_per_s = all.output_tokens_per_s;
  out.prompt_tokens = all.prompt_tokens;
  out.output_tokens = all.output_tokens;
  out.cached_tokens = all.cached_tokens;
  out.wasted_prompt_tokens = wasted_prompt_tokens_;
  out.wasted_output_tokens = wasted_output_tokens_;
  out.ttft_s = all.ttft_s;
  out.tpot_s = all.tpot_s;
  out.e2e_s = all.e2e_s;
  out.queue_s = all.queue_s;
  out.itl_s = itl_.statistics(1e-12);
  static_cast<LatencyParts&>(out) = latency_.parts();
  out.goodput_per_s = all.goodput_per_s;
  out.peak_output_tokens_per_s = static_cast<double>(peak_tokens_);
  out.peak_concurrency = peak_in_flight_;
  EvidenceSeconds evidence;
  for (const ReplicaCount& replica : replica_counts_) {
    out.steps += replica.steps;
    out.preemptions += replica.preemptions;
    out.kv_used_frac_max = std::max(out.kv_used_frac_max, replica.kv_used_frac_max);
    evidence.add(replica.evidence_s);
  }
  out.evidence = evidence.shares();
  out.exact = keeping_;
  out.classes = class_summaries(all);
  out.replicas = replica_summaries(all);
  for (const ReplicaSummary& replica : out.replicas)
    out.idle_frac += (1 - replica.busy_frac) / static_cast<double>(out.replicas.size());
  out.idle_frac = std::clamp(out.idle_frac, 0.0, 1.0);  // rounding of the sum
  out.seen_s = seconds(span_.seen());
  out.tenants = tenant_summaries(all);
  out.sessions = session_summary();
  counters_.sum_up(out, span_);
  return out;
}

}  // namespace rooflua
