#include "script/vm/stack.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace rooflua::script {

const char array_mark[] = "rooflua.json.array";
const char null_mark_key[] = "rooflua.json.null";

namespace {

constexpr int deepest = 200;  // the most levels that a document may nest

bool is_library(const char* source) {
  return std::strncmp(source, "=rooflua", 8) == 0;
}

}  // namespace

std::string user_line(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || is_library(frame.source)) continue;
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
    return "text \"" + std::string(lua_tostring(L, index)).substr(0, 60) + "\"";
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

namespace {

/// Where a value stands in a document. Its text is made for messages only.
struct Place {
  const Place* outside;
  std::string_view key;
  int number;  // in an array, from 1; 0 = a member of that key

  std::string text() const {
    const std::string before = outside == nullptr ? "" : outside->text();
    if (number > 0) return before + "[" + std::to_string(number) + "]";
    return before.empty() ? std::string(key) : before + "." + std::string(key);
  }
};

bool has_array_mark(lua_State* L, int index) {
  if (lua_getmetatable(L, index) == 0) return false;
  lua_getfield(L, LUA_REGISTRYINDEX, array_mark);
  const bool same = lua_rawequal(L, -1, -2) != 0;
  lua_pop(L, 2);
  return same;
}

/// The text keys of the table at `index`, sorted; the table holds their bytes. `array` is set if
/// its keys are 1..n.
std::vector<std::string_view> keys_of(lua_State* L, int index, const Place& place, bool& array) {
  std::vector<std::string_view> keys;
  std::size_t numbers = 0;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING) {
      std::size_t size = 0;
      const char* text = lua_tolstring(L, -1, &size);
      keys.emplace_back(text, size);
    } else if (lua_type(L, -1) == LUA_TNUMBER) {
      ++numbers;
    } else {
      throw Error(place.text(), "a key is " + describe_value(L, -1) + "; keys are text, or 1..n");
    }
  }
  array = numbers > 0 || (keys.empty() && has_array_mark(L, index));
  if (numbers > 0 && !keys.empty())
    throw Error(place.text(), "has both numbered and named members");
  if (numbers != 0 && numbers != lua_objlen(L, index)) {
    throw Error(place.text(),
                "is an array with holes: " + std::to_string(numbers) + " numbered members");
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

Json table_to_json(lua_State* L, int index, const Place& place, int depth);

bool is_null_mark(lua_State* L, int index) {
  lua_getfield(L, LUA_REGISTRYINDEX, null_mark_key);
  const bool null = lua_isnil(L, -1) == 0 && lua_rawequal(L, -1, index) != 0;
  lua_pop(L, 1);
  return null;
}

Json value_to_json(lua_State* L, int index, const Place& place, int depth) {
  switch (lua_type(L, index)) {
    case LUA_TNIL:
    case LUA_TNONE:
      return Json();
    case LUA_TBOOLEAN:
      return Json(lua_toboolean(L, index) != 0);
    case LUA_TSTRING:
      return Json(check_text(L, index, "text"));
    case LUA_TNUMBER: {
      const double value = lua_tonumber(L, index);
      if (!std::isfinite(value))
        throw Error(place.text(), "a number that is not finite has no JSON form");
      return Json(value);
    }
    case LUA_TTABLE:
      return is_null_mark(L, index) ? Json() : table_to_json(L, index, place, depth);
    default:
      break;
  }
  throw Error(place.text(), describe_value(L, index) + " has no JSON form");
}

Json table_to_json(lua_State* L, int index, const Place& place, int depth) {
  if (depth > deepest)
    throw Error(place.text().substr(0, 80), "nested too deeply, or a table that holds itself");
  luaL_checkstack(L, 8, "nested too deeply");
  bool array = false;
  const std::vector<std::string_view> keys = keys_of(L, index, place, array);
  if (array) {
    const int size = static_cast<int>(lua_objlen(L, index));
    Json::Array items;
    items.reserve(static_cast<std::size_t>(size));
    for (int i = 1; i <= size; ++i) {
      lua_rawgeti(L, index, i);
      items.push_back(value_to_json(L, lua_gettop(L), {&place, {}, i}, depth + 1));
      lua_pop(L, 1);
    }
    return Json(std::move(items));
  }
  Json::Object members;
  members.reserve(keys.size());
  for (const std::string_view key : keys) {
    lua_pushlstring(L, key.data(), key.size());
    lua_rawget(L, index);
    Json value = value_to_json(L, lua_gettop(L), {&place, key, 0}, depth + 1);
    members.push_back({std::string(key), std::move(value)});
    lua_pop(L, 1);
  }
  return Json(std::move(members));
}

}  // namespace

Json to_json(lua_State* L, int index, const std::string& path) {
  return value_to_json(L, index < 0 ? lua_gettop(L) + 1 + index : index, {nullptr, path, 0}, 0);
}

void push_json(lua_State* L, const Json& value, bool null_mark) {
  luaL_checkstack(L, 8, "nested too deeply");
  switch (value.kind()) {
    case Json::Kind::null:
      if (null_mark) {
        lua_getfield(L, LUA_REGISTRYINDEX, null_mark_key);
      } else {
        lua_pushnil(L);
      }
      return;
    case Json::Kind::boolean:
      lua_pushboolean(L, value.boolean() ? 1 : 0);
      return;
    case Json::Kind::integer:
    case Json::Kind::number:
      lua_pushnumber(L, value.number());
      return;
    case Json::Kind::text:
      lua_pushlstring(L, value.text().data(), value.text().size());
      return;
    case Json::Kind::array: {
      lua_createtable(L, static_cast<int>(value.items().size()), 0);
      int index = 0;
      for (const Json& item : value.items()) {
        push_json(L, item, null_mark);
        lua_rawseti(L, -2, ++index);
      }
      luaL_newmetatable(L, array_mark);
      lua_setmetatable(L, -2);
      return;
    }
    case Json::Kind::object:
      lua_createtable(L, 0, static_cast<int>(value.members().size()));
      for (const Json::Member& member : value.members()) {
        lua_pushlstring(L, member.key.data(), member.key.size());
        push_json(L, member.value, null_mark);
        lua_rawset(L, -3);
      }
      return;
  }
}

void set_function(lua_State* L, const char* name, lua_CFunction function) {
  lua_pushcfunction(L, function);
  lua_setfield(L, -2, name);
}

}  // namespace rooflua::script
