// A cluster of the engine, asked a random question.

#include "serve/parts/tiers/trips.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/engine_run.h"

namespace rooflua::reference {

namespace {

class SplitsSome : public Decider {
 public:
  bool split(const rooflua::Request& request, const PairView&) override {
    return is_split(request.id);
  }
};

/// Loads what is found, and stores in every store each part of a prompt, or what leaves the GPU.
class LoadsAll : public TierPolicy {
 public:
  explicit LoadsAll(const TierCase& tiers) : tiers_(tiers) {}
  Load load(const rooflua::Request&, const TierFound& found) override { return {found.tokens}; }
  std::uint32_t store(const rooflua::Request&, const TierRun&,
                      std::span<const StoreView>) override {
    return tiers_.writes_back ? 0 : ~0u;
  }
  std::uint32_t store_evicted(const TierRun&, std::span<const StoreView>) override { return ~0u; }
  bool writes_back() const override { return tiers_.writes_back; }
  bool promotes() const override { return tiers_.promotes; }
  bool outputs() const override { return tiers_.outputs; }
  bool as_filled() const override { return tiers_.outputs; }
  bool last_chunk() const override { return tiers_.last_chunk; }
  bool shares_loads() const override { return tiers_.shares_loads; }
  bool flushes() const override { return tiers_.flushes; }

 private:
  const TierCase& tiers_;
};

void add_tiers(const TierCase& tiers, TierPolicy& policy, ClusterConfig& config,
               Bindings& bindings) {
  if (tiers.stores.empty()) return;
  config.tiers.bytes_per_token = 1;
  for (const StoreCase& each : tiers.stores) {
    StoreConfig store;
    store.name = "store " + std::to_string(config.tiers.stores.size());
    store.capacity_bytes = each.chunks * each.chunk_tokens;
    store.chunk_tokens = each.chunk_tokens;
    store.alpha_s = seconds(each.alpha);
    store.eviction = each.eviction;
    store.per = each.per_node ? LinkScope::node : LinkScope::replica;
    store.read = store.write = {"pcie"};
    config.tiers.stores.push_back(store);
  }
  LinkConfig link;
  link.name = "pcie";
  link.bytes_per_s = 1e12 / static_cast<double>(tiers.link_token);
  link.alpha_s = seconds(tiers.link_alpha);
  link.per = LinkScope::replica;
  link.duplex = tiers.duplex;
  config.links = {link};
  for (ReplicaConfig& each : config.replicas) {
    each.real_blocks = true;
    each.node = 1;
    bindings.tiers.push_back(each.role == Role::decode ? nullptr : &policy);
  }
}

void add_adapters(const AdapterCase& adapters, ClusterConfig& config) {
  if (adapters.count == 0) return;
  config.adapters.count = adapters.count;
  config.adapters.weights.assign(static_cast<std::size_t>(adapters.count) + 1, 1.0);
  for (ReplicaConfig& each : config.replicas) {
    each.adapters.slots = adapters.slots;
    each.adapters.cpu_slots = adapters.cpu_slots;
    for (const Ps time : adapters.slot) each.adapters.slot_s.push_back(seconds(time));
    for (const Ps time : adapters.fetch) each.adapters.fetch_s.push_back(seconds(time));
  }
}

void add_pools(const std::vector<PoolCase>& pools, ClusterConfig& config) {
  for (const PoolCase& each : pools) {
    PoolConfig pool;
    pool.first = each.first;
    pool.replicas = each.replicas;
    pool.count = each.count;
    pool.min = each.min;
    pool.max = each.max;
    pool.start.provision_s = seconds(each.provision);
    pool.start.init_s = seconds(each.init);
    pool.drain = each.drain;
    pool.grace_s = seconds(each.grace);
    config.pools.push_back(pool);
  }
}

std::vector<RequestSpec> gated(std::vector<RequestSpec> specs, const ClusterCase& cluster) {
  for (int id = 0; cluster.gate.kind > 0 && id < static_cast<int>(specs.size()); ++id) {
    RequestSpec& spec = specs[static_cast<std::size_t>(id)];
    const int origin = cluster.origin_of(id);
    spec.tenant = tenant_of(origin);
    spec.program = program_of(origin);
    if (cluster.gate.kind != 4) spec.deadline_s = seconds(deadline_of(origin));
  }
  return specs;
}

void count_stores(const Simulation& simulation, History& history) {
  if (tiers_of(&simulation.parts()) == nullptr) return;
  for (const StoreTotals& each : tiers_of(&simulation.parts())->totals()) {
    const auto place = static_cast<std::int32_t>(history.stores.size());
    history.stores.push_back({static_cast<int>(each.loads), static_cast<int>(each.stores),
                              static_cast<int>(each.skipped_stores),
                              static_cast<int>(each.hit_tokens),
                              static_cast<int>(tiers_of(&simulation.parts())->evictions(place))});
  }
}

}  // namespace

History run_engine(const ClusterCase& cluster, Router& router) {
  std::vector<std::vector<Segment>> segments;
  ListedWorkload workload(
      sent_first(cluster.client, gated(specs_of(cluster.question, segments), cluster)));
  CaseClient client(cluster.client);
  std::vector<std::unique_ptr<SchedulerPolicy>> schedulers;
  std::vector<std::unique_ptr<TariffSteps>> steps;
  std::vector<std::unique_ptr<CaseSpeculator>> speculators;
  std::vector<std::unique_ptr<CaseAcceptance>> acceptances;
  Scribe scribe(cluster.question.prompts.size());
  ClusterConfig config;
  Bindings bindings;
  for (std::size_t i = 0; i < cluster.replicas.size(); ++i) {
    const ClusterReplica& r = cluster.replicas[i];
    config.replicas.push_back(replica_config(r.config, r.tariff, cluster.question.seed % 3 == 0));
    config.replicas.back().role = r.role;
    config.replicas.back().group = r.group;
    config.replicas.back().dp_sync_s = seconds(r.sync);
    schedulers.push_back(make_scheduler(cluster, i));
    steps.push_back(std::make_unique<TariffSteps>(r.tariff));
    steps.back()->price_adapters(cluster.adapters.each, cluster.adapters.token);
    steps.back()->price_experts(cluster.experts.token);
    bindings.schedulers.push_back(schedulers.back().get());
    bindings.steps.push_back(steps.back().get());
    speculators.push_back(std::make_unique<CaseSpeculator>(r.config));
    acceptances.push_back(std::make_unique<CaseAcceptance>(r.config));
    const bool drafts = r.config.speculates() && r.role != Role::prefill;
    bindings.speculators.push_back(drafts ? speculators.back().get() : nullptr);
    bindings.acceptances.push_back(drafts ? acceptances.back().get() : nullptr);
  }
  config.frontend = {seconds(cluster.frontend_base), seconds(cluster.frontend_prompt_token),
                     seconds(cluster.frontend_output_token)};
  config.transfer = {seconds(cluster.transfer_alpha),
                     1e12,
                     static_cast<double>(cluster.transfer_token),
                     static_cast<double>(cluster.transfer_fixed),
                     {{static_cast<double>(cluster.transfer_bounded), cluster.transfer_window}}};
  if (cluster.pushes_chunks) config.disaggregation.push = Push::chunks;
  if (cluster.decode_first) config.disaggregation.order = SplitOrder::decode_first;
  SplitsSome splits_some;
  bindings.decider = &splits_some;
  CaseGate gate(cluster.gate);
  if (cluster.gate.kind > 0) bindings.admission = &gate;
  bindings.router = &router;
  bindings.workload = &workload;
  bindings.observers = {&scribe};
  if (cluster.client.on) bindings.client = &client;
  CaseFaults faults(cluster.faults);
  if (!cluster.faults.list.empty()) bindings.faults = &faults;
  LoadsAll loads_all(cluster.tiers);
  add_tiers(cluster.tiers, loads_all, config, bindings);
  add_adapters(cluster.adapters, config);
  CaseExperts experts(cluster.experts);
  if (cluster.experts.token > 0) bindings.experts = &experts;
  std::vector<std::unique_ptr<CaseAutoscaler>> autoscalers;
  for (const PoolCase& each : cluster.pools) {
    autoscalers.push_back(std::make_unique<CaseAutoscaler>(each));
    bindings.autoscalers.push_back(autoscalers.back().get());
  }
  add_pools(cluster.pools, config);
  Simulation simulation(config, bindings);
  for (const Abort& each : cluster.aborts) {
    simulation.run_until(seconds(each.time));
    simulation.abort_by_id(each.id, Outcome::cancelled);
  }
  simulation.run();
  count_stores(simulation, scribe.history);
  return scribe.history;
}

History run_engine(const ClusterCase& cluster) {
  return run_engine(cluster, *make_router(cluster));
}

}  // namespace rooflua::reference
