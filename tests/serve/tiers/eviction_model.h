#pragma once
// A store as store.h and eviction.h tell it: a list of chunks that is searched from end to end.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "serve/stores/store.h"

namespace rooflua::test {

/// A key with many ties, of all that a policy may read.
class Keys : public EvictionPolicy {
 public:
  double key(const StoredBlock& block) override { return of(block); }
  static double of(const StoredBlock& b) {
    return (b.depth_tokens / 4 * 5 + b.uses * 3 + b.klass + b.session + b.priority +
            static_cast<int>(b.put_s) + static_cast<int>(b.used_s) + static_cast<int>(b.now_s)) %
           4;
  }
};

struct ModelChunk {
  std::uint64_t hash = 0;
  bool arrives = true;
  int readers = 0;
  int uses = 0;
  long born = 0, touched = 0;  // order of events
  StoredBlock seen;
  double key = 0;
  bool again = false;  // arc: it is in the list of those that were used again
};

/// What store.h and eviction.h say, in loops.
class StoreModel {
 public:
  using Key = double (*)(const StoredBlock&);
  StoreModel(Eviction rule, std::size_t capacity, int chunk_tokens = 4, Key key = Keys::of)
      : rule_(rule), capacity_(capacity), chunk_tokens_(chunk_tokens), key_(key) {}

  std::vector<ModelChunk> chunks;
  long evictions = 0;

  ModelChunk* find(std::uint64_t hash) {
    for (ModelChunk& each : chunks) {
      if (each.hash == hash) return &each;
    }
    return nullptr;
  }

  bool put(const std::vector<std::uint64_t>& run, int first, const Request& request, double now) {
    std::vector<std::uint64_t> missing;
    for (const std::uint64_t hash : run) {
      if (find(hash) == nullptr) missing.push_back(hash);
    }
    if (missing.empty()) return true;
    std::size_t may_leave = 0;
    for (const ModelChunk& each : chunks) may_leave += leaves(each, run);
    if (chunks.size() + missing.size() > capacity_ + may_leave) return false;
    while (chunks.size() + missing.size() > capacity_) evict(run);
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (find(run[i]) != nullptr) continue;
      ModelChunk chunk;
      chunk.hash = run[i];
      chunk.born = chunk.touched = ++events_;
      chunk.seen.depth_tokens = (first + static_cast<int>(i) + 1) * chunk_tokens_;
      chunk.seen.put_s = chunk.seen.used_s = now;
      describe(chunk, request);
      give_key(chunk, now);
      std::erase(left_[0], run[i]);
      std::erase(left_[1], run[i]);
      chunks.push_back(chunk);
    }
    return true;
  }

  void end_put(std::uint64_t hash, double now) {
    find(hash)->arrives = false;
    find(hash)->seen.put_s = now;
  }

  void cancel_put(std::uint64_t hash) {
    std::erase_if(chunks, [&](const ModelChunk& each) { return each.hash == hash; });
  }

  void end_read(std::uint64_t hash, double now) {
    ModelChunk& chunk = *find(hash);
    --chunk.readers;
    if (rule_ != Eviction::keyed) return;
    give_key(chunk, now);
    chunk.touched = ++events_;
  }

  void ask(const std::vector<std::uint64_t>& run, const Request& request, double now) {
    for (auto hash = run.rbegin(); hash != run.rend(); ++hash) {
      ModelChunk* chunk = find(*hash);
      if (chunk == nullptr) {
        miss(*hash);
        continue;
      }
      ++chunk->uses;
      chunk->seen.used_s = now;
      describe(*chunk, request);
      give_key(*chunk, now);
      chunk->touched = ++events_;
      chunk->again = chunk->again || !chunk->arrives;
    }
  }

 private:
  static bool leaves(const ModelChunk& chunk, const std::vector<std::uint64_t>& run) {
    return !chunk.arrives && chunk.readers == 0 &&
           std::find(run.begin(), run.end(), chunk.hash) == run.end();
  }
  static void describe(ModelChunk& chunk, const Request& request) {
    chunk.seen.klass = request.klass;
    chunk.seen.session = request.session;
    chunk.seen.priority = request.priority;
  }
  void give_key(ModelChunk& chunk, double now) const {
    chunk.seen.uses = chunk.uses;
    chunk.seen.now_s = now;
    if (rule_ == Eviction::keyed) chunk.key = key_(chunk.seen);
  }

  bool before(const ModelChunk& a, const ModelChunk& b) const {
    switch (rule_) {
      case Eviction::fifo:
        return a.born < b.born;
      case Eviction::lfu:
        return a.uses != b.uses ? a.uses < b.uses : a.touched < b.touched;
      case Eviction::keyed:
        return a.key != b.key ? a.key < b.key : a.touched < b.touched;
      default:
        return a.touched < b.touched;
    }
  }
  std::optional<std::size_t> first(const std::vector<std::uint64_t>& run, int list) const {
    std::optional<std::size_t> out;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (list >= 0 && chunks[i].again != (list == 1)) continue;
      if (leaves(chunks[i], run) && (!out || before(chunks[i], chunks[*out]))) out = i;
    }
    return out;
  }
  void evict(const std::vector<std::uint64_t>& run) {
    std::optional<std::size_t> victim;
    if (rule_ == Eviction::arc) {
      std::size_t once = 0;
      for (const ModelChunk& each : chunks) once += !each.again;
      const int from = once >= static_cast<std::size_t>(target_) ? 0 : 1;
      victim = first(run, from);
      if (!victim) victim = first(run, 1 - from);
      std::vector<std::uint64_t>& gone = left_[chunks[*victim].again ? 1 : 0];
      gone.push_back(chunks[*victim].hash);
      if (gone.size() > capacity_) gone.erase(gone.begin());
    } else {
      victim = first(run, -1);
    }
    chunks.erase(chunks.begin() + static_cast<std::ptrdiff_t>(*victim));
    ++evictions;
  }

  /// Of what left the list of chunks that were used once, more of these should have been kept; and
  /// of the other list the other way round.
  void miss(std::uint64_t hash) {
    if (rule_ != Eviction::arc) return;
    for (int i : {0, 1}) {
      std::vector<std::uint64_t>& own = left_[i];
      if (std::find(own.begin(), own.end(), hash) == own.end()) continue;
      const double step =
          std::max(1.0, static_cast<double>(left_[1 - i].size()) / static_cast<double>(own.size()));
      target_ = i == 0 ? std::min(static_cast<double>(capacity_), target_ + step)
                       : std::max(0.0, target_ - step);
      std::erase(own, hash);
      own.push_back(hash);
      return;
    }
  }

  Eviction rule_;
  std::size_t capacity_;
  int chunk_tokens_;
  Key key_;
  long events_ = 0;
  std::vector<std::uint64_t> left_[2];
  double target_ = 0;
};

}  // namespace rooflua::test
