#include "serve/core/core.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace rooflua {

void check_each(const Bindings& bindings, std::size_t replicas) {
  const auto one_each = [&](std::size_t found, const char* what) {
    if (found != replicas)
      throw Error(what, "found " + std::to_string(found) + " for " + std::to_string(replicas) +
                            " replicas; each has its own");
  };
  one_each(bindings.schedulers.size(), "schedulers");
  one_each(bindings.steps.size(), "steps");
  if (!bindings.speculators.empty()) {
    one_each(bindings.speculators.size(), "speculators");
    one_each(bindings.acceptances.size(), "acceptances");
  }
  for (std::size_t i = 0; i < replicas; ++i)
    ROOFLUA_ASSERT(bindings.schedulers[i] != nullptr && bindings.steps[i] != nullptr);
  ROOFLUA_ASSERT(bindings.workload != nullptr);
}

namespace {

/// The configuration with `ragged` where the bindings have a speculator.
ClusterConfig with_rows(ClusterConfig config, const Bindings& bindings) {
  for (std::size_t i = 0; i < std::min(config.replicas.size(), bindings.speculators.size()); ++i)
    config.replicas[i].ragged |= bindings.speculators[i] != nullptr;
  return config;
}

/// By replica: the place of its group.
std::vector<std::int32_t> places_of(const std::vector<RankGroup>& groups, std::size_t replicas) {
  std::vector<std::int32_t> out(replicas);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::int32_t index : groups[g].members)
      out[static_cast<std::size_t>(index)] = static_cast<std::int32_t>(g);
  }
  return out;
}

PrefixIndex index_of(const ReplicaConfig& config, const Workload& workload, bool tiers) {
  if (!config.prefix_caching) return PrefixIndex::none;
  // A hit that loses a block leaves a second copy behind, and the order of copies counts.
  const bool real = config.real_blocks || config.drops_last_hit || config.state_blocks > 0 || tiers;
  return real || workload.shares_content() ? PrefixIndex::shared : PrefixIndex::own;
}

bool starts_over_links(const ClusterConfig& config) {
  return std::any_of(config.pools.begin(), config.pools.end(),
                     [](const PoolConfig& pool) { return !pool.start.link.empty(); });
}

}  // namespace

Core::Core(const ClusterConfig& given, const Bindings& bound)
    : config(with_rows(given, bound)),
      bindings(bound),
      groups(rank_groups(given.replicas)),
      group_of(places_of(groups, given.replicas.size())),
      signals(group_of, given.replicas) {
  validate(config);
  check_each(bindings, config.replicas.size());
  const bool has_stores = !config.tiers.stores.empty();
  replicas.reserve(config.replicas.size());
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(config.replicas.size()); ++i) {
    const ReplicaConfig& each = config.replicas[static_cast<std::size_t>(i)];
    replicas.emplace_back(i, each, index_of(each, *bindings.workload, has_stores), requests);
    const std::size_t stage = each.role == Role::decode ? 1 : 0;
    ++built[stage];
    candidates[stage].push_back(i);
    is_split = is_split || each.role == Role::prefill;
  }
  signals.set_candidates(candidates);
  steps = bindings.steps;
  fruitless_preemptions.assign(replicas.size(), 0);
  runs.resize(replicas.size());
  receptions.resize(replicas.size());
  is_touched.assign(groups.size(), 0);
  frontend_token = picoseconds(config.frontend.per_output_token_s, "frontend.per_output_token_s");
  if (config.transfer.over_links() || has_stores || starts_over_links(config))
    kv_links.emplace(config.links, nodes_of(config), config.transfer.path);
}

std::int32_t Core::open(const RequestSpec& spec) {
  const std::int32_t count = config.adapters.count;
  if (spec.adapter > count)
    throw Error("workload: request " + std::to_string(opened + 1),
                "adapter: found " + std::to_string(spec.adapter) + "; " +
                    (count == 0 ? "the scenario has no adapters"
                                : "adapters.count is " + std::to_string(count)));
  return requests.open(spec, opened++);
}

bool Core::is_live(std::int32_t slot) const {
  return requests[slot].phase != Phase::absent && requests[slot].id >= 0 && !has_left(slot);
}

const Left* Core::left_of(std::int32_t slot) const {
  const auto found = std::find_if(left.begin(), left.end(),
                                  [slot](const Left& each) { return each.slot == slot; });
  return found == left.end() ? nullptr : &*found;
}

bool Core::is_leaving(std::int32_t id) const {
  return std::any_of(left.begin(), left.end(),
                     [&](const Left& each) { return requests[each.slot].id == id; });
}

std::vector<std::int32_t> Core::live_slots() const {
  std::vector<std::int32_t> out;
  for (std::int32_t slot = 0; slot < requests.slots(); ++slot)
    if (is_live(slot)) out.push_back(slot);
  std::sort(out.begin(), out.end(),
            [this](std::int32_t a, std::int32_t b) { return requests[a].id < requests[b].id; });
  return out;
}

std::vector<std::int32_t> Core::slots_at(std::int32_t index) const {
  std::vector<std::int32_t> out = live_slots();
  std::erase_if(out, [&](std::int32_t slot) { return requests[slot].replica != index; });
  return out;
}

void Core::end_at(std::int32_t slot, DueEnd::Kind kind, Picoseconds time) {
  ends.push({time, requests[slot].id, slot, kind});
  workload_due = std::min(workload_due, time);
}

bool Core::is_in_time(const DueEnd& end) const {
  if (requests[end.slot].id != end.id || !is_live(end.slot)) return true;
  return end.kind == DueEnd::Kind::first_token && requests.progress(end.slot).first_token != never &&
         first_token_at_client(end.slot) <= std::min(now, end.time);
}

void Core::see_first(std::int32_t slot, Picoseconds time) {
  const auto place = static_cast<std::size_t>(slot);
  if (place >= first_seen.size()) first_seen.resize(static_cast<std::size_t>(requests.slots()));
  first_seen[place] = time;
}

RouteView Core::route_view(std::int32_t slot, const std::vector<std::int32_t>& among,
                           const RouteSource& source) const {
  RouteView view;
  view.now_s = seconds(now);
  view.candidates = among.data();
  view.candidate_count = static_cast<std::int32_t>(among.size());
  view.replica_count = replica_count();
  view.slot = slot;
  view.source = &source;
  return view;
}

void Core::show_signals(RouteView& view) {
  view.signals = signals.read(now, replicas);
  view.signals_s = seconds(signals.taken_at());
}

void Core::touch(std::int32_t index) {
  signals.changed(index);
  const std::int32_t group = engine_of(index);
  char& mark = is_touched[static_cast<std::size_t>(group)];
  if (mark != 0) return;
  mark = 1;
  touched.push_back(group);
}

void Core::plan_again(std::int32_t index) {
  signals.changed(index);
  Replica& replica = at(index);
  if (replica.pipeline().executing()) return;
  touch(index);
  replica.wake_at(now);
  alarms.push({now, index});
}

void Core::post(Delivery delivery) {
  delivery.serial = posted++;
  deliveries.push(delivery);
}

void Core::expect_flows() {
  const Picoseconds next = kv_links->flows().next();
  if (next >= flows_expected) return;
  flows_expected = next;
  post({.time = next, .kind = Delivery::Kind::flows});
}

void Core::tell_blocks(std::int32_t index) {
  const KvCache& kv = at(index).kv();
  for (Observer* observer : bindings.observers)
    observer->on_blocks({index, now, kv.used_blocks(), kv.total_blocks()});
}

bool Core::alarm_holds(const Alarm& alarm) const {
  const Replica& replica = replicas[static_cast<std::size_t>(alarm.replica)];
  const Pipeline& pipeline = replica.pipeline();
  return alarm.time == (pipeline.executing() ? pipeline.front().end : replica.wake());
}

void Core::bind_groups() {
  for (const RankGroup& group : groups) {
    for (const std::int32_t index : group.members)
      at(index).see_group(group.shared() ? &group.view : nullptr);
  }
}

void Core::bind_speculation() {
  for (std::size_t i = 0; i < bindings.speculators.size(); ++i) {
    if (replicas[i].is_ragged())
      replicas[i].speculate_by(bindings.speculators[i], bindings.acceptances[i]);
  }
}

/// An end token before the declared limit cannot be foreseen.
void Core::limit_output(std::int32_t slot, const ReplicaConfig& replica) {
  const Request& request = requests[slot];
  Progress& progress = requests.progress(slot);
  progress.limit = std::max(progress.output_tokens, request.max_output_tokens);
  if (replica.role == Role::prefill) progress.limit = 1;
  progress.stop_at = std::min(progress.output_tokens, progress.limit);
  if (!replica.max_model_len) return;
  const std::int32_t room = *replica.max_model_len - request.prompt_tokens;
  if (room < progress.stop_at) ++totals.cut_answers;
  progress.limit = std::min(progress.limit, room);
  progress.stop_at = std::min(progress.stop_at, room);
}

}  // namespace rooflua
