#include "base/csv_scanner.h"

#include <utility>

#include "base/error.h"

namespace rooflua {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

CsvScanner::CsvScanner(std::string_view text, std::string name)
    : text_(text), name_(std::move(name)) {
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") position_ = 3;
}

bool CsvScanner::next() {
  while (position_ < text_.size()) {
    cells_.clear();
    if (!unquoted_.empty()) unquoted_.clear();
    line_ = next_line_;
    for (bool more = true; more;) {
      std::size_t start = position_;
      while (start < text_.size() && (text_[start] == ' ' || text_[start] == '\t')) ++start;
      if (start < text_.size() && text_[start] == '"') {
        position_ = start + 1;
        cells_.push_back(quoted());
      } else {
        const char* const end = text_.data() + text_.size();
        const char* stop = text_.data() + position_;
        while (stop < end && *stop != ',' && *stop != '\n') ++stop;
        position_ = static_cast<std::size_t>(stop - text_.data());
        cells_.push_back(trimmed(text_.substr(start, position_ > start ? position_ - start : 0)));
      }
      more = position_ < text_.size() && text_[position_] == ',';
      if (position_ < text_.size()) ++position_;
    }
    ++next_line_;
    if (cells_.size() > 1 || !cells_.front().empty()) return true;
  }
  return false;
}

/// Reads the rest of a cell after its opening quote. The position is then at the comma or line
/// break.
std::string_view CsvScanner::quoted() {
  const std::size_t start = position_;
  std::size_t doubled = 0;
  for (;; ++position_) {
    position_ = text_.find('"', position_);
    if (position_ == std::string_view::npos) {
      throw Error(at(name_, line_), "a quote is opened in this row and never closed");
    }
    if (position_ + 1 >= text_.size() || text_[position_ + 1] != '"') break;
    ++doubled;
    ++position_;
  }
  const std::string_view inside = text_.substr(start, position_ - start);
  for (const char c : inside) next_line_ += c == '\n';
  ++position_;
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  if (position_ < text_.size() && text_[position_] != ',' && text_[position_] != '\n') {
    throw Error(at(name_, line_), "text after a closing quote; expected a comma");
  }
  if (doubled == 0) return inside;
  std::string plain;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    plain += inside[i];
    if (inside[i] == '"') ++i;
  }
  return unquoted_.emplace_back(std::move(plain));
}

}  // namespace rooflua
