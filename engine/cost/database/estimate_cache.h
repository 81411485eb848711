#pragma once
// Answers by exact question, in front of a lookup. Each question has one place; a new answer takes
// the place of an old one, and a forgotten answer is computed again, the same. Nothing is allocated
// after the first question.

#include <vector>

#include "cost/ops/question_forms.h"
#include "cost/price/estimate.h"

namespace rooflua {

class EstimateCache {
 public:
  struct Slot {
    QueryKey key;  // equal to no question's until the slot is used
    Estimate estimate;
  };
  /// Where the answer is (its key equals) or belongs.
  Slot& slot(const QueryKey& key);

 private:
  std::vector<Slot> slots_;
};

}  // namespace rooflua
