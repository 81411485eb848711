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
  ++split_.transfers;
  split_.counts.kv_bytes += transfer.bytes;
  split_.counts.stretch_mean += stretch;
  split_.counts.stretch_max = std::max(split_.counts.stretch_max, stretch);
}

void SummaryObserver::note_split(const RequestDone& done) {
  if (done.computed != never && done.arrived != never)
    split_.counts.kept_block_s += done.kept_blocks * seconds(done.arrived - done.computed);
  if (done.outcome != Outcome::completed) return;
  ++split_.completed;
  if (done.computed == never) return;
  ++split_.computed;
  if (done.room == never) {
    ++split_.counts.recomputed;
    return;
  }
  split_.room_wait.add(std::max(Picoseconds{0}, done.room - done.computed));
  split_.kv_wait.add(std::max(Picoseconds{0}, done.arrived - done.computed));
}

SplitSummary SummaryObserver::split_summary() const {
  SplitSummary out = split_.counts;
  if (split_.completed > 0)
    out.split_frac = static_cast<double>(split_.computed) / static_cast<double>(split_.completed);
  if (split_.transfers > 0) out.stretch_mean /= static_cast<double>(split_.transfers);
  out.room_wait_s = split_.room_wait.statistics(1e-12);
  out.kv_wait_s = split_.kv_wait.statistics(1e-12);
  return out;
}

}  // namespace rooflua
