#include "serve/replica/remembered_prices.h"

#include <algorithm>
#include <span>

namespace rooflua {

RememberedPrices::Place RememberedPrices::place_of(const Batch& batch) const {
  const auto sum = static_cast<std::int64_t>(batch.decode_context_tokens);
  const std::int64_t step = sum / batch.decodes;
  Place out;
  out.key = {.model = model_,
             .decodes = batch.decodes,
             .rest = static_cast<std::int32_t>(sum % batch.decodes),
             .number = step / chunk_steps,
             .ranks = batch.group_ranks,
             .tokens = batch.group_tokens,
             .max_tokens = batch.group_max_tokens,
             .prefills = batch.group_prefills};
  out.step = static_cast<std::int32_t>(step % chunk_steps);
  std::uint64_t hash = 0;
  for (const std::int64_t each :
       {std::int64_t{out.key.model}, std::int64_t{out.key.decodes}, std::int64_t{out.key.rest},
        out.key.number, std::int64_t{out.key.tokens}, std::int64_t{out.key.max_tokens}})
    hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x9E3779B97F4A7C15ull + (hash >> 29);
  out.entry = static_cast<std::size_t>(hash >> 32) % most_chunks;
  return out;
}

RememberedPrices::Found RememberedPrices::find(const Batch& batch) const {
  const Place place = place_of(batch);
  const std::shared_ptr<Chunk>& chunk = (*table_)[place.entry];
  if (chunk == nullptr || chunk->key != place.key || place.step < chunk->first ||
      place.step >= chunk->last)
    return {};
  return {chunk, place.step};
}

RememberedPrices::Found RememberedPrices::ask(StepModel& model, const Batch& batch,
                                              const BatchGrowth& growth, std::int32_t most) {
  const Place place = place_of(batch);
  std::shared_ptr<Chunk>& kept = (*table_)[place.entry];
  const bool grows = kept != nullptr && kept->key == place.key && place.step <= kept->last;
  std::shared_ptr<Chunk> chunk = kept;
  if (!grows) {
    chunk = std::make_shared<Chunk>();
    chunk->key = place.key;
    chunk->first = chunk->last = place.step;
  }
  // In front of known steps: all up to them, so that there is no gap.
  const bool in_front = place.step < chunk->first;
  const std::int32_t end = in_front ? chunk->first : std::min(place.step + most, chunk_steps);
  const std::span<StepPrice> prices(chunk->prices.data() + place.step,
                                    static_cast<std::size_t>(end - place.step));
  const std::int32_t priced = model.price_run(batch, growth, prices);
  if (priced == 0) return {};
  const std::int32_t upto = place.step + priced;
  if (!in_front || upto < chunk->first) chunk->last = upto;
  chunk->first = std::min(chunk->first, place.step);
  kept = chunk;
  return {chunk, place.step};
}

}  // namespace rooflua
