// What the parts of latencies amount to (latency_parts.h).

#include <algorithm>
#include <numeric>
#include <utility>

#include "measure/record/latency_parts.h"
#include "measure/record/summary.h"

namespace rooflua {

PartSeconds in_seconds(const PartTimes& parts) {
  PartSeconds out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = seconds(parts[i]);
  return out;
}

const LatencyPartsCounter::Ended* LatencyPartsCounter::find_ended(std::int32_t id) const {
  const auto found =
      std::find_if(ended_.begin(), ended_.end(), [&](const Ended& each) { return each.id == id; });
  return found == ended_.end() ? nullptr : &*found;
}

namespace {

using Ended = LatencyPartsCounter::Ended;

Picoseconds sum(const PartTimes& parts) {
  return std::accumulate(parts.begin(), parts.end(), Picoseconds{0});
}

/// The mean over requests, where there are some.
template <class PartsOf>
std::optional<PartSeconds> mean(const std::vector<const Ended*>& requests, PartsOf parts_of) {
  if (requests.empty()) return std::nullopt;
  PartSeconds out{};
  for (const Ended* request : requests) {
    const PartSeconds parts = parts_of(*request);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += parts[i];
  }
  for (double& part : out) part /= static_cast<double>(requests.size());
  return out;
}

/// Those with the largest values, of 100 requests one; of those that are alike the earlier ones.
template <class ValueOf>
std::vector<const Ended*> slowest(const std::vector<const Ended*>& requests, ValueOf value_of) {
  std::vector<std::pair<double, const Ended*>> order;
  for (const Ended* each : requests) order.emplace_back(value_of(*each), each);
  const auto count = static_cast<std::ptrdiff_t>((requests.size() + 99) / 100);
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second->id < b.second->id;
                    });
  std::vector<const Ended*> out;
  for (auto each = order.begin(); each != order.begin() + count; ++each)
    out.push_back(each->second);
  return out;
}

PartSeconds per_token(const Ended& request) {
  PartSeconds out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = seconds(request.all[i] - request.to_first[i]) / (request.output_tokens - 1);
  return out;
}

}  // namespace

LatencyParts LatencyPartsCounter::parts() const {
  LatencyParts out;
  std::vector<const Ended*> all, several;
  std::vector<const Ended*> by_id;  // several processes end them in another order
  for (const Ended& each : ended_) {
    const auto id = static_cast<std::size_t>(each.id);
    if (id >= by_id.size()) by_id.resize(id + 1);
    by_id[id] = &each;
  }
  for (const Ended* each : by_id)
    if (each != nullptr) all.push_back(each);
  for (const Ended* each : all)
    if (each->output_tokens > 1) several.push_back(each);
  const auto to_first = [](const Ended& each) { return in_seconds(each.to_first); };
  const auto whole = [](const Ended& each) { return in_seconds(each.all); };
  out.ttft_parts_s = mean(all, to_first);
  out.e2e_parts_s = mean(all, whole);
  out.tpot_parts_s = mean(several, per_token);
  const auto ttft = [](const Ended& each) { return static_cast<double>(sum(each.to_first)); };
  const auto e2e = [](const Ended& each) { return static_cast<double>(sum(each.all)); };
  const auto tpot = [](const Ended& each) {
    return tpot_ps(sum(each.to_first), sum(each.all), each.output_tokens);
  };
  out.ttft_parts_slowest_1pct_s = mean(slowest(all, ttft), to_first);
  out.e2e_parts_slowest_1pct_s = mean(slowest(all, e2e), whole);
  out.tpot_parts_slowest_1pct_s = mean(slowest(several, tpot), per_token);
  return out;
}

void LatencyPartsCounter::add(const LatencyPartsCounter& other) {
  ended_.insert(ended_.end(), other.ended_.begin(), other.ended_.end());
  has_too_many_ = has_too_many_ || other.has_too_many_;
}

}  // namespace rooflua
