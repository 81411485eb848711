#include "cost/model/nccl.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rooflua {
namespace {

constexpr double kMicro = 1e-6;

/// A protocol of an algorithm. Messages of `low latency` carry a flag with every word, those of 128
/// bytes one with every line, `simple` ones are synchronised by chunks.
struct Protocol {
  double base_us, step_over_links_us, step_over_bus_us;
  double share;  // of what the link carries
  double most_bytes_per_s;
  bool over_bus;  // whether NCCL uses it there
};

constexpr double kNoLimit = 1e18;
constexpr std::array<Protocol, 3> kRing{{
    {6.6, 0.6, 1.0, 1.0 / 4, 87.7e9, true},   // low latency
    {14.0, 1.9, 2.5, 0.92, kNoLimit, false},  // 128 bytes
    {8.4, 3.4, 5.7, 1.0, kNoLimit, true},     // simple
}};
constexpr std::array<Protocol, 2> kTree{{
    {6.8, 0.6, 1.0, 0.92 / 3.8, 87.7e9, true},         // low latency
    {14.0, 1.25, 1.9, 0.92 * 7 / 9, kNoLimit, false},  // 128 bytes
}};

/// Datasheet to what NCCL counts: 12 of 16 GB/s of PCIe 3 x16; 20 of 25 GB/s of an NVLink of the
/// A100, 20.6 of 25 (H100), 40.1 of 50 (B200).
constexpr double kBusShare = 0.75, kLinkShare = 0.8;

}  // namespace

double nccl_all_reduce_s(double bytes, int ranks, double link_bytes_per_s, bool over_bus) {
  const double link = link_bytes_per_s * (over_bus ? kBusShare : kLinkShare);
  const double hops = ranks - 1;  // a ring makes twice as many steps; a tree goes up and down
  double least = kNoLimit;
  const auto consider = [&](const Protocol& protocol, double factor) {
    if (over_bus && !protocol.over_bus) return;
    const double step_us = over_bus ? protocol.step_over_bus_us : protocol.step_over_links_us;
    const double rate = std::min(link * protocol.share, protocol.most_bytes_per_s) * factor;
    least = std::min(least, (protocol.base_us + 2 * hops * step_us) * kMicro + bytes / rate);
  };
  for (const Protocol& each : kRing) consider(each, ranks / (2 * hops));
  for (const Protocol& each : kTree) consider(each, 0.5);
  return least;
}

}  // namespace rooflua
