#pragma once
// The requests of a run. A workload yields them in order of arrival, and may answer a request's end
// with follow-ups: closed-loop clients, the next turn of a session.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "serve/contract/observer.h"
#include "serve/contract/request.h"

namespace rooflua {

/// Follow-ups of a finished request. The engine copies what it is given, segments included.
class FollowUps {
 public:
  virtual ~FollowUps() = default;
  /// @throws Error if spec.arrival_s lies before now or the spec is impossible
  virtual void send(const RequestSpec& spec) = 0;
};

/// What a workload that has times of its own may do at them.
class Client {
 public:
  virtual ~Client() = default;
  /// Sends a request now, whatever its arrival_s. The segments are copied.
  /// @param sent  its id is not known yet
  /// @returns its slot, until its end is told
  virtual std::int32_t send(const RequestSpec& spec, RowSent sent) = 0;
  /// The client goes away: the request ends as cancelled, which is told before this returns.
  /// Nothing happens if it has ended already.
  virtual void cancel(std::int32_t slot, std::int32_t row) = 0;
  /// The same for every request of these sessions that was sent and has not ended: in the order of
  /// the sessions, and of the requests in each. O(slots + n log n) for n requests
  virtual void cancel_sessions(std::span<const std::int32_t> sessions) = 0;
  /// The same for the request of this row (RequestSpec::row), whatever its slot. O(slots)
  virtual void cancel_row(std::int32_t row) = 0;
  virtual void end_play(const PlayDone& play) = 0;
  /// Of the first replica that computes prompts.
  virtual std::int32_t block_size() const = 0;
};

/// Requests that a workload leaves out: rows of a trace that failed when it was recorded, turns of
/// a conversation that would be too long. Reports say so.
struct Unsent {
  struct Reason {
    std::string why;
    std::int64_t count = 0;       // > 0
    std::int64_t first_line = 0;  // of the source, where it is a file; 0: no line
  };
  std::string source;           // a file, or the workload's name
  std::string unit;             // what is counted, in the plural: "rows"
  std::int64_t total = 0;       // sent and left out
  std::vector<Reason> reasons;  // at least one
};

class Workload {
 public:
  virtual ~Workload() = default;

  /// The next request that does not wait for the end of another; arrivals must not decrease. False:
  /// there is none, and the engine does not ask again. Segments must live until the next call.
  virtual bool next(RequestSpec& spec) = 0;

  /// Called at every end, failures included, when the client sees it: at `done.now`, with a
  /// frontend when the last token left it. Follow-ups may arrive at that moment or later.
  virtual void on_done(const RequestDone& done, FollowUps& follow_ups) {
    (void)done, (void)follow_ups;
  }

  /// Whether what it sends depends on ends that it was told of.
  virtual bool reads_ends() const { return true; }

  /// Whether on_first_token() must be called.
  virtual bool watches_first_tokens() const { return false; }
  /// The client sees the first token of a request with a row (RequestSpec::row) at `seen`, which is
  /// now or, with a frontend, later.
  virtual void on_first_token(std::int32_t row, Picoseconds seen) { (void)row, (void)seen; }

  /// When on_due() is to be called; `never`: not at all. Asked at the start, and after each call of
  /// on_done(), on_first_token() and on_due().
  virtual Picoseconds due() const { return never; }
  /// It is time: after steps and transfers that end now, in front of what reaches the router.
  virtual void on_due(Picoseconds now, Client& client) { (void)now, (void)client; }

  /// True if two requests may have tokens in common. Where it is false and prefix caching is on,
  /// only a request's own blocks can hit (after preemption), which needs no block table.
  virtual bool shares_content() const { return false; }

  /// What was left out so far; nothing where every request is sent.
  virtual std::optional<Unsent> left_out() const { return std::nullopt; }

  /// Sentences on the requests for every output, such as the unit of time that a trace was read in.
  virtual std::vector<std::string> notes() const { return {}; }

  /// An independent copy that goes on from the same point; null if the state cannot be copied.
  virtual std::unique_ptr<Workload> fork() const { return nullptr; }
};

/// A list of requests that is known before the run.
class ListedWorkload : public Workload {
 public:
  /// `segments` of the specs must outlive the workload and its forks.
  explicit ListedWorkload(std::vector<RequestSpec> specs);
  bool next(RequestSpec& spec) override;
  bool reads_ends() const override { return false; }
  bool shares_content() const override { return shares_; }
  std::unique_ptr<Workload> fork() const override {
    return std::make_unique<ListedWorkload>(*this);
  }

 private:
  std::vector<RequestSpec> specs_;
  std::size_t cursor_ = 0;
  bool shares_ = false;
};

}  // namespace rooflua
