// Figures of links: the transfers that went over them.

#include <algorithm>
#include <cstddef>

#include "measure/record/summary.h"

namespace rooflua {

void SummaryObserver::on_transfer(const TransferSeen& transfer) {
  if (options_.split && transfer.store < 0) note_transfer(transfer);
  if (transfer.wires.empty()) return;
  told_.reset();
  if (transfer.is_load) {
    load_times_.resize(std::max(load_times_.size(), static_cast<std::size_t>(transfer.store) + 1));
    load_times_[static_cast<std::size_t>(transfer.store)].add(transfer.end - transfer.start);
  }
  link_summaries_.resize(options_.links.size());
  wire_bytes_.resize(options_.wires.size());
  const double stretch = static_cast<double>(transfer.end - transfer.start) /
                         static_cast<double>(transfer.alone_end - transfer.start);
  std::int32_t before = -1;  // the wires of a link follow each other
  for (const std::int32_t wire : transfer.wires) {
    const auto w = static_cast<std::size_t>(wire);
    wire_bytes_[w] += transfer.bytes;
    const std::int32_t link = options_.wires[w].link;
    if (link == before) continue;
    before = link;
    LinkSummary& counts = link_summaries_[static_cast<std::size_t>(link)];
    ++counts.transfers;
    counts.bytes += transfer.bytes;
    counts.stretch_mean += stretch;
    counts.stretch_max = std::max(counts.stretch_max, stretch);
  }
}

std::vector<LinkSummary> SummaryObserver::link_summaries() const {
  std::vector<LinkSummary> out = link_summaries_;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].name = options_.links[i];
    if (out[i].transfers > 0) out[i].stretch_mean /= static_cast<double>(out[i].transfers);
  }
  const double seen_s = seconds(seen());
  for (std::size_t w = 0; w < wire_bytes_.size(); ++w) {
    const Wires::Wire& wire = options_.wires[w];
    double& busiest = out[static_cast<std::size_t>(wire.link)].busiest_frac;
    if (seen_s > 0) busiest = std::max(busiest, wire_bytes_[w] / (wire.bytes_per_s * seen_s));
  }
  return out;
}

/// Times of loads only: what stores hold is known to the simulation.
std::vector<TierSummary> SummaryObserver::tier_summaries() const {
  std::vector<TierSummary> out(load_times_.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i].load_s = load_times_[i].statistics(1e-12);
  return out;
}

}  // namespace rooflua
