#include "serve/contract/session_hashes.h"

#include <algorithm>

namespace rooflua {

namespace {

constexpr std::size_t places = 256, most_hashes = std::size_t{1} << 20;
constexpr std::size_t fewest_hashes = 64;  // fewer are computed as fast as they are kept

}  // namespace

SessionHashes::Kept& SessionHashes::place(std::int32_t session) {
  return kept_[static_cast<std::size_t>(session) % places];
}

void SessionHashes::forget(Kept& kept) {
  count_ -= kept.count;
  kept.count = 0;
  kept.session = -1;
  kept.hashes.clear();
}

void SessionHashes::keep(const Prompt& prompt, std::vector<BlockHashes>& hashes) {
  if (prompt.session < 0 || prompt.segments.empty()) return;
  std::size_t known = 0, count = 0;
  for (const BlockHashes& each : hashes) {
    known += each.hashes.size();
    count += each.hashes.capacity();
  }
  if (known < fewest_hashes) return;
  if (kept_.empty()) kept_.resize(places);
  Kept& own = place(prompt.session);
  forget(own);
  if (count_ + count > most_hashes) return;
  own.session = prompt.session;
  own.adapter = prompt.adapter;
  own.segments.assign(prompt.segments.begin(), prompt.segments.end());
  own.hashes.swap(hashes);
  own.count = count;
  count_ += count;
}

void SessionHashes::give(const Prompt& prompt, std::vector<BlockHashes>& hashes) {
  if (prompt.session < 0 || kept_.empty()) return;
  Kept& own = place(prompt.session);
  if (own.session != prompt.session || own.adapter != prompt.adapter) return;
  const std::int32_t shared = shared_tokens(own.segments, prompt.segments);
  for (BlockHashes& each : own.hashes) {
    const auto blocks = static_cast<std::size_t>(shared / each.block_size);
    each.hashes.resize(std::min(each.hashes.size(), blocks));
  }
  hashes.swap(own.hashes);
  forget(own);
}

}  // namespace rooflua
