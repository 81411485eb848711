#include "tests/reference/cases/draw_parts.h"

#include <algorithm>

namespace rooflua::reference {

/// Faults while requests are under way; some at the very instant at which a step ends.
void draw_faults(ClusterCase& cluster, const History& calm) {
  Dice dice(cluster.question.seed * 32452843 + 11);
  Ps end = 2;
  for (const Served& each : calm.requests) end = std::max(end, std::max(each.last, each.arrival));
  const auto any = [&](Ps most) {
    return static_cast<Ps>(dice.bits() % static_cast<std::uint64_t>(std::max<Ps>(1, most)));
  };
  for (int left = dice.between(1, 8); left > 0; --left) {
    CaseFault fault;
    fault.time = any(end);
    if (dice.chance(30))
      fault.time =
          calm.steps[static_cast<std::size_t>(any(static_cast<Ps>(calm.steps.size())))].end;
    fault.replica = dice.between(0, static_cast<int>(cluster.replicas.size()) - 1);
    if (!dice.chance(15)) fault.lasts = dice.chance(15) ? 0 : any(end / 3);
    if (dice.chance(25)) fault.factor = 1 << dice.between(0, 3);
    cluster.faults.list.push_back(fault);
  }
  std::stable_sort(cluster.faults.list.begin(), cluster.faults.list.end(),
                   [](const CaseFault& a, const CaseFault& b) { return a.time < b.time; });
  if (dice.chance(60)) cluster.faults.detect = any(end / 6);
  if (dice.chance(60)) cluster.faults.connect = any(end / 20);
  for (int left = dice.chance(50) ? dice.between(1, 20) : 0; left > 0; --left)
    cluster.aborts.push_back(
        {any(end), dice.between(0, static_cast<int>(calm.requests.size()) - 1)});
  std::stable_sort(cluster.aborts.begin(), cluster.aborts.end(),
                   [](const Abort& a, const Abort& b) { return a.time < b.time; });
}

StoreCase draw_store(Dice& dice, int block_size) {
  StoreCase store;
  store.chunk_tokens = block_size * dice.between(1, 3);
  store.chunks = dice.between(1, dice.chance(50) ? 40 : 400);
  store.alpha = dice.chance(30) ? 0 : dice.between(1, 2000);
  const Eviction orders[] = {Eviction::lru, Eviction::lru, Eviction::fifo, Eviction::lfu};
  store.eviction = orders[dice.between(0, 3)];
  return store;
}

/// Whether decodes of all replicas are content as their blocks are filled, one token a step.
bool stores_answers(const ClusterCase& cluster) {
  return std::all_of(cluster.replicas.begin(), cluster.replicas.end(), [](const auto& each) {
    return each.config.content_from == 0 && !each.config.speculates();
  });
}

AdapterCase draw_adapters(const ServingCase& question) {
  Dice dice(question.seed * 7046029254386353087ull + 11);
  AdapterCase out;
  out.count = dice.between(1, 8);
  out.slots = dice.between(1, dice.chance(50) ? 2 : 5);
  out.cpu_slots = dice.between(out.slots, out.slots + 3);
  if (dice.chance(70)) {
    out.each = dice.between(0, 200);
    out.token = dice.between(0, 20);
  }
  for (int i = 0; i < out.count; ++i) {
    out.slot.push_back(dice.chance(30) ? 0 : dice.between(0, 5000));
    out.fetch.push_back(dice.chance(50) ? 0 : dice.between(0, 20000));
  }
  return out;
}

/// The same question, whose requests have adapters. Every seed has a share of its own without one.
/// Prompts are cut: where they are not, the policies end their plan at a prompt that exceeds the
/// budget before they look at its adapter.
ServingCase with_adapters(ServingCase question, const AdapterCase& adapters) {
  Dice dice(question.seed * 2685821657736338717ull + 13);
  const int share = dice.chance(40) ? 100 : dice.between(10, 100);
  for (Prompt& prompt : question.prompts)
    prompt.plain.adapter = dice.chance(share) ? dice.between(1, adapters.count) : 0;
  question.config.max_loras = adapters.slots;
  question.config.chunked_prefill = true;
  return question;
}

/// Prefill and decode split, KV pushed by chunks, some prompts computed by their decode replica.
/// Budgets of prefill replicas cut most prompts.
ClusterCase pushed(ClusterCase cluster) {
  const std::uint64_t seed = cluster.question.seed;
  cluster.pushes_chunks = seed % 4 > 0;
  cluster.decode_first = seed % 3 == 0;
  for (ClusterReplica& each : cluster.replicas) {
    if (each.role != Role::prefill) continue;
    each.config.max_num_batched_tokens =
        std::min(each.config.max_num_batched_tokens, 64 + static_cast<int>(seed % 64));
  }
  return cluster;
}

void draw_experts(ClusterCase& cluster) {
  Dice dice(cluster.question.seed * 86028157 + 19);
  cluster.experts.seed = cluster.question.seed;
  cluster.experts.token = dice.between(1, 20);
}

void draw_pools(ClusterCase& cluster, const History& calm) {
  Dice dice(cluster.question.seed * 15487469 + 23);
  Ps end = 1000;
  for (const Served& each : calm.requests) end = std::max(end, each.last);
  const auto upto = [&](Ps most) {
    return 1 + static_cast<Ps>(dice.bits() % static_cast<std::uint64_t>(std::max<Ps>(1, most)));
  };
  const auto count = static_cast<int>(cluster.replicas.size());
  int prefills = 0;
  for (const ClusterReplica& each : cluster.replicas) prefills += each.role == Role::prefill;
  const std::vector<std::pair<int, int>> ranges =
      prefills == 0 ? std::vector<std::pair<int, int>>{{0, count}}
                    : std::vector<std::pair<int, int>>{{0, prefills}, {prefills, count}};
  for (const auto& [first, last] : ranges) {
    if (ranges.size() > 1 && dice.chance(25)) continue;
    std::vector<int> groups;
    int engines = 0;
    for (int i = first; i < last; ++i) {
      const int group = cluster.replicas[static_cast<std::size_t>(i)].group;
      if (group >= 0 && std::count(groups.begin(), groups.end(), group) > 0) continue;
      groups.push_back(group);
      ++engines;
    }
    PoolCase pool;
    pool.first = first;
    pool.replicas = last - first;
    pool.max = dice.between(1, engines);
    pool.min = dice.chance(30) ? 0 : dice.between(1, pool.max);
    pool.count = dice.between(pool.min, pool.max);
    pool.interval = end / 40 + upto(end / 8);
    if (dice.chance(60)) pool.provision = upto(end / 20);
    if (dice.chance(60)) pool.init = upto(end / 20);
    if (dice.chance(40)) pool.grace = upto(end / 6);
    pool.drain = static_cast<Drain>(dice.between(0, 2));
    pool.seed = cluster.question.seed;
    cluster.pools.push_back(pool);
  }
}

}  // namespace rooflua::reference
