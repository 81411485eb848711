#include "base/json_lines.h"

#include <utility>

#include "base/error.h"

namespace rooflua {

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

std::string_view JsonLines::quoted() {
  if (rest_.empty() || rest_.front() != '"') fail("a name in quotes");
  for (std::size_t i = 1; i < rest_.size(); ++i) {
    if (rest_[i] == '\\') {
      ++i;
    } else if (rest_[i] == '"') {
      const std::string_view inside = rest_.substr(1, i - 1);
      rest_.remove_prefix(i + 1);
      return inside;
    }
  }
  fail("a closing quote");
}

std::string_view JsonLines::value() {
  skip_spaces();
  if (rest_.substr(0, 1) == "\"") return quoted();
  const std::string_view start = rest_;
  int depth = 0;
  while (!rest_.empty()) {
    const char c = rest_.front();
    if (c == '"') {
      quoted();
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ' ' || c == '\t' || c == '\r')) break;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth < 0) fail("a value");
    rest_.remove_prefix(1);
  }
  if (depth > 0) fail("a closing bracket");
  if (rest_.size() == start.size()) fail("a value");
  return start.substr(0, start.size() - rest_.size());
}

}  // namespace rooflua
