#pragma once
// Clients of a simulation that do not wait for ever (trying.cpp).

#include <cstdint>

#include "serve/contract/observer.h"
#include "serve/loop/attempts.h"

namespace rooflua {

class Simulation;

class Trying {
 public:
  explicit Trying(Simulation& simulation) : s_(simulation) {}

  /// A request has been sent: how long its client waits. @pre there is a client
  void begin(std::int32_t slot);
  /// Asks the client of a request that ends, and is still in its slot, whether it is sent again.
  void end(std::int32_t slot, RequestDone& done);
  /// What end() found.
  void send_again(const RequestDone& done);
  /// Those whose patience ends now, by id.
  void lose_patience();
  /// Whether the request was in time. The last token counts when the engine gives it, the first one
  /// when the client sees it.
  bool is_over(const PatienceEnds& end) const;
  /// It was sent to a replica that has failed: it ends as replica_lost after connect_s.
  void lose_connection(std::int32_t slot, std::int32_t replica);

  // --- for the workload

  /// Whether the client of the request in this slot waits before it sends it again.
  bool awaits_sending(std::int32_t slot) const;
  /// Where a request of the workload that was in `slot` is now; -1: it has ended.
  std::int32_t slot_of_row(std::int32_t slot, std::int32_t row) const;
  /// An attempt that waits to be sent counts as sent now.
  void cancel(std::int32_t slot);

 private:
  void expect(std::int32_t slot, PatienceEnds::Kind kind, double after_s);

  Simulation& s_;
};

}  // namespace rooflua
