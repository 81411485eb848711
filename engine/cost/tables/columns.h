#pragma once
// The columns of every table form: what is written where, in which unit. Private to the importers.

#include <cstddef>
#include <span>
#include <string_view>

#include "cost/tables/importers.h"

namespace rooflua {

enum class Field {
  shape,    // a shape axis; columns that share an axis add up
  label,    // a shape axis of words
  latency,  // adds to the row's latency
  latency_p10,
  latency_p90,
  listed_mfu,
  kv_dtype,
  only,          // must equal TableFile::only[axis]
  label_prefix,  // goes before the words of the label column, with a slash
  part,          // kept in KernelTable::parts; adds scale * value to the latency
  ignored,
};

struct Column {
  std::string_view name;
  Field field = Field::ignored;
  std::size_t axis = 0;
  double scale = 1;
  bool required = true;
};

/// In the order in which a file without a header has them.
std::span<const Column> columns_of(TableForm form);

/// What the columns of a row cannot say alone: the shape in the file's name, one request, ranks.
void finish_row(const TableFile& file, KernelRow& row);

FlopConvention convention_of(Op op);

}  // namespace rooflua
