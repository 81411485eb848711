// Figures of prefill and decode on separate replicas: prompts and their KV.

#include <algorithm>

#include "measure/record/summary.h"

namespace rooflua {

void SummaryObserver::note_transfer(const TransferSeen& transfer) {
  told_.reset();
  const bool is_shared = transfer.alone_end != never && transfer.alone_end > transfer.start;
  const double stretch = is_shared ? static_cast<double>(transfer.end - transfer.start) /
                                         static_cast<double>(transfer.alone_end - transfer.start)
                                   : 1;
  ++apart_.transfers;
  apart_.counts.kv_bytes += transfer.bytes;
  apart_.counts.stretch_mean += stretch;
  apart_.counts.stretch_max = std::max(apart_.counts.stretch_max, stretch);
}

void SummaryObserver::note_apart(const RequestDone& done) {
  if (done.computed != never && done.arrived != never)
    apart_.counts.kept_block_s += done.kept_blocks * seconds(done.arrived - done.computed);
  if (done.outcome != Outcome::completed) return;
  ++apart_.completed;
  if (done.computed == never) return;
  ++apart_.split;
  if (done.room == never) {
    ++apart_.counts.recomputed;
    return;
  }
  apart_.room_wait.add(std::max(Picoseconds{0}, done.room - done.computed));
  apart_.kv_wait.add(std::max(Picoseconds{0}, done.arrived - done.computed));
}

ApartSummary SummaryObserver::apart_summary() const {
  ApartSummary out = apart_.counts;
  if (apart_.completed > 0)
    out.split_frac = static_cast<double>(apart_.split) / static_cast<double>(apart_.completed);
  if (apart_.transfers > 0) out.stretch_mean /= static_cast<double>(apart_.transfers);
  out.room_wait_s = apart_.room_wait.statistics(1e-12);
  out.kv_wait_s = apart_.kv_wait.statistics(1e-12);
  return out;
}

}  // namespace rooflua
