#pragma once
// One match of a Lua pattern against one place of a text: LuaJIT's rules and limits, counted in
// steps.

#include <array>
#include <cstddef>

struct lua_State;

namespace rooflua::script {

constexpr int most_captures = 32;

struct Capture {
  static constexpr std::ptrdiff_t open = -1, position = -2;  // instead of a length
  const char* start;
  std::ptrdiff_t length;
};

/// The question, and what was captured so far. Patterns and texts end with a NUL that is not
/// theirs, as Lua's strings do.
struct Match {
  lua_State* L;
  const char *text, *text_end, *pattern_end;
  int steps = 0, depth = 0, captured = 0;
  std::array<Capture, most_captures> capture;
};

/// Where the match of the pattern from p on ends that begins at s; null if there is none. Raises a
/// Lua error if the pattern is malformed, or by the hook that bounds the script.
const char* match_at(Match& m, const char* s, const char* p);

}  // namespace rooflua::script
