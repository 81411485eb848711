#include "serve/replica/lifecycle.h"

#include <algorithm>

#include "base/error.h"
#include "spec/figures/rows.h"

namespace rooflua {

namespace {

using enum Stated;

constexpr double most_start_s = 1e6, most_start_bytes = 1e15, most_engines = 2048;

constexpr auto start_rows = rows_of<StartConfig>(
    figure<&StartConfig::provision_s>("provision_s", "s", 0, most_start_s, open,
                                      "until there is a machine"),
    figure<&StartConfig::image_bytes>("image_bytes", "bytes", 0, most_start_bytes, open,
                                      "of the container image, pulled over `link`"),
    figure<&StartConfig::weight_bytes>("weight_bytes", "bytes", 0, most_start_bytes, open,
                                       "of the weights, loaded over `link`"),
    figure<&StartConfig::init_s>("init_s", "s", 0, most_start_s, open,
                                 "of the engine, once the weights are there"));

constexpr auto pool_rows = rows_of<PoolConfig>(
    figure<&PoolConfig::count>("count", "engines", 0, most_engines, open, "ready at the start"),
    figure<&PoolConfig::min>("min", "engines", 0, most_engines, open,
                             "fewest engines that an autoscaler gets"),
    figure<&PoolConfig::max>("max", "engines", 0, most_engines, open,
                             "most engines that an autoscaler gets"),
    word<&PoolConfig::drain, drain_words>("drain", open,
                                          "what becomes of the requests of an engine that drains"),
    figure<&PoolConfig::grace_s>("grace_s", "s", 0, most_start_s, open,
                                 "after so long of draining all that is left ends as "
                                 "replica_lost; 0: never"));

void check_pool(const Fleet::Pool& pool, const std::string& where) {
  const PoolConfig& config = pool.config;
  const auto engines = static_cast<std::int32_t>(pool.engines.size());
  check_figures(config, where);
  check_figures(config.start, where + "start.");
  if (config.max > engines || config.max < std::max(1, config.min))
    throw Error(where + "max", "found " + std::to_string(config.max) + "; from " +
                                   std::to_string(std::max(1, config.min)) + " to " +
                                   std::to_string(engines) + " is right");
  if (config.count > config.max || config.count < config.min)
    throw Error(where + "count", "found " + std::to_string(config.count) + "; from min, " +
                                     std::to_string(config.min) + ", to max, " +
                                     std::to_string(config.max) + ", is right");
  const bool has_bytes = config.start.image_bytes > 0 || config.start.weight_bytes > 0;
  if (has_bytes && config.start.link.empty())
    throw Error(where + "start.link", "image_bytes and weight_bytes need a link to come over");
  if (!has_bytes && !config.start.link.empty())
    throw Error(where + "start.link", "nothing comes over it; give image_bytes or weight_bytes");
}

}  // namespace

template <>
const FigureTable& figures<StartConfig>() {
  static const auto table =
      table_of<StartConfig>("StartConfig", "How an engine of a pool starts.", start_rows);
  return table;
}

template <>
const FigureTable& figures<PoolConfig>() {
  static const auto table = table_of<PoolConfig>(
      "PoolConfig", "Engines of which as many serve as are wanted.", pool_rows);
  return table;
}

Fleet::Fleet(const std::vector<PoolConfig>& configs,
             const std::vector<std::vector<std::int32_t>>& members)
    : engines(members.size()) {
  std::size_t replicas = 0;
  for (const std::vector<std::int32_t>& engine : members) replicas += engine.size();
  slow.resize(replicas);
  for (std::size_t p = 0; p < configs.size(); ++p) {
    Pool& pool = pools.emplace_back();
    pool.config = configs[p];
    pool.wanted = configs[p].count;
    const std::string where = "pools[" + std::to_string(p + 1) + "].";
    for (std::size_t g = 0; g < members.size(); ++g) {
      const std::int32_t index = members[g].front();
      if (index < configs[p].first || index >= configs[p].first + configs[p].replicas) continue;
      if (engines[g].pool >= 0) throw Error(where + "first", "another pool has these replicas");
      engines[g].pool = static_cast<std::int32_t>(p);
      if (static_cast<std::int32_t>(pool.engines.size()) >= configs[p].count)
        engines[g].state = Lifecycle::absent;
      pool.engines.push_back(static_cast<std::int32_t>(g));
    }
    check_pool(pool, where);
  }
}

Fleet::Counts Fleet::counts(const Pool& pool) const {
  Counts out;
  for (const std::int32_t group : pool.engines) {
    const Lifecycle state = engine(group).state;
    out.ready += state == Lifecycle::ready;
    out.starting += state == Lifecycle::starting;
    out.draining += state == Lifecycle::draining;
    out.failed += state == Lifecycle::failed;
    out.absent += state == Lifecycle::absent;
  }
  return out;
}

// --- a slow replica

void SlowSteps::slow(StepPrice& price) const {
  price.time_s *= factor_;
  price.own_s *= factor_;
  for (double& each : price.evidence_s) each *= factor_;
}

void SlowSteps::price(const Batch& batch, StepPrice& price) {
  model_->price(batch, price);
  slow(price);
}

void SlowSteps::explain(const Batch& batch, PriceDetail detail, StepPrice& price,
                        std::vector<OpTime>& operations) {
  model_->explain(batch, detail, price, operations);
  slow(price);
  for (OpTime& each : operations) each.time_s *= factor_;
}

std::int32_t SlowSteps::price_run(const Batch& first, const BatchGrowth& growth,
                                  std::span<StepPrice> prices) {
  const std::int32_t priced = model_->price_run(first, growth, prices);
  for (StepPrice& each : prices.first(static_cast<std::size_t>(priced))) slow(each);
  return priced;
}

}  // namespace rooflua
