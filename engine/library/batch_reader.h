#pragma once
// A batch of the C interface, checked, as the engine has it.

#include <cstdint>
#include <string_view>
#include <vector>

#include "library/answers.h"
#include "serve/contract/batch.h"

namespace rooflua::library {

/// Reads one batch after another. What was read stays until the next one is read; arrays of the
/// caller are not copied.
class BatchReader {
 public:
  /// @return bytes that are equal for equal batches only
  /// @throws Misuse naming the field
  std::string_view read(const ::rooflua_batch* given);

  /// The batch that was read, as `cost.batch` of scripts makes it (border/batch.lua).
  const Batch& batch();
  /// The largest context of its decodes, or what stands for it.
  double context_max() const;

 private:
  void read_prefills();
  void read_decodes();
  void read_rows();
  void read_ranks();
  double pairs() const;
  void note(std::int64_t number);
  void note(const std::int32_t* numbers, std::int32_t count);

  ::rooflua_batch given_{};
  Batch batch_;
  std::int64_t new_tokens_ = 0;  // of prefills
  std::int64_t context_sum_ = 0, context_max_ = 0, row_tokens_ = 0;
  std::int32_t completing_ = 0;  // prefills that sample a token
  std::vector<PrefillWork> prefills_;
  std::vector<std::int32_t> content_;
};

}  // namespace rooflua::library
