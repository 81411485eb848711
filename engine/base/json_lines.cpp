#include "base/json_lines.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace rooflua {

namespace {

/// Characters at which a value neither begins nor ends, nor anything in it.
constexpr auto is_literal = [] {
  std::array<bool, 256> out{};
  out.fill(true);
  for (const char c : {'"', '[', ']', '{', '}', ',', ' ', '\t', '\r'})
    out[static_cast<unsigned char>(c)] = false;
  return out;
}();

}  // namespace

JsonLines::JsonLines(std::string_view text, std::string name)
    : text_(text), name_(std::move(name)) {
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") text_.remove_prefix(3);
}

bool JsonLines::next() {
  for (rest_ = {}; rest_.empty();) {
    if (text_.empty()) return false;
    const std::size_t end = text_.find('\n');
    rest_ = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    ++line_;
    skip_spaces();
  }
  members_.clear();
  expect('{');
  skip_spaces();
  for (bool more = rest_.substr(0, 1) != "}"; more;) {
    skip_spaces();
    Member member;
    member.key = quoted();
    expect(':');
    skip_spaces();
    member.is_text = rest_.substr(0, 1) == "\"";
    member.value = value();
    members_.push_back(member);
    skip_spaces();
    more = rest_.substr(0, 1) == ",";
    if (more) rest_.remove_prefix(1);
  }
  expect('}');
  skip_spaces();
  if (!rest_.empty()) fail("the end of the line");
  return true;
}

bool JsonLines::Member::is_number() const {
  return !is_text && (value.front() == '-' || (value.front() >= '0' && value.front() <= '9'));
}

double JsonLines::Member::number() const {
  double out = 0;
  if (is_number()) std::from_chars(value.data(), value.data() + value.size(), out);
  return out;
}

std::string decoded(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return std::string(text);
  return parse_json("\"" + std::string(text) + "\"", "text").text();
}

std::vector<JsonLines::Member> members_in(std::string_view object, const std::string& name) {
  JsonLines lines(object, name);
  return lines.next() ? lines.members() : std::vector<JsonLines::Member>();
}

void JsonLines::fail(std::string_view expected) const {
  const std::string found = rest_.empty()
                                ? "the end of the line"
                                : std::string("'").append(rest_.substr(0, 20)).append("'");
  throw Error(at(name_, line_), "expected " + std::string(expected) + ", found " + found +
                                    " (one JSON object per line)");
}

void JsonLines::skip_spaces() {
  while (!rest_.empty() &&
         (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r')) {
    rest_.remove_prefix(1);
  }
}

void JsonLines::expect(char c) {
  skip_spaces();
  if (rest_.empty() || rest_.front() != c) fail(std::string("'") + c + "'");
  rest_.remove_prefix(1);
}

std::size_t JsonLines::end_of_quoted(std::size_t begin) const {
  for (std::size_t i = begin + 1; i < rest_.size(); ++i) {
    if (rest_[i] == '\\') {
      ++i;
    } else if (rest_[i] == '"') {
      return i;
    }
  }
  fail("a closing quote");
}

std::string_view JsonLines::quoted() {
  if (rest_.empty() || rest_.front() != '"') fail("a name in quotes");
  const std::size_t end = end_of_quoted(0);
  const std::string_view inside = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  return inside;
}

std::string_view JsonLines::value() {
  skip_spaces();
  if (rest_.substr(0, 1) == "\"") return quoted();
  int depth = 0;
  std::size_t i = 0;
  for (; i < rest_.size(); ++i) {
    const char c = rest_[i];
    if (is_literal[static_cast<unsigned char>(c)]) continue;
    if (c == '"') {
      i = end_of_quoted(i);
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (depth == 0 && c != ']') {
      break;  // a comma, a closing brace, or a space
    } else if (c == ']' || c == '}') {
      if (--depth < 0) fail("a value");
    }
  }
  if (depth > 0) fail("a closing bracket");
  if (i == 0) fail("a value");
  const std::string_view out = rest_.substr(0, i);
  rest_.remove_prefix(i);
  return out;
}

}  // namespace rooflua
