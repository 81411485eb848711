#include "spec/hf/sampling.h"

#include "spec/ranges.h"

namespace rooflua::hf {

namespace {

double number(const Fields& fields, const char* key, double otherwise) {
  const double value = fields.number(key).value_or(otherwise);
  check_range(std::string("model.sampling.") + key, value, fields.where(key));
  return value;
}

}  // namespace

Sampling sampling_of(const Fields& fields) {
  Sampling out;
  out.temperature = number(fields, "temperature", out.temperature);
  out.top_p = number(fields, "top_p", out.top_p);
  out.top_k = static_cast<int>(number(fields, "top_k", out.top_k));
  out.min_p = number(fields, "min_p", out.min_p);
  out.repetition_penalty = number(fields, "repetition_penalty", out.repetition_penalty);
  return out;
}

}  // namespace rooflua::hf
