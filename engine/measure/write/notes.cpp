#include "measure/write/notes.h"

#include <algorithm>
#include <string_view>

#include "base/json_text.h"

namespace rooflua {

namespace {

/// Of scripts/lib/rooflua/scenario/idle.lua: what has no effect in one variant may have one in
/// another.
constexpr std::string_view of_variants = ": it has no effect here: ";
constexpr std::size_t most_named = 3;

struct Note {
  std::string text;
  std::vector<std::string> variants;  // that have it
};

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
  for (Note& each : found) {
    const bool is_named = each.text.find(of_variants) != std::string::npos &&
                          each.variants.size() < documents.size();
    for (std::size_t i = 0; is_named && i < std::min(each.variants.size(), most_named); ++i)
      each.text += (i == 0 ? " (" : "; ") + each.variants[i];
    if (is_named) each.text += each.variants.size() > most_named ? "; ...)" : ")";
    out.push_back(std::move(each.text));
  }
  return out;
}

}  // namespace rooflua
