#pragma once
// YAML texts as values, read by libyaml. A program that was built without it says so.

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace rooflua {

/// The one document of a text: maps become objects in their order, every value carries its line.
/// Plain scalars are what YAML 1.1 says, as PyYAML reads them: null, yes and no, numbers, texts.
/// Refused are tags, anchors and aliases, and keys that occur twice or are no texts.
/// @throws Error "name:line: ...", also where this program was built without libyaml
Json parse_yaml(std::string_view text, const std::string& name);

/// All documents of a text, as parse_yaml reads one; here aliases stand for what their anchors have,
/// and "<<" adds the keys of a map. All values, each alias counted in whole, are at most 100,000.
std::vector<Json> parse_yaml_documents(std::string_view text, const std::string& name);

}  // namespace rooflua
