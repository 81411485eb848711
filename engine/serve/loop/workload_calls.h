#pragma once
// What a workload may do when it is its turn: requests that it sends and cancels when others have
// got somewhere (serve/plays), and those that it sends when another one ends.

#include <cstdint>
#include <span>

#include "serve/core/part.h"

namespace rooflua {

class WorkloadCalls final : public Client {
 public:
  WorkloadCalls(Core& core, Loop& loop) : core_(core), loop_(loop) {}

  std::int32_t send(const RequestSpec& spec, RowSent sent) override;
  void cancel(std::int32_t slot, std::int32_t row) override;
  void cancel_sessions(std::span<const std::int32_t> sessions) override;
  void cancel_row(std::int32_t row) override;
  void end_play(const PlayDone& play) override;
  std::int32_t block_size() const override;

 private:
  bool awaits_sending(std::int32_t slot) const;
  std::int32_t slot_of_row(std::int32_t slot, std::int32_t row) const;
  void cancel(std::int32_t slot);

  Core& core_;
  Loop& loop_;
};

/// Follow-ups of a request that ended at `now`.
class FollowUpsSent final : public FollowUps {
 public:
  FollowUpsSent(Core& core, Loop& loop, Picoseconds now) : core_(core), loop_(loop), now_(now) {}
  void send(const RequestSpec& spec) override;

 private:
  Core& core_;
  Loop& loop_;
  Picoseconds now_;
};

}  // namespace rooflua
