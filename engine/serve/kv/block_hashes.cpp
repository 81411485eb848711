#include "serve/kv/block_hashes.h"

#include <algorithm>

namespace rooflua {

namespace {

constexpr std::uint64_t private_prompt = 1ull << 63;

std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// KV depends on the adapter. @source vLLM v1/core/kv_cache_utils.py, need_extra_keys
std::uint64_t first_hash(std::int32_t adapter) {
  return adapter == 0 ? 0x5EED : mix(0x5EED ^ (static_cast<std::uint64_t>(adapter) << 32));
}

/// A stretch of a sequence with one identity: tokens offset, offset+1, ... of `content`.
struct Run {
  std::uint64_t content = 0;
  std::int64_t offset = 0;
  std::int64_t tokens = 0;
  /// Of `count` tokens from the one at `first` on. Both are below 2^31.
  std::uint64_t hash(std::int64_t first, std::int64_t count) const {
    return mix(mix(content) ^ static_cast<std::uint64_t>(((offset + first) << 32) | count));
  }
  /// The same of all that begin there.
  std::uint64_t begin(std::int64_t first) const { return hash(first, 0); }
};

/// The runs of a request's sequence, from the left. The last one, the generated tokens, has no end.
Run run_at(const Request& request, const Progress& progress, std::size_t index,
           std::int64_t position) {
  const std::uint64_t own = private_prompt | static_cast<std::uint32_t>(request.id);
  const std::size_t prompt_runs = progress.segments.empty() ? 1 : progress.segments.size();
  if (index >= prompt_runs) {
    if (progress.output_content != 0) return {progress.output_content, 0, 1ll << 40};
    return {own, position, 1ll << 40};
  }
  if (progress.segments.empty()) return {own, 0, request.prompt_tokens};
  const Segment& segment = progress.segments[index];
  if (segment.content == 0) return {own, position, segment.tokens};
  // Tokens that an attempt before generated: this one goes on with them (contract/client.h).
  const bool goes_on = progress.origin >= 0 && index + 1 == prompt_runs &&
                       segment.content == progress.output_content;
  if (goes_on) return {segment.content, 0, 1ll << 40};
  return {segment.content, 0, segment.tokens};
}

}  // namespace

const std::vector<std::uint64_t>& block_hashes(const Request& request, const Progress& progress,
                                               std::int32_t block_size, std::int32_t blocks) {
  std::vector<BlockHashes>& known_sizes = progress.block_hashes;
  const auto same_size = [=](const BlockHashes& each) { return each.block_size == block_size; };
  auto found = std::find_if(known_sizes.begin(), known_sizes.end(), same_size);
  if (found == known_sizes.end()) found = known_sizes.insert(found, BlockHashes{block_size, {}});
  std::vector<std::uint64_t>& out = found->hashes;
  const auto known = static_cast<std::int64_t>(out.size());
  if (known >= blocks) return out;
  std::uint64_t hash = known > 0 ? out.back() : first_hash(progress.adapter);
  std::int64_t position = known * block_size;
  std::size_t index = 0;
  std::int64_t start = 0;
  Run run = run_at(request, progress, index, start);
  while (start + run.tokens <= position) {
    start += run.tokens;
    run = run_at(request, progress, ++index, start);
  }
  out.resize(static_cast<std::size_t>(blocks));
  for (std::int64_t block = known; block < blocks; ++block) {
    const std::int64_t end = (block + 1) * block_size;
    while (position < end) {
      const std::int64_t upto = std::min(end, start + run.tokens);
      hash = mix(hash ^ run.hash(position - start, upto - position));
      position = upto;
      if (position < start + run.tokens) continue;
      start += run.tokens;
      run = run_at(request, progress, ++index, start);
    }
    hash += hash == 0;
    out[static_cast<std::size_t>(block)] = hash;
  }
  return out;
}

void block_runs(const Request& request, const Progress& progress, std::int64_t from,
                std::int64_t to, std::vector<BlockRun>& out) {
  out.clear();
  std::size_t index = 0;
  std::int64_t start = 0;
  while (from < to) {
    const Run run = run_at(request, progress, index++, start);
    const std::int64_t end = start + run.tokens, upto = std::min(to, end);
    if (from < end) {
      out.push_back({run.begin(from - start), static_cast<std::int32_t>(upto - from)});
      from = upto;
    }
    start = end;
  }
}

std::uint64_t hash_after(std::uint64_t before, BlockRun run) {
  const std::uint64_t hash = mix(before ^ mix(run.begin + static_cast<std::uint64_t>(run.tokens)));
  return hash + (hash == 0);
}

std::uint64_t root_hash(const Progress& progress) {
  return first_hash(progress.adapter);
}

std::int64_t public_tokens(const Progress& progress) {
  std::int64_t tokens = 0;
  for (const Segment& segment : progress.segments) {
    if (segment.content == 0) return tokens;
    tokens += segment.tokens;
  }
  if (progress.output_content != 0 && !progress.segments.empty()) tokens += 1 << 30;
  return tokens;
}

std::int32_t public_blocks(const Progress& progress, std::int32_t block_size) {
  return static_cast<std::int32_t>(public_tokens(progress) / block_size);
}

}  // namespace rooflua
