#pragma once
// Prices of steps that decode few requests. Under light load the same batches come again and again:
// a few decodes, whose contexts have the same sum as others had before, at this replica or at one
// that has the same step model. Their price is what a run computed the first time.
//
// Prices are kept in chunks: the steps that one decode set passes through from a sum of contexts
// on, each with as many tokens more as there are decodes. The chunks of all step models of a
// simulation share one table, in which a new chunk takes the place of an older one.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "serve/contract/policy.h"

namespace rooflua {

class RememberedPrices {
 public:
  static constexpr std::int32_t chunk_steps = 256, most_decodes = 16;
  static constexpr std::size_t most_chunks = 1024;

  /// What a price depends on, but for the place in the chunk.
  struct Key {
    std::int32_t model = -1;
    std::int32_t decodes = 0, rest = 0;  // sum of contexts modulo decodes
    std::int64_t number = 0;             // of the chunk
    std::int32_t ranks = 0, tokens = 0, max_tokens = 0, prefills = 0;  // of the group
    bool operator==(const Key&) const = default;
  };
  struct Chunk {
    Key key;
    std::int32_t first = 0, last = 0;  // steps [first, last) are known
    std::array<StepPrice, chunk_steps> prices;
  };
  using Table = std::vector<std::shared_ptr<Chunk>>;
  static std::shared_ptr<Table> new_table() { return std::make_shared<Table>(most_chunks); }

  /// Nothing is remembered.
  RememberedPrices() = default;
  /// @param model  its number among the step models that share the table
  RememberedPrices(std::shared_ptr<Table> table, std::int32_t model)
      : table_(std::move(table)), model_(model) {}

  /// Whether prices of such batches are kept.
  bool keeps(const Batch& batch) const {
    return table_ != nullptr && batch.prefill_count == 0 && batch.decodes > 0 &&
           batch.decodes <= most_decodes && batch.bounds == nullptr && batch.adapters == 0 &&
           batch.adapter_loads == 0 && batch.expert_load == 0;
  }
  /// Prices of the batch and of those after it; null and nothing where that of the batch is not
  /// known. The chunk is as it is while it is held. @pre keeps(batch)
  struct Found {
    std::shared_ptr<const Chunk> chunk;
    std::int32_t step = 0;  // of the batch
  };
  Found find(const Batch& batch) const;
  /// The same for a batch that was not found: asks for a run of at most so many steps. Null: the
  /// model priced none.
  Found ask(StepModel& model, const Batch& batch, const BatchGrowth& growth, std::int32_t most);

 private:
  struct Place {
    Key key;
    std::int32_t step = 0;
    std::size_t entry = 0;  // of the table
  };
  Place place_of(const Batch& batch) const;

  std::shared_ptr<Table> table_;
  std::int32_t model_ = 0;
};

}  // namespace rooflua
