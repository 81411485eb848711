#include "serve/contract/session_hashes.h"

#include <algorithm>

#include "serve/contract/request.h"

namespace rooflua {

namespace {

constexpr std::size_t places = 256, most_hashes = std::size_t{1} << 20;
constexpr std::size_t fewest_hashes = 64;  // fewer are computed as fast as they are kept

}  // namespace

std::int32_t shared_tokens(std::span<const Segment> a, std::span<const Segment> b) noexcept {
  std::int32_t tokens = 0;
  const std::size_t most = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < most; ++i) {
    const Segment &one = a[i], &other = b[i];
    if (one.content == 0 || one.content != other.content) break;
    tokens += std::min(one.tokens, other.tokens);
    if (one.tokens != other.tokens) break;
  }
  return tokens;
}

SessionHashes::Kept& SessionHashes::place(std::int32_t session) {
  return kept_[static_cast<std::size_t>(session) % places];
}

void SessionHashes::forget(Kept& kept) {
  count_ -= kept.count;
  kept.count = 0;
  kept.session = -1;
  kept.hashes.clear();
}

void SessionHashes::keep(std::int32_t session, Progress& ended) {
  if (session < 0 || ended.segments.empty()) return;
  std::size_t known = 0, count = 0;
  for (const BlockHashes& each : ended.block_hashes) {
    known += each.hashes.size();
    count += each.hashes.capacity();
  }
  if (known < fewest_hashes) return;
  if (kept_.empty()) kept_.resize(places);
  Kept& own = place(session);
  forget(own);
  if (count_ + count > most_hashes) return;
  own.session = session;
  own.adapter = ended.adapter;
  own.segments = ended.segments;
  own.hashes.swap(ended.block_hashes);
  own.count = count;
  count_ += count;
}

void SessionHashes::give(std::int32_t session, Progress& begun) {
  if (session < 0 || kept_.empty()) return;
  Kept& own = place(session);
  if (own.session != session || own.adapter != begun.adapter) return;
  const std::int32_t shared = shared_tokens(own.segments, begun.segments);
  for (BlockHashes& each : own.hashes) {
    const auto blocks = static_cast<std::size_t>(shared / each.block_size);
    each.hashes.resize(std::min(each.hashes.size(), blocks));
  }
  begun.block_hashes.swap(own.hashes);
  forget(own);
}

}  // namespace rooflua
