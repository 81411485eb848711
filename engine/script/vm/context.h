#pragma once
// The data that all bindings of one Lua state share. The state's registry owns it.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "border.h"
#include "cost/database/mfu_database.h"
#include "cost/database/prepared_questions.h"
#include "cost/price/ledger.h"
#include "script/vm/library_options.h"
#include "script/vm/stack.h"
#include "spec/deployment.h"

namespace rooflua {
struct Summary;
}

namespace rooflua::script {

template <>
struct TypeName<Model> {
  static constexpr const char* value = "rooflua.Model";
  static constexpr const char* article = "a Model";
};
template <>
struct TypeName<Hardware> {
  static constexpr const char* value = "rooflua.Hardware";
  static constexpr const char* article = "a Hardware";
};
template <>
struct TypeName<Deployment> {
  static constexpr const char* value = "rooflua.Deployment";
  static constexpr const char* article = "a Deployment";
};
template <>
struct TypeName<MfuDatabase> {
  static constexpr const char* value = "rooflua.Database";
  static constexpr const char* article = "a Database";
};

template <>
struct TypeName<PreparedQuestions> {
  static constexpr const char* value = "rooflua.Prepared";
  static constexpr const char* article = "prepared questions";
};

struct Context : std::enable_shared_from_this<Context> {
  LibraryOptions options;
  lua_State* L = nullptr;        // the thread of Lua in which a user's lookup may run now
  lua_State* lasting = nullptr;  // a thread that runs nothing and lives as long as the Lua state
  rooflua_cost_table cost_table{};
  double load_budget = 0;   // VM instructions that the scenario being loaded may still run
  double load_end_s = 0;    // CPU time of this thread at which it is stopped as well
  bool load_over = false;   // the budget is used up, and the library may still return
  bool load_spent = false;  // the budget is used up, and the error was raised once
  std::string load_words;   // text of that error

  std::string message;  // error text of the last FFI call that failed
  std::string failure;  // kind of the last lookup's failure: "no_table", "no_rows", ...; "" if none
  Query query;          // the last question that came through FFI
  // False during an FFI call, where Lua must not run: a user's lookup then answers needs_lua.
  bool may_call_lua = false;

  std::shared_ptr<const Summary> served;  // of the run that ended last, for the program to take

  std::vector<int> stale_views;  // registry references of collected lookups, still to be released

  int simulations = 0;  // that a script's call runs now, inside each other's policies

  Ledger ledger;  // seconds per evidence; Lua adds to its state in place
};

/// The context of a state. @throws Error if the library is not open in it
Context& context_of(lua_State* L);

// Each adds the functions of its file in engine/script/bind to the table of natives, which lies on
// top of the stack.
void bind_messages(lua_State* L);
void bind_files(lua_State* L);
void bind_loading(lua_State* L);
void bind_documents(lua_State* L);
void bind_spec(lua_State* L);
void bind_mfu(lua_State* L);
void bind_table_files(lua_State* L);
void bind_prepared(lua_State* L);
void bind_trust(lua_State* L);
void bind_cost(lua_State* L);
void bind_random(lua_State* L);
void bind_serve(lua_State* L);
void bind_fit(lua_State* L);
void bind_sweep(lua_State* L);
void bind_declared(lua_State* L);
/// Fills the leaf functions that Lua calls through FFI (script/bind/lookup.cpp).
void fill_cost_table(rooflua_cost_table& table);
/// Thrown by a user's lookup inside an FFI call, where Lua must not run.
struct NeedsLua {};
/// Answers context.query with Lua allowed, and writes the answer. @throws Error
void answer(Context& context, const MfuDatabase& database, rooflua_estimate* out);

}  // namespace rooflua::script
