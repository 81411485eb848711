#include "cost/tables/own_columns.h"

#include <algorithm>

namespace rooflua {

std::vector<OwnColumn> own_columns(const OpDeclaration& op) {
  std::vector<OwnColumn> columns;
  std::size_t next = 0;
  std::string_view before;
  for (const Field& field : op.fields) {
    if (field.is_kv()) columns.push_back({&field, 0});
    if (!field.in_tables()) continue;
    const bool shared = field.axis_name() == before;  // one column, whichever field it means
    if (shared) continue;
    before = field.axis_name();
    columns.push_back({&field, next++});
  }
  if (op.columns.empty()) return columns;
  std::vector<OwnColumn> ordered;
  for (const std::string_view name : op.columns) {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const OwnColumn& each) {
      return each.field->column_name() == name;
    });
    if (found != columns.end()) ordered.push_back(*found);
  }
  return ordered;
}

}  // namespace rooflua
