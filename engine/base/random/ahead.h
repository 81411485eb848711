#pragma once
// Draws that are made ahead. A stream that is asked for the same distribution again and again gives
// its values from blocks, which cost less than single draws: the rounds of the generator and the
// quantiles of several draws run beside each other. The values are those of single draws, to the
// last bit, and the stream stands after those that were taken, whatever it is asked next.

#include "base/random.h"

namespace rooflua {

/// The distributions that take one draw, with their parameters in the order of random.h.
enum class Distribution : std::int32_t {
  none,
  uniform,
  exponential,  // one parameter
  weibull,
  normal,
  lognormal,
  pareto
};

/// Plain data (border.h): a copy goes on as the original does.
using Draws = rooflua_draws;

/// The next value, as the function of random.h with that name gives it. The first one of a
/// distribution is drawn alone, then follow blocks of 8 and of 32.
/// @throws Error as that function does
double next_value(Draws& draws, Distribution distribution, double first, double second);
/// The stream after the values that were taken. No others are kept.
RandomStream& stream_of(Draws& draws);

}  // namespace rooflua
