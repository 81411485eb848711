#pragma once
// Questions of Lua as the engine asks them, and back; tables as a lookup written in Lua sees them.

#include <memory>
#include <optional>
#include <string>

#include "border.h"
#include "cost/database/mfu_database.h"
#include "script/vm/stack.h"

namespace rooflua {
class NearRows;
}

namespace rooflua::script {

/// Writes the question that crossed the border into `query`. @throws Error if a count is not whole
void read_query(const rooflua_query& in, Query& query);
/// Pushes a question as a table with the fields of its op that are not 0.
void push_query(lua_State* L, const Query& query);
/// The question of a table: numbers, words and flags by the names of the op's fields.
/// @throws Error naming `what` if a value is of another type
Query check_query(lua_State* L, int index, Op op, const char* what);

/// A user's lookup (a Lua function) as the engine calls it.
/// @param place  of the function that the user wrote, in front of errors about its answers
UserLookup lua_lookup(lua_State* L, int function_index, bool returns_mfu, const std::string& name,
                      const std::string& place);

/// One table, for the scripts that see it; the store owns the table.
struct TableView {
  std::shared_ptr<const TableStore> store;
  const KernelTable* table = nullptr;
  // Made when first asked for:
  mutable std::shared_ptr<const NearRows> near;
  mutable std::optional<double> peak_flop_per_s;  // that its MFUs refer to
};
template <>
struct TypeName<TableView> {
  static constexpr const char* value = "rooflua.Table";
  static constexpr const char* article = "a table of kernels";
};

/// Pushes {name, path, op, dtype, variant, engine, includes, axes, count, ranges, view}.
void push_view(lua_State* L, const std::shared_ptr<const TableStore>& store,
               const KernelTable& table);
/// Pushes the rows of a table: {{axis = value, ..., line, latency_s, mfu, listed_mfu, kv_dtype}}.
void push_rows(lua_State* L, const KernelTable& table, double peak_flop_per_s);

void bind_ops(lua_State* L);
void bind_tables(lua_State* L);

}  // namespace rooflua::script
