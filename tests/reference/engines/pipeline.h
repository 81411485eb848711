#pragma once
// The clock of a reference simulator: one engine that plans, runs and updates steps.
//
//   a step lasts max(1, price) ps and starts when the one before it ends
//   depth 1: schedule(k) runs right after update(k-1)
//   depth 2: schedule(k+1) runs when step k starts, right after update(k-1)
//   at equal times: update, then arrivals, then schedule
//   nothing is running: an arrival is scheduled at once; an empty plan is asked again when a step
//   ends or, with nothing running, when a request arrives; after an empty plan that preempted or
//   rejected, the scheduler is asked again at once if no other step is planned
//
// With stages, `batches` steps are under way at once. One that is planned goes on its way at once:
// it enters a stage when it has come from the stage before and the step before it has left. Steps
// are planned while there is room and something to plan: when the oldest step has left the last
// stage, before anything else comes at that instant, and when none is under way.
//
// With stages, requests enter with the plans, whether or not a plan takes them up. Those that are
// sent at one instant, n of them, are dealt out over at most `batches` plans, ceil(n / batches) to
// each, in the order of sending; the first of these plans is the next one. Who is sent at that
// instant but after that plan is dealt out alone. A plan that is empty while none is under way is
// followed by another at once, until all have entered.

#include "tests/reference/plain.h"

namespace rooflua::reference {

class Engine {
 public:
  virtual ~Engine() = default;
  virtual void arrive(int id) = 0;
  /// Plans one step; state advances as if it were over, but no token has landed. Empty: no step.
  virtual Rows schedule(Ps now) = 0;
  /// Whether the last plan preempted or rejected a request.
  virtual bool took_away() const = 0;
  /// The step is over: tokens land, finished requests leave.
  virtual void update(const Rows& rows) = 0;
  /// Its own counts: preemptions, cached, resume hits, whether all are finished.
  virtual void report(History& history) const = 0;
};

/// @param requests  in order of arrival; a request's id is its index
History run(Engine& engine, const std::vector<PlainRequest>& requests, int depth,
            const Price& price);

/// Requests that were sent to an engine with stages and are not inside.
class Coming {
 public:
  void send(int id, Ps now) { sent_.push_back({id, now}); }
  bool empty() const { return sent_.empty(); }
  /// A plan is made. @returns who enters with it, in the order of sending
  std::vector<int> enter(int batches);
  /// The request is aborted before it entered. False: it is not here.
  bool remove(int id);

 private:
  struct Sent {
    int id;
    Ps at;
    int plans = -1;  // to be made before the one with which it enters; -1: not dealt out
  };
  void deal_out(int batches);

  std::vector<Sent> sent_;
};

/// When the first stage has a planned step, and when it leaves the last one. `left`: when each
/// stage was left before; empty at first.
void send_through(StepLog& step, const Stages& stages, Ps duration, std::vector<Ps>& left);
History run_stages(Engine& engine, const std::vector<PlainRequest>& requests, const Stages& stages,
                   const Price& price);

}  // namespace rooflua::reference
