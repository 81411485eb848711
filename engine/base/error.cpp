#include "base/error.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <new>
#include <utility>

#include "base/printable.h"

namespace rooflua {

Error::Error(std::string where, std::string message)
    : std::runtime_error(without_addresses(
          printable(with_short_names(where.empty() ? message : where + ": " + message)))),
      where_(std::move(where)),
      message_(printable(message)) {}

std::string message_of(const std::exception& problem) {
  const bool too_much = dynamic_cast<const std::bad_alloc*>(&problem) != nullptr ||
                        dynamic_cast<const std::length_error*>(&problem) != nullptr;
  if (too_much) return "not enough memory";
  if (const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&problem)) {
    return Error(of_file->path1().string(), of_file->code().message()).what();
  }
  return problem.what();
}

std::string at(std::string_view file, int line) {
  return std::string(file) + ":" + std::to_string(line);
}

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// The distance between a known name and the written one; the first part of the known name counts
/// as well. So "h2000" is near "h200-sxm", because it is near "h200".
std::size_t distance(const std::string& wanted, const std::string& candidate) {
  const std::size_t whole = edit_distance(wanted, candidate);
  const std::string first = candidate.substr(0, candidate.find('-'));
  if (first.size() == candidate.size() || first.size() < 3) return whole;
  const std::size_t part = edit_distance(wanted, first);
  return part <= 1 ? std::min(part, whole) : whole;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

namespace {

/// Whether `whole` has all letters of `word` in their order, from the first on: "ttft95" is short
/// for "ttft_s_p95".
bool is_shortened(std::string_view word, std::string_view whole) {
  if (word.empty() || whole.empty() || word.front() != whole.front()) return false;
  std::size_t at = 0;
  for (const char c : whole) at += at < word.size() && word[at] == c;
  return at == word.size();
}

}  // namespace

std::vector<std::string> suggestions(std::string_view found, std::span<const std::string> known) {
  constexpr std::size_t longest = 300;  // a longer text is no misspelt name, and takes long
  if (found.size() > longest) return {};
  const std::string wanted = lower(found);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : known) {
    const std::string candidate = lower(name);
    const std::size_t far = distance(wanted, candidate);
    const bool contains = wanted.size() >= 3 && (candidate.find(wanted) != std::string::npos ||
                                                 wanted.find(candidate) != std::string::npos);
    const bool shortened = wanted.size() >= 4 && is_shortened(wanted, candidate);
    if (far <= std::max<std::size_t>(2, wanted.size() / 3) || contains || shortened) {
      near.emplace_back(far, name);
    }
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i) out.push_back(near[i].second);
  return out;
}

std::string joined(std::span<const std::string> words, std::string_view between) {
  std::string out;
  for (const std::string& each : words) {
    if (!out.empty()) out += between;
    out += each;
  }
  return out;
}

constexpr std::size_t most_listed = 24;  // known names that an error lists besides a suggestion

std::string unknown_name(std::string_view kind, std::string_view found,
                         std::span<const std::string> known) {
  std::string text = "unknown " + std::string(kind) + " '" + printable(found) + "'";
  const std::vector<std::string> near = suggestions(found, known);
  if (!near.empty()) text += "; did you mean '" + joined(near, "', '") + "'?";
  if (!near.empty() && known.size() > most_listed)
    return text + " (" + std::to_string(known.size()) + " names are known)";
  return text + " (known:" + (known.empty() ? "" : " ") + joined(known, ", ") + ")";
}

void assertion_failed(const char* expression, const char* file, int line) {
  throw std::logic_error("internal error at " + at(file, line) + ": " + expression);
}

}  // namespace rooflua
