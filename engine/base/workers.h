#pragma once
// Runs pieces of work in worker processes. A process that has finished a piece takes the next one.
// The results do not depend on the number of processes. If a process crashes, only the piece that
// it worked on is lost.

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "base/json.h"

namespace rooflua {

/// The result of one piece of work: a document, or a problem.
struct WorkDone {
  std::size_t piece = 0;
  Json document;
  std::string problem;  // the reason of a failure; "" on success
};

struct WorkOptions {
  int jobs = 1;
  /// A signal handler sets it when no further piece shall be started. The workers then get SIGTERM.
  /// May be null.
  const std::atomic<int>* stop = nullptr;
  /// Seconds after the stop in which workers may still send what they have; then they are killed.
  /// 0: as long as they need.
  double patience_s = 0;
  /// Called in every worker process: in_process once at its start, for state that a fork does not
  /// inherit (timers), and before_each before each piece.
  std::function<void()> in_process, before_each;
  /// Called in the worker process after each piece. If true, the process ends, and a new one with
  /// fresh state continues.
  std::function<bool()> leave;
};

/// Runs `work(0)` ... `work(count - 1)`, each once, in forked processes. Passes every result to
/// `done`, in the order in which the pieces end. An exception of `work`, or the end of its process,
/// becomes the problem of that piece.
/// @return false if the work was stopped: pieces that were not started have no result
/// @throws Error if no process can be started, or one ends before its first piece
bool in_workers(std::size_t count, const WorkOptions& options,
                const std::function<Json(std::size_t)>& work,
                const std::function<void(WorkDone&&)>& done);

}  // namespace rooflua
