#include "script/vm/stack.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/printable.h"

namespace rooflua::script {

namespace {

bool is_library(const char* source) {
  return std::strncmp(source, "=rooflua", 8) == 0;
}

/// A policy of the program: chunks.lua names files in the program's folder without the folder.
bool is_shipped(const char* source) {
  return std::strncmp(source, "@scripts/", 9) == 0;
}

}  // namespace

std::string user_line(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || is_library(frame.source) || is_shipped(frame.source)) continue;
    // `source` has the whole path; short_src is cut to 60 characters.
    const char* file = frame.source[0] == '@' ? frame.source + 1 : frame.short_src;
    return std::string(file) + ":" + std::to_string(frame.currentline);
  }
  return "";
}

bool in_user_code(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline > 0) return !is_library(frame.source);
  }
  return false;
}

std::string without_library(lua_State* L, std::string message) {
  if (!message.starts_with("rooflua")) return message;
  const std::size_t colon = message.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.");
  if (colon == std::string::npos || message[colon] != ':') return message;
  const std::size_t end = message.find_first_not_of("0123456789", colon + 1);
  if (end == std::string::npos || end == colon + 1 || message.compare(end, 2, ": ") != 0)
    return message;
  const std::string line = L == nullptr ? "" : user_line(L);
  return message.replace(0, end + (line.empty() ? 2 : 0), line);
}

int raise(lua_State* L, const char* message) {
  {
    const std::string where = user_line(L);
    if (where.empty()) {
      lua_pushstring(L, message);
    } else {
      lua_pushfstring(L, "%s: %s", where.c_str(), message);
    }
  }
  return lua_error(L);
}

int raise_as_it_is(lua_State* L, const char* message) {
  lua_pushstring(L, message);
  return lua_error(L);
}

std::string place_of_function(lua_State* L, int index) {
  lua_pushvalue(L, index);
  lua_Debug about;
  lua_getinfo(L, ">S", &about);
  if (about.source[0] != '@' || about.linedefined <= 0) return "";
  return std::string(about.source + 1) + ":" + std::to_string(about.linedefined);
}

int push_texts(lua_State* L, const std::vector<std::string>& texts) {
  lua_createtable(L, static_cast<int>(texts.size()), 0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lua_pushstring(L, texts[i].c_str());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

void* push_box(lua_State* L, const char* type_name, std::size_t size, lua_CFunction collect) {
  void* box = lua_newuserdata(L, size);
  if (luaL_newmetatable(L, type_name) != 0) {
    lua_pushcfunction(L, collect);
    lua_setfield(L, -2, "__gc");
    lua_pushstring(L, type_name);
    lua_setfield(L, -2, "__name");
  }
  // The caller writes the payload before the finaliser can see it: setmetatable runs no Lua code.
  lua_setmetatable(L, -2);
  return box;
}

void* test_box(lua_State* L, int index, const char* type_name) {
  if (lua_type(L, index) != LUA_TUSERDATA || lua_getmetatable(L, index) == 0) return nullptr;
  luaL_getmetatable(L, type_name);
  const bool same = lua_rawequal(L, -1, -2) != 0;
  lua_pop(L, 2);
  return same ? lua_touserdata(L, index) : nullptr;
}

std::string describe_value(lua_State* L, int index) {
  const int type = lua_type(L, index);
  if (type == LUA_TNONE || type == LUA_TNIL) return "nil";
  if (type == LUA_TSTRING)
    return "text \"" + printable(std::string(lua_tostring(L, index)).substr(0, 60)) + "\"";
  if (type == LUA_TNUMBER) {
    const double value = lua_tonumber(L, index);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return "number " + json_number(value);
  }
  if (type == LUA_TBOOLEAN) return lua_toboolean(L, index) != 0 ? "true" : "false";
  if (type == LUA_TUSERDATA && lua_getmetatable(L, index) != 0) {
    lua_getfield(L, -1, "__name");
    const char* name = lua_tostring(L, -1);
    std::string text = name == nullptr ? "a foreign object"
                                       : std::string("a ") + (name + 8);  // without "rooflua."
    lua_pop(L, 2);
    return text;
  }
  return std::string("a ") + lua_typename(L, type);
}

void wrong_type(lua_State* L, int index, const char* what, const char* expected) {
  std::string found = describe_value(L, index);
  if (lua_type(L, index) == LUA_TUSERDATA && std::strstr(expected, found.c_str() + 2) != nullptr) {
    throw Error(what, "this object was closed");
  }
  throw Error(what, std::string("expected ") + expected + ", found " + found);
}

std::string check_text(lua_State* L, int index, const char* what) {
  if (lua_type(L, index) != LUA_TSTRING) wrong_type(L, index, what, "text");
  std::size_t size = 0;
  const char* text = lua_tolstring(L, index, &size);
  return std::string(text, size);
}

double check_number(lua_State* L, int index, const char* what) {
  if (lua_type(L, index) != LUA_TNUMBER) wrong_type(L, index, what, "a number");
  return lua_tonumber(L, index);
}

void set_function(lua_State* L, const char* name, lua_CFunction function) {
  lua_pushcfunction(L, function);
  lua_setfield(L, -2, name);
}

void set_text(lua_State* L, const char* name, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
  lua_setfield(L, -2, name);
}

void set_number(lua_State* L, const char* name, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, name);
}

}  // namespace rooflua::script
