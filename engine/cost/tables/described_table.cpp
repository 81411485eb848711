#include "cost/tables/described_table.h"

namespace rooflua {

KernelTable described_table(const TableFile& file) {
  KernelTable table;
  table.name = file.name;
  table.path = file.path;
  table.op = file.op;
  table.dtype = file.dtype;
  table.variant = file.variant;
  table.axes = axis_names(file.op);
  table.decode = file.decode;
  table.tp = file.tp;
  table.convention = file.convention.value_or(declaration_of(file.op).convention);
  table.source = file.source;
  table.engine = file.engine;
  table.engines = file.engines;
  table.includes = file.includes;
  table.answers = file.answers;
  table.published = file.published != nullptr;
  return table;
}

}  // namespace rooflua
