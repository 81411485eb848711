// Natives for messages: the line of the user, errors, suggestions for unknown names, and print.

#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

int where(lua_State* L) {
  lua_pushstring(L, user_line(L).c_str());
  return 1;
}

int fail(lua_State* L) {
  const std::string message = check_text(L, 1, "error message");
  throw Error("", message);
}

std::vector<std::string> check_texts(lua_State* L, int index) {
  std::vector<std::string> out;
  if (lua_type(L, index) != LUA_TTABLE) wrong_type(L, index, "names", "a list of text");
  const int size = static_cast<int>(lua_objlen(L, index));
  for (int i = 1; i <= size; ++i) {
    lua_rawgeti(L, index, i);
    out.push_back(check_text(L, lua_gettop(L), "name"));
    lua_pop(L, 1);
  }
  return out;
}

int unknown(lua_State* L) {
  const std::string kind = check_text(L, 1, "kind");
  const std::string found = check_text(L, 2, "name");
  lua_pushstring(L, unknown_name(kind, found, check_texts(L, 3)).c_str());
  return 1;
}

/// suggestions(name, known) -> the known names that are close to it, at most a few.
int near_names(lua_State* L) {
  const std::string found = check_text(L, 1, "name");
  const std::vector<std::string> near = suggestions(found, check_texts(L, 2));
  lua_createtable(L, static_cast<int>(near.size()), 0);
  for (std::size_t i = 0; i < near.size(); ++i) {
    lua_pushstring(L, near[i].c_str());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

/// user_words(problem) -> a message that names no line of the library, but the user's where there
/// is one; other values as they are.
int user_words(lua_State* L) {
  if (lua_type(L, 1) == LUA_TSTRING) {
    const std::string own = without_library(L, lua_tostring(L, 1));
    lua_pushlstring(L, own.data(), own.size());
    return 1;
  }
  lua_settop(L, 1);
  return 1;
}

/// is_plain(text) -> whether it is UTF-8 without control characters.
int plain(lua_State* L) {
  lua_pushboolean(L, is_plain(check_text(L, 1, "text")) ? 1 : 0);
  return 1;
}

/// printable(text) -> the text as a message shows it.
int shown(lua_State* L) {
  const std::string text = without_addresses(printable(check_text(L, 1, "text")));
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// short_names(text) -> the text without the middle of names that are too long for a message.
int short_names(lua_State* L) {
  const std::string text = with_short_names(check_text(L, 1, "text"));
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

int print_line(lua_State* L) {
  const std::string text = check_text(L, 1, "text");
  FILE* stream = context_of(L).options.print_to_stderr ? stderr : stdout;
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fputc('\n', stream);
  return 0;
}

}  // namespace

void bind_messages(lua_State* L) {
  set_function(L, "where", guarded<where>);
  set_function(L, "fail", guarded<fail>);
  set_function(L, "unknown_name", guarded<unknown>);
  set_function(L, "suggestions", guarded<near_names>);
  set_function(L, "is_plain", guarded<plain>);
  set_function(L, "printable", guarded<shown>);
  set_function(L, "user_words", user_words);
  set_function(L, "short_names", guarded<short_names>);
  set_function(L, "print_line", guarded<print_line>);
}

}  // namespace rooflua::script
