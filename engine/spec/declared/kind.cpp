#include "spec/declared/kind.h"

#include <algorithm>

#include "base/error.h"

namespace rooflua::declared {

std::optional<double> part_of(Split split, int heads, int tp) {
  if (split == Split::none || tp == 1) return 1;
  if (heads == 0) return 1.0 / tp;
  if (tp > heads && tp % heads == 0) return 1.0 / heads;
  if (heads % tp == 0) return 1.0 / tp;
  return std::nullopt;
}

const Operation* Kind::attention() const {
  const auto found = std::find_if(operations.begin(), operations.end(), [](const Operation& each) {
    return each.kind == OpKind::attention;
  });
  return found == operations.end() ? nullptr : &*found;
}

bool Kind::grows() const {
  return std::any_of(caches.begin(), caches.end(), [](const Cache& each) {
    return each.kind == CacheKind::token && !each.on_host;
  });
}

double Kind::cache_bytes(CacheKind of, Dtype kv, int tp) const {
  double bytes = 0;
  for (const Cache& each : caches)
    if (each.kind == of && !each.on_host)
      bytes += each.bytes(kv) * part_of(each.split, each.heads, tp).value_or(1);
  return bytes;
}

int Kind::window() const {
  int tokens = 0;
  for (const Cache& each : caches) tokens = std::max(tokens, each.window);
  return tokens;
}

int Kind::state_inputs() const {
  int tokens = 0;
  for (const Cache& each : caches) {
    if (each.kind != CacheKind::state) continue;
    if (each.inputs == 0 || (tokens > 0 && each.inputs != tokens)) return 0;
    tokens = each.inputs;
  }
  return tokens;
}

double Kind::inner_elements() const {
  double elements = 0;
  for (const Weight& each : weights)
    if (each.weight_class >= 0) elements += each.split == Split::rows ? each.rows : each.columns;
  return elements;
}

void Kind::check_split(int tp) const {
  const auto check = [&](Split split, int heads, const std::string& what) {
    if (part_of(split, heads, tp)) return;
    throw Error("deployment.tp", std::to_string(heads) + " heads of " + what + " of " + file +
                                     " do not divide by tp = " + std::to_string(tp));
  };
  for (const Weight& each : weights) check(each.split, each.heads, "weight " + each.name);
  for (const Cache& each : caches) check(each.split, each.heads, "a cache");
  for (const Operation& each : operations) check(each.split, each.heads, each.name);
}

}  // namespace rooflua::declared
