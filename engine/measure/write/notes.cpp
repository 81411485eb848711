#include "measure/write/notes.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/json_text.h"

namespace rooflua {

namespace {

constexpr std::size_t most_named = 3;  // variants of a note, and notes that are alike

struct Note {
  std::string text;
  std::vector<std::string> variants;  // that have it
};

/// "N of N requests starved" of "46 of 1,600 requests starved".
std::string without_digits(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    const bool goes_on = !out.empty() && out.back() == 'N' && (text[i] == '.' || text[i] == ',') &&
                         i + 1 < text.size() &&
                         std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0;
    if (goes_on || (is_digit && !out.empty() && out.back() == 'N')) continue;
    out += is_digit ? 'N' : text[i];
  }
  return out;
}

}  // namespace

std::vector<std::string> notes_of(const std::vector<const Json*>& documents) {
  std::vector<Note> found;
  for (const Json* document : documents) {
    const Json* notes = document->find("notes");
    if (notes == nullptr || !notes->is_array()) continue;
    for (const Json& note : notes->items()) {
      const auto known = std::find_if(found.begin(), found.end(),
                                      [&](const Note& each) { return each.text == note.text(); });
      Note& here = known == found.end() ? found.emplace_back(Note{note.text(), {}}) : *known;
      here.variants.push_back(text_of(*document, "name"));
    }
  }
  std::vector<std::string> out;
  std::map<std::string, std::size_t> alike;  // notes that differ in numbers only
  for (Note& each : found) {
    const std::size_t before = alike[without_digits(each.text)]++;
    const bool is_named = each.variants.size() < documents.size();
    if (is_named && before >= most_named && documents.size() > most_named) continue;
    for (std::size_t i = 0; is_named && i < std::min(each.variants.size(), most_named); ++i)
      each.text += (i == 0 ? " (" : "; ") + each.variants[i];
    if (is_named) each.text += each.variants.size() > most_named ? "; ...)" : ")";
    out.push_back(std::move(each.text));
  }
  for (const auto& [text, count] : alike) {
    if (count > most_named && documents.size() > most_named)
      out.push_back("and " + std::to_string(count - most_named) +
                    " such notes of other variants: " + text);
  }
  return out;
}

}  // namespace rooflua
