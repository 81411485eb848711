#include "base/printable.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rooflua {

namespace {

/// The code point at the front of the text, and its bytes; bytes = 0: it is not UTF-8.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;
};

CodePoint first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t value = lead & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  static constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least[bytes] || value > 0x10FFFF || surrogate) return {};
  return {value, bytes};
}

bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

void add_escape(std::string& out, unsigned char byte) {
  static constexpr char digits[] = "0123456789abcdef";
  out += "\\x";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

}  // namespace

bool is_plain(std::string_view text) {
  while (!text.empty()) {
    const CodePoint code = first_of(text);
    if (code.bytes == 0 || is_control(code.value)) return false;
    text.remove_prefix(code.bytes);
  }
  return true;
}

std::size_t first_not_utf8(std::string_view text) {
  constexpr std::uint64_t high_bits = 0x8080808080808080u;
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t eight = 0;
    if (text.size() - at >= sizeof eight) std::memcpy(&eight, text.data() + at, sizeof eight);
    if (text.size() - at >= sizeof eight && (eight & high_bits) == 0) {
      at += sizeof eight;
      continue;
    }
    const CodePoint code = first_of(text.substr(at));
    if (code.bytes == 0) return at;
    at += code.bytes;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint code = first_of(text);
    const bool kept = code.value == '\n' || code.value == '\t' || !is_control(code.value);
    const std::size_t bytes = code.bytes == 0 ? 1 : code.bytes;
    if (code.bytes > 0 && kept) {
      out += text.substr(0, bytes);
    } else {
      for (const char each : text.substr(0, bytes))
        add_escape(out, static_cast<unsigned char>(each));
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint code = first_of(text);
    out += code.bytes == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, code.bytes);
    text.remove_prefix(code.bytes == 0 ? 1 : code.bytes);
  }
  return out;
}

std::string with_short_names(std::string_view text) {
  constexpr std::size_t longest = 300, first = 200, last = 60;
  const auto inside_character = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\n/", at), text.size());
    if (end - at > longest) {
      std::size_t front = at + first, back = end - last;
      while (front > at && inside_character(front)) --front;
      while (back < end && inside_character(back)) ++back;
      out += text.substr(at, front - at);
      out += "...";
      out += text.substr(back, end - back);
    } else {
      out += text.substr(at, end - at);
    }
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

std::string without_addresses(std::string text) {
  for (std::size_t at = 0; (at = text.find(": 0x", at)) != std::string::npos;) {
    std::size_t word = at;
    while (word > 0 && std::isalpha(static_cast<unsigned char>(text[word - 1])) != 0) --word;
    const std::string_view kind = std::string_view(text).substr(word, at - word);
    std::size_t end = at + 4;
    while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    const bool is_kind = kind == "table" || kind == "function" || kind == "userdata" ||
                         kind == "thread" || kind == "builtin";
    if (is_kind && end - at > 8) {
      text.erase(at, end - at);
    } else {
      at = end;
    }
  }
  return text;
}

}  // namespace rooflua
