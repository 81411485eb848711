#pragma once
// Two databases held against each other: what one answers to the rows that the other measured.

#include <string>
#include <vector>

#include "cost/database/mfu_database.h"
#include "cost/price/estimate.h"

namespace rooflua {

/// The rows of one table of the reference that were answered with one kind of evidence.
struct Agreement {
  std::string table;  // of the reference
  Evidence evidence = Evidence::measured;
  int rows = 0;
  double p10 = 0, median = 0, p90 = 0;  // answered latency over measured latency
  double worst = 1;                     // the ratio farthest from 1, in doublings
  int worst_line = 0;                   // its line in the table's file
};

/// Per table of `reference` and evidence, in that order, over the questions of its rows
/// (cost/quality/questions.h). Tables of a kernel variant (NCCL) are passed over, because no query
/// names them; so are tables of ops that `answers` has neither a table nor a model of.
std::vector<Agreement> compare(const MfuDatabase& answers, const MfuDatabase& reference);

/// For people; one line per entry.
std::string text(const std::vector<Agreement>& agreements);

}  // namespace rooflua
