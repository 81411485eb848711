#pragma once
// KV outside the memory of the GPUs: stores of each replica, of each node or of the cluster.
//
//   find    of a waiting request: the chunks after those in the GPU that stores have, one after
//           the other; of several stores that have one, the first in the order of declaration. The
//           own instance comes before another instance of the same store.
//   load    they are read; a flow from each store brings them into blocks of the GPU
//   store   what a request computed goes into the stores that its policy names; chunks that are
//           there already are left out
//
// The last token of a sequence is always computed, so that there is a token to sample from. Whether
// its chunk is loaded all the same, the policy says (TierPolicy::last_chunk).
// @source vllm-project/vllm vllm/v1/kv_offload, distributed/kv_transfer/kv_connector/v1/offloading

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "serve/contract/policy.h"
#include "serve/contract/request.h"
#include "serve/kv/block_extents.h"
#include "serve/kv/hash_map.h"
#include "serve/links/flows.h"
#include "serve/links/wires.h"
#include "serve/stores/config.h"
#include "serve/stores/store.h"

namespace rooflua {

/// Counts of one declared store, over its instances.
struct StoreTotals {
  std::int64_t loads = 0, stores = 0, skipped_stores = 0;
  std::int64_t hit_tokens = 0, peer_hit_tokens = 0;  // loaded; from another instance
  double loaded_bytes = 0, stored_bytes = 0;
};

class Tiers {
 public:
  /// @param block_sizes  of each replica
  /// @throws Error naming "tiers.stores[2].read[1]" and what would be right
  Tiers(const TiersConfig& config, std::vector<std::int32_t> block_sizes, const Wires& wires);

  void use(const std::vector<TierPolicy*>& policies, const std::vector<EvictionPolicy*>& evictions);
  /// The flows by which loads are judged; again after a copy.
  void watch(const Flows& flows) { flows_ = &flows; }
  const TiersConfig& config() const { return config_; }
  TierPolicy* policy(std::int32_t replica) const {
    return policies_[static_cast<std::size_t>(replica)];
  }

  // --- a waiting request

  enum class Verdict : std::int32_t { nothing, ask, later, load };
  struct Decision {
    Verdict verdict = Verdict::nothing;
    std::int32_t tokens = 0;  // to be loaded after those in the GPU
  };
  /// What is decided of a request of which the GPU has so many tokens; `ask`: its policy must be
  /// asked with found(), and answer() be called. `waiting`: other requests that wait there.
  Decision decide(std::int32_t slot, const Request& request, const Progress& progress,
                  std::int32_t gpu_tokens, std::int32_t waiting, Picoseconds now);
  const TierFound& found() const { return found_; }
  void answer(std::int32_t slot, TierPolicy::Load load);
  /// The chunks of the decided load are read from now on. @returns how many tokens they bring
  std::int32_t begin_load(std::int32_t slot, const Request& request, const Progress& progress,
                          std::int32_t gpu_tokens, std::int32_t tokens);

  /// One flow: of a load, or of a write.
  struct Trip {
    std::int32_t ticket = -1;
    std::int32_t from = -1, to = -1;  // replicas
    double bytes = 0, alpha_s = 0;
    std::vector<std::int32_t> path;
  };
  /// The flows of the load that was begun for this request. What its policy wants to have in the
  /// first store too arrives there.
  void send_load(std::int32_t slot, const Request& request, const Progress& progress,
                 Picoseconds now, std::vector<Trip>& trips);
  /// A flow of a load is over. @returns whether it was the last one of a request that lives
  bool end_trip_of_load(std::int32_t ticket, const Requests& requests, Picoseconds now);
  /// Whose load it is.
  std::int32_t slot_of_load(std::int32_t ticket) const { return loads_at(ticket).slot; }
  std::int32_t store_of_load(std::int32_t ticket) const;
  bool is_loading(std::int32_t slot) const { return state_at(slot).under_way > 0; }
  Picoseconds expected_end(std::int32_t slot) const;

  /// Loads of a request: tokens, and when the last ones began and ended.
  struct Loaded {
    std::int32_t tokens = 0;
    Picoseconds start = never, end = never;
  };
  Loaded loaded(std::int32_t slot, const Request& request) const {
    const State& own = state_at(slot);
    return own.id == request.id ? own.loaded : Loaded{};
  }

  /// The request was admitted: it asked for all of its chunks. Once per request.
  void ask(std::int32_t slot, const Request& request, const Progress& progress, Picoseconds now);

  /// A request is queued, and later stores or other instances have more of it than the first store:
  /// its policy says how much of that is brought there (TiersConfig::prefetch).
  /// @returns how long its admission waits for that; 0: not at all
  double prefetch(std::int32_t slot, const Request& request, const Progress& progress,
                  std::int32_t gpu_tokens, std::int32_t waiting, Picoseconds now,
                  std::vector<Trip>& trips);
  std::int32_t request_of_load(std::int32_t ticket) const { return loads_at(ticket).request; }
  bool is_prefetch(std::int32_t ticket) const { return loads_at(ticket).prefetch; }
  /// How long the load that was decided may take (TierPolicy::Load).
  double patience_s(std::int32_t slot) const { return state_at(slot).patience_s; }
  /// The load takes too long: `through` gives the bytes of each of its flows that have come.
  /// Whole chunks that have come, from the first one on, stay. @returns tokens that are lost
  std::int32_t cut_load(std::int32_t slot, const Requests& requests, Picoseconds now,
                        const std::function<double(std::int32_t ticket)>& through);

  /// Tokens of a request that a load could bring after the first `from`.
  std::int32_t stored_tokens(std::int32_t replica, const Request& request, const Progress& progress,
                             std::int32_t from) const;

  // --- what was computed

  /// Tokens of a request up to `tokens` are computed: those that its policy was not told of yet.
  /// `why`: TierRun. The flows of the writes are appended.
  void store(std::int32_t slot, const Request& request, const Progress& progress,
             std::int32_t tokens, std::int32_t why, Picoseconds now, std::vector<Trip>& trips);
  /// Content that left a GPU: its policy says which stores get it. The flows of the writes are
  /// appended, one per store for all of one plan; the blocks belong to others already, so
  /// hold_steps() must follow.
  void store_evicted(std::int32_t replica, const LostRun& lost, Picoseconds now,
                     std::vector<Trip>& trips);
  /// The replica's next steps begin when this write is over.
  void hold_steps(std::int32_t ticket) {
    holding_[static_cast<std::size_t>(replica_of_write(ticket))].push_back(ticket);
  }
  /// When the writes that hold up steps are over; 0: there are none.
  Picoseconds held_until(std::int32_t replica) const;
  /// Whether a step may have to wait for writes.
  bool may_hold_steps(std::int32_t replica) const {
    return policy(replica)->writes_back() || !holding_[static_cast<std::size_t>(replica)].empty();
  }
  /// Tokens of the sequence of a write, up to its last chunk.
  std::int32_t tokens_of_write(std::int32_t ticket) const { return writes_at(ticket).tokens; }
  std::int32_t replica_of_write(std::int32_t ticket) const { return writes_at(ticket).replica; }
  std::int32_t store_of_write(std::int32_t ticket) const;
  void end_write(std::int32_t ticket, Picoseconds now);
  /// Whether a chunk of the request is full with so many tokens that its policy was not told of.
  bool fills_chunk(std::int32_t slot, const Request& request, std::int32_t tokens) const;
  /// Writes of this request that are under way hold up the next steps. @returns their tickets
  std::vector<std::int32_t> flush(const Request& request);

  // --- a replica is lost (finding.cpp)

  /// Tickets of writes of this replica that are under way.
  std::vector<std::int32_t> writes_from(std::int32_t replica) const;
  /// It will not arrive. Its flow has been stopped.
  void cancel_write(std::int32_t ticket);
  /// Tickets of loads under way that read or fill an instance which is this replica's alone.
  std::vector<std::int32_t> loads_from(std::int32_t replica) const;
  /// Such a load of a request that is over, or a prefetch, goes no further. Its flow has been
  /// stopped.
  void drop_load(std::int32_t ticket, const Requests& requests, Picoseconds now);
  /// What is ready in instances of this replica alone is gone.
  void empty(std::int32_t replica);

  // --- reports

  std::span<const StoreTotals> totals() const { return totals_; }
  std::int64_t evictions(std::int32_t store) const;
  /// Chunks that are read or arrive now.
  std::int64_t busy_chunks(std::int32_t store) const;
  /// Most bytes of one instance at any time.
  double most_used_bytes(std::int32_t store) const;

 private:
  struct Place {  // an instance of a store
    Store chunks;
    std::int32_t store = 0;    // as declared
    std::int32_t replica = 0;  // the first that it belongs to
    double queued_bytes = 0;
  };
  struct Links {
    std::vector<std::int32_t> read, write, peers;
    double read_alpha_s = 0, write_alpha_s = 0, peer_alpha_s = 0;
  };
  /// Chunks that follow each other in one instance.
  struct Stretch {
    std::int32_t place = 0;
    bool peer = false;
    std::int32_t first = 0, count = 0;  // chunks
    std::int32_t tokens = 0;            // that it brings
  };
  class Search;  // what instances have of one sequence
  /// Which stores are looked into. With prefetch a load takes only what the first one has.
  enum class Where { all, first, behind };
  Where of_loads() const { return config_.prefetch ? Where::first : Where::all; }
  struct State {  // of a live request
    std::int32_t id = -1;
    std::int64_t version = -1;  // of the stores, for which the decision holds
    std::int32_t gpu_tokens = -1;
    Decision decision;
    bool counted = false, asked = false;
    std::int32_t told_tokens = 0;
    std::vector<std::int32_t> loads;  // tickets, from the left; until all are done
    std::int32_t under_way = 0;       // of them
    Loaded loaded;
    double patience_s = 0;
    std::int32_t prefetches = 0;  // flows under way
    Picoseconds wait_until = 0;   // for them
  };
  struct LoadTrip {
    std::int32_t slot = -1, request = -1, place = -1, tokens = 0;
    std::int32_t to = -1;               // replica
    std::int32_t first = 0, count = 0;  // chunks
    bool peer = false;
    Pieces chunks;
    std::int32_t promoted_to = -1;  // place
    Pieces promoted;
    bool sent = false, done = false, prefetch = false;
  };
  /// What is stored: of a request, or blocks that left a GPU.
  struct Content {
    std::int32_t replica = -1;
    const Request* request = nullptr;
    const Progress* progress = nullptr;
    std::span<const std::uint64_t> lost = {};  // hashes of its blocks, where there is no request
  };
  struct Write {
    std::int32_t replica = -1, place = -1, tokens = 0;
    std::int32_t request = -1;  // of which it is; -1: of none
    double bytes = 0;
    Pieces chunks;
  };

  Place& place(std::int32_t i) { return places_[static_cast<std::size_t>(i)]; }
  const Place& place(std::int32_t i) const { return places_[static_cast<std::size_t>(i)]; }
  const StoreConfig& config_of(std::int32_t store) const {
    return config_.stores[static_cast<std::size_t>(store)];
  }
  const Links& links_of(std::int32_t store) const {
    return links_[static_cast<std::size_t>(store)];
  }
  std::int32_t place_of(std::int32_t store, std::int32_t replica) const;
  bool is_of_replica_alone(std::int32_t place, std::int32_t replica) const;
  const LoadTrip& loads_at(std::int32_t i) const { return loads_[static_cast<std::size_t>(i)]; }
  const Write& writes_at(std::int32_t i) const { return writes_[static_cast<std::size_t>(i)]; }
  State& state(std::int32_t slot, const Request& request);
  const State& state_at(std::int32_t slot) const;
  std::int64_t version(std::int32_t replica) const;
  void changed(std::int32_t place);
  double bytes(std::int32_t tokens) const { return config_.bytes_per_token * tokens; }
  /// Block size that hashes are asked for.
  std::int32_t block_size(std::int32_t replica) const {
    return block_sizes_[static_cast<std::size_t>(replica)];
  }
  /// Of the first `end` chunks of a sequence; until other blocks of it are asked for.
  ChunkHashes chunk_hashes(std::int32_t store, const Request& request, const Progress& progress,
                           std::int32_t end) const;
  /// Stretches from `from` on, up to the last token or the one in front of it. @returns tokens
  /// after them that arrive
  std::int32_t find(std::int32_t replica, const Request& request, const Progress& progress,
                    std::int32_t from, Where where, std::vector<Stretch>& out) const;
  /// Whether another request of the replica loads a chunk that this one would load.
  bool others_load(const Request& request, const Progress& progress,
                   std::int32_t gpu_tokens) const;
  void describe_found(std::int32_t slot, const Request& request, std::int32_t gpu_tokens,
                      std::int32_t pending);
  std::vector<std::int32_t> path_of(const Stretch& stretch, std::int32_t replica,
                                    double& alpha_s) const;
  void promote(LoadTrip& load, const Request& request, const Progress& progress, Picoseconds now);
  std::int32_t whole_chunks(const Stretch& stretch, std::int32_t end) const;
  std::int32_t open_load(const Stretch& stretch, std::int32_t count, std::int32_t slot,
                         const Request& request, const Progress& progress);
  void end_reading(LoadTrip& load, const Requests& requests, Picoseconds now);
  void leave_out(LoadTrip& load, std::int32_t come);
  void release_load(std::int32_t ticket);
  Trip trip_of(std::int32_t ticket, std::int32_t replica) const;
  void count_uses(const Request& request, const Progress& progress);
  ChunkHashes chunk_hashes(std::int32_t store, const Content& content, std::int32_t end) const;
  void put(const Content& content, std::int32_t store, const TierRun& run, Picoseconds now,
           std::vector<Trip>& trips);
  void tell(const Content& content, TierRun run, Picoseconds now, std::vector<Trip>& trips);
  void count_uses(const Content& content, TierRun& run) const;
  bool joins(const Write& write, std::vector<Trip>& trips);
  Store::Owner owner(std::int32_t place, const Request* request, Picoseconds now) const;

  TiersConfig config_;
  Wires wires_;
  const Flows* flows_ = nullptr;
  std::vector<TierPolicy*> policies_;       // by replica
  std::vector<EvictionPolicy*> evictions_;  // by store; null: a rule of its own
  std::vector<std::int32_t> block_sizes_;   // by replica
  std::vector<Place> places_;
  std::vector<std::int32_t> first_place_;     // by store
  std::vector<Links> links_;                  // by store
  std::vector<std::int64_t> shared_version_;  // by store
  std::vector<State> states_;                 // by slot
  std::vector<LoadTrip> loads_;
  std::vector<Write> writes_;
  std::vector<std::int32_t> spare_loads_, spare_writes_;
  std::vector<std::vector<std::int32_t>> holding_;  // by replica: writes that hold up its steps
  std::vector<StoreTotals> totals_;                 // by store
  HashMap uses_;                                    // by hash of a chunk of the first store
  // of the request that was asked for last
  TierFound found_;
  std::int64_t asked_version_ = -1;
  std::vector<rooflua_tier_source> sources_;
  std::vector<Stretch> stretches_;
};

}  // namespace rooflua
