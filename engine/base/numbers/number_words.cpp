#include "base/numbers/number_words.h"

#include <limits>

namespace rooflua {

namespace {

struct NumberWord {
  std::string_view word, mark;
  double value;
};
constexpr char mark_character = '\x7F';
constexpr NumberWord number_words[] = {
    {"-Infinity", "\"\x7F\x7F\x7F\x7F\x7F\x7F\x7F\"", -std::numeric_limits<double>::infinity()},
    {"Infinity", "\"\x7F\x7F\x7F\x7F\x7F\x7F\"", std::numeric_limits<double>::infinity()},
    {"NaN", "\"\x7F\"", std::numeric_limits<double>::quiet_NaN()}};

}  // namespace

std::string with_marks(std::string_view text) {
  std::string out(text);
  bool quoted = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char c = out[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted || (c != '-' && c != 'I' && c != 'N')) continue;
    for (const NumberWord& each : number_words) {
      if (out.compare(i, each.word.size(), each.word) != 0) continue;
      out.replace(i, each.word.size(), each.mark);
      i += each.word.size() - 1;
      break;
    }
  }
  return out;
}

bool needs_marks(std::string_view text) {
  const auto has = [&](auto what) { return text.find(what) != std::string_view::npos; };
  return (has("NaN") || has("Infinity")) && !has(mark_character);
}

std::optional<double> marked_number(std::string_view text) {
  if (text.empty() || text.front() != mark_character) return std::nullopt;
  for (const NumberWord& each : number_words) {
    if (each.mark.size() == text.size() + 2) return each.value;
  }
  return std::nullopt;
}

}  // namespace rooflua
