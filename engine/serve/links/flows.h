#pragma once
// Bytes that are under way over wires. A flow waits alpha_s without using any bandwidth, then it
// shares the wires of its path fairly with all others (max_min.h) until its bytes are through.
//
// When flows begin or end, only those of the connected component are looked at: those that share a
// wire with them, and so on. A flow whose rate stays the same keeps its end, to the picosecond. One
// that never shared anything ends at after(start, alpha_s + bytes / bytes_per_s).
//
// A wire with `streams` carries so many flows at once. Others wait after their alpha_s, first
// come, first served.
// Wires may carry less for a while. A flow stands still while one of its wires carries nothing; it
// fails when that lasts too long. Bytes of the start of an engine wait for ever.
// @source doublewordai/inference-lab src/kv_cache/flows.rs (fair shares of KV transfers)

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "serve/contract/clock.h"
#include "serve/links/max_min.h"
#include "serve/links/wires.h"

namespace rooflua {

/// What a flow is for: KV from a prefill replica, or a load from a store, or a write into one, or
/// the image or weights of an engine that starts, or embeddings of an encoder. An alarm carries
/// nothing: it ends when its alpha_s is over.
enum class Errand : std::int32_t { hand_over, load, store, alarm, start, embeddings };

/// What is sent: `path`: wires, each once; bytes_per_s: a limit of its own.
struct FlowRequest {
  std::vector<std::int32_t> path;
  Errand errand = Errand::hand_over;
  std::int32_t ticket = -1;  // of the load or write; the engine that starts
  double bytes = 0, alpha_s = 0;
  double bytes_per_s = std::numeric_limits<double>::infinity();
  std::int32_t slot = -1;  // whose bytes they are
  std::int32_t from = -1, to = -1;
};

/// A flow that is over.
struct FlowEnded {
  FlowRequest what;
  Picoseconds start = 0, end = 0;
  Picoseconds alone_end = 0;  // had it been alone
  bool failed = false;        // it stood still for too long
  double through = 0;         // bytes, of one that failed
};

class Flows {
 public:
  explicit Flows(const Wires& wires);

  void start(FlowRequest what, Picoseconds now);
  /// When the next flow begins to move, or ends; never: none is under way.
  Picoseconds next() const { return due_.empty() ? never : at(due_.front()).due; }
  /// What is due now happens. Those that end are appended, in the order of their start.
  /// @pre nothing was due before `now`
  void pass(Picoseconds now, std::vector<FlowEnded>& ended);

  /// The flow is cut off. @returns the bytes of it that are through; its wires are free for others
  double stop(Errand errand, std::int32_t ticket, Picoseconds now);
  /// All KV from a prefill replica that this slot waits for is cut off.
  void stop_hand_over(std::int32_t slot, Picoseconds now);

  /// These wires carry so much of what they were declared with from now on.
  void set_factor(std::span<const std::int32_t> wires, double factor, Picoseconds now);
  /// Flows that stand still from now on fail after so long; infinity: never.
  void fail_after(double timeout_s) { timeout_s_ = timeout_s; }

  std::int32_t under_way() const { return static_cast<std::int32_t>(due_.size() + queued_.size()); }
  /// Bytes per second that one flow more would get of these wires, if every flow on each of them
  /// had an equal part.
  double share_of(const std::vector<std::int32_t>& path) const;
  /// When this flow ends if nothing changes; a time that is over where it is not under way.
  /// O(flows)
  Picoseconds expected_end(Errand errand, std::int32_t ticket) const;

 private:
  enum class State : std::int32_t { waits, moves };
  struct Flow {
    FlowRequest what;
    std::int64_t serial = 0;
    Picoseconds start = 0, due = 0;  // due: it begins to move, or ends
    Picoseconds alone_end = 0;
    double alone_rate = 0, rate = 0, bytes_left = 0;
    Picoseconds since = 0;  // bytes_left were left then
    bool is_late = false;   // it waited for a stream, or stood still
    State state = State::waits;
    std::int32_t place = -1;  // in due_
    std::int64_t seen = 0;    // by the search with this number
  };
  struct Carried {
    std::vector<std::int32_t> flows;  // that move over the wire
    std::int64_t seen = 0;
  };

  Flow& at(std::int32_t flow) { return flows_[static_cast<std::size_t>(flow)]; }
  const Flow& at(std::int32_t flow) const { return flows_[static_cast<std::size_t>(flow)]; }
  bool stands(const Flow& flow) const { return flow.rate == 0 && flow.bytes_left > 0; }
  Carried& carried(std::int32_t wire) { return carried_[static_cast<std::size_t>(wire)]; }
  std::int32_t open_slot();
  std::int32_t find_flow(Errand errand, std::int32_t ticket) const;
  template <class Picks>
  std::int32_t find_where(Picks picks) const;
  double stop_flow(std::int32_t flow, Picoseconds now);
  bool is_full(std::int32_t wire) const;
  bool may_move(const Flow& flow, const std::vector<std::int32_t>& wanted) const;
  void move(std::int32_t flow, Picoseconds now);
  void end(std::int32_t flow, std::vector<FlowEnded>& ended);
  void fail(std::int32_t flow, std::vector<FlowEnded>& ended);
  void let_queued_move(Picoseconds now);
  void share(Picoseconds now);
  void find_component();
  void set_rate(Flow& flow, double rate, Picoseconds now);

  // the flows that are due, the next one first: a binary heap that knows places
  bool is_before(std::int32_t a, std::int32_t b) const;
  void put(std::size_t place, std::int32_t flow);
  void rise(std::size_t place);
  void sink(std::size_t place);
  void add_due(std::int32_t flow);
  void drop_due(std::int32_t flow);
  void find_place(std::int32_t flow);

  std::vector<Wires::Wire> wires_;
  std::vector<double> capacity_;  // by wire
  std::vector<Carried> carried_;  // by wire
  std::vector<Flow> flows_;
  std::vector<std::int32_t> free_;
  std::vector<std::int32_t> due_;
  std::vector<std::int32_t> queued_;  // for streams, by serial
  std::int64_t started_ = 0, searches_ = 0;
  double timeout_s_ = std::numeric_limits<double>::infinity();
  MaxMin max_min_;
  // one instant
  std::vector<std::int32_t> disturbed_;  // wires on which flows began or ended, or that changed
  std::vector<std::int32_t> component_, changed_;
  std::vector<Share> shares_;
};

}  // namespace rooflua
