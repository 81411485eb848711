#pragma once
// How far an answer may be off, as lines: the `intervals` of a variant's document
// (scripts/lib/rooflua/intervals/answers.lua).

#include <string>
#include <vector>

#include "base/json.h"

namespace rooflua {

/// The lines of one document; none where it has no intervals.
std::vector<std::string> interval_lines(const Json& document);

/// The same as the end of a report on a run: "interval  TPOT ...", in lines of 80 characters.
std::string interval_report(const Json& document);

/// Sentences as lines of 80 characters; further lines of a sentence are indented.
std::string interval_text(const std::vector<std::string>& sentences, const std::string& first = "",
                          const std::string& indent = "  ");

/// What these documents say of their kinds: one line for each kind under each load, that of its
/// widest interval, in order of first appearance.
std::vector<std::string> interval_kinds(const std::vector<const Json*>& documents);

}  // namespace rooflua
