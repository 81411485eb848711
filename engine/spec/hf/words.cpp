#include "spec/hf/words.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace rooflua::hf {

namespace {

/// Refuses a second word for the same quantity that states another number.
void check_agreement(const Fields& fields, std::string_view first, Words words) {
  const Json* stated = fields.find(first);
  for (const std::string_view other : words) {
    const Json* again = fields.find(other);
    if (again == nullptr || !again->is_number() || !stated->is_number()) continue;
    if (again->number() == stated->number()) continue;
    throw Error(fields.where(other), json_number(again->number()) + ", but " + std::string(first) +
                                         " says " + json_number(stated->number()) +
                                         "; leave one of them out (ignore)");
  }
}

}  // namespace

std::string_view spelling(const Fields& fields, Words words) {
  const std::string_view first = fields.first_of(words);
  if (!first.empty()) check_agreement(fields, first, words);
  return first;
}

int need_first(const Fields& fields, Words words) {
  const std::string_view key = spelling(fields, words);
  if (!key.empty()) return fields.need_integer(key);
  std::string all;
  for (const std::string_view one : words) all += (all.empty() ? "" : ", ") + std::string(one);
  throw Error(fields.where(*words.begin()), "is missing; expected one of: " + all);
}

int first_or(const Fields& fields, Words words, int otherwise) {
  const std::string_view key = spelling(fields, words);
  return key.empty() ? otherwise : fields.need_integer(key);
}

bool one_of(std::string_view text, Words names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

}  // namespace rooflua::hf
