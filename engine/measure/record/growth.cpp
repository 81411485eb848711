#include "measure/record/growth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <unordered_set>

#include "measure/record/summary.h"

namespace rooflua {

namespace {

constexpr std::size_t blocks = 10;      // of requests
constexpr std::size_t least_block = 4;  // requests
// The squares of ten standard normals around their mean exceed this in 2 of 1,000 loads (chi-square, nine degrees).
constexpr double most_by_chance = 26;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double each : values) sum += (each - mean) * (each - mean);
  return sum / static_cast<double>(values.size() - 1);
}

/// Whether the means of blocks of `values` differ by more than chance.
bool varies(std::span<const double> values) {
  const std::size_t size = values.size() / blocks;
  if (size < least_block) return false;
  std::array<double, blocks> means{};
  double variance = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto block = values.subspan(i * size, size);
    means[i] = mean_of(block);
    variance += variance_of(block) / blocks;
  }
  const double mean = mean_of(means);
  const double error = std::max(std::sqrt(variance / static_cast<double>(size)), 1e-6 * std::abs(mean));
  double squares = 0;
  for (const double each : means) squares += error > 0 ? (each - mean) * (each - mean) / (error * error) : 0;
  return squares > most_by_chance;
}

}  // namespace

void GrowthWatch::on_done(const RequestDone& done) {
  if (done.id < 0) return;
  const auto place = static_cast<std::size_t>(done.id);
  if (place >= seen_.size()) seen_.resize(place + 1);
  if (done.outcome != Outcome::completed) return;
  seen_[place] = {done.arrival, done.first_token - done.arrival, done.prompt_tokens + done.output_tokens, done.session,
                  done.attempt};
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

bool GrowthWatch::load_varies() const {
  std::vector<double> gaps_s, tokens;
  std::unordered_set<std::int32_t> sessions;
  Picoseconds before = never;
  for (const Seen& each : seen_) {
    if (each.ttft == never || each.attempt > 0) continue;
    if (each.session >= 0 && !sessions.insert(each.session).second) continue;
    if (before != never) {
      gaps_s.push_back(seconds(each.arrival - before));
      tokens.push_back(each.tokens);
    }
    before = each.arrival;
  }
  return varies(gaps_s) || varies(tokens);
}

}  // namespace rooflua
