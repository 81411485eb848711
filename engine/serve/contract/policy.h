#pragma once
// The seams: what a user may swap. The engine calls these; the Lua border and the tests implement
// them. Policies read plain structs and act only through the plan.

#include <cstdint>
#include <span>
#include <vector>

#include "base/vocabulary.h"
#include "border.h"
#include "serve/contract/batch.h"
#include "serve/contract/visible_replica.h"

namespace rooflua {

class Plan;
class RememberedPrices;

/// Which requests run in a step. One instance per replica.
class SchedulerPolicy {
 public:
  virtual ~SchedulerPolicy() = default;

  /// Fills one step. Called when something changed since the last plan: an arrival, a request that
  /// finished or is finishing, prefill progress, a preemption, a lack of blocks, a new block that a
  /// waiting request may hit, a wake time, a different policy. Not called, and decode_all()
  /// repeated, iff the last plan was exactly decode_all() (without a limit that bound), nothing
  /// changed, every_step() is false, and no request waits that stores may have KV of. An empty plan
  /// is allowed: the scheduler is asked again at the next end of a step, or when an idle replica
  /// gets an arrival or reaches the wake time.
  virtual void plan(const VisibleReplica& replica, Plan& plan) = 0;

  /// Order of the waiting queue: lower key first, ties by arrival. Asked once, when a request is
  /// queued; a preempted request returns by the same key. Without keys the queue is first come
  /// first served and a preempted request goes to its front.
  virtual bool has_key() const { return false; }
  virtual double key(const Request&) { return 0; }

  /// The slot to preempt when decode_all runs out of blocks; without it the tail of running.
  virtual bool has_victim() const { return false; }
  virtual std::int32_t victim(const VisibleReplica&) { return -1; }

  virtual bool every_step() const { return false; }
};

/// By how much the sums of a batch grow from one step to the next while the same requests decode.
struct BatchGrowth {
  double decode_context_tokens = 0;
  double bounded_tokens[4] = {};
  double chunk_tokens = 0;
};

/// What a step costs. One instance per replica; a pure function of the batch.
class StepModel {
 public:
  virtual ~StepModel() = default;

  /// The period of a step (gpu and host as the model sees them) and what it rests on. Called once
  /// per step, when its plan is complete, unless explain() is called.
  virtual void price(const Batch& batch, StepPrice& price) = 0;

  /// The same price with what observers want to know besides (Observer::wanted_detail).
  /// `operations` gets one entry per operation of the step where `detail` asks for operations.
  /// A model without findings prices as always.
  virtual void explain(const Batch& batch, PriceDetail detail, StepPrice& price,
                       std::vector<OpTime>& operations) {
    (void)detail, (void)operations;
    this->price(batch, price);
  }

  /// Prices of as many steps as `prices` has, in one call: of `first`, which only decodes, and of
  /// the batches that follow when its sums grow. Each is what price() would say of that batch, bit
  /// for bit. Contexts of single requests are not there. Some of these steps may never run.
  /// @pre `prices` are StepPrice{}; those that are not priced are so afterwards
  /// @returns how many were priced, from the first on; 0: this model prices step by step
  virtual std::int32_t price_run(const Batch& first, const BatchGrowth& growth,
                                 std::span<StepPrice> prices) {
    (void)first, (void)growth, (void)prices;
    return 0;
  }

  /// Where prices of runs are kept for batches that come again; null: nowhere.
  virtual RememberedPrices* remembered() { return nullptr; }
};

/// From what a router knows which prefixes replicas have cached, and whether it counts what it sent
/// (routing/knowledge.h).
struct RouterIndex {
  enum class Kind : std::int32_t {
    fresh,  // it looks into the caches
    sent,   // it remembers what it sent to each replica, and looks into the caches besides
    told,   // replicas report blocks that they keep and evict: later, and not of all of them
  };
  Kind kind = Kind::fresh;
  std::int32_t block_tokens = 64;        // of a block of a prompt that was sent
  std::int32_t capacity_blocks = 31250;  // of each replica; what was used the longest ago is
                                         // forgotten first
  std::int32_t most_tokens = 131072;     // of a prompt that are looked at
  double ttl_s = 0;               // what was not used for so long is forgotten; 0: nothing is
  bool deepest_first = false;     // whether of one prompt the last block is forgotten first, or the
                                  // first one
  double lag_s = 0;               // told: an event arrives so much later
  double loss = 0;                // told: the share of events that never arrive
  std::int32_t most_holders = 0;  // told: entries that one block has at most, of which a replica
                                  // has one by its events and one by a prompt that was sent there;
                                  // the one that was added the longest ago goes first. 0: all
  double speculative_s = 0;  // told: for so long a prompt that was sent is believed to be there
  std::uint64_t seed = 0;    // of which these are
  bool in_flight = false;    // whether it counts the prompts in flight
  bool operator==(const RouterIndex&) const = default;
};

/// Whether the ranks of one engine take requests from one queue, and in which order those that are
/// taken together get ranks: as they came, or the longest prompt first.
enum class CommonQueue : std::int32_t { none, arrival, longest };
inline constexpr Word<CommonQueue> common_queue_words[] = {
    {CommonQueue::none, "none", "each rank has a queue of its own"},
    {CommonQueue::arrival, "arrival", "in the order of arrival"},
    {CommonQueue::longest, "longest", "the longest prompt first"},
};

/// What a router sees (border.h).
using RouteView = rooflua_route_view;

/// Which replica gets a request. One instance per run.
class Router {
 public:
  virtual ~Router() = default;

  static constexpr std::int32_t refused = -1;

  /// @returns one of view.candidates (a replica's index, from 0); or `refused`, where may_refuse()
  /// is true and view.decode_stage is 0: the request ends with Outcome::refused
  virtual std::int32_t route(const Request& request, const RouteView& view) = 0;

  /// With a common queue route() chooses among engines: which of the ranks that step together it
  /// names makes no difference. In front of each plan of the ranks as many requests as they have
  /// seats left get ranks.
  virtual CommonQueue common_queue() const { return CommonQueue::none; }
  /// @returns one of view.candidates, the ranks of the engine, that has a seat left
  /// (RouterFact::rank_seats)
  virtual std::int32_t place(const Request& request, const RouteView& view) {
    (void)request;
    return view.candidates[0];
  }

  /// Whether route() may refuse a request. Such a router is asked where there is one candidate,
  /// too.
  virtual bool may_refuse() const { return false; }

  /// How old the load signals may be: they are taken at 0, s, 2s, ... and hold in between.
  /// 0 = always fresh.
  virtual double staleness_s() const { return 0; }

  /// Whether waiting, running and kv_used_frac are what engines reported last, at the end of a
  /// step: the requests that the step's plan left waiting, and those that run and the KV in use
  /// when it ended. Else they are of the moment.
  virtual bool reads_reports() const { return false; }

  /// Whether it reads the signal landing_prompts; without that it stays 0.
  virtual bool reads_landing_prompts() const { return true; }

  /// What it knows of prefixes and of prompts in flight.
  virtual RouterIndex index() const { return {}; }

  /// Whether what replicas do changes its choices.
  virtual bool reads_replicas() const { return true; }
};

/// A request and the decode replica that was chosen for it (border.h).
using PairView = rooflua_pair_view;
using PairMember = rooflua_pair_member;

/// What is looked up for a decider when it asks.
class PairSource {
 public:
  virtual ~PairSource() = default;
  /// The prefill replica at this place of view.pool.candidates. @pre there is one
  virtual PairMember member(const PairView& view, std::int32_t place) const noexcept = 0;
};

/// Whether a prefill replica computes a prompt, or the decode replica that was chosen for it does.
/// One instance per run.
class Decider {
 public:
  virtual ~Decider() = default;
  /// @returns whether a prefill replica is used
  virtual bool split(const Request& request, const PairView& view) = 0;
};

/// What the stores have of a waiting request, and what of a request they may take (border.h).
using TierFound = rooflua_tier_found;
using TierRun = rooflua_tier_run;
using StoreView = rooflua_store_view;
using StoredBlock = rooflua_stored_block;

/// What is loaded from stores, and what goes into them. One instance per replica.
class TierPolicy {
 public:
  virtual ~TierPolicy() = default;

  /// So long a patience has no end.
  static constexpr double endless_s = 1e6;
  struct Load {
    std::int32_t tokens = 0;        // after those in the GPU; 0: compute them; ask_later
    double patience_s = endless_s;  // what has not come by then is computed
  };
  static constexpr std::int32_t ask_later = -1;
  /// Asked when the scheduler admits a request of which stores have something, or will have.
  virtual Load load(const Request& request, const TierFound& found) = 0;
  /// @returns which stores take the run: bit i for the one declared at place i
  virtual std::uint32_t store(const Request& request, const TierRun& run,
                              std::span<const StoreView> stores) = 0;
  /// The same of content that has left the GPU: a run without a request, of which it is not known
  /// whether it was generated (`prompt` is 1). Asked where writes_back().
  virtual std::uint32_t store_evicted(const TierRun& run, std::span<const StoreView> stores) {
    (void)run, (void)stores;
    return 0;
  }
  /// Whether content that leaves the GPU is written then. The step that needs its blocks waits.
  virtual bool writes_back() const { return false; }
  /// Whether generated tokens are stored too, when their request ends.
  virtual bool outputs() const { return false; }
  /// Where they are: whether each chunk is stored when the step is over that computed its last
  /// token.
  virtual bool as_filled() const { return false; }
  /// Whether the chunk of a sequence's last token is loaded too. That token is computed again.
  virtual bool last_chunk() const { return false; }
  /// Whether a request waits while another one of its replica loads a chunk that it would load.
  virtual bool shares_loads() const { return false; }
  /// Whether blocks of a preempted request are free although they are still being written. The step
  /// that may need them waits for that.
  virtual bool flushes() const { return false; }
  /// Whether TierRun::uses is counted.
  virtual bool counts() const { return false; }
  /// Whether what is loaded from elsewhere is put into the first store too.
  virtual bool promotes() const { return false; }
  /// In Lua's registry; -1: it is none of Lua's.
  virtual std::int32_t reference() const { return -1; }
};

/// Which chunk of a store leaves first. One instance per store.
class EvictionPolicy {
 public:
  virtual ~EvictionPolicy() = default;
  /// The lowest leaves first. Asked when a chunk is put in, asked for, and no longer read.
  virtual double key(const StoredBlock& block) = 0;
};

}  // namespace rooflua
