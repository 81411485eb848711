#pragma once
// Matches a Lua pattern at one position of a text, with LuaJIT's rules and limits. Comparisons are
// counted as steps, so that a long match can be stopped.

#include <array>
#include <cstddef>

struct lua_State;

namespace rooflua::script {

constexpr int most_captures = 32;
constexpr int steps_per_look = 100000;  // comparisons between two calls of the hook

struct Capture {
  // Values of `length` for a capture that is not closed yet, and for a position capture.
  static constexpr std::ptrdiff_t open = -1, position = -2;
  const char* start;
  std::ptrdiff_t length;
};

/// The text, the pattern, and the captures so far. Both are followed by a NUL that does not count,
/// as Lua's strings are.
struct Match {
  lua_State* L;
  const char *text, *text_end, *pattern_end;
  int steps = 0, depth = 0, captured = 0;
  std::array<Capture, most_captures> capture;
};

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Matches the rest of the pattern, from p, at s. @return the end of the match; null if there is
/// none. Raises a Lua error if the pattern is malformed, or if the hook that limits the script
/// does.
const char* match_at(Match& m, const char* s, const char* p);

}  // namespace rooflua::script
