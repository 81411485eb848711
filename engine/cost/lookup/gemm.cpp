#include "cost/lookup/gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rooflua {
namespace {

double log_distance(double a, double b) {
  return std::abs(std::log2(a / b));
}

std::vector<double> sorted_distinct(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace

GemmIndex::GemmIndex(const KernelTable& table) {
  int last = -1;
  double last_k = -1, last_n = -1;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& s = table.rows[i].shape;
    if (!(table.rows[i].latency_s > 0) || !(s[0] > 0 && s[1] > 0 && s[2] > 0)) continue;
    if (last < 0 || s[1] != last_k || s[2] != last_n) {
      const auto [found, fresh] = of_.try_emplace({s[1], s[2]}, static_cast<int>(shapes_.size()));
      if (fresh) shapes_.push_back({s[1], s[2], Series()});
      last = found->second, last_k = s[1], last_n = s[2];
    }
    shapes_[static_cast<std::size_t>(last)].series.add(
        {s[0], table.rows[i].latency_s, &table, static_cast<int>(i)});
  }
  for (Shape& shape : shapes_) {
    shape.series.finish();
    ks_.push_back(shape.k);
    ns_.push_back(shape.n);
    const double least = shape.series.least_latency();
    if (least_latency_s_ == 0 || least < least_latency_s_) least_latency_s_ = least;
  }
  ks_ = sorted_distinct(std::move(ks_));
  ns_ = sorted_distinct(std::move(ns_));
}

GemmIndex::Place GemmIndex::place(const std::vector<double>& axis, double x) {
  Place place;
  const auto above =
      static_cast<std::size_t>(std::upper_bound(axis.begin(), axis.end(), x) - axis.begin());
  if (above == 0) {
    place.ratio = axis[0] / x;
    place.evidence = Evidence::extrapolated;
    return place;
  }
  place.low = place.high = above - 1;
  if (axis[above - 1] == x) return place;
  if (above == axis.size()) {
    place.scale = place.ratio = x / axis[above - 1];
    place.evidence = Evidence::extrapolated;
    return place;
  }
  place.high = above;
  place.part = (x - axis[place.low]) / (axis[above] - axis[place.low]);
  place.ratio = std::min(x / axis[place.low], axis[above] / x);
  place.evidence = Evidence::interpolated;
  return place;
}

int GemmIndex::shape_at(double k, double n) const {
  const auto found = of_.find({k, n});
  return found == of_.end() ? -1 : found->second;
}

/// Corners of the cell of the grid of all k and all n. A clamped axis says nothing about a far
/// smaller GEMM, so beyond a factor of two below the grid this is no answer.
bool GemmIndex::along_cell(double k, double n, Plan& plan) const {
  const Place at_k = place(ks_, k), at_n = place(ns_, n);
  if ((k < ks_.front() && at_k.ratio > 2) || (n < ns_.front() && at_n.ratio > 2)) return false;
  const double scale = at_k.scale * at_n.scale;
  for (const bool high_k : {false, true}) {
    for (const bool high_n : {false, true}) {
      const double weight =
          (high_k ? at_k.part : 1 - at_k.part) * (high_n ? at_n.part : 1 - at_n.part);
      if (weight == 0) continue;
      const int shape =
          shape_at(ks_[high_k ? at_k.high : at_k.low], ns_[high_n ? at_n.high : at_n.low]);
      if (shape < 0) return false;
      const auto i = static_cast<std::size_t>(plan.count++);
      plan.shape[i] = shape;
      plan.weight[i] = weight * scale;
    }
  }
  plan.ratio = at_k.ratio * at_n.ratio;
  plan.evidence = worst(at_k.evidence, at_n.evidence);
  return true;
}

/// Between (or not far above) two measured shapes that share this k, or this n.
bool GemmIndex::along_line(double k, double n, Plan& plan) const {
  for (const bool same_k : {true, false}) {
    std::vector<double> axis;
    for (const Shape& shape : shapes_) {
      if (same_k ? shape.k == k : shape.n == n) axis.push_back(same_k ? shape.n : shape.k);
    }
    axis = sorted_distinct(std::move(axis));
    const double x = same_k ? n : k;
    if (axis.size() < 2 || x < axis.front() || x > 4 * axis.back()) continue;
    const Place at = place(axis, x);
    for (const bool high : {false, true}) {
      const double weight = high ? at.part : 1 - at.part;
      if (weight == 0) continue;
      const double other = axis[high ? at.high : at.low];
      const auto i = static_cast<std::size_t>(plan.count++);
      plan.shape[i] = same_k ? shape_at(k, other) : shape_at(other, n);
      plan.weight[i] = weight * at.scale;
    }
    plan.ratio = at.ratio;
    plan.evidence = at.evidence;
    return true;
  }
  return false;
}

void GemmIndex::by_distance(double k, double n, std::size_t most, Plan& plan) const {
  std::vector<std::pair<double, int>> near;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const double dk = log_distance(shapes_[i].k, k), dn = log_distance(shapes_[i].n, n);
    near.emplace_back(dk * dk + dn * dn, static_cast<int>(i));
  }
  std::sort(near.begin(), near.end());
  near.resize(std::min(near.size(), most));
  double sum = 0;
  for (const auto& [distance, shape] : near) {
    const auto i = static_cast<std::size_t>(plan.count++);
    plan.shape[i] = shape;
    plan.weight[i] = 1 / (distance + 1e-9);
    sum += plan.weight[i];
  }
  for (double& weight : plan.weight) weight /= sum;
  plan.utilisation = true;
  const Shape& nearest = shapes_[static_cast<std::size_t>(near.front().second)];
  plan.ratio = std::exp2(log_distance(nearest.k, k) + log_distance(nearest.n, n));
  plan.evidence = Evidence::stand_in;
}

GemmIndex::Plan GemmIndex::make_plan(double k, double n, bool nearest) const {
  Plan plan;
  if (nearest && shape_at(k, n) < 0) {
    by_distance(k, n, 1, plan);
  } else if (!along_cell(k, n, plan)) {
    plan.count = 0;
    if (!along_line(k, n, plan)) by_distance(k, n, plan.shape.size(), plan);
  }
  return plan;
}

const GemmIndex::Plan& GemmIndex::plan(double k, double n, bool nearest) const {
  const Words<3> key{{std::bit_cast<std::uint64_t>(k), std::bit_cast<std::uint64_t>(n), nearest}};
  return plans_.of(key, [&] { return make_plan(k, n, nearest); });
}

double GemmIndex::gap(double k, double n) const {
  const Plan& plan = this->plan(k, n, false);
  return plan.evidence <= Evidence::interpolated ? 0 : std::log2(plan.ratio);
}

Reading GemmIndex::at(double m, double k, double n, Strategy strategy, RowsUsed* trace) const {
  const Plan& plan = this->plan(k, n, strategy == Strategy::nearest);
  Reading result;
  double sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(plan.count); ++i) {
    const Shape& shape = shapes_[static_cast<std::size_t>(plan.shape[i])];
    const Reading reading = shape.series.at(m, strategy, trace);
    sum += plan.weight[i] *
           (plan.utilisation ? shape.k * shape.n / reading.latency_s : reading.latency_s);
    if (i == 0) {
      result = reading;
    } else {
      result.also(reading);
    }
  }
  result.latency_s = plan.utilisation ? std::max(k * n / sum, least_latency_s_) : sum;
  return result.downgrade(plan.evidence, plan.ratio);
}

}  // namespace rooflua
