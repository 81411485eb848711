#include "script/serving/request_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fields.h"
#include "script/vm/context.h"

namespace rooflua::script {

std::int32_t whole_field(lua_State* L, int index, const char* what, std::int64_t number,
                         std::int32_t least) {
  const double value = lua_tonumber(L, index);
  if (value >= least && value <= std::numeric_limits<std::int32_t>::max() &&
      lua_type(L, index) == LUA_TNUMBER) {
    const auto out = static_cast<std::int32_t>(value);
    if (out == value) return out;
  }
  const bool huge = value > std::numeric_limits<std::int32_t>::max();
  throw Error("workload", "request " + std::to_string(number) + ": " + what +
                              ": expected a whole number " +
                              (huge ? "below 2^31" : ">= " + std::to_string(least)) + ", found " +
                              describe_value(L, index));
}

namespace {

/// Sets `value` to a field of the table at `index`, where the table has it.
void read_optional(lua_State* L, int index, const char* name, std::int64_t number,
                   std::int32_t least, std::int32_t& value) {
  lua_getfield(L, index, name);
  if (!lua_isnil(L, -1)) value = whole_field(L, lua_gettop(L), name, number, least);
  lua_pop(L, 1);
}

void read_deadline(lua_State* L, int index, std::int64_t number, double& deadline_s) {
  lua_getfield(L, index, "deadline_s");
  if (!lua_isnil(L, -1)) {
    deadline_s = lua_tonumber(L, -1);
    if (lua_type(L, -1) != LUA_TNUMBER || !(deadline_s > 0 && std::isfinite(deadline_s)))
      throw Error("workload", "request " + std::to_string(number) +
                                  ": deadline_s: expected seconds above 0, found " +
                                  describe_value(L, lua_gettop(L)));
  }
  lua_pop(L, 1);
}

std::uint64_t content_id(lua_State* L, int index, std::int64_t number) {
  const double value = lua_tonumber(L, index);
  if (lua_type(L, index) != LUA_TNUMBER || !(value >= 0 && value <= 9007199254740992.0)) {
    throw Error("workload", "request " + std::to_string(number) +
                                ": content: expected {id, tokens} with an id from 0 to 2^53");
  }
  return static_cast<std::uint64_t>(value);
}

const std::vector<std::string> known_fields{"max_output_tokens", "predicted_output_tokens",
                                            "priority",          "class",
                                            "session",           "tenant",
                                            "program",           "deadline_s",
                                            "adapter",           "content",
                                            "output_content"};

/// @throws Error for a field that nothing reads
void check_fields(lua_State* L, int index, std::int64_t number) {
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
    std::string_view name;
    if (lua_type(L, -2) == LUA_TSTRING) {
      std::size_t size = 0;
      const char* text = lua_tolstring(L, -2, &size);
      name = {text, size};
    }
    if (std::find(known_fields.begin(), known_fields.end(), name) != known_fields.end()) continue;
    const std::string found =
        name.empty() ? describe_value(L, lua_gettop(L) - 1) : std::string(name);
    throw Error("workload", "request " + std::to_string(number) + ": " +
                                unknown_name("field", found, known_fields));
  }
}

void read_content(lua_State* L, int index, std::int64_t number, std::vector<Segment>& segments) {
  segments.clear();
  lua_getfield(L, index, "content");
  const int list = lua_gettop(L);
  if (lua_istable(L, list)) {
    const int count = static_cast<int>(lua_objlen(L, list));
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(L, list, i);
      if (!lua_istable(L, -1)) throw Error("workload", "content: expected a list of {id, tokens}");
      lua_rawgeti(L, -1, 1);
      lua_rawgeti(L, -2, 2);
      lua_rawgeti(L, -3, 3);
      const int top = lua_gettop(L);
      segments.push_back({content_id(L, top - 2, number),
                          whole_field(L, top - 1, "content tokens", number, 1),
                          lua_isnil(L, top) ? 0 : whole_field(L, top, "content item", number, 1)});
      lua_pop(L, 4);
    }
  }
  lua_pop(L, 1);
}

}  // namespace

void read_fields(lua_State* L, int index, std::int64_t number, RequestSpec& spec,
                 std::vector<Segment>& segments) {
  check_fields(L, index, number);
  read_optional(L, index, "max_output_tokens", number, 0, spec.max_output_tokens);
  read_optional(L, index, "predicted_output_tokens", number, 0, spec.predicted_output_tokens);
  read_optional(L, index, "priority", number, std::numeric_limits<std::int32_t>::min(),
                spec.priority);
  read_optional(L, index, "class", number, 0, spec.klass);
  read_optional(L, index, "session", number, 0, spec.session);
  read_optional(L, index, "tenant", number, 0, spec.tenant);
  read_optional(L, index, "program", number, 0, spec.program);
  read_optional(L, index, "adapter", number, 0, spec.adapter);
  read_deadline(L, index, number, spec.deadline_s);
  read_content(L, index, number, segments);
  spec.segments = segments;
  lua_getfield(L, index, "output_content");
  if (!lua_isnil(L, -1)) spec.output_content = content_id(L, lua_gettop(L), number);
  lua_pop(L, 1);
}

}  // namespace rooflua::script
