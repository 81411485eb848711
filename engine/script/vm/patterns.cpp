#include "script/vm/patterns.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <lua.hpp>

#include "script/vm/c_stack.h"
#include "script/vm/pattern_match.h"

namespace rooflua::script {

// Errors leave through lua_error, which skips destructors: no object here has one.

namespace {

// --- captures as Lua values ------------------------------------------------------------------

/// Pushes capture `index` of the match [s, end). In a pattern without captures the first capture is
/// the whole match.
void push_capture(const Match& m, int index, const char* s, const char* end) {
  luaL_checkstack(m.L, 1, "too many captures");
  if (index >= m.captured) {
    if (index != 0) luaL_error(m.L, "invalid capture index");
    lua_pushlstring(m.L, s, static_cast<std::size_t>(end - s));
    return;
  }
  const Capture& capture = m.capture[static_cast<std::size_t>(index)];
  if (capture.length == Capture::open) luaL_error(m.L, "unfinished capture");
  if (capture.length == Capture::position) {
    lua_pushinteger(m.L, capture.start - m.text + 1);
  } else {
    lua_pushlstring(m.L, capture.start, static_cast<std::size_t>(capture.length));
  }
}

/// Pushes all captures. If there are none and `whole` is set, pushes the whole match.
int push_captures(const Match& m, const char* s, const char* end, bool whole) {
  const int count = m.captured == 0 && whole ? 1 : m.captured;
  for (int i = 0; i < count; ++i) push_capture(m, i, s, end);
  return count;
}

// --- the functions ----------------------------------------------------------------------------

struct Text {
  const char* begin;
  std::size_t size;
  const char* end() const { return begin + size; }
};

Text check(lua_State* L, int index) {
  Text out{};
  out.begin = luaL_checklstring(L, index, &out.size);
  return out;
}

/// In LuaJIT a pattern ends at a NUL.
Match matcher(lua_State* L, const Text& text, const Text& pattern) {
  Match m;
  m.L = L;
  m.text = text.begin;
  m.text_end = text.end();
  m.pattern_end = pattern.begin + std::strlen(pattern.begin);
  return m;
}

/// The start of the search, from Lua's third argument. A start after the end is the end.
std::size_t start_of(lua_State* L, int index, std::size_t size) {
  std::ptrdiff_t start = luaL_optinteger(L, index, 1);
  start = start < 0 ? start + static_cast<std::ptrdiff_t>(size) : start - 1;
  if (start < 0) return 0;
  return static_cast<std::size_t>(start) > size ? size : static_cast<std::size_t>(start);
}

bool is_plain(const Text& pattern) {
  for (const char* p = pattern.begin; p < pattern.end(); ++p) {
    if (*p != '\0' && std::strchr("^$*+?.([%-", *p) != nullptr) return false;
  }
  return true;
}

int find_plain(lua_State* L, const Text& text, const Text& wanted, std::size_t start) {
  const void* found =
      wanted.size == 0 ? text.begin + start
                       : memmem(text.begin + start, text.size - start, wanted.begin, wanted.size);
  if (found == nullptr) {
    lua_pushnil(L);
    return 1;
  }
  const std::ptrdiff_t at = static_cast<const char*>(found) - text.begin;
  lua_pushinteger(L, at + 1);
  lua_pushinteger(L, at + static_cast<std::ptrdiff_t>(wanted.size));
  return 2;
}

int search(lua_State* L, bool find) {
  const Text text = check(L, 1), pattern = check(L, 2);
  const std::size_t start = start_of(L, 3, text.size);
  if (find && (lua_toboolean(L, 4) != 0 || is_plain(pattern)))
    return find_plain(L, text, pattern, start);
  const bool anchored = *pattern.begin == '^';
  const char* p = pattern.begin + (anchored ? 1 : 0);
  Match m = matcher(L, text, pattern);
  for (const char* s = text.begin + start; s <= text.end(); ++s) {
    m.captured = 0;
    if (const char* end = match_at(m, s, p)) {
      if (!find) return push_captures(m, s, end, true);
      lua_pushinteger(L, s - text.begin + 1);
      lua_pushinteger(L, end - text.begin);
      return push_captures(m, s, end, false) + 2;
    }
    if (anchored) break;
  }
  lua_pushnil(L);
  return 1;
}

int find(lua_State* L) {
  return search(L, true);
}
int match_text(lua_State* L) {
  return search(L, false);
}

int next_match(lua_State* L) {
  const Text text = check(L, lua_upvalueindex(1)), pattern = check(L, lua_upvalueindex(2));
  Match m = matcher(L, text, pattern);
  for (const char* s = text.begin + lua_tointeger(L, lua_upvalueindex(3)); s <= text.end(); ++s) {
    m.captured = 0;
    const char* end = match_at(m, s, pattern.begin);
    if (end == nullptr) continue;
    lua_pushinteger(L, end - text.begin + (end == s ? 1 : 0));
    lua_replace(L, lua_upvalueindex(3));
    return push_captures(m, s, end, true);
  }
  return 0;
}

int gmatch(lua_State* L) {
  check(L, 1);
  check(L, 2);
  lua_settop(L, 2);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, next_match, 3);
  return 1;
}

void add_text(const Match& m, luaL_Buffer* out, const Text& with, const char* s, const char* end) {
  for (const char* p = with.begin; p < with.end(); ++p) {
    if (*p != '%') {
      luaL_addchar(out, *p);
    } else if (!is_digit(*++p)) {
      luaL_addchar(out, *p);
    } else if (*p == '0') {
      luaL_addlstring(out, s, static_cast<std::size_t>(end - s));
    } else {
      push_capture(m, *p - '1', s, end);
      luaL_addvalue(out);
    }
  }
}

/// Pushes the replacement of the match [s, end): a text, an entry of a table, or the result of a
/// function.
void add_replacement(const Match& m, luaL_Buffer* out, const char* s, const char* end) {
  lua_State* L = m.L;
  switch (lua_type(L, 3)) {
    case LUA_TNUMBER:
    case LUA_TSTRING:
      return add_text(m, out, check(L, 3), s, end);
    case LUA_TTABLE:
      push_capture(m, 0, s, end);
      lua_gettable(L, 3);
      break;
    default: {
      lua_pushvalue(L, 3);
      const int count = push_captures(m, s, end, true);
      lua_call(L, count, 1);
    }
  }
  if (lua_toboolean(L, -1) == 0) {
    lua_pop(L, 1);
    lua_pushlstring(L, s, static_cast<std::size_t>(end - s));
  } else if (lua_isstring(L, -1) == 0) {
    luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  }
  luaL_addvalue(out);
}

int gsub(lua_State* L) {
  const Text text = check(L, 1), pattern = check(L, 2);
  const int kind = lua_type(L, 3);
  luaL_argcheck(
      L, kind == LUA_TNUMBER || kind == LUA_TSTRING || kind == LUA_TTABLE || kind == LUA_TFUNCTION,
      3, "string/function/table expected");
  const auto most = luaL_optinteger(L, 4, static_cast<lua_Integer>(text.size + 1));
  const bool anchored = *pattern.begin == '^';
  const char* p = pattern.begin + (anchored ? 1 : 0);
  Match m = matcher(L, text, pattern);
  if (kind == LUA_TFUNCTION || kind == LUA_TTABLE) check_c_stack(L);  // the buffer has 8 KB
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  lua_Integer count = 0;
  const char* s = text.begin;
  while (count < most) {
    m.captured = 0;
    const char* end = match_at(m, s, p);
    if (end != nullptr) {
      ++count;
      add_replacement(m, &out, s, end);
    }
    if (end != nullptr && end > s) {
      s = end;
    } else if (s < text.end()) {
      luaL_addchar(&out, *s++);
    } else {
      break;
    }
    if (anchored) break;
  }
  luaL_addlstring(&out, s, static_cast<std::size_t>(text.end() - s));
  luaL_pushresult(&out);
  lua_pushinteger(L, count);
  return 2;
}

/// string.rep with an error for a text that is too long. LuaJIT's own cuts the count to 32 bits and
/// returns "" for 1e10.
int rep(lua_State* L) {
  constexpr double longest_text = 2147483392;  // LuaJIT's own limit
  const Text text = check(L, 1);
  const double count = luaL_checknumber(L, 2);
  std::size_t between = 0;
  if (!lua_isnoneornil(L, 3)) between = check(L, 3).size;
  const double bytes = count * static_cast<double>(text.size + between);
  if (bytes > longest_text) {
    return luaL_error(L, "string.rep: a text of %f bytes; the longest has %f", bytes, longest_text);
  }
  if (!(count >= 1) || text.size + between == 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

}  // namespace

void bind_patterns(lua_State* L) {
  lua_getglobal(L, "string");
  for (const auto& [name, function] : {luaL_Reg{"find", find},
                                       {"match", match_text},
                                       {"gmatch", gmatch},
                                       {"gsub", gsub},
                                       {"rep", rep}}) {
    lua_getfield(L, -1, name);  // kept: our rep calls LuaJIT's, and tests compare with the others
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
  }
  lua_pop(L, 1);
}

}  // namespace rooflua::script
