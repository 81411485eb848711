#include "cost/model/collective.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/error.h"
#include "cost/model/nccl.h"

namespace rooflua {
namespace {

constexpr double kPico = 1e-12;

/// Time of one line: intercept + slope * bytes.
struct Line {
  Seconds intercept;
  double seconds_per_byte = 0;
};

Line line(double intercept_s, double ps_per_byte) {
  return {Seconds(intercept_s), ps_per_byte * kPico};
}

struct AllReduceFit {
  int ranks;
  Line small, large;
};

std::array<AllReduceFit, 3> all_reduce_fits(const KernelConstants& c) {
  const Line two = line(c.all_reduce_2_s, c.all_reduce_2_ps_per_byte);
  return {{{2, two, two},
           {4, line(c.all_reduce_4_small_s, c.all_reduce_4_small_ps_per_byte),
            line(c.all_reduce_4_large_s, c.all_reduce_4_large_ps_per_byte)},
           {8, line(c.all_reduce_8_small_s, c.all_reduce_8_small_ps_per_byte),
            line(c.all_reduce_8_large_s, c.all_reduce_8_large_ps_per_byte)}}};
}
constexpr int kMostRanks = 8;  // that were fitted

Line between(Line a, Line b, double share) {
  return {a.intercept + share * (b.intercept - a.intercept),
          a.seconds_per_byte + share * (b.seconds_per_byte - a.seconds_per_byte)};
}

AllReduceFit all_reduce_fit(const KernelConstants& constants, int ranks) {
  const std::array<AllReduceFit, 3> fits = all_reduce_fits(constants);
  if (ranks > kMostRanks) {
    AllReduceFit fit = fits.back();
    fit.large.intercept *= double(ranks) / fit.ranks;
    fit.small.intercept = fit.large.intercept;  // no small-message kernel spans so many
    return fit;
  }
  const auto upper = std::find_if(fits.begin(), fits.end(),
                                  [&](const AllReduceFit& fit) { return fit.ranks >= ranks; });
  if (upper->ranks == ranks) return *upper;
  const auto lower = upper - 1;
  const double share = double(ranks - lower->ranks) / (upper->ranks - lower->ranks);
  return {ranks, between(lower->small, upper->small, share),
          between(lower->large, upper->large, share)};
}

Seconds along(Line line, Bytes bytes, double link_ratio) {
  return line.intercept + Seconds(line.seconds_per_byte * link_ratio * (bytes / unit::byte));
}

void check(const char* where, Bytes bytes, int ranks) {
  const double count = bytes / unit::byte;
  if (!std::isfinite(count) || count < 0) {
    throw Error(where,
                "bytes: expected a finite number, 0 or more, found " + std::to_string(count));
  }
  if (ranks < 1) throw Error(where, "ranks: expected 1 or more, found " + std::to_string(ranks));
}

double link_bandwidth(const char* where, const Hardware& hardware) {
  const double link = hardware.link_bandwidth.in_base_units();
  if (std::isfinite(link) && link > 0) return link;
  throw Error(where, hardware.name + " states no link bandwidth (link_gb_per_s in hardware.toml)");
}

/// Engines call NCCL for more than two ranks over a bus, and for more than a node of them.
bool is_nccls(int ranks, const Hardware& hardware) {
  return (ranks > 2 && hardware.shares_bus()) ||
         (ranks > kMostRanks && hardware.domain_gpus >= ranks);
}

}  // namespace

Transfer all_reduce(Bytes bytes, int ranks, const Hardware& hardware, bool eager) {
  check("all_reduce", bytes, ranks);
  if (ranks == 1) return {};
  const KernelConstants& constants = hardware.family.constants;
  const double ratio =
      constants.collective_link_bytes_per_s / link_bandwidth("all_reduce", hardware);
  const AllReduceFit fit = all_reduce_fit(constants, ranks);
  const Seconds time =
      is_nccls(ranks, hardware)
          ? Seconds(nccl_all_reduce_s(bytes / unit::byte, ranks,
                                      hardware.link_bandwidth.in_base_units(),
                                      hardware.shares_bus()))
          : std::min(along(fit.small, bytes, ratio), along(fit.large, bytes, ratio));
  return {eager ? time + Seconds(constants.all_reduce_eager_s) : time,
          ranks <= kMostRanks ? Evidence::modelled : Evidence::assumed};
}

Transfer all_to_all(Bytes bytes, int ranks, const Hardware& hardware) {
  check("all_to_all", bytes, ranks);
  if (ranks == 1) return {};
  const KernelConstants& constants = hardware.family.constants;
  const double fitted_link = constants.collective_link_bytes_per_s;
  const double ratio = fitted_link / link_bandwidth("all_to_all", hardware);
  const double leaving = (ranks - 1.0) / ranks;
  const Line small = line(constants.all_to_all_small_s, constants.all_to_all_small_ps_per_byte);
  const Line large{Seconds(constants.all_to_all_large_s),
                   leaving / (constants.all_to_all_link_share * fitted_link)};
  return {std::min(along(small, bytes, ratio), along(large, bytes, ratio)),
          ranks <= kMostRanks ? Evidence::modelled : Evidence::assumed};
}

}  // namespace rooflua
