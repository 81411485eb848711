#pragma once
// Stores outside the GPUs of the naive simulator, and the flows to them and from them. Every chunk
// is looked at where one is to leave, and the rates of all flows are found anew at every event.
//
// Of the rules that documents leave open:
//   found    at each token the first store that has the chunk which begins there or in front of it;
//            of a chunk that is there in part, the rest counts. The last chunk ends before the last
//            token of the sequence, as a load is of whole chunks, or with it (last_chunk)
//   loaded   chunks of one store that follow each other are one flow; the request has its KV when
//            the last of them is over
//   promoted what a flow from a later store brings, as a whole or not at all, where both stores
//   have
//            chunks of one size. It is there when the flow ends
//   asked    the chunks of the prompt, the deepest first: the beginning is used last
//   shared   a request of which another one of its replica loads a chunk leaves the queue until the
//            next flow ends anywhere
//   answers  a chunk that a decode fills is stored when its step is over, and what is left of an
//            answer when its request ends
//   flushed  what is still written of a request that loses its seat holds up the next steps, and
//   not
//            its blocks
//   told     chunks of a prompt are stored once per request, also where it was preempted since, in
//            every store those that end in what is told
//   evicted  what a plan pushes out of the GPU is put into every store when the plan is complete,
//   in
//            runs of blocks that left one right after the other, the deepest first, and in one
//            write per store; its loads begin, and its step starts, when those should be over
//   written  where all chunks of a run are there already, there is no write; a run without room
//            is one skipped store
//   flows    one without alpha moves at once. One that shared its wire ends at the first whole
//            picosecond at which all its bytes are through

#include <map>
#include <optional>
#include <vector>

#include "tests/reference/cases/serving.h"
#include "tests/reference/cases/tier.h"

namespace rooflua::reference {

class NaiveStore {
 public:
  explicit NaiveStore(const StoreCase& store) : store_(store) {}

  struct Chunk {
    int readers = 0, uses = 0;
    bool arrives = false;
    long put = 0, used = 0;  // when, in calls
  };
  bool has(int key) const { return chunks_.contains(key) && !chunks_.at(key).arrives; }
  /// @returns which of them are put in; nothing: there is no room for all that are not there
  std::optional<std::vector<int>> put(const std::vector<int>& keys);
  void end_put(const std::vector<int>& keys);
  void begin_read(const std::vector<int>& keys);
  void end_read(const std::vector<int>& keys);
  void ask(const std::vector<int>& keys);
  /// What is written no longer.
  void cancel_put(const std::vector<int>& keys);
  void empty();

  int evictions = 0;

 private:
  bool leaves_before(const Chunk& a, const Chunk& b) const;

  StoreCase store_;
  std::map<int, Chunk> chunks_;  // by key
  long calls_ = 0;
};

class NaiveTiers {
 public:
  NaiveTiers(const TierCase& tiers, const std::vector<Prompt>& prompts, std::size_t replicas);

  /// Tokens of the request after `gpu` that the replica can load.
  int find(std::size_t replica, int id, int gpu, int sequence) const;
  /// Whether another request of the replica loads something of it.
  bool others_load(std::size_t replica, int id, int gpu, int sequence) const;
  /// Writes of that request hold up steps. @returns the blocks that they read, which are free
  std::vector<int> flush(std::size_t replica, int id);
  /// Whether answers are stored as they fill chunks: so many tokens of the request fill one.
  bool fills(int id, int tokens) const;
  const TierCase& rules() const { return tiers_; }
  /// They are read from now on.
  void begin_load(std::size_t replica, int id, int gpu, int tokens);
  void send_load(int id, Ps now);
  /// The replica admitted the request.
  void ask(std::size_t replica, int id, int sequence);
  /// Its prompt is computed up to there. @returns of each write that begins, in the order of
  /// stores, the tokens up to the end of its run. pin() then says for each, from the first on,
  /// which blocks stay taken until it ends.
  std::vector<int> computed(std::size_t replica, int id, int tokens, Ps now);
  /// Content that left: tokens of a sequence, of which those after the first `kept` left.
  struct Lost {
    std::vector<Token> tokens;
    int kept = 0;
    int adapter = 0;
  };
  /// What left a GPU in one plan.
  void evicted(std::size_t replica, const std::vector<Lost>& all, Ps now);
  /// When writes of what left should be over.
  Ps held_until(std::size_t replica) const;
  void pin(std::size_t write, std::size_t writes, std::vector<int> blocks) {
    flows_[flows_.size() - writes + write].pinned = std::move(blocks);
  }

  struct Flow {
    bool load = false;
    bool holds = false;  // up steps
    bool last = false;   // of a load that is over: no other flow of it is left
    int id = -1, tokens = 0;
    std::size_t replica = 0, store = 0;
    std::vector<int> keys, pinned, promoted;
    double alpha_s = 0, bytes = 0, left = 0, rate = 0;
    bool moves = false;
    Ps start = 0, since = 0, due = 0;
    Ps expected = 0;  // its end, as it seems since flows moved last; at first as if it were alone
  };
  std::optional<Ps> next() const;
  /// @returns flows that end now, in the order of their start
  std::vector<Flow> pass(Ps now);

  /// The replica has failed. @returns flows that stop; of one load the first is its last one
  std::vector<Flow> lose(std::size_t replica, Ps now);
  /// Stores of the replica alone are empty, but for what is still written into them.
  void empty(std::size_t replica);

  std::vector<StoreCounts> counts() const;

 private:
  void start(Flow flow, Ps now, Ps begins);
  void put(Flow& flow, const std::vector<int>& keys);
  double whole_rate() const { return 1e12 / static_cast<double>(tiers_.link_token); }
  void share(Ps now);
  int size(std::size_t store) const { return tiers_.stores[store].chunk_tokens; }
  /// The chunks [first, end) of its sequence.
  std::vector<int> keys(std::size_t store, int id, int first, int end) const;
  /// Flows that bring what can be loaded.
  std::vector<Flow> flows_to(std::size_t replica, int id, int gpu, int sequence) const;
  std::size_t instance(std::size_t store, std::size_t replica) const {
    return tiers_.stores[store].per_node ? 0 : replica;
  }
  NaiveStore& at(std::size_t store, std::size_t replica) {
    return stores_[store][instance(store, replica)];
  }
  const NaiveStore& at(std::size_t store, std::size_t replica) const {
    return stores_[store][instance(store, replica)];
  }

  TierCase tiers_;
  std::vector<std::vector<NaiveStore>> stores_;  // by store and instance
  std::vector<StoreCounts> counts_;
  // by store and request: of the sequence up to the end of each chunk
  std::vector<std::vector<std::vector<int>>> keys_;
  // by store: of what is in front of a chunk and the chunk's tokens
  std::vector<std::map<std::pair<int, std::vector<Token>>, int>> known_;
  std::vector<bool> asked_;                 // by request
  std::vector<int> told_;                   // by request: tokens that the policy was told of
  std::vector<Flow> flows_;                 // in the order of their start
  std::map<int, std::vector<Flow>> begun_;  // by request: loads that are to be sent
};

}  // namespace rooflua::reference
