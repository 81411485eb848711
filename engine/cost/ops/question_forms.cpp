#include "cost/ops/question_forms.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>
#include <string>

#include "base/error.h"

namespace rooflua {
namespace {

constexpr double above_0 = std::numeric_limits<double>::min();
// Far above any shape; products of all numbers of a question stay finite.
constexpr double largest = 1e30;

double least(FieldNeed need, bool reference) {
  switch (need) {
    case FieldNeed::positive:
      return reference ? 0 : above_0;
    case FieldNeed::positive_always:
      return above_0;
    case FieldNeed::two:
      return 2;
    default:
      return 0;
  }
}

/// Of a list of checks.
std::size_t place(bool reference, bool decode) {
  return (reference ? 2 : 0) + (decode ? 1 : 0);
}

[[noreturn, gnu::cold]] void complain(const Query& query, QueryNumber number, double least) {
  const OpDeclaration& op = declaration_of(query.op);
  std::string field;
  for (const Field& each : op.fields) {
    if (each.number == number) field = each.name;
  }
  char text[80];
  if (number(query) > largest && number(query) <= std::numeric_limits<double>::max()) {
    std::snprintf(text, sizeof text, "of at most %g, found %g", largest, number(query));
  } else if (least == above_0) {
    std::snprintf(text, sizeof text, "above 0, found %g", number(query));
  } else {
    std::snprintf(text, sizeof text, "of at least %g, found %g", least, number(query));
  }
  throw Error(std::string(op.name) + "." + field, std::string("expected a finite number ") + text);
}

}  // namespace

QuestionForms::QuestionForms() {
  for (const OpDeclaration& op : declared_ops()) {
    Form& form = forms_.emplace_back();
    for (const Field& field : op.fields) {
      if (!field.number) continue;
      form.numbers.push_back(field.number);
      if (field.need == FieldNeed::nothing) continue;
      for (const bool reference : {false, true}) {
        const Least check{field.number, least(field.need, reference)};
        if (field.when != FieldWhen::decode) form.checks[place(reference, false)].push_back(check);
        if (field.when != FieldWhen::prefill) form.checks[place(reference, true)].push_back(check);
      }
    }
    ROOFLUA_ASSERT(form.numbers.size() <= max_fields);
  }
}

void QuestionForms::check(const Query& query, bool reference) const {
  const Form& form = forms_[static_cast<std::size_t>(query.op)];
  const std::vector<Least>& checks = form.checks[place(reference, query.decode != 0)];
  // Without a branch for each number: a number that is too large or NaN shows in the sum.
  double spare = 0, sum = 0;
  for (const Least& each : checks) {
    const double value = each.number(query);
    spare = std::min(spare, value - each.least);
    sum += value;
  }
  if (spare >= 0 && sum <= largest) return;
  for (const Least& each : checks) {
    const double value = each.number(query);
    if (!(value >= each.least && value <= largest)) complain(query, each.number, each.least);
  }
}

void QuestionForms::write_key(const Query& query, QueryKey& key) const {
  const Form& form = forms_[static_cast<std::size_t>(query.op)];
  std::uint64_t* word = key.words.data();
  *word = static_cast<std::uint64_t>(query.op) | static_cast<std::uint64_t>(query.dtype) << 16 |
          static_cast<std::uint64_t>(query.kv_dtype) << 24;
  std::uint64_t hash = *word * 0x9E3779B97F4A7C15ull;
  for (const QueryNumber& number : form.numbers) {
    *++word = std::bit_cast<std::uint64_t>(number(query));
    hash = (hash ^ *word) * 0x9E3779B97F4A7C15ull ^ hash >> 29;
  }
  key.count = form.numbers.size() + 1;
  key.hash = (hash ^ hash >> 32) * 0x9E3779B97F4A7C15ull;
}

}  // namespace rooflua
