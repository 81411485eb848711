// Links that transfers share: what went over them.

#include <algorithm>

#include "measure/parts/part.h"
#include "measure/record/summary.h"

namespace rooflua {

namespace {

using enum Better;

/// What went over a link that transfers share.
struct LinkFigures {
  std::string name;
  std::int64_t transfers = 0;
  double bytes = 0, stretch_mean = 0, stretch_max = 0, busiest_frac = 0;
};

constexpr PartMetric link_metrics[] = {
    {"name", "link", "", neither, "its name", in<&LinkFigures::name>},
    {"transfers", "transfers", "transfers", neither, "transfers that went over it",
     in<&LinkFigures::transfers>},
    {"bytes", "bytes", "bytes", neither, "that they carried", in<&LinkFigures::bytes>},
    {"stretch_mean", "stretch", "times", less,
     "time of a transfer over what it takes where no other shares its links, on average",
     in<&LinkFigures::stretch_mean>},
    {"stretch_max", "stretch max", "times", less, "the largest of them",
     in<&LinkFigures::stretch_max>},
    {"busiest_frac", "busiest wire", "1", neither,
     "bytes of its busiest wire over what that could carry in the run",
     in<&LinkFigures::busiest_frac>},
};

class LinkCounter final : public CounterOf<LinkCounter> {
 public:
  explicit LinkCounter(const SummaryOptions& options)
      : names_(options.links), wires_(options.wires) {}

  void on_transfer(const TransferSeen& transfer) override {
    if (transfer.wires.empty()) return;
    counts_.resize(names_.size());
    wire_bytes_.resize(wires_.size());
    const double stretch = static_cast<double>(transfer.end - transfer.start) /
                           static_cast<double>(transfer.alone_end - transfer.start);
    std::int32_t before = -1;  // the wires of a link follow each other
    for (const std::int32_t wire : transfer.wires) {
      const auto w = static_cast<std::size_t>(wire);
      wire_bytes_[w] += transfer.bytes;
      const std::int32_t link = wires_[w].link;
      if (link == before) continue;
      before = link;
      LinkFigures& counts = counts_[static_cast<std::size_t>(link)];
      ++counts.transfers;
      counts.bytes += transfer.bytes;
      counts.stretch_mean += stretch;
      counts.stretch_max = std::max(counts.stretch_max, stretch);
    }
  }

  std::vector<std::any> figures(const Summary&, const RunSpan& span) const override {
    std::vector<LinkFigures> all = counts_;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].name = names_[i];
      if (all[i].transfers > 0) all[i].stretch_mean /= static_cast<double>(all[i].transfers);
    }
    const double seen_s = seconds(span.seen());
    for (std::size_t w = 0; w < wire_bytes_.size(); ++w) {
      double& busiest = all[static_cast<std::size_t>(wires_[w].link)].busiest_frac;
      if (seen_s > 0)
        busiest = std::max(busiest, wire_bytes_[w] / (wires_[w].bytes_per_s * seen_s));
    }
    return std::vector<std::any>(all.begin(), all.end());
  }

 private:
  std::vector<std::string> names_;
  std::vector<Wires::Wire> wires_;
  std::vector<LinkFigures> counts_;  // the mean and the share are not set: the sum of stretches
  std::vector<double> wire_bytes_;
};

std::unique_ptr<PartCounter> link_counter(const SummaryOptions& options, const Json*) {
  if (options.wires.empty()) return nullptr;
  return std::make_unique<LinkCounter>(options);
}

}  // namespace

extern const PartRow links_part = {
    .name = "links",
    .help = "What went over a link that transfers share.",
    .metrics = link_metrics,
    .many = true,
    .empty = empty<LinkFigures>,
    .in_gb = true,
    .heading = "Links",
    .note = "stretch: the time of a transfer over what it takes where no other shares its links.",
    .in_report = {.rank = 1},
    .on_page = {.rank = 9},
    .counter = link_counter};

}  // namespace rooflua
