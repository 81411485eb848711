#include "serve/routing/kv_events.h"

#include "base/random.h"

namespace rooflua {

KvEvents::KvEvents(double loss, std::uint64_t seed)
    : loss_(loss), key_(random_stream(seed, "kv_events").key) {}

void KvEvents::tell(std::int32_t replica, bool kept, std::span<const std::uint64_t> hashes) {
  if (hashes.empty()) return;
  if (loss_ > 0 && uniform_at(key_, told_++) < loss_) return;
  pending_.push_back({*clock_, replica, kept, {hashes.begin(), hashes.end()}});
}

}  // namespace rooflua
