#include "script/vm/pattern_match.h"

#include <cstring>
#include <lua.hpp>

namespace rooflua::script {

// Errors leave through lua_error, which skips destructors: no object here has one.

namespace {

constexpr int most_nested = 200;  // LuaJIT's limit

void step(Match& m) {
  if (++m.steps < steps_per_look) return;
  m.steps = 0;
  if (const lua_Hook bound = lua_gethook(m.L)) bound(m.L, nullptr);
}

// --- single characters ------------------------------------------------------------------------

bool between(int c, int first, int last) {
  return first <= c && c <= last;
}

/// Whether c is in the class of this letter, in ASCII whatever the locale. False for other letters.
bool is_class(int letter) {
  return letter != 0 && std::strchr("acdglpsuwxz", letter | 0x20) != nullptr && letter >= 'A';
}

bool of_class(int c, int lower_letter) {
  const bool lower = between(c, 'a', 'z'), upper = between(c, 'A', 'Z');
  const bool digit = between(c, '0', '9'), graph = between(c, 33, 126);
  if (lower_letter == 'a') return lower || upper;
  if (lower_letter == 'c') return c < 32 || c == 127;
  if (lower_letter == 'd') return digit;
  if (lower_letter == 'g') return graph;
  if (lower_letter == 'l') return lower;
  if (lower_letter == 'p') return graph && !lower && !upper && !digit;
  if (lower_letter == 's') return c == ' ' || between(c, 9, 13);
  if (lower_letter == 'u') return upper;
  if (lower_letter == 'w') return lower || upper || digit;
  if (lower_letter == 'x') return digit || between(c | 0x20, 'a', 'f');
  return c == 0;  // %z
}

/// %letter: a class, its complement if the letter is a capital, or the letter itself.
bool in_class(int c, int letter) {
  if (!is_class(letter)) return letter == c;
  return of_class(c, letter | 0x20) != between(letter, 'A', 'Z');
}

/// Whether c is in a set. `set` points to the '[', `last` to the ']'.
bool in_set(Match& m, int c, const char* set, const char* last) {
  const char* p = set + 1;
  const bool wanted = *p != '^';
  if (!wanted) ++p;
  for (; p < last; ++p) {
    step(m);
    if (*p == '%') {
      if (in_class(c, static_cast<unsigned char>(*++p))) return wanted;
    } else if (p[1] == '-' && p + 2 < last) {
      if (between(c, static_cast<unsigned char>(p[0]), static_cast<unsigned char>(p[2])))
        return wanted;
      p += 2;
    } else if (static_cast<unsigned char>(*p) == c) {
      return wanted;
    }
  }
  return !wanted;
}

/// The position after the character, %class or [set] that begins at p.
const char* behind_item(const Match& m, const char* p) {
  const char first = *p++;
  if (first == '%') {
    if (p >= m.pattern_end) luaL_error(m.L, "malformed pattern (ends with '%%')");
    return p + 1;
  }
  if (first != '[') return p;
  if (*p == '^') ++p;
  do {  // a ']' directly after the '[' is a member of the set
    if (p >= m.pattern_end) luaL_error(m.L, "malformed pattern (missing ']')");
    if (*p++ == '%' && p < m.pattern_end) ++p;
  } while (*p != ']' || p >= m.pattern_end);
  return p + 1;
}

/// Whether the character at s matches the item [item, behind).
bool fits(Match& m, const char* s, const char* item, const char* behind) {
  step(m);
  if (s >= m.text_end) return false;
  const int c = static_cast<unsigned char>(*s);
  switch (*item) {
    case '.':
      return true;
    case '%':
      return in_class(c, static_cast<unsigned char>(item[1]));
    case '[':
      return in_set(m, c, item, behind - 1);
    default:
      return static_cast<unsigned char>(*item) == c;
  }
}

// --- items of a pattern: each returns the end of the match, or null --------------------------

const char* longest(Match& m, const char* s, const char* item, const char* behind) {
  std::ptrdiff_t count = 0;
  while (fits(m, s + count, item, behind)) ++count;
  for (; count >= 0; --count) {
    if (const char* end = match_at(m, s + count, behind + 1)) return end;
  }
  return nullptr;
}

const char* shortest(Match& m, const char* s, const char* item, const char* behind) {
  for (;; ++s) {
    if (const char* end = match_at(m, s, behind + 1)) return end;
    if (!fits(m, s, item, behind)) return nullptr;
  }
}

const char* start_capture(Match& m, const char* s, const char* p, std::ptrdiff_t length) {
  if (m.captured >= most_captures) luaL_error(m.L, "too many captures");
  m.capture[static_cast<std::size_t>(m.captured++)] = {s, length};
  const char* end = match_at(m, s, p);
  if (end == nullptr) --m.captured;
  return end;
}

const char* end_capture(Match& m, const char* s, const char* p) {
  int open = m.captured - 1;
  while (open >= 0 && m.capture[static_cast<std::size_t>(open)].length != Capture::open) --open;
  if (open < 0) luaL_error(m.L, "invalid pattern capture");
  Capture& capture = m.capture[static_cast<std::size_t>(open)];
  capture.length = s - capture.start;
  const char* end = match_at(m, s, p);
  if (end == nullptr) capture.length = Capture::open;
  return end;
}

/// %1 to %9: the text of that capture again; null if the text at s is another one.
const char* again(Match& m, const char* s, char digit) {
  const int index = digit - '1';
  if (index < 0 || index >= m.captured ||
      m.capture[static_cast<std::size_t>(index)].length == Capture::open) {
    luaL_error(m.L, "invalid capture index");
  }
  const Capture& capture = m.capture[static_cast<std::size_t>(index)];
  // A position capture has no text, and a capture longer than the rest of the text cannot match.
  if (capture.length < 0 || capture.length > m.text_end - s) return nullptr;
  const auto length = static_cast<std::size_t>(capture.length);
  m.steps += static_cast<int>(length / 64);
  return std::memcmp(capture.start, s, length) == 0 ? s + length : nullptr;
}

/// %bxy; p points to the x.
const char* balanced(Match& m, const char* s, const char* p) {
  if (p + 1 >= m.pattern_end) luaL_error(m.L, "unbalanced pattern");
  if (s >= m.text_end || *s != *p) return nullptr;
  int open = 1;
  for (++s; s < m.text_end; ++s) {
    step(m);
    if (*s == p[1]) {
      if (--open == 0) return s + 1;
    } else if (*s == p[0]) {
      ++open;
    }
  }
  return nullptr;
}

/// %f[set]; p points to the '['. @return the position after the set; null if s is no frontier
const char* frontier(Match& m, const char* s, const char* p) {
  if (*p != '[') luaL_error(m.L, "missing '[' after '%%f' in pattern");
  const char* behind = behind_item(m, p);
  const int before = s == m.text ? 0 : static_cast<unsigned char>(s[-1]);
  const int here = s == m.text_end ? 0 : static_cast<unsigned char>(*s);
  if (in_set(m, before, p, behind - 1) || !in_set(m, here, p, behind - 1)) return nullptr;
  return behind;
}

/// Matches the pattern from p at s. Only items that can match in several ways recurse; the others
/// are handled by the loop.
const char* match_rest(Match& m, const char* s, const char* p) {
  while (s != nullptr && p != m.pattern_end) {
    step(m);
    if (*p == '(') {
      return p[1] == ')' ? start_capture(m, s, p + 2, Capture::position)
                         : start_capture(m, s, p + 1, Capture::open);
    }
    if (*p == ')') return end_capture(m, s, p + 1);
    if (*p == '$' && p + 1 == m.pattern_end) return s == m.text_end ? s : nullptr;
    if (*p == '%' && p[1] == 'b') {
      s = balanced(m, s, p + 2);
      p += 4;
      continue;
    }
    if (*p == '%' && p[1] == 'f') {
      p = frontier(m, s, p + 2);
      if (p == nullptr) return nullptr;
      continue;
    }
    if (*p == '%' && is_digit(p[1])) {
      s = again(m, s, p[1]);
      p += 2;
      continue;
    }
    const char* behind = behind_item(m, p);
    const char suffix = behind < m.pattern_end ? *behind : '\0';
    if (suffix == '*') return longest(m, s, p, behind);
    if (suffix == '+') return fits(m, s, p, behind) ? longest(m, s + 1, p, behind) : nullptr;
    if (suffix == '-') return shortest(m, s, p, behind);
    const bool here = fits(m, s, p, behind);
    if (suffix == '?') {
      if (here) {
        if (const char* end = match_at(m, s + 1, behind + 1)) return end;
      }
      p = behind + 1;
      continue;
    }
    if (!here) return nullptr;
    ++s;
    p = behind;
  }
  return s;
}

}  // namespace

const char* match_at(Match& m, const char* s, const char* p) {
  if (++m.depth > most_nested) luaL_error(m.L, "pattern too complex");
  const char* end = match_rest(m, s, p);
  --m.depth;
  return end;
}

}  // namespace rooflua::script
