#pragma once
// A vocabulary: an enum whose values have names. Each value is declared once, as a Word, in a list
// that stands in the order of the enum. Documents, scripts, help and tests loop over that list.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

/// One value of a vocabulary. A vocabulary that says more of its values has a struct of its own
/// with these three members and others after them.
template <class Value>
struct Word {
  Value value;
  std::string_view name;  // in documents and scripts
  std::string_view help;  // one line
};

/// Whether words[i] is the word of value i: asserted where a vocabulary is declared.
template <class Words>
constexpr bool in_order(const Words& words) {
  std::size_t i = 0;
  for (const auto& word : words) {
    if (static_cast<std::size_t>(word.value) != i++) return false;
  }
  return true;
}

/// The value of that name; nothing if the vocabulary has no such name.
template <class Words>
constexpr auto value_named(const Words& words, std::string_view name)
    -> std::optional<decltype(std::begin(words)->value)> {
  for (const auto& word : words) {
    if (word.name == name) return word.value;
  }
  return std::nullopt;
}

/// All names, in order: for messages that list what is known.
template <class Words>
std::vector<std::string> names_of(const Words& words) {
  std::vector<std::string> out;
  for (const auto& word : words) out.emplace_back(word.name);
  return out;
}

}  // namespace rooflua
