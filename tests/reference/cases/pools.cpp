#include "tests/reference/cases/pools.h"

#include <cmath>

#include "serve/contract/clock.h"
#include "tests/reference/cases/serving.h"

namespace rooflua::reference {

namespace {

Dice dice_of(const PoolCase& pool, const PoolLook& look, std::uint64_t question) {
  std::uint64_t number = pool.seed + question;
  const auto mix = [&number](Ps more) {
    number = number * 6364136223846793005ull + static_cast<std::uint64_t>(more) + 1;
  };
  for (const int each : {look.pool, look.ready, look.starting, look.draining, look.failed,
                         look.wanted, look.held})
    mix(each);
  mix(look.now);
  for (const PoolLook::Member& each : look.members) {
    mix(each.replica);
    mix(each.waiting);
    mix(each.running);
    mix(each.outstanding);
  }
  return Dice(number);
}

PoolLook look_of(const PoolView& view) {
  PoolLook out{std::llround(view.now_s * 1e12), view.pool,   view.ready, view.starting,
               view.draining,                   view.failed, view.wanted, view.held, {}};
  for (const PoolMember& each : view.members)
    out.members.push_back({each.replica, each.waiting, each.running, each.outstanding});
  return out;
}

}  // namespace

int scale(const PoolCase& pool, const PoolLook& look) {
  Dice dice = dice_of(pool, look, 0);
  return dice.chance(40) ? look.wanted : dice.between(pool.min, pool.max);
}

int drained(const PoolCase& pool, const PoolLook& look) {
  Dice dice = dice_of(pool, look, 1);
  return dice.chance(50) ? -1 : dice.between(0, static_cast<int>(look.members.size()) - 1);
}

std::int32_t CaseAutoscaler::scale(const PoolView& pool) {
  return reference::scale(pool_, look_of(pool));
}

std::int32_t CaseAutoscaler::drain(const PoolView& pool, std::span<const PoolMember>) {
  return drained(pool_, look_of(pool));
}

double CaseAutoscaler::interval_s() const {
  return seconds(pool_.interval);
}

}  // namespace rooflua::reference
