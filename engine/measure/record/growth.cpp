#include "measure/record/growth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include "measure/record/summary.h"

namespace rooflua {

namespace {

constexpr std::size_t blocks = 10;      // of requests
constexpr std::size_t least_block = 4;  // requests
// Five standard normals of which each counts where it is above 0: their squares exceed this in 2 of 1,000 loads. The
// mean of the first half has an error of its own, a fifth of a block's.
constexpr double most_by_chance = 15 * 1.2;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double each : values) sum += (each - mean) * (each - mean);
  return sum / static_cast<double>(values.size() - 1);
}

/// Whether blocks of the second half of `values` are above the mean of the first half by more than chance.
bool rises(std::span<const double> values) {
  const std::size_t size = values.size() / blocks;
  if (size < least_block) return false;
  std::array<double, blocks> means{};
  double variance = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto block = values.subspan(i * size, size);
    means[i] = mean_of(block);
    variance += variance_of(block) / blocks;
  }
  const double early = mean_of(std::span(means).first(blocks / 2));
  const double error = std::max(std::sqrt(variance / static_cast<double>(size)), 1e-6 * std::abs(early));
  double squares = 0;
  for (const double mean : std::span(means).subspan(blocks / 2)) {
    const double above = std::max(0.0, mean - early) / error;
    squares += above * above;
  }
  return squares > most_by_chance;
}

}  // namespace

void GrowthWatch::on_done(const RequestDone& done) {
  if (done.id < 0) return;
  const auto place = static_cast<std::size_t>(done.id);
  if (place >= seen_.size()) seen_.resize(place + 1);
  if (done.outcome != Outcome::completed) return;
  seen_[place] = {done.arrival, done.first_token - done.arrival, done.prompt_tokens + done.output_tokens};
}

std::optional<GrowthWatch::Halves> GrowthWatch::halves() const {
  const auto mean_s = [](std::span<const Seen> part) -> std::optional<double> {
    double sum_s = 0;
    std::size_t count = 0;
    for (const Seen& each : part) {
      if (each.ttft == never) continue;
      sum_s += seconds(each.ttft);
      ++count;
    }
    if (count == 0) return std::nullopt;
    return sum_s / static_cast<double>(count);
  };
  const std::size_t half = seen_.size() / 2;
  const std::optional<double> early_s = mean_s(std::span(seen_).first(half));
  const std::optional<double> late_s = mean_s(std::span(seen_).subspan(half));
  if (!early_s || !late_s) return std::nullopt;
  return Halves{*early_s, *late_s};
}

bool GrowthWatch::load_rises() const {
  std::vector<double> closeness, tokens;  // what is larger under a heavier load
  Picoseconds before = never;
  for (const Seen& each : seen_) {
    if (each.ttft == never) continue;
    if (before != never) {
      closeness.push_back(-seconds(each.arrival - before));
      tokens.push_back(each.tokens);
    }
    before = each.arrival;
  }
  return rises(closeness) || rises(tokens);
}

}  // namespace rooflua
