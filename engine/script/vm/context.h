#pragma once
// What the bindings of one Lua state share. It lives in the state's registry and dies with it.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cost/ledger.h"
#include "cost/mfu_database.h"
#include "cost/prepared_questions.h"
#include "script/ffi_abi.h"
#include "script/vm/library.h"
#include "script/vm/stack.h"
#include "spec/deployment.h"

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
  lua_State* L = nullptr;  // who runs now: the main state, or the coroutine that asked
  AbiTable abi{};
  double load_budget = 0;   // VM instructions that the scenario being loaded may still run
  bool load_spent = false;  // it was told once that there are none left
  std::string load_words;   // what the script is told then

  std::string message;  // of the last FFI call that failed
  std::string failure;  // which way the last lookup failed: "no_table", "no_rows", ... or ""
  Query query;          // the last question that came through FFI
  bool may_call_lua =
      false;  // false inside FFI calls: a user's lookup must wait (status needs_lua)

  std::vector<int> stale_views;  // registry references that lookups left behind

  Ledger ledger;  // seconds per evidence; Lua adds to its state in place
};

/// The context of a state. @throws Error if the library is not open in it
Context& context_of(lua_State* L);

/// One per floor; each adds its functions to the table of natives on top of the stack.
void bind_support(lua_State* L);
void bind_spec(lua_State* L);
void bind_mfu(lua_State* L);
void bind_prepared(lua_State* L);
void bind_trust(lua_State* L);
void bind_cost(lua_State* L);
void bind_random(lua_State* L);
void bind_serve(lua_State* L);
void bind_fit(lua_State* L);
void bind_sweep(lua_State* L);
/// Fills the leaf functions that Lua reaches through FFI (bind_lookup.cpp).
void fill_abi(AbiTable& abi);
/// Thrown by a user's lookup inside an FFI call, where Lua must not run.
struct NeedsLua {};
/// Answers context.query with Lua allowed, and writes the answer. @throws Error
void answer(Context& context, const MfuDatabase& database, AbiEstimate* out);

}  // namespace rooflua::script
