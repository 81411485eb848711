#pragma once
// The questions that the rows of a table answer: what to ask of others, and what was measured.

#include <vector>

#include "cost/price/estimate.h"
#include "cost/tables/kernel_table.h"

namespace rooflua {

struct Question {
  Query query;
  double measured_s = 0;
  int row = 0;    // in KernelTable::rows
  int also = -1;  // the other half, where an answer is the sum of two rows
};

/// In file order; rows without a latency above 0 ask nothing. Of routed experts:
///  - a query does not name the distribution of tokens, so only rows of the usual one count, where
///    a table has it
///  - of several kernels at one point the fastest counts, as in the lookups
///  - in tables of one GEMM per row (ours) the question is a pair: [H, 2 I], and [I, H] of the same
///    experts and tokens; a row without its half asks nothing
std::vector<Question> questions_of(const KernelTable& table);

}  // namespace rooflua
