#include "cost/model/collective.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/error.h"

namespace rooflua {
namespace {

constexpr double kFittedLink = 450e9;  // bytes/s in one direction, NVLink4
constexpr Seconds kEagerLaunch = 16 * unit::us;
constexpr double kPico = 1e-12;

struct AllReduceFit {
  int ranks;
  Line small, large;
};
constexpr std::array<AllReduceFit, 3> kAllReduce{{
    {2, {4.4 * unit::us, 3.84 * kPico}, {4.4 * unit::us, 3.84 * kPico}},
    {4, {4.4 * unit::us, 10 * kPico}, {6.3 * unit::us, 5.5 * kPico}},
    {8, {4.7 * unit::us, 24 * kPico}, {9 * unit::us, 4.6 * kPico}},
}};

Line between(Line a, Line b, double share) {
  return {a.intercept + share * (b.intercept - a.intercept),
          a.seconds_per_byte + share * (b.seconds_per_byte - a.seconds_per_byte)};
}

AllReduceFit all_reduce_fit(int ranks) {
  if (ranks > kAllReduce.back().ranks) {
    AllReduceFit fit = kAllReduce.back();
    fit.large.intercept *= double(ranks) / fit.ranks;
    fit.small.intercept = fit.large.intercept;  // no small-message kernel spans so many
    return fit;
  }
  const auto upper = std::find_if(kAllReduce.begin(), kAllReduce.end(),
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

}  // namespace

Transfer all_reduce(Bytes bytes, int ranks, const Hardware& hardware, bool eager) {
  check("all_reduce", bytes, ranks);
  if (ranks == 1) return {};
  const double ratio = kFittedLink / link_bandwidth("all_reduce", hardware);
  const AllReduceFit fit = all_reduce_fit(ranks);
  const Seconds time = std::min(along(fit.small, bytes, ratio), along(fit.large, bytes, ratio));
  const bool fitted = ranks <= kAllReduce.back().ranks;
  return {eager ? time + kEagerLaunch : time, fitted ? Evidence::modelled : Evidence::assumed};
}

Transfer all_to_all(Bytes bytes, int ranks, const Hardware& hardware) {
  check("all_to_all", bytes, ranks);
  if (ranks == 1) return {};
  const double link = link_bandwidth("all_to_all", hardware);
  const double leaving = (ranks - 1.0) / ranks;
  const Line small{7 * unit::us, 40 * kPico};
  const Line large{13 * unit::us, leaving / (0.69 * kFittedLink)};
  const double ratio = kFittedLink / link;
  const bool fitted = ranks <= 8;
  return {std::min(along(small, bytes, ratio), along(large, bytes, ratio)),
          fitted ? Evidence::modelled : Evidence::assumed};
}

}  // namespace rooflua
