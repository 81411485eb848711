#pragma once
// A metric of a part of a run (part.h): its words, and where its value is.

#include <any>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/vocabulary.h"
#include "measure/record/quantile.h"

namespace rooflua {

enum class Better { neither, less, more };
inline constexpr Word<Better> better_words[] = {
    {Better::neither, "neither", "says what happened, not how well"},
    {Better::less, "less", "less is better"},
    {Better::more, "more", "more is better"},
};
static_assert(in_order(better_words));

/// A value of a part's figures. A list has a number for each place: a share for each position.
using PartValue = std::variant<std::string*, std::int64_t*, double*, std::optional<double>*,
                               Statistics*, std::vector<double>*>;

struct PartMetric {
  std::string_view name;   // its key in documents; "name": how the instance is called
  std::string_view label;  // in tables for people: "held"
  std::string_view unit;   // as in MetricOf
  Better better;
  std::string_view help;
  /// Its value in figures of its part.
  PartValue (*in)(std::any& figures);
};

namespace detail {
template <class Figures, class Value>
Figures record_of(Value Figures::*);
}

/// The member of figures that holds a metric: in<&GateFigures::offered>.
template <auto member>
PartValue in(std::any& figures) {
  return &(std::any_cast<decltype(detail::record_of(member))&>(figures).*member);
}

}  // namespace rooflua
