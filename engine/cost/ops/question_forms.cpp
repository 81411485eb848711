#include "cost/ops/question_forms.h"

#include <bit>
#include <cstdio>
#include <limits>
#include <string>

#include "base/error.h"

namespace rooflua {
namespace {

constexpr double above_0 = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();

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

[[noreturn, gnu::cold]] void complain(const Query& query, double Query::*number, double least) {
  const OpDeclaration& op = declaration_of(query.op);
  std::string field;
  for (const Field& each : op.fields) {
    if (each.number == number) field = each.name;
  }
  char text[80];
  if (least == above_0) {
    std::snprintf(text, sizeof text, "above 0, found %g", query.*number);
  } else {
    std::snprintf(text, sizeof text, "of at least %g, found %g", least, query.*number);
  }
  throw Error(std::string(op.name) + "." + field, std::string("expected a finite number ") + text);
}

}  // namespace

QuestionForms::QuestionForms() {
  for (const OpDeclaration& op : declared_ops()) {
    Form& form = forms_.emplace_back();
    for (const Field& field : op.fields) {
      if (field.number == nullptr) continue;
      form.numbers.push_back(field.number);
      if (field.need == FieldNeed::nothing) continue;
      const Least check{field.number, least(field.need, false), least(field.need, true)};
      if (field.when != FieldWhen::decode) form.checks[0].push_back(check);
      if (field.when != FieldWhen::prefill) form.checks[1].push_back(check);
    }
    ROOFLUA_ASSERT(form.numbers.size() <= max_fields);
  }
}

void QuestionForms::check(const Query& query, bool reference) const {
  const Form& form = forms_[static_cast<std::size_t>(query.op)];
  for (const Least& each : form.checks[query.decode != 0 ? 1 : 0]) {
    const double wanted = reference ? each.least_of_reference : each.least;
    const double value = query.*each.number;
    if (!(value >= wanted && value <= largest)) complain(query, each.number, wanted);
  }
}

void QuestionForms::write_key(const Query& query, QueryKey& key) const {
  const Form& form = forms_[static_cast<std::size_t>(query.op)];
  key.words[0] = static_cast<std::uint64_t>(query.op) |
                 static_cast<std::uint64_t>(query.dtype) << 16 |
                 static_cast<std::uint64_t>(query.kv_dtype) << 24;
  std::size_t count = 1;
  for (double Query::*number : form.numbers)
    key.words[count++] = std::bit_cast<std::uint64_t>(query.*number);
  key.count = count;
}

}  // namespace rooflua
