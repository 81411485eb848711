#pragma once
// A table before its rows are read.

#include "cost/tables/kernel_table.h"
#include "cost/tables/table_file.h"

namespace rooflua {

/// A table with what its file and its name say, without rows.
KernelTable described_table(const TableFile& file);

}  // namespace rooflua
