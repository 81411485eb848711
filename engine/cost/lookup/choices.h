#pragma once
// Which tables may answer a question, and in which order. Private to the grid lookups.
//
//   number format  the format asked for, then its stand-ins in the order of spec/dtype.cpp
//   engine         of one format: what was measured here, the deployment's engine, libraries and
//                  projects that are no engine, other engines in the order in which they lend
//                  (lenders.h)                                                           stand_in
//
// A table is read when it is reached. The first one that holds the shape asked for answers, so that
// neither another format nor another engine beats an exact row. Where none holds it, the nearest
// answers: doublings of the shape, and one doubling for another format. tables.toml may say that a
// table stands in for no shape near its own, or only for those of its format (stands_in).

#include <memory>
#include <string>
#include <vector>

#include "cost/lookup/row_index.h"

namespace rooflua {

struct Choice {
  std::vector<std::size_t> files;  // of TableStore::files(), one format and one engine
  StandIn format;
  bool other_engine = false;
  StandsIn stands_in = StandsIn::all;       // for shapes near those of its rows
  double gap = 0;                           // of format and engine
  mutable std::shared_ptr<const RowIndex> index;  // made when first reached
};

/// The tables of an op that may answer a question in this format, nearest first.
std::vector<Choice> choices_of(const TableStore& store, Op op, Dtype format,
                               const Kernels& kernels);

/// The choice that answers; null where no table does, or where all are farther than the op's
/// OpDeclaration::farthest.
const Choice* nearest_choice(const TableStore& store, const std::vector<Choice>& choices,
                             const Query& query);

}  // namespace rooflua
