#include "app/quote.h"

#include <cstdio>
#include <sstream>

#include "base/error.h"
#include "base/gzip.h"
#include "base/printable.h"

namespace rooflua::app {

namespace {

constexpr std::size_t longest = 120;

struct Place {
  std::string file;
  long line = 0;
};

/// The file and line at the beginning of a message ("file:12:"); line 0 if it names none.
Place place_of(std::string_view message) {
  for (std::size_t colon = message.find(':'); colon != std::string_view::npos && colon < 500;
       colon = message.find(':', colon + 1)) {
    std::size_t end = colon + 1;
    while (end < message.size() && message[end] >= '0' && message[end] <= '9') ++end;
    if (end == colon + 1 || end - colon > 8 || end >= message.size() || message[end] != ':')
      continue;
    return {std::string(message.substr(0, colon)),
            std::stol(std::string(message.substr(colon + 1, end - colon - 1)))};
  }
  return {};
}

std::string line_of(const std::filesystem::path& file, long number) {
  std::string line;
  std::string text;
  try {
    text = read_text(file);
  } catch (const Error&) {
    return "";
  }
  std::istringstream in(text);
  for (long i = 0; i < number; ++i) {
    if (!std::getline(in, line)) return "";
  }
  return line;
}

}  // namespace

std::string quoted_line(std::string_view message, const std::filesystem::path& home) {
  const Place place = place_of(message);
  if (place.line == 0) return "";
  std::error_code ignored;
  std::filesystem::path file = place.file;
  if (!std::filesystem::is_regular_file(file, ignored)) file = home / place.file;
  if (!std::filesystem::is_regular_file(file, ignored)) return "";
  std::string line = line_of(file, place.line);
  if (line.find_first_not_of(" \t\r") == std::string::npos) return "";
  for (char& c : line) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  while (line.back() == ' ') line.pop_back();
  if (line.size() > longest) line = line.substr(0, longest) + "...";
  line = printable(line);
  char number[32];
  std::snprintf(number, sizeof number, "%5ld | ", place.line);
  return number + line + "\n";
}

std::string printable(std::string_view given) {
  const std::string text = with_short_names(given);
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = c < 0x80 ? 1 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 0;
    bool whole = length > 0 && i + length <= text.size() && c < 0xF5;
    for (std::size_t k = 1; whole && k < length; ++k)
      whole = (static_cast<unsigned char>(text[i + k]) & 0xC0) == 0x80;
    const bool shown = whole && c != 0x7F && (c >= 0x20 || c == '\n' || c == '\t');
    out += shown ? text.substr(i, length) : "?";
    i += whole ? length : 1;
  }
  return out;
}

void complain(std::string_view message, const std::filesystem::path& home) {
  std::fprintf(stderr, "rooflua: %s\n%s", printable(message).c_str(),
               quoted_line(message, home).c_str());
}

}  // namespace rooflua::app
