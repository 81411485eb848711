#pragma once
// What the bindings need of the Lua stack: typed userdata, JSON values in and out, and errors that
// name the line of the user's script. Nothing outside engine/script includes this.
//
// Rules (measured on LuaJIT): a C++ exception never crosses a Lua frame (bind functions through
// `guarded`); nobody catches (...) around a Lua call, because that swallows Lua errors.

#include <cstdio>
#include <exception>
#include <lua.hpp>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "base/json.h"

namespace rooflua::script {

/// "scenario.lua:12" of the innermost frame that is not the library's own; "" if there is none.
/// Frames that the user's code left by a tail call are not there any more.
std::string user_line(lua_State* L);

/// False where the innermost Lua function that runs is the library's.
bool in_user_code(lua_State* L);

/// Raises `message` as a Lua error, with the user's line in front. Does not return.
int raise(lua_State* L, const char* message);

/// A C++ function as a Lua function: what it throws becomes a Lua error after the frames are gone.
template <int (*function)(lua_State*)>
int guarded(lua_State* L) {
  char message[4096];
  try {
    return function(L);
  } catch (const std::exception& error) {
    std::snprintf(message, sizeof message, "%s", error.what());
  }
  return raise(L, message);
}

/// Registry name of the metatable of a type, and what messages call it.
template <class T>
struct TypeName;

/// Pushes a new, empty userdata with room for one shared pointer; its metatable is made when
/// missing.
void* push_box(lua_State* L, const char* type_name, std::size_t size, lua_CFunction collect);
/// The payload if the value is a userdata of that type, else null.
void* test_box(lua_State* L, int index, const char* type_name);

template <class T>
int collect_box(lua_State* L) {
  // reset, not destroyed: a script that finds the finaliser and calls it leaves a closed object
  if (void* box = test_box(L, 1, TypeName<T>::value)) {
    static_cast<std::shared_ptr<const T>*>(box)->reset();
  }
  return 0;
}

/// Pushes an object that Lua shares.
template <class T>
void push_object(lua_State* L, std::shared_ptr<const T> object) {
  using Pointer = std::shared_ptr<const T>;
  void* box = push_box(L, TypeName<T>::value, sizeof(Pointer), &collect_box<T>);
  new (box) Pointer(std::move(object));
}

template <class T>
bool is_object(lua_State* L, int index) {
  return test_box(L, index, TypeName<T>::value) != nullptr;
}

/// What an argument is, in words: "nil", "a number", "a closed Database".
std::string describe_value(lua_State* L, int index);
[[noreturn]] void wrong_type(lua_State* L, int index, const char* what, const char* expected);

/// The object at `index`. @throws Error if it is another thing or was closed
template <class T>
const std::shared_ptr<const T>& check_object(lua_State* L, int index, const char* what) {
  void* box = test_box(L, index, TypeName<T>::value);
  if (box == nullptr) wrong_type(L, index, what, TypeName<T>::article);
  const auto& pointer = *static_cast<std::shared_ptr<const T>*>(box);
  if (pointer == nullptr) wrong_type(L, index, what, TypeName<T>::article);
  return pointer;
}

/// @throws Error naming `what` if the value is of another type
std::string check_text(lua_State* L, int index, const char* what);
double check_number(lua_State* L, int index, const char* what);

/// A Lua value as a document: nil is null, a table with keys 1..n an array, text keys sorted.
/// @throws Error at the key path for functions, cycles, mixed keys, numbers that are not finite
Json to_json(lua_State* L, int index, const std::string& path);
/// Pushes a document. Arrays carry the array mark, null is json.null where `null_mark`, else nil.
void push_json(lua_State* L, const Json& value, bool null_mark);

/// Registry keys of the two marks of rooflua.json.
extern const char array_mark[];
extern const char null_mark_key[];

/// Sets table.name = function for the table on top.
void set_function(lua_State* L, const char* name, lua_CFunction function);

}  // namespace rooflua::script
