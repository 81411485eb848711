#pragma once
// Whether a page is well-formed: every tag closed in order, every attribute quoted, no stray & or
// <. Not a parser of HTML: what our pages must be is stricter.

#include <string>
#include <string_view>
#include <vector>

namespace rooflua::test {

/// "" if it is; else what is wrong and where.
inline std::string ill_formed(std::string_view page) {
  std::vector<std::string> open;
  const auto wrong = [&](const std::string& what, std::size_t at) {
    return what + " before: " + std::string(page.substr(at, 60));
  };
  const auto entity = [&](std::size_t at) {
    const std::size_t end = page.find(';', at);
    if (end == std::string_view::npos || end - at > 8 || end == at + 1) return false;
    for (std::size_t i = at + 1; i < end; ++i) {
      if (page[i] != '#' && std::isalnum(static_cast<unsigned char>(page[i])) == 0) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < page.size(); ++i) {
    if (page[i] == '&' && !entity(i)) return wrong("stray &", i);
    if (page[i] != '<') continue;
    if (page.substr(i, 2) == "<!") {
      i = page.find('>', i);
      continue;
    }
    std::size_t end = i + 1;
    for (char quote = 0; end < page.size() && (quote != 0 || page[end] != '>'); ++end) {
      if (page[end] == '<') return wrong("< inside a tag", i);
      if (page[end] == '&' && !entity(end)) return wrong("stray & in a tag", i);
      if (quote == 0 && page[end] == '"') {
        quote = '"';
        if (page[end - 1] != '=') return wrong("a quote without =", i);
      } else if (quote != 0 && page[end] == quote) {
        quote = 0;
      } else if (quote == 0 && page[end] == '=' && page[end + 1] != '"') {
        return wrong("an attribute without quotes", i);
      }
    }
    if (end >= page.size()) return wrong("a tag without end", i);
    const std::string_view tag = page.substr(i + 1, end - i - 1);
    const std::string name(tag.substr(0, tag.find_first_of(" />\n", 1)));
    if (tag[0] == '/') {
      const std::string closed(tag.substr(1));
      if (open.empty() || open.back() != closed)
        return wrong("</" + closed + "> closes nothing", i);
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
      if (name == "script" || name == "style") {
        const std::size_t close = page.find("</" + name + ">", end);
        if (close == std::string_view::npos) return wrong("no end of " + name, i);
        end = close - 1;
      }
    }
    i = end;
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++out;
  return out;
}

}  // namespace rooflua::test
