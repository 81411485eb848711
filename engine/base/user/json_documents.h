#pragma once
// A text of several JSON documents: one per line, or one after the other however they are laid
// out, as `vllm bench serve --append-result` and SGLang's benchmark write them.

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace rooflua {

struct JsonDocument {
  int line = 0;  // 1-based, where it begins
  Json value;
};

/// All documents of a text, in its order; words of Python for numbers are read (json.h). Documents
/// are separated by spaces, line breaks or the record separators of RFC 7464.
/// @throws Error "name:line: ..." on bad syntax, on anything between two documents, and where the
///         text ends inside of one
std::vector<JsonDocument> parse_json_documents(std::string_view text, const std::string& name);

}  // namespace rooflua
