#include "cost/ops/declaration.h"

namespace rooflua {

std::string_view name(FlopConvention convention) {
  switch (convention) {
    case FlopConvention::gemm_2mkn:
      return "2mkn";
    case FlopConvention::attention_full:
      return "full";
    case FlopConvention::attention_causal_half:
      return "causal_half";
    case FlopConvention::none:
      break;
  }
  return "none";
}

const OpDeclaration& declaration_of(Op op) {
  return declared_ops()[static_cast<std::size_t>(op)];
}

std::string_view name(Op op) {
  return declaration_of(op).name;
}

const Field* OpDeclaration::find(std::string_view field) const {
  for (const Field& each : fields) {
    if (each.name == field) return &each;
  }
  return nullptr;
}

std::size_t work_axis(const OpDeclaration& op) {
  std::size_t last = max_axes;
  for_each_axis(op, [&](const Field& field, std::size_t place) {
    if (field.role == FieldRole::axis) last = place;
  });
  return last;
}

bool may_stand_in(const Field& field, double here, double wanted) {
  const auto group = [&](double code) {
    const auto words = static_cast<double>(field.words.size());
    return code >= 1 && code <= words ? field.words[static_cast<std::size_t>(code) - 1].group : 0;
  };
  return group(here) == group(wanted);
}

double code_of(const Field& field, std::string_view word) {
  for (std::size_t i = 0; i < field.words.size(); ++i) {
    const FieldWord& each = field.words[i];
    if (each.name == word || (!each.also.empty() && each.also == word))
      return static_cast<double>(i + 1);
  }
  return unknown_word;
}

}  // namespace rooflua
