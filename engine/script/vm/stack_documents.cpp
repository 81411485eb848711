// Documents on the Lua stack: values of Lua become documents or JSON, and documents become values.

#include <algorithm>
#include <cmath>
#include <vector>

#include "script/vm/stack.h"

namespace rooflua::script {

const char array_mark[] = "rooflua.json.array";
const char null_mark_key[] = "rooflua.json.null";

namespace {

constexpr int deepest = 200;  // the most levels that a document may nest

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

bool is_null_mark(lua_State* L, int index) {
  lua_getfield(L, LUA_REGISTRYINDEX, null_mark_key);
  const bool null = lua_isnil(L, -1) == 0 && lua_rawequal(L, -1, index) != 0;
  lua_pop(L, 1);
  return null;
}

/// Makes a document of what walk() visits.
class Tree {
 public:
  void value(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Container& inside = open_.back(); inside.is_array) {
      inside.items.push_back(std::move(value));
    } else {
      inside.members.back().value = std::move(value);
    }
  }
  void text(std::string_view text) { value(Json(text)); }
  void begin(bool array, std::size_t size) {
    Container& made = open_.emplace_back();
    made.is_array = array;
    array ? made.items.reserve(size) : made.members.reserve(size);
  }
  void before_item(bool) {}
  void key(std::string_view key, bool) { open_.back().members.push_back({std::string(key), {}}); }
  void end() {
    Container made = std::move(open_.back());
    open_.pop_back();
    value(made.is_array ? Json(std::move(made.items)) : Json(std::move(made.members)));
  }
  Json take() { return std::move(root_); }

 private:
  struct Container {
    bool is_array = false;
    Json::Array items;
    Json::Object members;
  };
  std::vector<Container> open_;
  Json root_;
};

/// Writes what walk() visits as a line of JSON, as dump_json() writes the document.
class Line {
 public:
  void value(const Json& value) { out_ += dump_json(value); }
  void value(double number) { append_json_number(number, out_); }
  void text(std::string_view text) { append_json_text(text, out_); }
  void begin(bool array, std::size_t) {
    out_ += array ? '[' : '{';
    ends_.push_back(array ? ']' : '}');
  }
  void before_item(bool first) {
    if (!first) out_ += ',';
  }
  void key(std::string_view key, bool first) {
    before_item(first);
    append_json_text(key, out_);
    out_ += ':';
  }
  void end() {
    out_ += ends_.back();
    ends_.pop_back();
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  std::string ends_;  // of the containers that are open
};

template <class Sink>
void walk_table(lua_State* L, int index, const Place& place, int depth, Sink& sink);

/// Visits the value at `index` in the order of a document.
template <class Sink>
void walk(lua_State* L, int index, const Place& place, int depth, Sink& sink) {
  switch (lua_type(L, index)) {
    case LUA_TNIL:
    case LUA_TNONE:
      return sink.value(Json());
    case LUA_TBOOLEAN:
      return sink.value(Json(lua_toboolean(L, index) != 0));
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* text = lua_tolstring(L, index, &size);
      return sink.text({text, size});
    }
    case LUA_TNUMBER: {
      const double value = lua_tonumber(L, index);
      if (!std::isfinite(value))
        throw Error(place.text(), "a number that is not finite has no JSON form");
      return sink.value(value);
    }
    case LUA_TTABLE:
      return is_null_mark(L, index) ? sink.value(Json()) : walk_table(L, index, place, depth, sink);
    default:
      break;
  }
  throw Error(place.text(), describe_value(L, index) + " has no JSON form");
}

template <class Sink>
void walk_table(lua_State* L, int index, const Place& place, int depth, Sink& sink) {
  if (depth > deepest)
    throw Error(place.text().substr(0, 80), "nested too deeply, or a table that holds itself");
  luaL_checkstack(L, 8, "nested too deeply");
  bool array = false;
  const std::vector<std::string_view> keys = keys_of(L, index, place, array);
  const int size = array ? static_cast<int>(lua_objlen(L, index)) : static_cast<int>(keys.size());
  sink.begin(array, static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    if (array) {
      sink.before_item(i == 0);
      lua_rawgeti(L, index, i + 1);
      walk(L, lua_gettop(L), {&place, {}, i + 1}, depth + 1, sink);
    } else {
      const std::string_view key = keys[static_cast<std::size_t>(i)];
      sink.key(key, i == 0);
      lua_pushlstring(L, key.data(), key.size());
      lua_rawget(L, index);
      walk(L, lua_gettop(L), {&place, key, 0}, depth + 1, sink);
    }
    lua_pop(L, 1);
  }
  sink.end();
}

template <class Sink>
auto walked(lua_State* L, int index, const std::string& path) {
  Sink sink;
  walk(L, index < 0 ? lua_gettop(L) + 1 + index : index, {nullptr, path, 0}, 0, sink);
  return sink.take();
}

}  // namespace

Json to_json(lua_State* L, int index, const std::string& path) {
  return walked<Tree>(L, index, path);
}

std::string to_json_line(lua_State* L, int index, const std::string& path) {
  return walked<Line>(L, index, path);
}

int push_json(lua_State* L, const Json& value, bool null_mark) {
  luaL_checkstack(L, 8, "nested too deeply");
  switch (value.kind()) {
    case Json::Kind::null:
      if (null_mark) {
        lua_getfield(L, LUA_REGISTRYINDEX, null_mark_key);
      } else {
        lua_pushnil(L);
      }
      break;
    case Json::Kind::boolean:
      lua_pushboolean(L, value.boolean() ? 1 : 0);
      break;
    case Json::Kind::integer:
    case Json::Kind::number:
      lua_pushnumber(L, value.number());
      break;
    case Json::Kind::text:
      lua_pushlstring(L, value.text().data(), value.text().size());
      break;
    case Json::Kind::array: {
      lua_createtable(L, static_cast<int>(value.items().size()), 0);
      int index = 0;
      for (const Json& item : value.items()) {
        push_json(L, item, null_mark);
        lua_rawseti(L, -2, ++index);
      }
      luaL_newmetatable(L, array_mark);
      lua_setmetatable(L, -2);
      break;
    }
    case Json::Kind::object:
      lua_createtable(L, 0, static_cast<int>(value.members().size()));
      for (const Json::Member& member : value.members()) {
        lua_pushlstring(L, member.key.data(), member.key.size());
        push_json(L, member.value, null_mark);
        lua_rawset(L, -3);
      }
      break;
  }
  return 1;
}

}  // namespace rooflua::script
