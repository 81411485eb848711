#include "serve/parts/encoder/encoders.h"

#include <algorithm>

namespace rooflua {

Encoders::Encoders(const EncoderPool& pool)
    : pool_(pool), all_(static_cast<std::size_t>(pool.replicas)) {
  pool_.rules.pins = false;
}

void Encoders::add(std::int32_t slot, std::span<const PromptItem> items) {
  Encoder* best = &all_.front();
  std::int64_t most = -1;
  for (Encoder& each : all_) {
    std::int64_t had = 0;
    for (const PromptItem& item : items) had += each.cache.has(item.content) ? item.tokens : 0;
    if (had < most || (had == most && each.queued_tokens >= best->queued_tokens)) continue;
    best = &each;
    most = had;
  }
  const auto place = static_cast<std::size_t>(slot);
  if (left_.size() <= place) left_.resize(place + 1);
  left_[place] = {static_cast<std::int32_t>(items.size()), 0};
  for (const PromptItem& item : items) {
    best->queue.push_back({slot, item});
    best->queued_tokens += item.tokens;
    left_[place].tokens += item.tokens;
  }
  best->may_begin = true;
}

void Encoders::forget(std::int32_t slot) {
  for (Encoder& each : all_) {
    for (const Wanted& what : each.queue)
      each.queued_tokens -= what.slot == slot ? what.item.tokens : 0;
    std::erase_if(each.queue, [slot](const Wanted& what) { return what.slot == slot; });
    for (Wanted& what : each.running)
      if (what.slot == slot) what.slot = -1;
  }
}

Picoseconds Encoders::due() const {
  Picoseconds out = never;
  for (const Encoder& each : all_)
    out = std::min(out, each.end == never && each.may_begin ? 0 : each.end);
  return out;
}

/// All embeddings of a request leave the encoder.
void Encoders::send(Encoder& encoder, double bytes, Picoseconds now, Ready& what) {
  if (pool_.over_links) {
    what.encoder = static_cast<std::int32_t>(&encoder - all_.data());
    what.bytes = bytes;
    return;
  }
  const Picoseconds start = std::max(now, encoder.link_free);
  encoder.link_free = after(start, bytes / pool_.bytes_per_s, "encoder: bytes / bytes_per_s");
  what.sent = after(encoder.link_free, pool_.alpha_s, "encoder: alpha_s");
}

/// An item is ready. With the last one of its request, all its embeddings are sent.
void Encoders::give(Encoder& encoder, const Wanted& what, double pass_s, Picoseconds now,
                    std::vector<Ready>& ready) {
  encoder.queued_tokens -= what.item.tokens;
  if (what.slot < 0) return;
  Left& left = left_[static_cast<std::size_t>(what.slot)];
  Ready out{.slot = what.slot, .tokens = what.item.tokens, .pass_s = pass_s};
  if (--left.items == 0) send(encoder, left.tokens * pool_.bytes_per_token, now, out);
  ready.push_back(out);
}

void Encoders::begin(Encoder& encoder, Picoseconds now, EncoderModel& model,
                     std::vector<Ready>& ready) {
  encoder.may_begin = false;
  EncoderCache::Trial trial(encoder.cache, pool_.rules);
  std::vector<std::int32_t> kinds;
  encoder.pass_tokens = 0;
  for (; !encoder.queue.empty(); encoder.queue.pop_front()) {
    const Wanted& what = encoder.queue.front();
    if (encoder.cache.has(what.item.content)) {
      encoder.cache.use(what.item, what.slot, pool_.rules);
      give(encoder, what, 0, now, ready);
      continue;
    }
    if (!trial.has(what.item)) {
      if (!trial.has_room(what.item, false)) break;
      trial.add(what.item, false);
      kinds.push_back(what.item.kind);
    }
    encoder.pass_tokens += what.item.tokens;
    encoder.running.push_back(what);
  }
  if (kinds.empty()) return;
  std::sort(kinds.begin(), kinds.end());
  encoder.pass_s = model.pass(-1, kinds).time_s;
  encoder.end = after(now, encoder.pass_s, "encoder");
}

std::vector<Encoders::Ready> Encoders::pass(Picoseconds now, EncoderModel& model) {
  std::vector<Ready> ready;
  for (Encoder& each : all_) {
    if (each.end <= now) {
      for (const Wanted& what : each.running) {
        each.cache.use(what.item, what.slot, pool_.rules);
        const double part = static_cast<double>(what.item.tokens) /
                            static_cast<double>(std::max<std::int64_t>(1, each.pass_tokens));
        give(each, what, each.pass_s * part, now, ready);
      }
      each.running.clear();
      each.end = never;
      each.may_begin = true;
    }
    if (each.end == never && each.may_begin) begin(each, now, model, ready);
  }
  return ready;
}

}  // namespace rooflua
