#pragma once
// Pieces of work in processes of their own. Each process takes the next piece when it has finished
// one; what comes back does not depend on how many there are. A piece that crashes costs itself.

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "base/json.h"

namespace rooflua {

/// What came of one piece of work: a document, or a problem.
struct WorkDone {
  std::size_t piece = 0;
  Json document;
  std::string problem;  // "" if it went well
};

struct WorkOptions {
  int jobs = 1;
  /// Set from outside (a signal handler) when no further piece shall be started; may be null.
  /// Workers are told by SIGTERM.
  const std::atomic<int>* stop = nullptr;
  /// Run first in every process, to set up what a fork does not inherit, and before each piece.
  std::function<void()> in_process, before_each;
  /// Asked in the process after each piece: shall another process go on, with fresh state?
  std::function<bool()> leave;
};

/// Runs `work(0)` ... `work(count - 1)`, each once, in forked processes; hands every result to
/// `done`, in the order they end. What `work` throws becomes the problem of that piece, and so does
/// the death of its process.
/// @return false if it was stopped: pieces that were not started have no result
/// @throws Error if no process can be started, or one ends before its first piece
bool in_workers(std::size_t count, const WorkOptions& options,
                const std::function<Json(std::size_t)>& work,
                const std::function<void(WorkDone&&)>& done);

}  // namespace rooflua
