#include "tests/reference/cases/cluster.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "serve/replica/replica.h"
#include "tests/reference/cases/router.h"
#include "tests/reference/chaos.h"
#include "tests/reference/plan_policies.h"

namespace rooflua::reference {

namespace {

/// First come first served; admits none before the head of the queue is `hold` old, and asks to
/// be woken then. Where prompts only are computed, a prompt begins when all of it fits: blocks may
/// be kept for a decode replica for long, and its chunks would be lost again and again.
class Sleeper : public SchedulerPolicy {
 public:
  Sleeper(const VllmConfig& config, Ps hold, bool always, bool whole, bool balances)
      : budget_(config.max_num_batched_tokens),
        hold_(hold),
        always_(always),
        whole_(whole),
        balances_(balances) {}
  bool every_step() const override { return always_; }

  void plan(const VisibleReplica& replica, Plan& plan) override {
    const ReplicaView& view = replica.view();
    plan.decode_all(view.decodes > budget_ ? budget_ : Plan::no_limit);
    if (!continue_prompts(replica, plan)) return;
    if (plan.view().preempted > 0 || view.waiting == 0) return;
    if (balances_ && holds(*view.group)) return;
    const rooflua::Request& head = replica.request(view.waiting_head);
    const Ps opens = std::llround(head.arrival_s * 1e12) + hold_;
    if (std::llround(view.now_s * 1e12) < opens && head.emitted_tokens == 0)
      return plan.wake_at(seconds(opens));
    while (view.waiting > 0 && plan.view().tokens < budget_) {
      const std::int32_t slot = view.waiting_head;
      const int sequence =
          replica.request(slot).prompt_tokens + replica.request(slot).emitted_tokens;
      const int pending = sequence - replica.cached_tokens(slot);
      const int tokens = std::min(pending, budget_ - plan.view().tokens);
      if (!plan.admit(slot, Admission{tokens, 0, whole_ ? sequence : 0, 0})) return;
    }
  }

 private:
  /// Every number of the group has a say.
  static bool holds(const GroupView& group) {
    const bool busy = group.decode_ranks == group.ranks && group.tokens > 0;
    const bool all = group.prompt_ranks == group.ranks && group.open_ranks == group.ranks;
    const auto turn = static_cast<std::int64_t>(group.steps) + group.max_tokens;
    return busy && !all && turn % 4 != 0;
  }

  bool continue_prompts(const VisibleReplica& replica, Plan& plan) const {
    const ReplicaView& view = replica.view();
    for (std::int32_t slot = view.prefilling_head; slot >= 0 && plan.view().tokens < budget_;) {
      const int tokens =
          std::min(pending_tokens(view, replica.request(slot)), budget_ - plan.view().tokens);
      while (!plan.prefill(slot, tokens)) {
        const std::int32_t victim = view.running_tail;
        if (!plan.preempt(victim) || victim == slot) return false;  // its KV is still to be sent
      }
      slot = replica.request(slot).next_prefilling;
    }
    return true;
  }

  int budget_;
  Ps hold_;
  bool always_, whole_, balances_;
};

/// Seats, budget, depth and cache of one replica; at least the longest request fits.
void draw_replica(Dice& dice, const ServingCase& question, ClusterReplica& out) {
  int longest = 1;
  for (const Prompt& prompt : question.prompts)
    longest = std::max(longest, prompt.plain.prompt + prompt.plain.output);
  VllmConfig& c = out.config = question.config;
  c.max_num_seqs = dice.between(1, dice.chance(50) ? 4 : 64);
  c.max_num_batched_tokens = dice.between(64, dice.chance(50) ? 256 : 2048);
  c.async_depth = dice.between(1, 2);
  if (dice.chance(30)) c.block_size = dice.between(1, 32);
  const int least = (longest + c.block_size - 1) / c.block_size;
  c.blocks = dice.between(least, dice.chance(60) ? 2 * least : 8 * least);
  out.tariff = question.tariff;
  if (dice.chance(50)) out.tariff.step = dice.between(1, 5000);
}

/// Replicas of one role in groups: also groups of one, and groups between whose members others
/// stand.
void draw_groups(std::uint64_t seed, ClusterCase& out) {
  Dice dice(seed * 1299709 + 11);
  const int groups = dice.between(1, 2);
  for (ClusterReplica& each : out.replicas) {
    if (dice.chance(20)) continue;
    each.group = 2 * static_cast<int>(each.role) + dice.between(0, groups - 1);
  }
  const Ps sync = dice.chance(50) ? dice.between(1, 3000) : 0;
  const Ps token = dice.between(0, 30), most = dice.between(0, 30), prefill = dice.between(0, 3000);
  const bool balances = dice.chance(50);
  for (ClusterReplica& each : out.replicas) {
    if (each.group < 0) continue;
    const auto same = [&](const ClusterReplica& other) { return other.group == each.group; };
    const bool several = std::count_if(out.replicas.begin(), out.replicas.end(), same) > 1;
    if (balances && several && each.role != Role::prefill) each.policy = 3;
    each.sync = sync;
    each.config.async_depth = 1 + static_cast<int>(seed / 2 % 2);
    each.tariff.group_token = token;
    each.tariff.group_max_token = most;
    each.tariff.group_prefill = prefill;
  }
}

}  // namespace

ClusterCase draw_cluster(std::uint64_t seed) {
  ClusterCase out;
  out.question = draw_case(seed, Range{50, true, true, false, false});
  out.question.config.chunked_prefill = true;
  Dice dice(seed * 7919 + 1);
  const bool split = dice.chance(40);
  const int prefills = split ? dice.between(1, 3) : 0;
  const int count = split ? prefills + dice.between(1, 3) : dice.between(2, 5);
  for (int i = 0; i < count; ++i) {
    ClusterReplica replica;
    draw_replica(dice, out.question, replica);
    if (split) replica.role = i < prefills ? Role::prefill : Role::decode;
    replica.policy = replica.role == Role::prefill ? 2 : dice.between(0, 2);
    if (dice.chance(50)) replica.hold = dice.between(1, 1 << dice.between(4, 18));
    out.replicas.push_back(replica);
  }
  out.router = dice.between(0, 4);
  if (dice.chance(50)) out.staleness = dice.between(1, 1 << dice.between(4, 18));
  if (dice.chance(40)) {
    out.frontend_base = dice.between(0, 3000);
    out.frontend_prompt_token = dice.between(0, 20);
    out.frontend_output_token = dice.between(0, 3000);
  }
  out.transfer_alpha = dice.between(0, 20000);
  out.transfer_token = dice.between(0, 200);
  Dice more(seed * 104729 + 3);
  if (more.chance(50)) out.transfer_fixed = more.between(0, 20000);
  if (more.chance(50)) out.transfer_bounded = more.between(0, 200);
  out.transfer_window = more.between(1, 300);
  for (ClusterReplica& replica : out.replicas) {
    VllmConfig& c = replica.config;
    c.seat_blocks = more.chance(35) ? more.between(1, 10) : 0;
    c.blocks += c.seat_blocks * more.between(1, more.chance(50) ? 3 : 12);
  }
  if (seed % 2 == 0) draw_groups(seed, out);
  if (seed % 4 == 2 && out.grouped()) out.router = 5 + static_cast<int>(seed / 4 % 2);
  return out;
}

std::string text(const ClusterCase& cluster) {
  std::ostringstream out;
  out << "router " << cluster.router << " staleness " << cluster.staleness << " frontend "
      << cluster.frontend_base << " " << cluster.frontend_prompt_token << " "
      << cluster.frontend_output_token << " transfer " << cluster.transfer_alpha << " + "
      << cluster.transfer_token << " per token + " << cluster.transfer_fixed << " + "
      << cluster.transfer_bounded << " per token up to " << cluster.transfer_window
      << (cluster.pushes_chunks ? ", by chunks" : "")
      << (cluster.decode_first ? ", decode replica first" : "") << "\n";
  for (const ClusterReplica& r : cluster.replicas) {
    out << "  replica: role " << static_cast<int>(r.role) << " policy " << r.policy << " hold "
        << r.hold << " seats " << r.config.max_num_seqs << " budget "
        << r.config.max_num_batched_tokens << " blocks " << r.config.blocks << " x "
        << r.config.block_size << " seat_blocks " << r.config.seat_blocks << " depth "
        << r.config.async_depth << " step " << r.tariff.step << " group " << r.group << " sync "
        << r.sync << " per token of it " << r.tariff.group_token << " of its fullest rank "
        << r.tariff.group_max_token << " per rank with prompts " << r.tariff.group_prefill
        << " drafts " << r.config.drafts << " lookahead " << r.config.lookahead << "\n";
  }
  for (const StoreCase& each : cluster.tiers.stores)
    out << "  store: " << each.chunks << " chunks of " << each.chunk_tokens << " tokens, eviction "
        << static_cast<int>(each.eviction) << ", alpha " << each.alpha
        << (each.per_node ? ", of the node" : "") << "\n";
  if (!cluster.tiers.stores.empty())
    out << "  link: " << cluster.tiers.link_alpha << " + " << cluster.tiers.link_token
        << " per token" << (cluster.tiers.duplex ? ", duplex" : "")
        << (cluster.tiers.promotes ? ", promotes" : "")
        << (cluster.tiers.writes_back ? ", writes back" : "")
        << (cluster.tiers.last_chunk ? ", last chunk" : "")
        << (cluster.tiers.outputs ? ", outputs" : "")
        << (cluster.tiers.shares_loads ? ", shares loads" : "")
        << (cluster.tiers.flushes ? ", flushes" : "") << "\n";
  const GateCase& gate = cluster.gate;
  if (gate.kind > 0)
    out << "  gate " << gate.kind << " staleness " << gate.staleness << " interval "
        << gate.interval << " most " << gate.rules.most << " credit " << gate.rules.credit
        << " fair " << static_cast<int>(gate.rules.queue.fair) << " flow "
        << static_cast<int>(gate.rules.queue.flow) << " order "
        << static_cast<int>(gate.rules.queue.order) << " count "
        << static_cast<int>(gate.rules.queue.count) << " limit " << gate.limit << " in flight "
        << gate.most_in_flight << " expires queued " << gate.rules.expire_queued << " delay "
        << gate.delay << "\n";
  if (cluster.adapters.count > 0)
    out << "  adapters: " << cluster.adapters.count << " in " << cluster.adapters.slots << " slots, "
        << cluster.adapters.each << " each + " << cluster.adapters.token << " per token\n";
  if (cluster.experts.token > 0) out << "  experts: " << cluster.experts.token << "\n";
  for (const PoolCase& each : cluster.pools)
    out << "  pool: from " << each.first << " " << each.replicas << " replicas, engines "
        << each.count << " of " << each.min << " to " << each.max << ", asked every "
        << each.interval << ", start " << each.provision << " + " << each.init << ", grace "
        << each.grace << ", drain " << static_cast<int>(each.drain) << "\n";
  for (const CaseFault& each : cluster.faults.list)
    out << "  at " << each.time << " replica " << each.replica << " fails for " << each.lasts
        << " or is slow by " << each.factor << "\n";
  if (!cluster.faults.list.empty())
    out << "  found out after " << cluster.faults.detect << ", lost connections "
        << cluster.faults.connect << "\n";
  if (cluster.client.on)
    out << "  clients: impatient " << cluster.client.impatient << " retries "
        << cluster.client.retries << " keeps " << cluster.client.keeps << "\n";
  for (const Abort& each : cluster.aborts)
    out << "  at " << each.time << " request " << each.id << " is aborted\n";
  return out.str() + text(cluster.question);
}

ServingCase of_replica(const ClusterCase& cluster, std::size_t replica) {
  ServingCase out = cluster.question;
  out.config = cluster.replicas[replica].config;
  if (cluster.replicas[replica].role == Role::prefill) {  // it does not draft
    out.config.drafts = -1;
    out.config.lookahead = 0;
    out.config.drops_last_hit = false;
  }
  out.tariff = cluster.replicas[replica].tariff;
  return out;
}

std::unique_ptr<SchedulerPolicy> make_scheduler(const ClusterCase& cluster, std::size_t replica) {
  const ClusterReplica& r = cluster.replicas[replica];
  const std::uint64_t seed = cluster.question.seed + 31 * replica;
  if (r.policy == 0)
    return std::make_unique<VllmThroughPlan>(r.config, seed % 5 == 0, seed % 7 == 0);
  if (r.policy == 1) return std::make_unique<Chaos>(seed);
  return std::make_unique<Sleeper>(r.config, r.hold, seed % 3 == 0 || r.policy == 3,
                                   r.role == Role::prefill, r.policy == 3);
}

std::unique_ptr<Router> make_router(const ClusterCase& cluster) {
  return std::make_unique<CaseRouter>(cluster);
}

}  // namespace rooflua::reference
