#pragma once
// The Lua stack for the bindings: typed userdata, JSON values in and out, and errors that name the
// line of the user's script. Nothing outside engine/script includes this.
//
// Rules (measured on LuaJIT): a C++ exception never crosses a Lua frame, so functions are bound
// through `guarded`. No code catches (...) around a Lua call, because that swallows Lua errors.

#include <cstdio>
#include <exception>
#include <lua.hpp>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace rooflua::script {

/// The file and line ("scenario.lua:12") of the innermost frame outside of the library and of the
/// policies that the program brings; "" if there is none. A frame that was left by a tail call does
/// not exist any more and is not found.
std::string user_line(lua_State* L);

/// False if the innermost running Lua function belongs to the library.
bool in_user_code(lua_State* L);
/// The message of an error with the user's line in place of one of the library ("rooflua.cost:12:
/// "), or without a line where the stack has none.
std::string without_library(lua_State* L, std::string message);

/// Raises `message` as a Lua error, with the user's line in front. Does not return.
int raise(lua_State* L, const char* message);
int raise_as_it_is(lua_State* L, const char* message);

/// An error of a function that a user wrote: its message begins with file and line of that
/// function, and raising it puts no other line in front.
class PlacedError : public Error {
 public:
  using Error::Error;
};

/// Where the function at that index is defined: "scenario.lua:12"; "" for one of the library or of
/// C.
std::string place_of_function(lua_State* L, int index);

/// Makes a Lua function of a C++ function. An exception becomes a Lua error, which is raised after
/// the C++ frames have been unwound.
template <int (*function)(lua_State*)>
int guarded(lua_State* L) {
  char message[4096];
  bool placed = false;
  try {
    return function(L);
  } catch (const PlacedError& error) {
    std::snprintf(message, sizeof message, "%s", error.what());
    placed = true;
  } catch (const std::exception& error) {
    std::snprintf(message, sizeof message, "%s", message_of(error).c_str());
  }
  if (placed) return raise_as_it_is(L, message);
  return raise(L, message);
}

/// The registry name of a type's metatable, and the type's name in messages.
template <class T>
struct TypeName;

/// Pushes a new, empty userdata of this size. Creates its metatable the first time.
void* push_box(lua_State* L, const char* type_name, std::size_t size, lua_CFunction collect);
/// The payload of the value if it is a userdata of that type, else null.
void* test_box(lua_State* L, int index, const char* type_name);

template <class T>
int collect_box(lua_State* L) {
  // The pointer is reset and not destroyed, so that a script that calls the finaliser itself leaves
  // a closed object.
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

/// The kind of an argument in words: "nil", "a number", "a closed Database".
std::string describe_value(lua_State* L, int index);
[[noreturn]] void wrong_type(lua_State* L, int index, const char* what, const char* expected);

/// The object at `index`. @throws Error if the value is of another type or the object was closed
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

/// Converts a Lua value to a document. nil becomes null, a table with the keys 1..n an array, and
/// another table an object with sorted keys.
/// @throws Error with the key path for functions, cycles, mixed keys and numbers that are not
/// finite
Json to_json(lua_State* L, int index, const std::string& path);
/// dump_json() of that, without making the document.
std::string to_json_line(lua_State* L, int index, const std::string& path);
/// Pushes a list of texts.
/// @return 1, for a function that returns it alone
int push_texts(lua_State* L, const std::vector<std::string>& texts);
/// Pushes a document. Arrays get the array mark. Null becomes json.null if `null_mark`, else nil.
/// @return 1, for a function that returns it alone
int push_json(lua_State* L, const Json& value, bool null_mark);

/// Registry keys of the marks by which rooflua.json knows an empty array and null.
extern const char array_mark[];
extern const char null_mark_key[];

/// Sets field `name` of the table on top of the stack to the function, text or number.
void set_function(lua_State* L, const char* name, lua_CFunction function);
void set_text(lua_State* L, const char* name, std::string_view text);
void set_number(lua_State* L, const char* name, double value);

}  // namespace rooflua::script
