#include "measure/write/notes.h"

#include <algorithm>

namespace rooflua {

std::vector<std::string> notes_of(const std::vector<const Json*>& documents) {
  std::vector<std::string> out;
  for (const Json* document : documents) {
    const Json* notes = document->find("notes");
    if (notes == nullptr || !notes->is_array()) continue;
    for (const Json& note : notes->items()) {
      if (std::find(out.begin(), out.end(), note.text()) == out.end()) out.push_back(note.text());
    }
  }
  return out;
}

}  // namespace rooflua
