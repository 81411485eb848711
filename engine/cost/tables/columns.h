#pragma once
// The columns of every table form: what is written where, in which unit. Private to the importers.

#include <cstddef>
#include <string_view>
#include <vector>

#include "cost/tables/kernel_table.h"
#include "cost/tables/table_file.h"

namespace rooflua {

/// What a column is to a row.
enum class Meaning {
  shape,    // a shape axis; columns that share an axis add up
  label,    // a shape axis of words
  latency,  // adds to the row's latency
  latency_p10,
  latency_p90,
  listed_mfu,
  kv_dtype,
  part,  // kept in KernelTable::parts; adds scale * value to the latency
  ignored,
};

struct Column {
  std::string_view name;
  Meaning meaning = Meaning::ignored;
  std::size_t axis = 0;
  double scale = 1;
  bool required = true;
};

/// In the order in which a file without a header has them. Those of our own layout are the fields
/// of the op's declaration.
std::vector<Column> columns_of(const TableFile& file);

/// What the columns of a row cannot say alone: the shape in the file's name, one request, ranks.
void finish_row(const TableFile& file, KernelRow& row);

}  // namespace rooflua
